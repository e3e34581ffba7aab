"""``python -m harness.golden.check``: whether a golden set can decide anything, and what to fix first."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from harness.cli.command import run_command
from harness.questions.check.run import run

_STOPPED = "Stopped. The golden set is as it was, or as accept=true has written it: never in between."


def main(argv: Sequence[str] | None = None) -> int:
    """Prints the report; the exit code is 1 for a mistake, and with ``strict=true`` for a serious finding."""
    return run_command("check", __doc__, argv, run, _STOPPED)


if __name__ == "__main__":
    sys.exit(main())
