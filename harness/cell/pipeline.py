"""One cell of a sweep, from documents to scores: the only module that knows the order of the stages."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from harness.cell.build import Parts
from harness.cell.reranked import RerankedRetriever
from harness.index.boundary import unsettled
from harness.index.exact import ExactIndex
from harness.metrics import Metrics
from harness.metrics.health import health
from harness.records import Chunks, IntArray, Kind, Question, Ranking, Scores
from harness.retriever.external.asking import ExternalRetriever
from harness.retriever.external.problems import Problems
from harness.store.latency import encode_ms
from harness.store.rankings import CachedRetriever

Searching: TypeAlias = CachedRetriever | ExternalRetriever | RerankedRetriever
LATENCY_QUESTIONS = 20


@dataclass(frozen=True)
class Result:
    """All that one cell came to.

    ``rankings`` and ``scores`` are given per kind of question and never averaged over kinds. ``health`` describes the cell;
    ``timing`` holds everything that another run or machine would measure differently. ``model`` and ``reranker`` are empty where none is used.
    ``remarks``: figures of ``health`` to an example, in words.
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
        """Means by flat name. Where there are both kinds, names of whole-document metrics begin with ``document_``."""
        flat: dict[str, float] = {}
        for kind, scores in self.scores.items():
            prefix = _prefix(kind, len(self.scores))
            flat |= {prefix + name: value for name, value in scores.means().items()}
        return flat


def evaluate(parts: Parts, ks: Sequence[int], primary: str) -> Result:
    """Builds the retriever, ranks every question once and scores the ranking at every k and budget."""
    labels = parts.inputs.labels
    before, reranked_before = parts.model.counts(), parts.reranker.seconds
    seconds: dict[str, float] = {}
    questions: dict[Kind, list[Question]] = {}
    for question in labels.questions:
        questions.setdefault(question.kind, []).append(question)

    figures: dict[str, float] = {
        "documents": len(parts.chunks.documents),
        "lost_evidence": labels.lost_evidence,
    }
    remarks: Mapping[str, str] = {}
    with timed(seconds, "search"):
        if isinstance(parts.retriever, ExternalRetriever):
            parts, wrong = _with_chunks(parts, parts.retriever, questions, ks)
            remarks = wrong.examples
            figures |= wrong.counts
        searching = parts.searching()
        searching.build(parts.chunks, parts.model, parts.index)
        encoded = searching.encoded()
    chunks = parts.chunks

    rankings: dict[Kind, Ranking] = {}
    scores: dict[Kind, Scores] = {}
    for kind in sorted(questions, reverse=True):  # span questions first: they carry the verdict
        with timed(seconds, "search"):
            rankings[kind] = _ranked(parts, searching, kind, questions[kind], ks)
        with timed(seconds, "metrics"):
            scores[kind] = parts.metrics.score(
                kind=kind,
                questions=questions[kind],
                ranking=rankings[kind],
                chunks=chunks,
                tokens=parts.inputs.tokens,
                ks=ks,
                first_ranks=lambda relevant, kind=kind: searching.first_ranks(  # type: ignore[misc]  # a default binds the loop's value
                    [question.text for question in questions[kind]], relevant, chunks.groups(kind)
                ),
                encoded=encoded,
                primary=primary,
            )
    spent = {count: value - before[count] for count, value in parts.model.counts().items()}
    with timed(seconds, "metrics"):
        figures |= _about_vectors(parts, questions, rankings, 5 if 5 in ks else max(ks))
    figures = health(chunks, encoded, labels.questions) | figures
    measured = dict(parts.retriever.measurements())
    if "index_mb" in measured:
        figures["index_mb"] = measured["index_mb"]
    # The retriever embeds and builds on its first search; what is left is searching.
    seconds |= {"embed": spent.pop("embed_seconds"), "index": measured.get("index_seconds", 0.0)}
    if parts.reranker.depth:
        seconds["rerank"] = parts.reranker.seconds - reranked_before
    seconds["search"] -= seconds["embed"] + seconds["index"] + seconds.get("rerank", 0.0)
    timing = {f"{stage}_seconds": value for stage, value in seconds.items()} | spent
    timing |= _latency(parts, searching, labels.questions)
    model = parts.model.identity() if parts.retriever.uses_model else {}
    about = (figures, model, timing, remarks, parts.reranker.identity())
    return Result(questions, rankings, scores, chunks.returned, *about)


def _with_chunks(
    parts: Parts,
    retriever: ExternalRetriever,
    questions: Mapping[Kind, Sequence[Question]],
    ks: Sequence[int],
) -> tuple[Parts, Problems]:
    """The parts with the chunks that the retriever brings, and what was wrong with them."""
    chunks, tokens, wrong = retriever.bring(questions, parts.chunks, parts.inputs.tokens, ks, parts.metrics)
    inputs = replace(parts.inputs, documents=chunks.documents, tokens=tokens)
    return replace(parts, chunks=chunks, inputs=inputs), wrong


