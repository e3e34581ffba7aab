"""Where texts stand in a corpus: as they are written, with other white space, or in nearly the same words."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from ahocorasick_rs import AhoCorasick
from rapidfuzz.distance import LCSseq

from harness.records import Document, IntArray
from harness.text.encodings import encodable
from harness.text.words import units

_HEAD = 64  # characters of each text that the automaton looks for
_BLOCK = 1 << 18  # characters searched at once, so that matches take little memory
_BLANKS = np.array([code for code in range(0x3001) if chr(code).isspace()], dtype=np.uint32)
_GAP = re.compile(r"\s*")
_PIECES = 8
_PIECE_CHARACTERS = (16, 8)  # the longer where the quote has room for three of them
_COMMON = 5  # a piece with so many occurrences says nothing
_CANDIDATES = 3
_ALIKE = 0.6  # share of the quote's words found in the candidate, in order
_WORDS = 300  # of a long quote, its first words are compared


class Span(NamedTuple):
    """The position of a document in the corpus, and the offsets of a span of its text, half open."""

    document: int
    start: int
    end: int


def find_occurrences(
    texts: Collection[str], documents: Iterable[Document], limit: int
) -> dict[str, list[Span]]:
    """Every occurrence of every text, in the order of the corpus, but not more than ``limit`` each.

    Occurrences may overlap; an empty text has none. One pass over the corpus finds the beginnings of all
    texts (Aho and Corasick 1975), however many there are; what follows each is compared there.
    """
    found: dict[str, list[Span]] = {text: [] for text in texts}
    by_head: dict[str, list[str]] = defaultdict(list)
    for text in filter(None, found):
        by_head[encodable(text[:_HEAD])].append(text)
    if by_head:
        automaton, candidates = AhoCorasick(list(by_head)), list(by_head.values())
        for index, document in enumerate(documents):
            for head, start in _matches(automaton, document.text):
                for text in candidates[head]:
                    # In heads U+FFFD stands for each lone surrogate; here the text itself is compared.
                    if len(found[text]) < limit and document.text.startswith(text, start):
                        found[text].append(Span(index, start, start + len(text)))
    return found


def find_spans(texts: Collection[str], documents: Sequence[Document], limit: int) -> dict[str, list[Span]]:
    """Every occurrence of every text as it is written; of a text without any, every occurrence of its words.

    The words stand there in the same order, with white space of any kind and length between them, and the
    span begins with the first word and ends with the last. Not more than ``limit`` spans each.
    """
    found = find_occurrences(texts, documents, limit)
    missing = [text for text, spans in found.items() if not spans]
    return found | find_words(missing, documents, limit) if missing else found


def find_words(texts: Collection[str], documents: Sequence[Document], limit: int) -> dict[str, list[Span]]:
    """Every occurrence of the words of every text, as ``find_spans`` finds them."""
    words = {text: squeezed(text) for text in texts}
    plain = (Document(document.doc_id, squeezed(document.text)) for document in documents)
    hits = find_occurrences(set(words.values()), plain, limit)
    original = _unsqueezed({span for spans in hits.values() for span in spans}, documents)
    return {text: [original[span] for span in hits[words[text]]] for text in words}


def find_similar(quotes: Collection[str], documents: Sequence[Document]) -> dict[str, Span]:
    """For each quote that has one, a span about where the most similar text stands, as long as the quote.

    Similar: at least six tenths of the quote's words, in order. Pieces of the quotes are looked for in one
    pass over the corpus, and only around rare ones are words compared.
    """
    pieces = {quote: _pieces(quote) for quote in quotes}
    hits = find_occurrences({piece for cut in pieces.values() for piece in cut}, documents, _COMMON)
    similar = {}
    for quote, cut in pieces.items():
        votes: Counter[tuple[int, int]] = Counter()
        for piece, offset in cut.items():
            if len(hits[piece]) < _COMMON:
                votes.update((hit.document, (hit.start - offset) // len(quote)) for hit in hits[piece])
        starts = [(doc, max(0, at * len(quote))) for (doc, at), _ in votes.most_common(_CANDIDATES)]
        scored = [(_likeness(quote, documents[doc].text, start), doc, start) for doc, start in starts]
        likeness, doc, start = max(scored, default=(0.0, 0, 0))
        if likeness >= _ALIKE:
            similar[quote] = Span(doc, start, start + len(quote))
    return similar


def squeezed(text: str) -> str:
    """``text`` with one blank for each run of white space, and none at its ends."""
    return " ".join(text.split())


def span_at(quote: str, text: str, start: int) -> tuple[int, int] | None:
    """The span of ``quote`` if it stands at ``start``, word for word if not character for character."""
    if text.startswith(quote, start):
        return start, start + len(quote)
    begin = end = _behind_gap(text, start)
    for position, word in enumerate(quote.split()):
        at = _behind_gap(text, end)
        if (position and at == end) or not text.startswith(word, at):
            return None
        end = at + len(word)
    return begin, end


def _matches(automaton: AhoCorasick, text: str) -> Iterator[tuple[int, int]]:
    """Which heads stand in ``text`` and where, block by block."""
    for first in range(0, len(text), _BLOCK):
        block = encodable(text[first : first + _BLOCK + _HEAD - 1])
        for head, start, _ in automaton.find_matches_as_indexes(block, overlapping=True):
            if start < _BLOCK:
                yield head, first + start


def _behind_gap(text: str, start: int) -> int:
    gap = _GAP.match(text, start)
    return gap.end() if gap else start


def _unsqueezed(spans: Collection[Span], documents: Sequence[Document]) -> dict[Span, Span]:
    """Spans of squeezed documents as spans of the documents themselves; each document is mapped once."""
    by_document: dict[int, list[Span]] = defaultdict(list)
    for span in spans:
        by_document[span.document].append(span)
    original = {}
    for index, found in by_document.items():
        offsets = _offsets(documents[index].text)
        for span in found:
            original[span] = Span(index, int(offsets[span.start]), int(offsets[span.end - 1]) + 1)
    return original


def _offsets(text: str) -> IntArray:
    """Entry ``i`` is the offset in ``text`` of character ``i`` of the squeezed text."""
    is_blank = np.isin(np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4"), _BLANKS)
    after_blank = np.concatenate(([True], is_blank[:-1]))
    return np.flatnonzero(~(is_blank & after_blank)).astype(np.int64)


def _pieces(quote: str) -> dict[str, int]:
    """Pieces of ``quote``, evenly spread, with their offsets; none when it is too short to have two."""
    size = next((size for size in _PIECE_CHARACTERS if len(quote) >= 3 * size), 0)
    if not size:
        return {}
    step = max(size, (len(quote) - size) // (_PIECES - 1))
    return {quote[at : at + size]: at for at in range(0, len(quote) - size + 1, step)}


def _likeness(quote: str, text: str, start: int) -> float:
    """Share of the quote's words that stand in order near ``start``."""
    window = text[max(0, start - len(quote) // 2) : start + 2 * len(quote)]
    ours, theirs = units(quote)[:_WORDS], units(window)[: 3 * _WORDS]
    return float(LCSseq.similarity(ours, theirs)) / max(1, len(ours))
