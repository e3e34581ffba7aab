"""``python -m harness.golden.add FILE``: adds your own questions to a golden set."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from harness.cli.command import Words, run_command
from harness.errors import SettingError

_STOPPED = "Stopped. The golden set is whole; the same command adds what is missing."
_USAGE = "python -m harness.golden.add FILE corpus=folder corpus.path=DIR"


def main(argv: Sequence[str] | None = None) -> int:
    """Adds the questions of one file; the exit code is 1 for a mistake, and when no row could be used."""
    given = sys.argv[1:] if argv is None else argv
    corpus = [word for word in given if word.startswith("corpus")]
    return run_command("add", __doc__, given, lambda words: _main(words, corpus), _STOPPED)


def _main(words: Words, corpus: Sequence[str]) -> int:
    from harness.cli import compose

    made = compose.composed(words, ["+command=add", *words.overrides])
    if words.is_sweep or len(words.files) != 1:
        raise SettingError(f"Give one file of questions: {_USAGE}.")
    if not {word.partition("=")[0] for word in words.overrides} & {"corpus", "corpus.path", "golden.path"}:
        raise SettingError(f"Name the documents that the questions are about: {_USAGE}.", key="corpus")
    from harness.questions.importing.run import run

    return run(Path(words.files[0]).expanduser(), made, corpus)


if __name__ == "__main__":
    sys.exit(main())
