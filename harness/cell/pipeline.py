"""One cell of a sweep, from documents to scores: the only module that knows the order of the stages.

corpus -> chunks -> index -> ranking -> scores
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from harness.cell.build import Components
from harness.cell.health import health_of
from harness.cell.timing import Seconds, latency
from harness.metrics import Metrics, Scores
from harness.records import Chunks, Encoded, IntArray, Kind, Question, Ranking
from harness.retriever import Prepared


@dataclass(frozen=True)
class Result:
    """All that one cell came to.

    ``rankings`` and ``scores`` are given per kind of question and never averaged over kinds. ``chunks`` are
    those that the rows of the rankings stand for. ``health`` describes the cell; ``timing`` holds everything
    that another run or machine would measure differently. ``model`` and ``reranker`` are empty where none is
    used. ``remarks``: figures of ``health`` to an example, in words.
    """

    questions: Mapping[Kind, Sequence[Question]]
    rankings: Mapping[Kind, Ranking]
    scores: Mapping[Kind, Scores]
    chunks: Chunks
    health: Mapping[str, float]
    model: Mapping[str, Any]
    timing: Mapping[str, float] = field(default_factory=dict)
    remarks: Mapping[str, str] = field(default_factory=dict)
    reranker: Mapping[str, Any] = field(default_factory=dict)

    def metrics(self) -> dict[str, float]:
        """Means by flat name.

        Where there are both kinds, names of whole-document metrics begin with ``document_``.
        """
        flat: dict[str, float] = {}
        for kind, scores in self.scores.items():
            prefix = _prefix(kind, len(self.scores))
            flat |= {prefix + name: value for name, value in scores.means().items()}
        return flat


def evaluate(cell: Components, ks: Sequence[int], primary: str) -> Result:
    """Ranks every question once and scores the ranking at every k and budget."""
    questions = _by_kind(cell.inputs.labels.questions)
    seconds = Seconds(cell)
    with seconds.of("search"):
        prepared = prepare(cell, questions, ks)
        encoded = cell.retriever.encoded()
    rankings: dict[Kind, Ranking] = {}
    scores: dict[Kind, Scores] = {}
    for kind, asked in questions.items():
        with seconds.of("search"):
            rankings[kind] = rank(cell, prepared, kind, asked, ks)
        with seconds.of("metrics"):
            scores[kind] = _score(cell, prepared, kind, asked, rankings[kind], encoded, ks, primary)
    with seconds.of("metrics"):
        figures = health_of(cell, prepared, questions, rankings, encoded, 5 if 5 in ks else max(ks))
    return Result(
        questions=questions,
        rankings=rankings,
        scores=scores,
        chunks=prepared.chunks.returned,
        health=figures,
        model=cell.model.identity() if cell.retriever.uses_model else {},
        timing=seconds.timing() | latency(cell),
        remarks=prepared.examples,
        reranker=cell.reranker.identity(),
    )


def prepare(
    cell: Components, questions: Mapping[Kind, Sequence[Question]] | None = None, ks: Sequence[int] = ()
) -> Prepared:
    """Gets the cell's retriever ready to rank, and gives the chunks that it ranks.

    Only an external retriever needs the questions.
    """
    return cell.retriever.prepare(cell.chunks, cell.inputs.tokens, questions or {}, ks, cell.metrics)


def rank(
    cell: Components, prepared: Prepared, kind: Kind, questions: Sequence[Question], ks: Sequence[int]
) -> Ranking:
    """One ranking, deep enough for the largest k and the largest token budget."""
    chunks, groups = prepared.chunks, prepared.chunks.groups(kind)
    rows = len(chunks.documents) if kind == "document" else len(chunks.returned)
    depth = cell.metrics.depth(ks, rows)
    while True:
        ranking = cell.retriever.search(_texts(questions), depth, groups)
        if kind == "document" or depth >= rows or cell.metrics.is_deep_enough(chunks, ranking):
            return ranking
        depth = min(2 * depth, rows)


def first_ranks(
    ranked: IntArray, relevant: Sequence[IntArray], ask: Callable[[list[IntArray]], IntArray]
) -> IntArray:
    """int64 (questions,): rank of the first relevant row over the whole index, 0 where none comes back.

    ``ranked``: the same within the ranking. Only for questions without one there is ``ask`` called, once,
    with their relevant rows.
    """
    nothing = np.zeros(0, dtype=np.int64)
    below = [nothing if rank else rows for rank, rows in zip(ranked.tolist(), relevant, strict=True)]
    return np.where(ranked > 0, ranked, ask(below)) if any(map(len, below)) else ranked


def metric_names(metrics: Metrics, ks: Sequence[int], kinds: Sequence[Kind]) -> list[str]:
    """Every name that ``Result.metrics`` will have. Needs no data and no model."""
    return [_prefix(kind, len(kinds)) + name for kind in kinds for name in metrics.names(kind, ks)]


def _by_kind(questions: Sequence[Question]) -> dict[Kind, list[Question]]:
    """Span questions first: they carry the verdict."""
    kinds: dict[Kind, list[Question]] = {"span": [], "document": []}
    for question in questions:
        kinds[question.kind].append(question)
    return {kind: asked for kind, asked in kinds.items() if asked}


def _score(
    cell: Components,
    prepared: Prepared,
    kind: Kind,
    questions: Sequence[Question],
    ranking: Ranking,
    encoded: Encoded | None,
    ks: Sequence[int],
    primary: str,
) -> Scores:
    """Every metric of one kind of question."""
    chunks = prepared.chunks
    matches = cell.metrics.match(kind, questions, chunks)
    first_rank = first_ranks(
        matches.first_rank(ranking),
        matches.relevant_rows(),
        lambda rows: cell.retriever.first_ranks(_texts(questions), rows, chunks.groups(kind)),
    )
    return cell.metrics.score(
        matches, questions, ranking, first_rank, chunks, prepared.tokens, ks, encoded, primary
    )


def _texts(questions: Sequence[Question]) -> list[str]:
    return [question.text for question in questions]


def _prefix(kind: Kind, kinds: int) -> str:
    """What metrics of this kind of question are called by where there are both kinds."""
    return "document_" if kind == "document" and kinds > 1 else ""
