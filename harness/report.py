"""``python -m harness.report``: a finished sweep as one page, or as tables."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from omegaconf import DictConfig

from harness import command, entry
from harness.baseline import baseline as baseline_meant
from harness.baseline import differences
from harness.command import Words
from harness.errors import InputError, SettingError, StoreError
from harness.finished import FinishedCell, FinishedSweep
from harness.outcomes import Compared, compared
from harness.reading import finished
from harness.tables import per_question, table
from harness.verdict import Verdict
from harness.verdict.effects import effects
from harness.verdict.helped import what_helped
from harness.verdict.judge import judge
from harness.verdict.wording import by_group, thirds
from harness.view import terminal
from harness.view.report.findings import ByWording, Findings
from harness.view.report.page import write_page

_WORDS = "Words: sweep=ID, metric=NAME, baseline=CELL, format=html|csv|parquet, output=FILE."
FORMATS = ("html", "csv", "parquet")
# The best is compared with so many others by the wording of the questions.
_RIVALS = 3


def main(argv: Sequence[str] | None = None) -> int:
    """Writes the page or the tables and says where; the exit code is 1 for a mistake."""
    return entry.run("report", __doc__, argv, _main, "Stopped; nothing was written.")


def _main(words: Words) -> int:
    if words.files or words.is_sweep:
        raise SettingError(f"'{(*words.files, '-m')[0]}' means nothing here. {_WORDS}")
    config = command.composed(words, ["+command=report", *words.overrides]).config
    for path in _run(config):
        terminal.say(f"{path} ({path.stat().st_size / 1e6:.1f} MB)")
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


def found_out(
    sweep: FinishedSweep,
    verdict: Verdict | None = None,
    *,
    metric: str | None = None,
    margin: float = 0.03,
    baseline: str | None = None,
) -> Findings:
    """Verdict, effects, wording, what helped, and differences to the baseline.

    Raises ``SettingError`` for a metric that is not there or can't decide, and for a baseline that is neither a cell nor a file.
    """
    chosen, helped = metric or sweep.primary, what_helped(sweep)
    if not sweep.cells:
        return Findings(chosen, None)
    try:
        numbers = compared(sweep, chosen)
        verdict = verdict or judge(numbers.outcomes, margin)
    except (SettingError, InputError) as error:
        if metric is not None:
            raise
        return Findings(chosen, None, str(error), helped=helped)
    axes = [axis.lstrip("+") for axis, levels in sweep.axes.items() if len(levels) > 1]
    settings = [{axis: cell.params[axis] for axis in axes} for cell in sweep.cells]
    base = None
    if baseline is not None:
        ks = dict.fromkeys(numbers.metrics, sweep.k)
        costs: dict[str, dict[str, float]] = {name: {} for name in numbers.metrics}
        base = baseline_meant(baseline, sweep, numbers, chosen, ks, costs)
    return Findings(
        metric=chosen,
        verdict=verdict,
        effects=effects(numbers.outcomes, settings) if axes else (),
        wording=_by_wording(sweep, verdict, numbers),
        helped=helped,
        baseline=None if base is None else base.name,
        to_baseline={} if base is None else differences(base, numbers),
    )


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


def _by_wording(sweep: FinishedSweep, verdict: Verdict, numbers: Compared) -> list[ByWording]:
    """The best against its nearest rivals, and against the best of every other retriever, in groups of questions."""
    best = sweep.cell(verdict.standings[0].name)
    known = {str(i): place for place, i in enumerate(best.questions["question_id"])}
    rows = [known[i] for i in numbers.question_ids]
    groups: dict[str, Sequence[str]] = {}
    if "overlap" in best.questions:
        groups["overlap"] = thirds(best.questions["overlap"][rows].astype(np.float64))
    groups["source"] = best.questions["source"][rows].astype(str).tolist()
    names, values = numbers.outcomes.names, numbers.outcomes.values
    found = []
    for rival in _rivals(sweep, verdict, best):
        differences = values[names.index(best.name)] - values[names.index(rival)]
        for title, of in groups.items():
            if len(set(of)) > 1:
                comparison = by_group(differences, numbers.outcomes.clusters, of)
                found.append(ByWording(best.name, rival, title, comparison))
    return found


def _rivals(sweep: FinishedSweep, verdict: Verdict, best: FinishedCell) -> list[str]:
    others = [sweep.cell(s.name) for s in verdict.standings[1:] if s.same_as is None]
    firsts: dict[str | None, str] = {}
    for cell in others:
        firsts.setdefault(cell.params.get("retriever"), cell.name)
    firsts.pop(best.params.get("retriever"), None)
    return list(dict.fromkeys([*(cell.name for cell in others[:_RIVALS]), *firsts.values()]))


if __name__ == "__main__":
    sys.exit(main())
