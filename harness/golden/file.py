"""A golden set from one JSONL file, in our own layout or in one of two that others use."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from harness.errors import InputError
from harness.golden import Labels
from harness.golden.anchoring import anchor
from harness.golden.faults import Faults
from harness.golden.fields import FieldError
from harness.golden.gold_ids import questions_of, read_chunks
from harness.golden.lines import read_objects
from harness.golden.parse import Draft, draft_of
from harness.records import Document, Question


class Read(NamedTuple):
    """A file as it was read: the object of each line, its question, why there is no document for some ids, and the set's digest."""

    objects: Sequence[dict[str, Any]]
    questions: Sequence[Question]
    no_documents: Mapping[str, str]
    digest: str


class FileGolden:
    """The questions in the file ``path``, one JSON object a line.

    ``{"question", "evidence": [{"doc_id", "start", "end", "quote"}]}`` is our own layout; offsets or the quote may be missing.
    ``{"query", "relevant_doc_ids"}`` names whole documents. ``{"question", "gold_id"}`` names documents, by id or by position in the
    corpus; with ``chunks``, a file with a list of texts, it is a position in that list. Kinds may be mixed.
    ``keep_lost`` keeps questions whose evidence changed or is gone, and counts it as not found.
    """

    def __init__(self, path: str, chunks: str | None = None, *, keep_lost: bool = False) -> None:
        self.path = Path(path).expanduser()
        self.chunks = Path(chunks).expanduser() if chunks else None
        self.keep_lost = keep_lost

    def load(self, documents: Sequence[Document]) -> Labels:
        """The questions, checked against ``documents``; see ``harness.golden``."""
        read = self.read(documents)
        return anchor(
            read.questions,
            documents,
            name=self.name,
            path=self.path,
            digest=read.digest,
            keep_lost=self.keep_lost,
            no_documents=read.no_documents,
        )

    @property
    def name(self) -> str:
        """What the set is called: the file, or its folder where the file is just ``golden``."""
        return self.path.parent.resolve().name if self.path.stem == "golden" else self.path.stem

    def read(self, documents: Sequence[Document]) -> Read:
        """The questions as they stand in the file, not looked up in any document. Raises as ``load`` does."""
        if not self.path.is_file():
            raise InputError(_no_file(self.path), path=self.path)
        faults = Faults(self.path)
        objects = read_objects(self.path, faults)
        drafts = _drafts(objects, faults)
        chunks = read_chunks(self.chunks) if self.chunks else None
        _check_positions(drafts, chunks, faults)
        faults.raise_if_any()
        if not drafts:
            raise InputError(
                f"{self.path} holds no questions. One JSON object a line is expected.", path=self.path
            )
        digest = hashlib.sha256()
        for _, item in objects:
            digest.update(json.dumps(item, sort_keys=True).encode() + b"\n")
        digest.update(json.dumps(chunks).encode() if chunks is not None else b"")
        questions, no_documents = questions_of(drafts, chunks, documents)
        return Read([item for _, item in objects], questions, no_documents, digest.hexdigest())


def _drafts(objects: Sequence[tuple[int, dict[str, object]]], faults: Faults) -> list[Draft]:
    drafts: dict[str, Draft] = {}
    for line, item in objects:
        try:
            draft = draft_of(line, item)
        except FieldError as error:
            faults.add(line, str(error))
            continue
        earlier = drafts.setdefault(draft.question_id, draft)
        if earlier is not draft:
            faults.add(line, f'the question id "{draft.question_id}" stands in line {earlier.line} already.')
    return list(drafts.values())


def _check_positions(drafts: Sequence[Draft], chunks: Sequence[str] | None, faults: Faults) -> None:
    """A position beyond the list of chunks means that the two files don't belong together."""
    for draft in drafts:
        beyond = [position for position in draft.positions if chunks is not None and position >= len(chunks)]
        if beyond and chunks is not None:
            faults.add(
                draft.line,
                f"gold_id is {beyond[0]}; golden.chunks has {len(chunks):,} texts, counted from 0.",
            )


def _no_file(path: Path) -> str:
    if path.is_dir():
        return f"golden.path is {path}, which is a folder; golden=file reads one file. Give the JSONL file in it."
    return (
        f"golden.path is {path}, and there is no such file (looked from {Path.cwd()}). Give the golden set of this corpus "
        "with golden.path=FILE, or golden=beir for a BEIR data set."
    )
