"""``python -m harness.golden.generate``: a model writes questions about your documents."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence

from harness.cli.command import run_command
from harness.questions.generate.run import run

_STOPPED = "Stopped. All answers so far are cached; the same command continues from here."


def main(argv: Sequence[str] | None = None) -> int:
    """Writes the questions; the exit code is 1 when something is wrong, and 130 after Ctrl-C or SIGTERM."""
    given = sys.argv[1:] if argv is None else argv
    signal.signal(signal.SIGTERM, _interrupt)
    return run_command("generate", __doc__, given, lambda words: run(words, given), _STOPPED)


def _interrupt(_signal: int, _frame: object) -> None:
    """SIGTERM ends the run like Ctrl-C."""
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
