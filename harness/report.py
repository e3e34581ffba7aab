"""``python -m harness.report``: a finished sweep as one page, or as tables; ``list`` lists all sweeps."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from harness.cli.command import Words, run_command
from harness.cli.say import say, say_all
from harness.errors import SettingError, optional_share

_USAGE = "list, or sweep=ID, metric=NAME, baseline=CELL, format=html|csv|parquet, output=FILE"
FORMATS = ("html", "csv", "parquet")


def main(argv: Sequence[str] | None = None) -> int:
    """Writes the page or the tables and prints their paths; the exit code is 1 for a mistake."""
    return run_command("report", __doc__, argv, _main, "Stopped; nothing was written.")


def _main(words: Words) -> int:
    from harness.cli.compose import configured

    if words.files == ("list",):
        return _list()
    config = configured("report", words, _USAGE)
    from harness.decision.findings import found_out
    from harness.results.load import finished
    from harness.view.report.page import write_page
    from harness.view.table import write_tables

    kind = str(config.format)
    if kind not in FORMATS:
        raise SettingError(f"format is {kind}; it must be one of {', '.join(FORMATS)}.", key="format")
    margin = optional_share(config.pick.margin, "pick.margin", zero=False, one=False)
    sweep = finished(config)
    path = Path(f"report.{kind}").absolute() if config.output is None else Path(str(config.output))
    if kind == "html":
        metric, baseline = (None if word is None else str(word) for word in (config.metric, config.baseline))
        written = [write_page(sweep, found_out(sweep, metric=metric, margin=margin, baseline=baseline), path)]
    else:
        written = write_tables(sweep, path, kind)
    for file in written:
        say(f"{file} ({file.stat().st_size / 1e6:.1f} MB)")
    return 0


def _list() -> int:
    from harness.results.sweeps import sweep_lines
    from harness.view.sweep_list import sweep_list

    say_all(sweep_list(sweep_lines()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
