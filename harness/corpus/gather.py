"""Documents from a source into one corpus: unique ids, a digest, and notes on what was left out."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from harness.corpus import Loaded
from harness.errors import InputError
from harness.records import Document

_ADVICE = {
    "same text": "; all are kept",
    "ignored by .gitignore": "; corpus.gitignore=false reads them",
}


class Notes:
    """What was noticed, by kind: the names concerned, each with its detail."""

    def __init__(self) -> None:
        self._names: dict[str, list[str]] = defaultdict(list)

    def add(self, kind: str, name: str, detail: str = "") -> None:
        """Records that ``name`` is of ``kind``, for instance ``not UTF-8``, ``old.txt``, ``cp1252``."""
        self._names[kind].append(f"{name} ({detail})" if detail else name)

    def frozen(self) -> dict[str, tuple[str, ...]]:
        """Kind to names, both in the order of their finding."""
        return {kind: tuple(names) for kind, names in self._names.items()}


def gather(documents: Iterable[Document], notes: Notes, *, source: Path, looked_for: str) -> Loaded:
    """The corpus of ``documents``, which are read once and in order.

    Blank documents are left out; equal texts are kept and named; the same id again with the same text and
    prefix is left out. Raises ``InputError`` for an id with two different texts, and when nothing is left;
    that message says what was looked for in ``source``.
    """
    kept: dict[str, Document] = {}
    id_of_text: dict[str, str] = {}
    digest = hashlib.sha256()
    for document in documents:
        if not document.text or document.text.isspace():
            notes.add("empty", document.doc_id)
            continue
        earlier = kept.setdefault(document.doc_id, document)
        if earlier is not document:
            _refuse_two_texts(earlier, document, source)
            notes.add("same document twice", document.doc_id)
            continue
        same = id_of_text.setdefault(document.text, document.doc_id)
        if same != document.doc_id:
            # The longer name is more likely the copy's: "copy of guide.md", "guide (1).md", "old/guide.md".
            first, copy = sorted((same, document.doc_id), key=lambda name: (len(name), name))
            id_of_text[document.text] = first
            notes.add("same text", copy, f"as {first}")
        _digest(digest, document)
    if not kept:
        raise InputError(_nothing_left(source, looked_for, notes.frozen()), path=source)
    return Loaded(tuple(kept.values()), digest.hexdigest(), notes.frozen())


def wrong_path(path: Path, expected: str) -> InputError:
    """The error for a ``path`` that must be a ``file`` or a ``folder``."""
    if path.exists():
        return InputError(
            f"corpus.path is {path}, which is not a {expected}. corpus=folder reads a folder of texts, "
            "corpus=beir a folder with corpus.jsonl, corpus=jsonl one file.",
            path=path,
        )
    return InputError(
        f"corpus.path is {path}, and there is no such {expected} (looked from {Path.cwd()}). "
        "Check the spelling.",
        path=path,
    )


def summary(notes: Mapping[str, Sequence[str]], names: int = 3) -> list[str]:
    """One line per kind of finding: how many, and at most ``names`` of them by name.

    ``empty (15): a.md, b.md, c.md and 12 more``. Equal texts are documents still, and their line says so.
    """
    lines = []
    for kind, concerned in notes.items():
        more = len(concerned) - names
        shown = ", ".join(_one_line(name) for name in concerned[:names])
        tail = f" and {more:,} more" if more > 0 else ""
        lines.append(f"{kind} ({len(concerned):,}): {shown}{tail}{_ADVICE.get(kind, '')}")
    return lines


def _one_line(name: str) -> str:
    """A name without line breaks or control characters: file names may hold both."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)


def _refuse_two_texts(earlier: Document, document: Document, source: Path) -> None:
    if (earlier.text, earlier.embed_prefix) != (document.text, document.embed_prefix):
        raise InputError(
            f'{source}: the id "{document.doc_id}" stands for two different texts, at positions '
            f"{earlier.position} and {document.position} (counted from 0). Labels could not tell them apart; "
            "give each document its own id.",
            path=source,
        )


def _digest(digest: hashlib._Hash, document: Document) -> None:
    fields = (document.doc_id, document.text, document.embed_prefix)
    lengths = ",".join(str(len(field)) for field in fields)  # so that no text can pass for two fields
    digest.update(f"{lengths}:{''.join(fields)}".encode())


def _nothing_left(source: Path, looked_for: str, notes: dict[str, tuple[str, ...]]) -> str:
    found = "; ".join(
        f"{kind}: {', '.join(names[:3])}{' …' if len(names) > 3 else ''}{_ADVICE.get(kind, '')}"
        for kind, names in notes.items()
    )
    return (
        f"No documents in {source}: looked for {looked_for}. "
        f"{f'Found, and left out: {found}. ' if found else 'Nothing at all was found. '}"
        "Check corpus.path, or convert the documents to text and point corpus.path at them."
    )
