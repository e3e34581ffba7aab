"""``python -m harness.compare RUN_A RUN_B``: two cells question by question."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.cli.command import SETTING, Words, run_command
from harness.cli.say import say_all
from harness.errors import SettingError, whole

if TYPE_CHECKING:
    from omegaconf import DictConfig

# Names of cells may look like settings: "parent=512", "context=title · bm25", "retriever.k1=1.2 chunk=128".
_SETTING = re.compile(r"(sweep|metric|worst|tracker|[+\w]+[./][\w./]*)=(?!\S+\s+[\w.]+=)")
_USAGE = (
    "Give two runs: python -m harness.compare RUN_A RUN_B. A run is a cell's name in the newest sweep (or in "
    "sweep=ID), or the first six or more characters of a run's id."
)


def main(argv: Sequence[str] | None = None) -> int:
    """Compares two cells; the exit code is 1 for a mistake and for cells that can't be compared."""
    return run_command("compare", __doc__, argv, _main, setting=_SETTING)


def _main(words: Words) -> int:
    from harness.cli import compose

    # With more than two, words that look like settings are settings.
    meant = [word for word in words.files if SETTING.match(word)] if len(words.files) > 2 else []
    config = compose.composed(words, ["+command=compare", *words.overrides, *meant]).config
    runs = [word for word in words.files if word not in meant]
    if len(runs) != 2 or words.is_sweep:
        raise SettingError(_USAGE)
    return _run(config, *runs)


def _run(config: DictConfig, first: str, second: str) -> int:
    from harness.decision.compare import compare
    from harness.results.load import finished_cell
    from harness.view.comparison import comparison

    worst = whole(config.worst, "worst", of="questions")
    metric = None if config.metric is None else str(config.metric)
    say_all(comparison(compare(finished_cell(config, first), finished_cell(config, second), metric, worst)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
