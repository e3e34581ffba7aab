"""``python -m harness.golden.add FILE``: adds your own questions to a golden set."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from harness.cli.command import run_command
from harness.questions.importing.run import run

_STOPPED = "Stopped. The golden set is whole; the same command adds what is missing."


def main(argv: Sequence[str] | None = None) -> int:
    """Adds the questions of one file; the exit code is 1 for a mistake, and when no row could be used."""
    given = sys.argv[1:] if argv is None else argv
    corpus = [word for word in given if word.startswith("corpus")]
    return run_command("add", __doc__, given, lambda words: run(words, corpus), _STOPPED)


if __name__ == "__main__":
    sys.exit(main())
