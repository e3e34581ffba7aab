"""``python -m harness.golden.judge``: a model judges passages that a sweep returned and nobody labelled."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence

from harness.cli.command import Words, run_command
from harness.errors import SettingError

_STOPPED = "Stopped. All answers so far are cached; the same command continues from here."
_USAGE = "python -m harness.golden.judge sweep=latest yes=true"


def main(argv: Sequence[str] | None = None) -> int:
    """Judges; the exit code is 1 when something is wrong or nothing is accepted, and 130 after Ctrl-C."""
    signal.signal(signal.SIGTERM, _interrupt)
    return run_command("judge", __doc__, argv, _main, _STOPPED)


def _main(words: Words) -> int:
    if words.files or words.is_sweep:
        raise SettingError(f"unexpected argument '{(*words.files, '-m')[0]}'. Usage: {_USAGE}")
    from harness.cli import compose

    made = compose.composed(words, ["+command=judge", *words.overrides])
    from harness.questions.judging.run import run

    return run(made)


def _interrupt(_signal: int, _frame: object) -> None:
    """SIGTERM ends the run like Ctrl-C."""
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
