"""``python -m harness.golden.generate``: a model writes questions about your documents."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence

from harness.cli.command import Words, run_command
from harness.errors import SettingError

_STOPPED = "Stopped. All answers so far are cached; the same command continues from here."
_USAGE = "python -m harness.golden.generate corpus=folder corpus.path=DIR generator.n=NUMBER yes=true"


def main(argv: Sequence[str] | None = None) -> int:
    """Writes the questions; the exit code is 1 when something is wrong, and 130 after Ctrl-C or SIGTERM."""
    given = sys.argv[1:] if argv is None else argv
    signal.signal(signal.SIGTERM, _interrupt)
    return run_command("generate", __doc__, given, lambda words: _main(words, given), _STOPPED)


def _main(words: Words, given: Sequence[str]) -> int:
    if words.files or words.is_sweep:
        raise SettingError(f"unexpected argument '{(*words.files, '-m')[0]}'. Usage: {_USAGE}")
    from harness.cli import compose

    made = compose.composed(words, ["+command=generate", *words.overrides])
    from harness.questions.generate.run import run

    return run(made, given)


def _interrupt(_signal: int, _frame: object) -> None:
    """SIGTERM ends the run like Ctrl-C."""
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
