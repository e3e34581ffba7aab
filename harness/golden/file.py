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
from harness.golden.drafts import questions_of
from harness.golden.jsonl import Faults, FieldError, encodable_json, read_lines, read_objects, read_text
from harness.golden.judgements import lowest_relevant
from harness.golden.question_json import Draft, draft_of
from harness.records import Document, Question

_TEXTS = ("text", "content", "page_content")  # of a chunk


class FileContent(NamedTuple):
    """A golden file: the object of each line, its question, reasons for unknown ids, and a digest.

    ``entries``: for each question where in its line's ``evidence`` each of its evidence stands.
    ``other_names``: ids that are not those of the documents that they were taken for.
    """

    objects: Sequence[dict[str, Any]]
    questions: Sequence[Question]
    no_documents: Mapping[str, str]
    digest: str
    entries: Sequence[Sequence[int]]
    other_names: Mapping[str, str]


class FileGolden:
    """The questions in the file ``path``, one JSON object a line.

    ``{"question", "evidence": [{"doc_id", "start", "end", "quote"}]}`` is our own layout; offsets or the
    quote may be missing. ``{"query", "relevant_doc_ids"}`` names whole documents. ``{"question", "gold_id"}``
    names documents, by id or by position in the corpus; with ``chunks``, a file with a list of texts, it is a
    position in that list. Kinds may be mixed. ``keep_lost`` keeps questions whose evidence changed or is
    gone, and counts it as not found. Evidence with a grade below ``relevant_from`` (None: 0 or less) was
    judged not relevant. Without ``twins``, other places of the same text don't count.
    """

    def __init__(
        self,
        path: str,
        chunks: str | None = None,
        *,
        keep_lost: bool = False,
        relevant_from: float | None = None,
        twins: bool = True,
    ) -> None:
        self.path = Path(path).expanduser()
        self.chunks = Path(chunks).expanduser() if chunks else None
        self.keep_lost = keep_lost
        self.relevant_from = lowest_relevant(relevant_from, "golden.relevant_from")
        self.twins = twins

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
            twins=self.twins,
            no_documents=read.no_documents,
            other_names=read.other_names,
        )

    @property
    def name(self) -> str:
        """What the set is called: the file, or its folder where the file is just ``golden``."""
        return self.path.parent.resolve().name if self.path.stem == "golden" else self.path.stem

    def read(self, documents: Sequence[Document]) -> FileContent:
        """The questions as they stand in the file, not looked up in any document. Raises as ``load`` does."""
        if not self.path.is_file():
            raise InputError(_no_file(self.path), path=self.path)
        objects, drafts = read_drafts(self.path, self.relevant_from)
        chunks = read_chunks(self.chunks) if self.chunks else None
        _check_positions(self.path, drafts, chunks)
        if not drafts:
            raise InputError(
                f"{self.path} holds no questions. One JSON object a line is expected.", path=self.path
            )
        digest = hashlib.sha256()
        for _, item in objects:
            digest.update(json.dumps(item, sort_keys=True).encode() + b"\n")
        digest.update(json.dumps(chunks).encode() if chunks is not None else b"")
        digest.update(f"from {self.relevant_from}".encode() if self.relevant_from is not None else b"")
        questions, no_documents, names = questions_of(drafts, chunks, documents)
        entries = [draft.entries for draft in drafts]
        lines = [item for _, item in objects]
        return FileContent(lines, questions, no_documents, digest.hexdigest(), entries, names)


def read_drafts(
    path: Path, relevant_from: float | None = None
) -> tuple[list[tuple[int, dict[str, Any]]], list[Draft]]:
    """Line number and object of each line of ``path``, and the questions in them. Raises ``InputError``."""
    faults = Faults(path)
    objects = read_objects(path, faults)
    drafts: dict[str, Draft] = {}
    for line, item in objects:
        try:
            draft = draft_of(line, item, relevant_from)
        except FieldError as error:
            faults.add(line, str(error))
            continue
        earlier = drafts.setdefault(draft.question_id, draft)
        if earlier is not draft:
            faults.add(line, f'the question id "{draft.question_id}" stands in line {earlier.line} already.')
    faults.raise_if_any()
    return objects, list(drafts.values())


def read_chunks(path: Path) -> list[str]:
    """The texts of a JSON list or of JSONL lines, or their ``text``, ``content`` or ``page_content``."""
    if not path.is_file():
        raise InputError(
            f"golden.chunks is {path}, and there is no such file. Check the spelling.", path=path
        )
    try:
        whole_file = json.loads(read_text(path))
    except (ValueError, RecursionError):
        whole_file = None
    if isinstance(whole_file, list):
        return [_text(path, None, i, item) for i, item in enumerate(whole_file)]
    chunks: list[str] = []
    for line, text in read_lines(path):
        try:
            item = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{path}:{line}: not JSON ({error}).", path=path, line=line) from None
        chunks.append(_text(path, line, len(chunks), item))
    return chunks


def _text(path: Path, line: int | None, index: int, item: Any) -> str:
    value = next((item[key] for key in _TEXTS if key in item), None) if isinstance(item, dict) else item
    if not isinstance(value, str) or not value.strip():
        where = f"{path}:{line}" if line else f"{path}: entry {index}"
        raise InputError(
            f"{where}: a chunk is a text that is not blank, or an object with one under {', '.join(_TEXTS)}.",
            path=path,
            line=line,
        )
    return str(encodable_json(value))


def _check_positions(path: Path, drafts: Sequence[Draft], chunks: Sequence[str] | None) -> None:
    """A position beyond the list of chunks means that the two files don't belong together."""
    faults = Faults(path)
    for draft in drafts if chunks is not None else ():
        beyond = [position for position in draft.positions if position >= len(chunks or ())]
        if beyond:
            said = f"gold_id is {beyond[0]}; golden.chunks has {len(chunks or ()):,} texts, counted from 0."
            faults.add(draft.line, said)
    faults.raise_if_any()


def _no_file(path: Path) -> str:
    if path.is_dir():
        return f"golden.path is the folder {path}; golden=file reads one file. Give the JSONL file in it."
    return (
        f"golden.path is {path}, and there is no such file (looked from {Path.cwd()}). "
        "Give the golden set of this corpus with golden.path=FILE, or golden=beir for a BEIR data set. "
        "To make one: python -m harness.golden.add FILE takes your own questions, and "
        "python -m harness.golden.generate has a model write them, which needs an API key."
    )
