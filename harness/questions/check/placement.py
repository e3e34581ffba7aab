"""How long the evidence is, and where it stands."""

from __future__ import annotations

from statistics import median

import numpy as np

from harness.questions.check import Examined, Finding, Look
from harness.records import Chunks

_FEWEST = 20  # pieces of evidence; of fewer, half in one third is chance
_THIRD = 1 / 3


def placement(examined: Examined, chunks: Chunks) -> Look:
    """Median length, and the share of evidence (by its middle) in the first third of its document, and of its chunk; a third would be even.

    More than half there hides what truncation costs: a model that reads only the beginning finds it all the same.
    """
    length_of = {document.doc_id: len(document.text) for document in examined.documents}
    lengths: list[int] = []
    early: dict[str, list[int]] = {"document": [], "chunk": []}
    for piece in examined.pieces():
        evidence = piece.unit.evidence
        if evidence is None or evidence.start is None or evidence.end is None:
            continue
        lengths.append(evidence.end - evidence.start)
        middle = (evidence.start + evidence.end) / 2
        if middle < _THIRD * length_of[evidence.doc_id]:
            early["document"].append(piece.question)
        if _part_of_chunk(chunks, evidence.doc_id, middle) < _THIRD:
            early["chunk"].append(piece.question)
    if not lengths:
        return Look("evidence", "whole documents")
    share = {what: len(found) / len(lengths) for what, found in early.items()}
    fact = (
        f"{median(lengths):,.0f} characters long (median, {min(lengths):,} to {max(lengths):,}); "
        f"{share['document']:.0%} in the first third of its document, {share['chunk']:.0%} of its chunk"
    )
    most = max(share, key=lambda what: share[what])
    if share[most] <= 0.5 or len(lengths) < _FEWEST:
        return Look("evidence", fact)
    finding = Finding(
        "early evidence",
        "note",
        examined.ids(early[most]),
        f"{share[most]:.0%} of the evidence stands in the first third of its {most}: a model that reads only the beginning loses little by it here.",
        "Ask about the middle and the end too; look at “unseen” beside the scores.",
    )
    return Look("evidence", fact, (finding,))


def _part_of_chunk(chunks: Chunks, doc_id: str, middle: float) -> float:
    """Where in the first chunk that holds it a place stands, from 0 to 1; 1 where no chunk does."""
    doc = chunks.doc_index[doc_id]
    rows = slice(chunks.doc_rows[doc], chunks.doc_rows[doc + 1])
    start, end = chunks.start[rows], chunks.end[rows]
    holding = np.flatnonzero((start <= middle) & (middle < end))
    if not len(holding):
        return 1.0
    row = holding[0]
    return float((middle - start[row]) / (end[row] - start[row]))
