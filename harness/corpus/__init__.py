"""Documents from files, exactly as they stand; what a corpus leaves out is named with the reason.

Promises: ``Document.text`` is the file's characters (no newline translation, no normalisation; a byte order
mark is dropped); ids are unique; the same files give the same documents in the same order on every machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from harness.records import Document


@dataclass(frozen=True)
class Loaded:
    """The documents, in the order of the source, and what was noticed on the way.

    ``notes`` maps a kind of finding (``not UTF-8``, ``binary``, ``empty``, ``same text``, ``unreadable``,
    ...) to the names concerned, each with its detail (``old.txt (cp1252)``). ``digest`` is the hex sha256 of
    all ids, texts and prefixes.
    """

    documents: tuple[Document, ...]
    digest: str
    notes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


class Corpus(Protocol):
    """A source of documents."""

    name: str

    def load(self) -> Loaded:
        """All documents. Raises ``InputError`` when there are none or one id has two texts."""
