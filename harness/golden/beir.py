"""The queries and relevance judgements of a data set in the layout of BEIR."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
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
from harness.golden.judgements import is_relevant, lowest_relevant, read_qrels
from harness.golden.other_names import other_names
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
    Queries without judgements are not part of the split. A grade of 0 or less, or below ``relevant_from``,
    means not relevant. ``keep_lost`` keeps queries with a judged document that is not in the corpus, and
    counts it as not found. Without ``twins``, other documents with the same text don't count.
    """

    def __init__(
        self,
        path: str,
        split: str = "test",
        *,
        keep_lost: bool = False,
        relevant_from: float | None = None,
        twins: bool = True,
    ) -> None:
        self.path = Path(path).expanduser()
        self.split = split
        self.keep_lost = keep_lost
        self.relevant_from = lowest_relevant(relevant_from, "golden.relevant_from")
        self.twins = twins

    def load(self, documents: Sequence[Document]) -> Labels:
        """The questions, checked against ``documents``; see ``harness.golden``."""
        queries_file, qrels_file = find_queries(self.path, self.split), self._qrels_file()
        if queries_file is None:
            raise InputError(f"There is no {self.path / 'queries.jsonl'}. {_EXPECTED}", path=self.path)
        queries = _queries(queries_file)
        faults = Faults(qrels_file)
        qrels = read_qrels(qrels_file, faults)
        faults.raise_if_any()
        relevant = {query_id: self._relevant(judged) for query_id, judged in qrels.items()}
        known = [queries, {query_id: judged for query_id, judged in relevant.items() if judged}]
        digest = hashlib.sha256(json.dumps(known, sort_keys=True).encode()).hexdigest()
        given = dict.fromkeys(doc_id for judged in qrels.values() for doc_id in judged)
        names = other_names(given, {document.doc_id for document in documents}, loosely=False)
        questions = []
        for query_id, query in queries.items():
            if query_id in qrels:
                labels = {
                    doc_id: Evidence(names.get(doc_id, doc_id), grade=grade)
                    for doc_id, grade in qrels[query_id].items()
                }
                evidence = tuple(labels[doc_id] for doc_id in relevant[query_id])
                apart = tuple(label for doc_id, label in labels.items() if doc_id not in relevant[query_id])
                questions.append(Question(query_id, query, evidence, not_relevant=apart))
        return anchor(
            questions,
            documents,
            name=f"{self.path.resolve().name}-{self.split}",
            path=qrels_file,
            digest=digest,
            keep_lost=self.keep_lost,
            twins=self.twins,
            left_out={
                query_id: f"NO QUERY: judged in {qrels_file.name}, but not in {queries_file.name}"
                for query_id, judged in relevant.items()
                if judged and query_id not in queries
            },
            other_names=names,
        )

    def _relevant(self, judged: Mapping[str, float]) -> dict[str, float]:
        return {doc_id: grade for doc_id, grade in judged.items() if is_relevant(grade, self.relevant_from)}

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
