"""The queries and relevance judgements of a data set in the layout of BEIR."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.errors import InputError
from harness.golden import Labels
from harness.golden.anchoring import anchor
from harness.golden.jsonl import (
    Faults,
    FieldError,
    identifier,
    one_of,
    read_lines,
    read_objects,
    shown,
    text,
)
from harness.records import Document, Evidence, Question
from harness.text.encodings import encodable
from harness.text.opening import first_file, plain_name

_IDS = ("_id", "id", "question_id", "qid")
_TEXTS = ("text", "query", "question")
_EXPECTED = (
    "golden=beir reads queries.jsonl or queries.tsv, and qrels/<split>.tsv, from golden.path, which is "
    "corpus.path by default. Each may be packed (.gz)."
)


class BeirGolden:
    """``queries.jsonl`` and ``qrels/<split>.tsv`` (or ``qrels.tsv``) in ``path``, about whole documents.

    As in MS MARCO, queries may be ``queries.tsv``, and the split part of a name: ``qrels.dev.tsv``.
    Queries without judgements are not part of the split. A grade of 0 or less means not relevant.
    ``keep_lost`` keeps queries with a judged document that is not in the corpus, and counts it as not found.
    """

    def __init__(self, path: str, split: str = "test", *, keep_lost: bool = False) -> None:
        self.path = Path(path).expanduser()
        self.split = split
        self.keep_lost = keep_lost

    def load(self, documents: Sequence[Document]) -> Labels:
        """The questions, checked against ``documents``; see ``harness.golden``."""
        queries_file, qrels_file = find_queries(self.path, self.split), self._qrels_file()
        if queries_file is None:
            raise InputError(f"There is no {self.path / 'queries.jsonl'}. {_EXPECTED}", path=self.path)
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
            left_out={
                query_id: f"NO QUERY: judged in {qrels_file.name}, but not in {queries_file.name}"
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
    return first_file(folder / "qrels" / f"{split}.tsv", folder / f"qrels.{split}.tsv", folder / "qrels.tsv")


def find_queries(folder: Path, split: str) -> Path | None:
    """The file with the queries, if there is one."""
    names = ("queries.jsonl", f"queries.{split}.tsv", "queries.tsv")
    return first_file(*(folder / name for name in names))


def judged_splits(folder: Path) -> str:
    """The splits that have judgements, for messages."""
    files = [*(folder / "qrels").glob("*.tsv*"), *folder.glob("qrels.*.tsv*")]
    return ", ".join(sorted({plain_name(file).stem.removeprefix("qrels.") for file in files}))


def _queries(path: Path) -> dict[str, str]:
    faults = Faults(path)
    queries: dict[str, str] = {}
    read = _pairs if plain_name(path).suffix == ".tsv" else read_objects
    for line, item in read(path, faults):
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


def _pairs(path: Path, faults: Faults) -> list[tuple[int, dict[str, Any]]]:
    """Number and object (``_id``, ``text``) of every line of id, tab and text; other lines are faults."""
    pairs = []
    for number, line in read_lines(path):
        given_id, tab, words = line.rstrip("\r").partition("\t")
        if tab and given_id.strip() and words.strip():
            pairs.append((number, {"_id": given_id.strip(), "text": encodable(words.strip())}))
        else:
            faults.add(number, f"{shown(line)}; an id, a tab and a text are expected.")
    return pairs


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
