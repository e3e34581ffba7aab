"""The queries and relevance judgements of a data set in the layout of BEIR."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from harness.errors import InputError
from harness.golden import Labels
from harness.golden.anchoring import anchor
from harness.golden.jsonl import Faults, FieldError, identifier, one_of, read_lines, read_objects, text
from harness.records import Document, Evidence, Question

_IDS = ("_id", "id", "question_id", "qid")
_TEXTS = ("text", "query", "question")
_EXPECTED = (
    "golden=beir reads queries.jsonl and qrels/<split>.tsv from golden.path, which is corpus.path by default."
)


class BeirGolden:
    """``queries.jsonl`` and ``qrels/<split>.tsv`` (or ``qrels.tsv``) in ``path``, about whole documents.

    Queries without judgements are not part of the split. A grade of 0 or less means not relevant.
    ``keep_lost`` keeps queries with a judged document that is not in the corpus, and counts it as not found.
    Without ``twins``, other documents with the same text don't count.
    """

    def __init__(
        self, path: str, split: str = "test", *, keep_lost: bool = False, twins: bool = True
    ) -> None:
        self.path = Path(path).expanduser()
        self.split = split
        self.keep_lost = keep_lost
        self.twins = twins

    def load(self, documents: Sequence[Document]) -> Labels:
        """The questions, checked against ``documents``; see ``harness.golden``."""
        queries_file, qrels_file = self.path / "queries.jsonl", self._qrels_file()
        if not queries_file.is_file():
            raise InputError(f"There is no {queries_file}. {_EXPECTED}", path=queries_file)
        queries = _queries(queries_file)
        qrels = read_qrels(qrels_file)
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
            twins=self.twins,
            left_out={
                query_id: f"NO QUERY: judged in {qrels_file.name}, but not in queries.jsonl"
                for query_id in qrels
                if query_id not in queries
            },
        )

    def _qrels_file(self) -> Path:
        found = find_qrels(self.path, self.split)
        if found is None:
            splits = judged_splits(self.path)
            has = f" There are judgements for golden.split={splits}." if splits else ""
            missing = self.path / "qrels" / f"{self.split}.tsv"
            raise InputError(
                f"There is neither {missing} nor {self.path / 'qrels.tsv'}.{has} {_EXPECTED}", path=self.path
            )
        return found


def find_qrels(folder: Path, split: str) -> Path | None:
    """The file with the split's judgements, if there is one."""
    places = (folder / "qrels" / f"{split}.tsv", folder / "qrels.tsv")
    return next((place for place in places if place.is_file()), None)


def judged_splits(folder: Path) -> str:
    """The splits that have judgements, for messages."""
    return ", ".join(sorted(file.stem for file in (folder / "qrels").glob("*.tsv")))


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


def read_qrels(path: Path) -> dict[str, dict[str, int]]:
    """Query id to its relevant documents and their grades, in the order of the file.

    A line is ``query document grade`` separated by tabs (BEIR, with or without a header), or
    ``query 0 document grade`` separated by blanks (TREC). A grade of 0 or less is not relevant.
    """
    faults = Faults(path)
    grades: dict[tuple[str, str], int] = {}
    for line, content in read_lines(path):
        fields = [field.strip() for field in content.split("\t")]
        expected = 3
        if len(fields) == 1 and len(content.split()) == 4:
            fields, expected = content.split(), 4
        grade = _grade(fields[-1])
        if line == 1 and grade is None:
            continue  # BEIR's header
        if len(fields) != expected or grade is None:
            faults.add(
                line,
                f"{_found(fields)}; query, document and a whole number, separated by tabs, are expected.",
            )
            continue
        pair = fields[0], fields[-2]
        if grades.setdefault(pair, grade) != grade:
            faults.add(line, f"query {pair[0]} and document {pair[1]} were graded {grades[pair]} before.")
    faults.raise_if_any()
    qrels: dict[str, dict[str, int]] = {}
    for (query_id, doc_id), grade in grades.items():
        if grade > 0:
            qrels.setdefault(query_id, {})[doc_id] = grade
    return qrels


def _grade(field: str) -> int | None:
    """A whole number, maybe written with a decimal point."""
    try:
        return int(float(field)) if float(field).is_integer() else None
    except ValueError:
        return None


def _found(fields: Sequence[str]) -> str:
    count = f"{len(fields)} {'field' if len(fields) == 1 else 'fields'}"
    return f"{count}, the last being {json.dumps(fields[-1][:40], ensure_ascii=False)}"
