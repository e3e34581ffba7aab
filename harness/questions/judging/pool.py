"""The passages that are judged: what cells and BM25 returned, known evidence, and one by chance."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from harness.questions.generate import Excerpt
from harness.questions.generate.excerpts import uniform
from harness.questions.generate.paragraphs import excerpts_of
from harness.questions.judging import passage_id
from harness.records import Chunks, Document, Evidence
from harness.results.finished import FinishedCell
from harness.retriever.bm25 import Bm25Retriever


class ReturnedSpan(NamedTuple):
    """A span that was returned."""

    doc_id: str
    start: int
    end: int


class PassagePool:
    """All passages of ``documents``, which belong to no chunking; ``by_id``: id to passage."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self.documents = sorted(documents, key=lambda document: document.doc_id)
        flat = [passage for own in excerpts_of(self.documents, all_text=True) for passage in own]
        self.by_id = {passage_id(passage): passage for passage in flat}
        self._of: dict[str, list[str]] = defaultdict(list)
        for each, passage in self.by_id.items():
            self._of[passage.doc_id].append(each)
        self._ends = {doc: [self.by_id[each].end for each in ids] for doc, ids in self._of.items()}
        self._starts = {doc: [self.by_id[each].start for each in ids] for doc, ids in self._of.items()}

    def touching(self, row: ReturnedSpan) -> list[str]:
        """Ids of the passages that share at least half of the shorter with a row."""
        if row.doc_id not in self._of:
            return []
        low = bisect_right(self._ends[row.doc_id], row.start)
        high = bisect_left(self._starts[row.doc_id], row.end)
        return [each for each in self._of[row.doc_id][low:high] if _shares(self.by_id[each], row)]

    def bm25(self, questions: Sequence[str], k: int) -> list[list[str]]:
        """Ids of the first ``k`` passages of each question by lexical search."""
        ids = [each for document in self.documents for each in self._of.get(document.doc_id, ())]
        at = {document.doc_id: i for i, document in enumerate(self.documents)}
        columns = [(at[p.doc_id], p.start, p.end) for p in map(self.by_id.__getitem__, ids)]
        doc, start, end = np.array(columns, np.int64).reshape(-1, 3).T
        chunks = Chunks(self.documents, doc, start, end, np.ones(len(ids), np.int64))
        retriever = Bm25Retriever()
        retriever.build(chunks, None, None)  # type: ignore[arg-type]  # no model and no index is used
        rows = retriever.search(questions, min(k, len(ids))).rows
        return [[ids[row] for row in some if row >= 0] for some in rows.tolist()]

    def by_chance(self, seed: int, key: str, taken: Iterable[str], places: Sequence[Evidence]) -> str:
        """The id of a passage that was not returned and touches none of ``places``; empty without one."""
        excluded = {*taken, *(each for place in places for each in self._of.get(place.doc_id, ()))}
        left = [each for each in self.by_id if each not in excluded]
        return min(left, key=partial(uniform, seed, key), default="")


def _shares(passage: Excerpt, row: ReturnedSpan) -> bool:
    shared = min(passage.end, row.end) - max(passage.start, row.start)
    return 2 * shared >= min(passage.end - passage.start, row.end - row.start)


def rows_of(cells: Sequence[FinishedCell], k: int) -> Mapping[str, list[ReturnedSpan]]:
    """Question id to the first ``k`` rows of every cell, each row once."""
    rows: dict[str, dict[ReturnedSpan, None]] = defaultdict(dict)
    for cell in cells:
        with np.load(cell.folder / "rankings.npz", allow_pickle=False) as archive:
            if "span_doc" in archive:
                _add_rows(rows, archive, k)
    return {question_id: list(found) for question_id, found in rows.items()}


def _add_rows(rows: dict[str, dict[ReturnedSpan, None]], archive: Any, k: int) -> None:
    names = archive["doc_ids"]
    columns = (archive[f"span_{name}"][:, :k].tolist() for name in ("doc", "start", "end"))
    for question_id, *own in zip(archive["span_question_ids"].tolist(), *columns, strict=True):
        for doc, start, end in zip(*own, strict=True):
            if doc >= 0:
                rows[str(question_id)][ReturnedSpan(str(names[doc]), start, end)] = None
