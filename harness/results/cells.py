"""The files of one cell. They are on disk, whole, before anything is tracked.

``result.json`` (settings, metrics by flat name, health; what differs between machines under ``timing`` and
``provenance``), ``rankings.npz`` (rows as spans), ``questions.parquet`` (every metric of every question) and, for a
cell that failed, ``failure.json`` alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from harness.records import Chunks, Kind, Question, Ranking, Scores

SCHEMA = 3


class About(NamedTuple):
    """What is true of a question in every cell.

    ``cluster``: the document (or the part of a long one) of its first evidence. ``overlap``: the share of the question's words that stand
    in its evidence, nan for whole documents.
    """

    cluster: str
    overlap: float


def write_rankings(
    path: Path, questions: Mapping[Kind, Sequence[Question]], rankings: Mapping[Kind, Ranking], chunks: Chunks
) -> None:
    """Rankings per kind as arrays ``<kind>_question_ids``, ``_doc``, ``_start``, ``_end``, ``_score`` and ``doc_ids``.

    Arrays are (questions, depth); ``doc`` indexes ``doc_ids`` and is -1 where fewer rows came back. A whole document runs from
    0 to its length. No pickle is needed to read them.
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
    with path.open("wb") as file:
        np.savez_compressed(file, **arrays)


def write_questions(
    path: Path,
    questions: Mapping[Kind, Sequence[Question]],
    scores: Mapping[Kind, Scores],
    about: Mapping[str, About],
    *,
    texts: bool,
) -> None:
    """One row per question: id, kind, source, cluster, overlap, first rank, cause, every metric at every k and budget.

    ``about`` says of each question id what does not depend on the cell. ``texts`` adds the question's text. A metric that does not
    exist for a kind is null there.
    """
    import pyarrow as pa
    from pyarrow import parquet

    tables = []
    for kind, column in scores.items():
        asked = questions[kind]
        names = {"question_id": pa.array(column.question_ids), "kind": pa.array([kind] * len(asked))}
        if texts:
            names["question"] = pa.array([question.text for question in asked])
        known = [about[question.question_id] for question in asked]
        names |= {
            "source": pa.array([question.source for question in asked]),
            "cluster": pa.array([of.cluster for of in known]),
            "overlap": pa.array([of.overlap for of in known], pa.float64()),
            "first_rank": pa.array(column.first_rank, from_pandas=True),
            "cause": pa.array(column.cause),
        }
        names |= {name: pa.array(values) for name, values in column.values.items()}
        tables.append(pa.table(names))
    parquet.write_table(pa.concat_tables(tables, promote_options="default"), path)
