"""The figures beside the scores of a cell: sizes, truncation, effects of rounding and of the index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from harness.cell.build import Components
from harness.index import unsettled
from harness.metrics.health import health
from harness.records import Encoded, IntArray, Kind, Question, Ranking
from harness.retriever import Prepared, Searcher


def health_of(
    cell: Components,
    prepared: Prepared,
    questions: Mapping[Kind, Sequence[Question]],
    rankings: Mapping[Kind, Ranking],
    encoded: Encoded | None,
    k: int,
) -> dict[str, float]:
    """Figures by flat name; those that speak of rankings look at the first ``k`` rows."""
    labels = cell.inputs.labels
    texts = [question.text for asked in questions.values() for question in asked]
    figures = health(prepared.chunks, encoded, labels.questions)
    figures |= {"documents": len(cell.inputs.documents), "lost_evidence": labels.lost_evidence}
    figures |= prepared.problems
    if cell.retriever.uses_model:
        if cell.model.is_rounded:
            figures["unsettled_questions"] = _unsettled_questions(cell, prepared, questions, rankings, k)
        if count := cell.model.truncated_questions(texts):
            figures["truncated_questions"] = count
        if (agreement := cell.model.agreement()) is not None:
            figures["vector_agreement"] = agreement
    if cell.reranker.depth:
        count, pairs = cell.reranker.truncated(texts)
        figures |= {"truncated_pairs": count, "pairs": pairs} if count else {}
    if cell.exact is not None:
        figures["index_recall"] = _index_recall(cell, cell.exact, prepared, questions, k)
    measured = cell.retriever.measurements()
    return figures | {name: measured[name] for name in ("index_mb",) if name in measured}


def _unsettled_questions(
    cell: Components,
    prepared: Prepared,
    questions: Mapping[Kind, Sequence[Question]],
    rankings: Mapping[Kind, Ranking],
    k: int,
) -> int:
    """Questions for which unrounded vectors may give other first rows.

    The order of the rows that a reranker reads does not count.
    """
    cut, count = max(cell.reranker.depth, k), 0
    for kind, ranking in rankings.items():
        if cell.reranker.depth:
            texts, depth = [question.text for question in questions[kind]], max(ranking.depth, cut)
            ranking = cell.first_stage.search(texts, depth, _ordered_by_vectors(cell, prepared, kind))  # noqa: PLW2901 - the one that counts
        count += int(unsettled(ranking, cut).sum())
    return count


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
        texts, groups = [question.text for question in asked], _ordered_by_vectors(cell, prepared, kind)
        ours, theirs = (searcher.search(texts, cut, groups).rows for searcher in (cell.first_stage, exact))
        wanted += int((theirs >= 0).sum())
        found += sum(
            len(np.intersect1d(mine[mine >= 0], right)) for mine, right in zip(ours, theirs, strict=True)
        )
    return found / wanted if wanted else 1.0


def _ordered_by_vectors(cell: Components, prepared: Prepared, kind: Kind) -> IntArray | None:
    """The groups that the vectors put in order.

    None where a reranker reads the chunks, else those that are ranked in the end.
    """
    return None if cell.reranker.depth else prepared.chunks.groups(kind)
