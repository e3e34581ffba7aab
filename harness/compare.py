"""``python -m harness.compare RUN_A RUN_B``: two cells question by question."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path

from omegaconf import DictConfig

from harness.cli import compose
from harness.cli.run import run_command
from harness.cli.say import say_all
from harness.cli.words import SETTING, Words
from harness.errors import SettingError

# Names of cells may look like settings: "parent=512", "context=title · bm25".
_SETTING = re.compile(r"(sweep|metric|baseline|worst|tracker|[+\w]+[./][\w./]*)=")
_HOW = (
    "Give two runs: python -m harness.compare RUN_A RUN_B. A run is a cell's name in the newest sweep (or in sweep=ID), or six or more "
    "characters of a run's id."
)


def main(argv: Sequence[str] | None = None) -> int:
    """Compares and says what follows; the exit code is 1 for runs that can't be compared and for wrong words."""
    return run_command("compare", __doc__, argv, _main, setting=_SETTING)


def _main(words: Words) -> int:
    # Of more than two, what looks like a setting was meant as one.
    meant = [word for word in words.files if SETTING.match(word)] if len(words.files) > 2 else []
    config = compose.composed(words, ["+command=compare", *words.overrides, *meant]).config
    runs = [word for word in words.files if word not in meant]
    if len(runs) == 1 and config.baseline is not None and not Path(str(config.baseline)).suffix:
        # What runs today against one other is a pair like any.
        runs.insert(0, str(config.baseline))
    if len(runs) != 2 or words.is_sweep:
        raise SettingError(_HOW)
    return _run(config, *runs)


def _run(config: DictConfig, first: str, second: str) -> int:
    from harness.decision.compare import compare
    from harness.results.load import finished_cell
    from harness.view.comparison import comparison

    worst = config.worst
    if not isinstance(worst, int) or isinstance(worst, bool) or worst < 0:
        raise SettingError(f"worst={worst}: give a whole number of questions, at least 0.", key="worst")
    metric = None if config.metric is None else str(config.metric)
    baseline = None if config.baseline is None else str(config.baseline)
    pair = finished_cell(config, first), finished_cell(config, second)
    found = compare(*pair, metric, worst, None if baseline in {first, second} else baseline)
    say_all(comparison(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
