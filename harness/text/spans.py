"""Where texts stand in a corpus as spans, white space aside: another line break does not change what a text says."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import NamedTuple, TypeAlias, overload

import numpy as np
import numpy.typing as npt

from harness.records import Document
from harness.text.find import Place, find_places

_Offsets: TypeAlias = npt.NDArray[np.int64]
_BLANKS = np.array([code for code in range(0x3001) if chr(code).isspace()], dtype=np.uint32)
_GAP = re.compile(r"\s*")


class Span(NamedTuple):
    """The position of a document in the corpus, and the offsets of a span of its text, half open."""

    document: int
    start: int
    end: int


def find_spans(texts: Collection[str], documents: Sequence[Document], limit: int) -> dict[str, list[Span]]:
    """Every place of every text as it is written; of a text without any, every place of its words.

    The words stand there in the same order, with white space of any kind and length between them, and the span begins with the
    first and ends with the last. Not more than ``limit`` places each. The time grows with the corpus and not with the number of texts.
    """
    found = {
        text: [Span(place.document, place.start, place.start + len(text)) for place in places]
        for text, places in find_places(texts, documents, limit).items()
    }
    missing = {text: squeezed(text) for text, spans in found.items() if not spans}
    if missing:
        hits = find_places(set(missing.values()), _Squeezed(documents), limit)
        spans = _spans(hits, documents)
        found |= {text: [spans[words, place] for place in hits[words]] for text, words in missing.items()}
    return found


def squeezed(text: str) -> str:
    """``text`` with one blank for each run of white space, and none at its ends."""
    return " ".join(text.split())


def span_at(quote: str, text: str, start: int) -> tuple[int, int] | None:
    """The span of ``quote`` in ``text`` if it stands at ``start``, word for word if not character for character."""
    if text.startswith(quote, start):
        return start, start + len(quote)
    first, *words = quote.split()
    begin = _behind_gap(text, start)
    if not text.startswith(first, begin):
        return None
    end = begin + len(first)
    for word in words:
        at = _behind_gap(text, end)
        if at == end or not text.startswith(word, at):
            return None
        end = at + len(word)
    return begin, end


def _behind_gap(text: str, start: int) -> int:
    gap = _GAP.match(text, start)
    return gap.end() if gap else start


class _Squeezed(Sequence[Document]):
    """The documents with their white space squeezed. Only the last one asked for is held: a copy of the corpus may be too much."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self._documents = documents
        self._last: tuple[int, Document] | None = None

    def __len__(self) -> int:
        return len(self._documents)

    @overload
    def __getitem__(self, index: int) -> Document: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Document]: ...
    def __getitem__(self, index: int | slice) -> Document | Sequence[Document]:
        if isinstance(index, slice):
            return _Squeezed(self._documents[index])
        if self._last is None or self._last[0] != index:
            document = self._documents[index]
            self._last = index, Document(document.doc_id, squeezed(document.text))
        return self._last[1]


def _spans(hits: dict[str, list[Place]], documents: Sequence[Document]) -> dict[tuple[str, Place], Span]:
    """The places in squeezed documents as spans of the documents themselves; each document is mapped once."""
    by_document: dict[int, list[tuple[str, Place]]] = defaultdict(list)
    for words, places in hits.items():
        for place in places:
            by_document[place.document].append((words, place))
    spans = {}
    for index, found in by_document.items():
        offsets = _offsets(documents[index].text)
        for words, place in found:
            start, last = offsets[place.start], offsets[place.start + len(words) - 1]
            spans[words, place] = Span(index, int(start), int(last) + 1)
    return spans


def _offsets(text: str) -> _Offsets:
    """Entry ``i`` is the offset in ``text`` of character ``i`` of the squeezed text."""
    is_blank = np.isin(np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4"), _BLANKS)
    after_blank = np.concatenate(([True], is_blank[:-1]))
    return np.flatnonzero(~(is_blank & after_blank)).astype(np.int64)
