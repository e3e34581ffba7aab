"""The figures beside the scores of a cell: sizes, truncation, what the index misses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from harness.cell.build import Components
from harness.metrics.health import health
from harness.records import Encoded, Kind, Question
from harness.retriever import Prepared, Searcher


def health_of(
    cell: Components,
    prepared: Prepared,
    questions: Mapping[Kind, Sequence[Question]],
    encoded: Encoded | None,
    k: int,
) -> dict[str, float]:
    """Figures by flat name; those of the index look at the first ``k`` rows."""
    labels = cell.inputs.labels
    figures = health(prepared.chunks, encoded, labels.questions)
    figures |= {"documents": len(cell.inputs.documents), "lost_evidence": labels.lost_evidence}
    figures |= prepared.problems
    if cell.retriever.uses_model and (agreement := cell.model.agreement()) is not None:
        figures["vector_agreement"] = agreement
    if cell.exact is not None:
        figures["index_recall"] = _index_recall(cell, cell.exact, prepared, questions, k)
    measured = cell.retriever.measurements()
    return figures | {name: measured[name] for name in ("index_mb",) if name in measured}


def _index_recall(
    cell: Components,
    exact: Searcher,
    prepared: Prepared,
    questions: Mapping[Kind, Sequence[Question]],
    k: int,
) -> float:
    """The share of the first ``k`` rows by exact search that the cell's index finds too.

    With a reranker: of all the rows that it reads.
    """
    cut = max(k, cell.reranker.depth)
    exact.prepare(prepared.chunks, prepared.tokens, {}, (), cell.metrics)
    found = wanted = 0
    for kind, asked in questions.items():
        texts = [question.text for question in asked]
        # A reranker reads chunks; else those groups count that are ranked in the end.
        groups = None if cell.reranker.depth else prepared.chunks.groups(kind)
        ours, theirs = (searcher.search(texts, cut, groups).rows for searcher in (cell.first_stage, exact))
        wanted += int((theirs >= 0).sum())
        found += sum(
            len(np.intersect1d(mine[mine >= 0], right)) for mine, right in zip(ours, theirs, strict=True)
        )
    return found / wanted if wanted else 1.0
