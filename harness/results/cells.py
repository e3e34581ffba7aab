"""The files of one cell, written before anything is tracked.

``result.json`` (settings, metrics by flat name, health; what differs between machines under ``timing`` and
``provenance``), ``rankings.npz`` (rows as spans), ``questions.parquet`` (every metric of every question) and,
for a cell that failed, ``failure.json`` alone.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, get_args

import numpy as np

from harness.cell.build import Inputs
from harness.metrics import Scores
from harness.metrics.operating_point import OperatingPoint
from harness.metrics.reading import rows_back, tokens_read
from harness.records import UNUSED, Chunks, Kind, Question, Ranking
from harness.text.words import overlap

SCHEMA = 5
# Questions about one text are correlated: one cluster. A longer text has a cluster for each block of this
# many tokens.
BLOCK_TOKENS = 2000
# The prefix of the document id of lost evidence that still counts.
LOST = "(lost) "


class About(NamedTuple):
    """What is true of a question in every cell.

    ``cluster``: the document (or the block of a long one) of its first evidence. ``overlap``: the share of
    the question's words that occur in its evidence, nan for whole documents.
    """

    cluster: str
    overlap: float


def ranking_arrays(
    questions: Mapping[Kind, Sequence[Question]], rankings: Mapping[Kind, Ranking], chunks: Chunks
) -> dict[str, Any]:
    """Rankings as arrays ``<kind>_question_ids``, ``_doc``, ``_start``, ``_end``, ``_score`` and ``doc_ids``.

    Arrays are (questions, depth); ``doc`` indexes ``doc_ids`` and is -1 where fewer rows were returned. A
    whole document runs from 0 to its length. ``span_tokens``: tokens read down to each row.
    """
    lengths = np.array([len(document.text) for document in chunks.documents])
    arrays: dict[str, Any] = {"doc_ids": np.array([document.doc_id for document in chunks.documents])}
    for kind, ranking in rankings.items():
        none = ranking.rows < 0
        rows = np.where(none, 0, ranking.rows)
        doc = rows if kind == "document" else chunks.doc[rows]
        start = np.zeros_like(rows) if kind == "document" else chunks.start[rows]
        end = lengths[doc] if kind == "document" else chunks.end[rows]
        arrays |= {
            f"{kind}_question_ids": np.array([question.question_id for question in questions[kind]]),
            f"{kind}_doc": np.where(none, -1, doc).astype(np.int32),
            f"{kind}_start": np.where(none, -1, start),
            f"{kind}_end": np.where(none, -1, end),
            f"{kind}_score": ranking.scores,
        }
    if "span" in rankings:
        arrays["span_tokens"] = tokens_read(chunks, rankings["span"].rows)
    return arrays


def write_rankings(
    path: Path, questions: Mapping[Kind, Sequence[Question]], rankings: Mapping[Kind, Ranking], chunks: Chunks
) -> None:
    """Writes ``ranking_arrays``; no pickle is needed to read them."""
    with path.open("wb") as file:
        np.savez_compressed(file, **ranking_arrays(questions, rankings, chunks))


def row_digests(arrays: Mapping[str, Any], point: OperatingPoint) -> dict[str, str]:
    """Question id to a digest, 16 hex digits, of the rows that come back: document ids and offsets, in order.

    Within a budget, a row that is cut is one of them. Whole documents have no budget: no digests there.
    """
    digests = {}
    for kind in get_args(Kind):
        if f"{kind}_doc" not in arrays or (kind == "document" and point.k is None):
            continue
        doc, start, end = (arrays[f"{kind}_{name}"] for name in ("doc", "start", "end"))
        names = np.append(arrays["doc_ids"], "")[doc]
        counts = rows_back(point, arrays["span_tokens"] if kind == "span" else doc)
        lists = zip(arrays[f"{kind}_question_ids"], counts, names, start, end, strict=True)
        for question_id, count, *rows in lists:
            content = json.dumps([row[:count].tolist() for row in rows])
            digests[str(question_id)] = hashlib.sha256(content.encode()).hexdigest()[:16]
    return digests


def write_questions(
    path: Path,
    questions: Mapping[Kind, Sequence[Question]],
    scores: Mapping[Kind, Scores],
    about: Mapping[str, About],
    *,
    texts: bool,
) -> None:
    """One row per question: id, kind, source, cluster, overlap, first rank, cause, and every metric.

    ``about``: question id to what does not depend on the cell. ``texts`` adds the question's text. A metric
    that does not exist for a kind is null there.
    """
    import pyarrow as pa
    from pyarrow import parquet

    tables = []
    for kind, column in scores.items():
        rows = questions[kind]
        names = {"question_id": pa.array(column.question_ids), "kind": pa.array([kind] * len(rows))}
        if texts:
            names["question"] = pa.array([question.text for question in rows])
        known = [about[question.question_id] for question in rows]
        names |= {
            "source": pa.array([question.source for question in rows]),
            "cluster": pa.array([of.cluster for of in known]),
            "overlap": pa.array([of.overlap for of in known], pa.float64()),
            "first_rank": pa.array(column.first_rank, from_pandas=True),
            "cause": pa.array(column.cause),
        }
        names |= {name: pa.array(values) for name, values in column.values.items()}
        tables.append(pa.table(names))
    parquet.write_table(pa.concat_tables(tables, promote_options="default"), path)


# Every cell of a sweep records it; the questions are the same in all.
@lru_cache(maxsize=4)
def about_questions(given: Inputs) -> Mapping[str, About]:
    """Each question id with its cluster and its lexical overlap with the evidence.

    A cluster is the document of the first evidence. In a document of more than 2,000 tokens it is the block
    of 2,000 in which the evidence begins, counted from 1: ``doc.md#3``; evidence that is such a document as a
    whole has the document.
    """
    positions = {document.doc_id: i for i, document in enumerate(given.documents)}
    return {
        question.question_id: About(
            _cluster(given, positions, question), _overlap(given, positions, question)
        )
        for question in given.labels.questions
    }


def _cluster(given: Inputs, positions: Mapping[str, int], question: Question) -> str:
    first = question.evidence[0]
    doc_id = first.doc_id
    while doc_id not in positions and doc_id.startswith(LOST):
        doc_id = doc_id.removeprefix(LOST)
    if first.start is None or doc_id not in positions:
        return doc_id
    tokens = given.tokens[positions[doc_id]]
    if len(tokens) <= BLOCK_TOKENS:
        return doc_id
    return f"{doc_id}#{tokens.count(0, first.start) // BLOCK_TOKENS + 1}"


def _overlap(given: Inputs, positions: Mapping[str, int], question: Question) -> float:
    """The overlap with the documents as they are now; where evidence is lost, with its recorded quote."""
    quotes = []
    for evidence in question.evidence:
        if evidence.start is None:
            return float(np.nan)
        position = positions.get(evidence.doc_id)
        text = None if position is None else given.documents[position].text[evidence.start : evidence.end]
        quotes.append(text or evidence.quote or "")
    return overlap(question.text, quotes).plain


def by_cost(content: Mapping[str, Any], k: int) -> tuple[float, ...]:
    """The order of cells with equal scores: the cheapest first, by what is known at the end of a sweep.

    Tokens of ``k`` rows, stages that run, MB of the index. Latencies noted in passing are too rough.
    """
    params, figures = content["params"], content["metrics"] | content["health"]
    tokens, index_mb = (float(figures.get(name, 0.0)) for name in (f"context_tokens_at_{k}", "index_mb"))
    return tokens, float(stages(params)), index_mb


def stages(params: Mapping[str, str]) -> int:
    """How many stages a cell runs for a question, beside one search."""
    groups = (params.get(group, UNUSED) for group in ("model", "reranker"))
    return sum(option not in {UNUSED, "none"} for option in groups) + (params.get("retriever") == "hybrid")
