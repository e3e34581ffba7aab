"""The golden set in figures: sizes, sources, questions per text, and words shared with the evidence."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from markupsafe import Markup

from harness.results.finished import FinishedSweep
from harness.verdict import Verdict
from harness.view.notes import documents
from harness.view.report.drawing import bar, picture, rule, written
from harness.view.report.excerpts import places_of

_STEPS = 10
_LENGTHS = (0, 50, 100, 200, 400, 800, 1600)
# Three of them stand side by side.
_WIDTH = 330.0
_LEFT, _TOP, _BOTTOM, _HEIGHT = 8.0, 22.0, 40.0, 170.0


class GoldenHealth(NamedTuple):
    """``facts``: name and value. ``charts``: title and picture. ``left_out``: question id and reason."""

    facts: Sequence[tuple[str, str]]
    charts: Sequence[tuple[str, Markup]]
    left_out: Sequence[tuple[str, str]]


def golden_health(sweep: FinishedSweep, verdict: Verdict | None) -> GoldenHealth:
    """What there is to know; a chart whose figures were not tracked is left out."""
    if not sweep.cells:
        return GoldenHealth([], [], [])
    left_out = _left_out(sweep)
    columns = sweep.cells[0].questions
    texts = Counter(str(cluster) for cluster in columns["cluster"])
    drawn = [
        ("How much of a question's wording stands in its evidence", _overlap(columns.get("overlap"))),
        ("How long the evidence is", _lengths(sweep)),
    ]
    return GoldenHealth(
        _facts(sweep, verdict, texts, left_out), [(t, c) for t, c in drawn if c is not None], left_out
    )


def _facts(
    sweep: FinishedSweep, verdict: Verdict | None, texts: Counter[str], left_out: Sequence[object]
) -> list[tuple[str, str]]:
    columns, content = sweep.cells[0].questions, sweep.cells[0].content
    units = sum(len(evidence) for evidence in sweep.evidence.values())
    others = sum(len(places_of(e)) - len(e) for e in sweep.evidence.values())
    sources = Counter(str(source) for source in columns["source"])
    lost = int(max(cell.metric("lost_evidence") for cell in sweep.cells))
    facts = [("questions", f"{sum(content['questions'].values()):,}")]
    if units:
        also = f", {others:,} with a second place" if others else ""
        facts.append(("labels", f"{units:,}{also}"))
    facts += [
        ("lost labels", f"{lost:,}"),
        ("left out", f"{len(left_out):,}"),
        ("written by", ", ".join(f"{source} {n:,}" for source, n in sources.most_common())),
        ("documents asked about", f"{documents(sweep):,}"),
        ("separate texts", f"{len(texts):,}"),
    ]
    if verdict is not None:
        facts.append(("which weigh like", f"{verdict.effective_clusters:.0f} texts"))
    return facts


def _overlap(column: object) -> Markup | None:
    if not isinstance(column, np.ndarray):
        return None
    values = column.astype(np.float64)
    values = values[np.isfinite(values)]
    counts, _ = np.histogram(values, _STEPS, (0.0, 1.0))
    return histogram(
        counts.tolist(), [f"{10 * i}%" for i in range(_STEPS + 1)], "share of the question's words"
    )


def _lengths(sweep: FinishedSweep) -> Markup | None:
    sizes = [
        int(unit["end"]) - int(unit["start"])
        for evidence in sweep.evidence.values()
        for unit in evidence
        if unit.get("end") is not None
    ]
    counts, _ = np.histogram(sizes, [*_LENGTHS, np.inf])
    edges = [*(f"{edge:,}" for edge in _LENGTHS), "more"]
    used = max((i + 1 for i, count in enumerate(counts) if count), default=0)
    return histogram(counts[:used].tolist(), edges[: used + 1], "characters of evidence")


def _left_out(sweep: FinishedSweep) -> list[tuple[str, str]]:
    """Questions that no cell was asked, from the sweep's folder."""
    file = sweep.folder / "left_out.jsonl"
    if not file.is_file():
        return []
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    return [(str(row["question_id"]), str(row["reason"])) for row in rows]


def histogram(counts: Sequence[int], edges: Sequence[str], label: str) -> Markup | None:
    """Bars of ``counts`` with ``edges`` (one more) below the borders; None where nothing was counted."""
    if not sum(counts):
        return None
    foot, step = _HEIGHT - _BOTTOM, (_WIDTH - 2 * _LEFT - 16) / len(counts)
    start = _LEFT + 8
    parts = []
    for i, count in enumerate(counts):
        tall = (foot - _TOP) * count / max(counts)
        x, middle = start + i * step, start + (i + 0.5) * step
        if count:
            parts.append(bar(x + 1.5, foot - tall, step - 3, tall))
            parts.append(written(middle, foot - tall - 5, f"{count:,}", anchor="middle"))
    parts.append(rule(start, foot, start + step * len(counts), foot, "axis"))
    skip = 1 + sum(map(len, edges)) * 7 // int(_WIDTH)
    parts += [
        written(start + i * step, foot + 16, edge, anchor="middle")
        for i, edge in enumerate(edges)
        if i % skip == 0
    ]
    parts.append(written(_WIDTH / 2, foot + 33, label, anchor="middle", css="title"))
    said = ", ".join(f"{edges[i]} to {edges[i + 1]}: {count}" for i, count in enumerate(counts))
    return picture(_HEIGHT, f"{label}. {said}.", parts, width=_WIDTH)