def _ranked(
    parts: Parts, searching: Searching, kind: Kind, questions: Sequence[Question], ks: Sequence[int]
) -> Ranking:
    """One ranking, deep enough for the largest k and the largest token budget."""
    of_documents, groups = kind == "document", parts.chunks.groups(kind)
    texts = [question.text for question in questions]
    rows = len(parts.chunks.documents) if of_documents else len(parts.chunks.returned)
    depth = parts.metrics.depth(ks, rows)
    while True:
        ranking = searching.search(texts, depth, groups)
        if of_documents or depth >= rows or parts.metrics.is_deep_enough(parts.chunks, ranking):
            return ranking
        depth = min(2 * depth, rows)


def _about_vectors(
    parts: Parts, questions: Mapping[Kind, Sequence[Question]], rankings: Mapping[Kind, Ranking], k: int
) -> dict[str, float]:
    """What rounding, low precision and the index do to the first ``k`` rows: none of it may change a ranking in silence."""
    figures: dict[str, float] = {}
    if parts.retriever.uses_model and parts.model.is_rounded:
        figures["unsettled_questions"] = sum(
            int(unsettled(*_decided(parts, questions[kind], kind, ranking, k)).sum())
            for kind, ranking in rankings.items()
        )
    if parts.retriever.uses_model and (agreement := parts.model.agreement()) is not None:
        figures["vector_agreement"] = agreement
    if parts.exact is not None:
        figures["index_recall"] = _index_recall(parts, parts.exact, questions, k)
    return figures


def _by_vectors(parts: Parts, kind: Kind) -> IntArray | None:
    """What the vectors put in order: the chunks that a reranker reads, else what is ranked in the end."""
    return None if parts.reranker.depth else parts.chunks.groups(kind)


def _decided(
    parts: Parts, questions: Sequence[Question], kind: Kind, ranking: Ranking, k: int
) -> tuple[Ranking, int]:
    """The ranking by vectors, and the cut at which they decide: a reranker forgives every order of the rows that it reads."""
    if not parts.reranker.depth:
        return ranking, k
    texts, cut = [question.text for question in questions], max(parts.reranker.depth, k)
    return parts.retriever.search(texts, max(ranking.depth, cut), _by_vectors(parts, kind)), cut


def _index_recall(
    parts: Parts, exact: CachedRetriever, questions: Mapping[Kind, Sequence[Question]], k: int
) -> float:
    """The share of the first ``k`` rows by exact search that the cell's index finds too; of all that a reranker reads, where there is one."""
    exact.build(parts.chunks, parts.model, ExactIndex())
    found = wanted = 0
    for kind, asked in questions.items():
        texts, cut = [question.text for question in asked], max(k, parts.reranker.depth)
        ours, theirs = (
            retriever.search(texts, cut, _by_vectors(parts, kind)).rows
            for retriever in (parts.retriever, exact)
        )
        wanted += int((theirs >= 0).sum())
        found += sum(
            len(np.intersect1d(mine[mine >= 0], right)) for mine, right in zip(ours, theirs, strict=True)
        )
    return found / wanted if wanted else 1.0


def _latency(parts: Parts, searching: Searching, questions: Sequence[Question]) -> dict[str, float]:
    """Milliseconds for one question at a time, encoding and reranking included where there is any: p50 and p95 over the first questions."""
    texts = [question.text for question in questions[:LATENCY_QUESTIONS]]
    total = searching.search_ms(texts)
    if parts.retriever.uses_model:
        total = total + encode_ms(parts.model, texts)
    total = total[~np.isnan(total)]  # what was not answered took no time that counts
    p50, p95 = np.percentile(total, (50, 95)).tolist() if len(total) else (np.nan, np.nan)
    return {"query_ms_p50": p50, "query_ms_p95": p95}


def metric_names(metrics: Metrics, ks: Sequence[int], kinds: Sequence[Kind]) -> list[str]:
    """Every name that ``Result.metrics`` will have. Needs no data and no model."""
    return [_prefix(kind, len(kinds)) + name for kind in kinds for name in metrics.names(kind, ks)]


def _prefix(kind: Kind, kinds: int) -> str:
    """What metrics of this kind of question are called by where there are both kinds."""
    return "document_" if kind == "document" and kinds > 1 else ""


@contextmanager
def timed(seconds: dict[str, float], stage: str) -> Iterator[None]:
    """Adds the time spent inside to ``seconds[stage]``."""
    started = time.perf_counter()
    try:
        yield
    finally:
        seconds[stage] = seconds.get(stage, 0.0) + time.perf_counter() - started
