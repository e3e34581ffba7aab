"""The questions in figures: what became of them in each cell, what might help, and the golden set itself."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from markupsafe import Markup

from harness.decision.findings import Helped
from harness.results.finished import FinishedSweep
from harness.verdict import Verdict
from harness.view.formats import counted
from harness.view.notes import documents
from harness.view.report.drawing import bar, picture, rule, written
from harness.view.report.effects import plain
from harness.view.report.excerpts import places_of

# The order in which a bar shows them, best first, and what each means.
MEANING = {
    "found": "the returned context holds all of the evidence",
    "partial": "it holds one piece of evidence and lacks another",
    "split": "it holds a part of the evidence; the rest lies in another chunk",
    "truncated": "most of what is missing was truncated: beyond the model's maximum sequence length",
    "ranked_low": "the evidence stands further down the ranking",
    "not_retrieved": "the evidence did not come back",
    "not_in_index": "no chunk holds the evidence",
}
# A suspicion, as the cause is one.
_USUAL = {
    "partial": "more context (k), or a reranker",
    "split": "another chunker, bigger chunks or an overlap",
    "truncated": "smaller chunks, or a model with a longer maximum sequence length",
    "ranked_low": "a reranker, hybrid retrieval or more context (k)",
    "not_retrieved": "another model, or hybrid retrieval",
    "not_in_index": "another chunker; check whether the document is complete",
}
_LENGTHS = (0, 50, 100, 200, 400, 800, 1600)
# Three of them stand side by side.
_WIDTH = 330.0
_LEFT, _TOP, _BOTTOM, _HEIGHT = 8.0, 22.0, 40.0, 170.0


class BarPart(NamedTuple):
    """``share``: of the cell's questions, in percent."""

    cause: str
    questions: int
    share: float


class StackedBar(NamedTuple):
    """One cell's bar, of parts from left to right."""

    place: int
    name: str
    parts: Sequence[BarPart]


class Remedy(NamedTuple):
    """One cause with its number of questions and what was observed, a sentence each."""

    cause: str
    questions: int
    usual: str
    observed: Sequence[str]


def causes(sweep: FinishedSweep) -> tuple[list[StackedBar], list[str]]:
    """For each cell its questions by suspected cause; and the causes that occur."""
    bars = []
    for i, cell in enumerate(sweep.cells):
        counts = cell.content["diagnosis"]
        total = sum(counts.values())
        parts = [BarPart(c, counts[c], round(100 * counts[c] / total, 3)) for c in MEANING if counts.get(c)]
        bars.append(StackedBar(i, cell.name, parts))
    found = {part.cause for bar in bars for part in bar.parts}
    return bars, [cause for cause in MEANING if cause in found]


def remedies(sweep: FinishedSweep, helped: Mapping[str, Mapping[str, Sequence[Helped]]]) -> list[Remedy]:
    """The causes of the best cell's missed questions; ``helped``: cell to cause to what was observed."""
    if not sweep.cells:
        return []
    best = sweep.cells[0]
    missed, of_cause = best.content["diagnosis"], helped.get(best.name, {})
    return [
        Remedy(cause, missed[cause], usual, [_observed(one) for one in of_cause.get(cause, ()) if one.found])
        for cause, usual in _USUAL.items()
        if missed.get(cause)
    ]


def _observed(one: Helped) -> str:
    found = f"{plain(one.setting)} {one.value} finds {one.found} of {one.of}"
    return f"{found}, and loses {one.lost} of {one.had} others"


def golden_set(sweep: FinishedSweep, verdict: Verdict | None) -> dict[str, Sequence[tuple[str, str]]]:
    """``facts`` (name, value), ``charts`` (title, picture) and ``left_out`` (question id, reason).

    A chart whose figures were not tracked is left out.
    """
    if not sweep.cells:
        return {}
    left_out = _left_out(sweep)
    columns = sweep.cells[0].questions
    texts = Counter(str(cluster) for cluster in columns["cluster"])
    drawn = [
        ("How much of a question's wording stands in its evidence", _overlap(columns.get("overlap"))),
        ("How long the evidence is", _lengths(sweep)),
    ]
    return {
        "facts": _facts(sweep, verdict, texts, left_out),
        "charts": [(title, chart) for title, chart in drawn if chart is not None],
        "left_out": left_out,
    }


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
        facts.append(("which weigh like", counted(round(verdict.effective_clusters), "text")))
    return facts


def _overlap(column: object) -> Markup | None:
    if not isinstance(column, np.ndarray):
        return None
    values = column.astype(np.float64)
    values = values[np.isfinite(values)]
    counts, _ = np.histogram(values, 10, (0.0, 1.0))
    return histogram(counts.tolist(), [f"{10 * i}%" for i in range(11)], "share of the question's words")


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
