"""The queries and relevance judgements of a data set in the layout of BEIR."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from harness.errors import InputError
from harness.golden import Labels
from harness.golden.anchoring import anchor
from harness.golden.faults import Faults
from harness.golden.fields import FieldError, identifier, one_of, text
from harness.golden.lines import read_lines, read_objects
from harness.records import Document, Evidence, Question

_IDS = ("_id", "id", "question_id", "qid")
_TEXTS = ("text", "query", "question")


class BeirGolden:
    """``queries.jsonl`` and ``qrels/<split>.tsv`` (or ``qrels.tsv``) in the folder ``path``; the evidence is whole documents.

    Queries without judgements are not part of the split. A grade of 0 or less is no evidence. ``keep_lost`` keeps queries
    with a judged document that is not in the corpus, and counts it as not found.
    """

    def __init__(self, path: str, split: str = "test", *, keep_lost: bool = False) -> None:
        self.path = Path(path).expanduser()
        self.split = split
        self.keep_lost = keep_lost

    def load(self, documents: Sequence[Document]) -> Labels:
        """The questions, checked against ``documents``; see ``harness.golden``."""
        queries_file, qrels_file = self.path / "queries.jsonl", self._qrels_file()
        if not queries_file.is_file():
            raise InputError(f"There is no {queries_file}. {_EXPECTED}", path=queries_file)
        queries = _queries(queries_file)
        qrels = _qrels(qrels_file)
        digest = hashlib.sha256(json.dumps([queries, qrels], sort_keys=True).encode()).hexdigest()
        questions = [
            Question(
                query_id,
                query,
                tuple(Evidence(doc_id, grade=grade) for doc_id, grade in qrels[query_id].items()),
            )
            for query_id, query in queries.items()
            if query_id in qrels
        ]
        return anchor(
            questions,
            documents,
            name=f"{self.path.resolve().name}-{self.split}",
            path=qrels_file,
            digest=digest,
            keep_lost=self.keep_lost,
            left_out={
                query_id: f"NO QUERY: judged in {qrels_file.name}, but not in queries.jsonl"
                for query_id in qrels
                if query_id not in queries
            },
        )

    def _qrels_file(self) -> Path:
        folder = self.path / "qrels"
        places = (folder / f"{self.split}.tsv", self.path / "qrels.tsv")
        found = next((place for place in places if place.is_file()), None)
        if found is None:
            splits = ", ".join(sorted(file.stem for file in folder.glob("*.tsv")))
            has = f" There are judgements for golden.split={splits}." if splits else ""
            raise InputError(
                f"There is neither {places[0]} nor {places[1]}.{has} {_EXPECTED}", path=self.path
            )
        return found


_EXPECTED = (
    "golden=beir reads queries.jsonl and qrels/<split>.tsv from golden.path, which is corpus.path by default."
)


def _queries(path: Path) -> dict[str, str]:
    faults = Faults(path)
    queries: dict[str, str] = {}
    for line, item in read_objects(path, faults):
        try:
            id_key, text_key = one_of(item, _IDS, "the id"), one_of(item, _TEXTS, "the text")
            query_id, query = (
                identifier(item.get(id_key or "_id"), id_key or "_id"),
                text(item, text_key or "text"),
            )
        except FieldError as error:
            faults.add(line, str(error))
            continue
        if query_id in queries:
            faults.add(line, f'the query id "{query_id}" occurs a second time.')
        queries[query_id] = query
    faults.raise_if_any()
    return queries


def _qrels(path: Path) -> dict[str, dict[str, int]]:
    """Query id to its relevant documents and their grades, in the order of the file; queries with none are missing."""
    faults = Faults(path)
    grades: dict[tuple[str, str], int] = {}
    for line, content in read_lines(path):
        fields = content.strip("\r\n").split("\t")
        if line == 1 and not _is_number(fields[-1]):
            continue  # BEIR's header
        if len(fields) != 3 or not _is_number(fields[2]):
            faults.add(
                line,
                f"{_found(fields)}; query-id, corpus-id and a whole number, parted by tabs, are expected.",
            )
            continue
        grade = int(fields[2])
        if grades.setdefault((fields[0], fields[1]), grade) != grade:
            faults.add(
                line,
                f"query {fields[0]} and document {fields[1]} were graded {grades[fields[0], fields[1]]} before.",
            )
    faults.raise_if_any()
    qrels: dict[str, dict[str, int]] = {}
    for (query_id, doc_id), grade in grades.items():
        if grade > 0:
            qrels.setdefault(query_id, {})[doc_id] = grade
    return qrels


def _found(fields: Sequence[str]) -> str:
    count = f"{len(fields)} {'field' if len(fields) == 1 else 'fields'}"
    return f"{count}, the last being {json.dumps(fields[-1][:40], ensure_ascii=False)}"


def _is_number(field: str) -> bool:
    try:
        int(field)
    except ValueError:
        return False
    return True
