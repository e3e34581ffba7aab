"""A finished sweep out of nothing: any number of cells and questions, with documents, rankings and evidence that fit together."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from harness.decision.findings import Findings, found_out
from harness.metrics.diagnosis import CAUSES
from harness.results.finished import FinishedCell, FinishedSweep
from harness.results.scores import compared
from harness.view.colors import colors_of

PRIMARY = "recall_at_2000_tokens"
DEPTH = 10


@cache
def _stock() -> list[str]:
    rng = np.random.default_rng(11)
    letters = np.array(list("abcdefghijklmnoprstuvw"))
    return ["".join(letters[rng.integers(0, len(letters), size)]) for size in rng.integers(2, 10, 2000)]


def words(rng: np.random.Generator, count: int) -> str:
    """Prose of made-up words, some of them frequent."""
    stock = _stock()
    return " ".join(stock[i] for i in (len(stock) * rng.random(count) ** 3).astype(int).tolist())


def made_sweep(
    folder: Path,
    axes: Mapping[str, Sequence[str]],
    questions: Sequence[str],
    texts: Mapping[str, str],
    *,
    seed: int = 0,
    tracked: bool = True,
) -> FinishedSweep:
    """Every combination of ``axes`` as a cell, best first.

    The evidence of question i is one stretch of the document i (counted round) and lies at rank ``first_rank`` of each cell, which is up to
    twelve or nowhere; a cell is the better the earlier it stands. ``tracked=False``: as with tracker.texts=false.
    """
    rng = np.random.default_rng(seed)
    ids = [f"q{i:05d}" for i in range(len(questions))]
    docs = sorted(texts)
    evidence = {q: [_span(texts, docs[i % len(docs)], rng)] for i, q in enumerate(ids)}
    params = [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]
    colors = colors_of(params, list(axes))
    cells = []
    for i, (settings, color) in enumerate(zip(params, colors, strict=True)):
        ranks = rng.integers(1, 13 + 2 * (i % 7), len(ids)).astype(float)
        ranks[ranks > 12] = np.nan
        place = folder / str(i)
        place.mkdir(parents=True)
        _rankings(place, ids, docs, texts, evidence, ranks, rng)
        cells.append(_cell(place, i, settings, color, ids, questions, ranks, docs, tracked=tracked))
    cells.sort(key=lambda cell: -cell.metric(PRIMARY))
    pieces = {doc: [(0, text)] for doc, text in texts.items()} if tracked else {}
    name = f"{len(cells)} cells · {' × '.join(axes)}"
    return FinishedSweep(name, "f" * 32, "", "1", folder, PRIMARY, 5, axes, cells, [], pieces, evidence)


def found(sweep: FinishedSweep) -> Findings:
    """All that is to be said about it."""
    assert compared(sweep, sweep.primary)
    return found_out(sweep)


def _span(texts: Mapping[str, str], doc: str, rng: np.random.Generator) -> dict[str, Any]:
    length = len(texts[doc])
    start = int(rng.integers(0, max(1, length - 60)))
    return {"doc_id": doc, "start": start, "end": min(length, start + 60)}


def _rankings(
    place: Path,
    ids: Sequence[str],
    docs: Sequence[str],
    texts: Mapping[str, str],
    evidence: Mapping[str, list[dict[str, Any]]],
    ranks: np.ndarray,
    rng: np.random.Generator,
) -> None:
    """Chunks of 800 characters, anywhere but where the evidence is, and there at its rank."""
    lengths = np.array([len(texts[doc]) for doc in docs])
    doc = rng.integers(0, len(docs), (len(ids), DEPTH))
    start = 800 * (rng.integers(0, 1 << 30, doc.shape) % np.maximum(1, lengths[doc] // 800))
    for i, question_id in enumerate(ids):
        if np.isfinite(ranks[i]) and ranks[i] <= DEPTH:
            at = int(ranks[i]) - 1
            doc[i, at] = docs.index(evidence[question_id][0]["doc_id"])
            start[i, at] = 800 * (evidence[question_id][0]["start"] // 800)
    np.savez(
        place / "rankings.npz",
        doc_ids=np.array(docs),
        span_question_ids=np.array(ids),
        span_doc=doc.astype(np.int32),
        span_start=start,
        span_end=np.minimum(start + 800, lengths[doc]),
        span_score=np.linspace(1, 0, DEPTH)[None].repeat(len(ids), 0).astype(np.float32),
    )


def _cell(
    place: Path,
    number: int,
    settings: Mapping[str, str],
    color: str,
    ids: Sequence[str],
    questions: Sequence[str],
    ranks: np.ndarray,
    docs: Sequence[str],
    *,
    tracked: bool,
) -> FinishedCell:
    found = ranks <= 8
    cause = np.where(found, "found", np.where(np.isfinite(ranks), "ranked_low", "not_retrieved"))
    columns: dict[str, Any] = {
        "question_id": np.array(ids),
        "kind": np.array(["span"] * len(ids)),
        "source": np.array(["synthetic" if i % 3 else "production" for i in range(len(ids))]),
        "cluster": np.array([docs[i % len(docs)] for i in range(len(ids))]),
        "overlap": (np.arange(len(ids)) % 11) / 10,
        "first_rank": ranks,
        "cause": cause,
        PRIMARY: found.astype(float),
    }
    if tracked:
        columns["question"] = np.array(questions, dtype=object)
    metrics = {PRIMARY: float(found.mean()), "mrr": float(np.nan_to_num(1 / ranks).mean())}
    metrics |= {f"recall_at_{k}": float((ranks <= k).mean()) for k in (1, 3, 5, 10)}
    metrics |= {f"recall_at_{b}_tokens": float((ranks <= b / 250).mean()) for b in (500, 1000, 4000)}
    metrics |= {"context_tokens_at_5": 400.0 + 10 * number}
    content = {
        "schema": 3,
        "params": dict(settings),
        "primary": PRIMARY,
        "k": [1, 3, 5, 10],
        "questions": {"span": len(ids)},
        "metrics": metrics,
        "chunk_independent": [name for name in metrics if name != "mrr"],
        "health": {
            "chunks": 100.0,
            "truncated_chunks": 0.0,
            "truncated_tokens": 0.0,
            "truncated_evidence": 0.0,
            "lost_evidence": 0,
            "index_mb": 1.0 + number,
        },
        "diagnosis": {c: int(np.sum(cause == c)) for c in CAUSES if np.any(cause == c)},
        "model": {"window": 256},
        "config": {"chunker": {"size": settings.get("chunk", "256")}, "golden": {}},
        "timing": {"embed_seconds": 1.0, "search_seconds": 0.5, "query_ms_p95": 3.0 + number},
    }
    return FinishedCell(" · ".join(settings.values()), f"{number:032x}", place, content, columns, color)
