"""``python -m harness.report``: a finished sweep as one page, or as tables."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from omegaconf import DictConfig

from harness.cli import compose
from harness.cli.run import run_command
from harness.cli.say import say
from harness.cli.words import Words
from harness.decision.findings import found_out
from harness.errors import SettingError, StoreError
from harness.results.finished import FinishedSweep
from harness.results.load import finished
from harness.results.tables import per_question, table
from harness.verdict import Verdict
from harness.view.report.page import write_page

_WORDS = "Words: sweep=ID, metric=NAME, baseline=CELL, format=html|csv|parquet, output=FILE."
FORMATS = ("html", "csv", "parquet")


def main(argv: Sequence[str] | None = None) -> int:
    """Writes the page or the tables and says where; the exit code is 1 for a mistake."""
    return run_command("report", __doc__, argv, _main, "Stopped; nothing was written.")


def _main(words: Words) -> int:
    if words.files or words.is_sweep:
        raise SettingError(f"'{(*words.files, '-m')[0]}' means nothing here. {_WORDS}")
    config = compose.composed(words, ["+command=report", *words.overrides]).config
    for path in _run(config):
        say(f"{path} ({path.stat().st_size / 1e6:.1f} MB)")
    return 0


def write_report(
    sweep: FinishedSweep,
    path: Path,
    verdict: Verdict | None = None,
    *,
    metric: str | None = None,
    margin: float = 0.03,
    baseline: str | None = None,
) -> Path:
    """Writes the page of ``sweep`` to ``path`` and gives it.

    ``verdict`` saves judging again where it was judged by ``metric`` (default: the recorded one) already. ``baseline`` is what runs today: a
    cell's name or a production file. What can't be judged is no error: the page says why.
    """
    return write_page(sweep, found_out(sweep, verdict, metric=metric, margin=margin, baseline=baseline), path)


def _run(config: DictConfig) -> list[Path]:
    kind = str(config.format)
    if kind not in FORMATS:
        raise SettingError(f"format={kind} is not known. Formats: {', '.join(FORMATS)}.", key="format")
    margin = config.pick.margin
    if isinstance(margin, bool) or not isinstance(margin, (int, float)) or not 0 < margin < 1:
        raise SettingError(
            f"pick.margin is {margin}; it is a share between 0 and 1, such as 0.03.", key="pick.margin"
        )
    sweep = finished(config)
    path = Path(f"report.{kind}").absolute() if config.output is None else Path(str(config.output))
    if kind != "html":
        return _tables(sweep, path, kind)
    metric, baseline = (None if word is None else str(word) for word in (config.metric, config.baseline))
    return [write_report(sweep, path, metric=metric, margin=float(margin), baseline=baseline)]


def _tables(sweep: FinishedSweep, path: Path, kind: str) -> list[Path]:
    """The table of cells at ``path``, and every question in every cell beside it."""
    from pyarrow import csv, parquet

    write = csv.write_csv if kind == "csv" else parquet.write_table
    other = path.with_name(f"{path.stem}-questions{path.suffix}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write(table(sweep), path)
        write(per_question(sweep), other)
    except OSError as error:
        raise StoreError(
            f"{path} can't be written: {error}. Choose another file with output=FILE.", where=path
        ) from error
    return [path, other]


if __name__ == "__main__":
    sys.exit(main())
