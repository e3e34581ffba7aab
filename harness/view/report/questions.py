"""The questions: what became of them in each cell, what might help, and the golden set itself."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

from harness.results.finished import FinishedSweep
from harness.verdict import Verdict
from harness.view.formats import counted
from harness.view.notes import documents
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
# What usually helps: a suspicion, as the cause is one.
REMEDIES = {
    "partial": "more context (k), or a reranker",
    "split": "another chunker, bigger chunks or an overlap",
    "truncated": "smaller chunks, or a model with a longer maximum sequence length",
    "ranked_low": "a reranker, hybrid retrieval or more context (k)",
    "not_retrieved": "another model, or hybrid retrieval",
    "not_in_index": "another chunker; check whether the document is complete",
}


def causes(sweep: FinishedSweep) -> list[str]:
    """The suspected causes that occur."""
    return [cause for cause in MEANING if any(cell.content["diagnosis"].get(cause) for cell in sweep.cells)]


def golden_set(sweep: FinishedSweep, verdict: Verdict | None) -> dict[str, Sequence[tuple[str, str]]]:
    """``facts`` (name, value) and ``left_out`` (question id, reason)."""
    if not sweep.cells:
        return {}
    left_out = _left_out(sweep)
    return {"facts": _facts(sweep, verdict, len(left_out)), "left_out": left_out}


def _facts(sweep: FinishedSweep, verdict: Verdict | None, left_out: int) -> list[tuple[str, str]]:
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
        ("left out", f"{left_out:,}"),
        ("written by", ", ".join(f"{source} {n:,}" for source, n in sources.most_common())),
        ("documents asked about", f"{documents(sweep):,}"),
        ("separate texts", f"{len(set(columns['cluster'].tolist())):,}"),
    ]
    if verdict is not None:
        facts.append(("which weigh like", counted(round(verdict.effective_clusters), "text")))
    return facts


def _left_out(sweep: FinishedSweep) -> list[tuple[str, str]]:
    """Questions that no cell was asked, from the sweep's folder."""
    file = sweep.folder / "left_out.jsonl"
    if not file.is_file():
        return []
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    return [(str(row["question_id"]), str(row["reason"])) for row in rows]
