"""Where texts stand in a corpus: as they are written, in a normal form, or in nearly the same words."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from ahocorasick_rs import AhoCorasick
from rapidfuzz.distance import LCSseq

from harness.records import Document
from harness.text.copied import CLEANED, FORMS, Sought, sought_in
from harness.text.encodings import encodable
from harness.text.forms import SPACED, Form, in_form
from harness.text.words import is_whole, units

_HEAD = 64  # characters of each text that the automaton looks for
_BLOCK = 1 << 18  # characters searched at once, so that matches take little memory
_ROOM = 256  # characters of white space and markup around a quote, at least
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
    finder = _Finder(found)
    for index, document in enumerate(documents):
        for text, start in finder.hits(document.text):
            if len(found[text]) < limit:
                found[text].append(Span(index, start, start + len(text)))
    return found


def find_spans(
    texts: Collection[str], documents: Sequence[Document], limit: int, *, is_chunk: bool = False
) -> dict[str, list[Span]]:
    """Every occurrence of every text, not more than ``limit`` each, in the strictest way that finds any.

    The ways: as it is written; with other white space; with other typography (``TYPED``); without Markdown
    and HTML (``UNMARKED``). In the last two the first word may have other capitals, and quotation marks, a
    closing stop and an omission at an end may be more or less; places where they are the same come first.
    There no word or number is cut at an end. Spans begin and end with what was matched.

    ``is_chunk``: the texts are chunks from an index or a test set. They may be cut anywhere, and are looked
    for in one form more (``CLEANED``).
    """
    found = find_occurrences(texts, documents, limit) if texts else {}
    for form in (*FORMS.values(), *[CLEANED] * is_chunk):
        missing = [text for text, spans in found.items() if not spans and text.strip()]
        if missing:
            found |= _find_in_form(form, missing, documents, limit, is_chunk=is_chunk)
    return found


def find_words(texts: Collection[str], documents: Sequence[Document], limit: int) -> dict[str, list[Span]]:
    """Every occurrence of the words of every text, whatever white space stands between them."""
    return _find_in_form(SPACED, list(texts), documents, limit, is_chunk=False)


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
    window = text[start : start + 3 * len(quote) + _ROOM]
    for form in FORMS.values():
        sought, normal = in_form(form, quote).text.strip(), in_form(form, window)
        there = normal.text.lstrip()
        first = len(normal.text) - len(there)
        last = first + len(sought)
        around = text[max(0, start - 2) : start]
        if (
            sought
            and there.startswith(sought)
            and (form is SPACED or is_whole(around + there, len(around), len(around) + len(sought)))
        ):
            begin, end = normal.source(first, last)
            return start + begin, start + end
    return None


class _Finder:
    """Looks for many texts at once in one text after another."""

    def __init__(self, texts: Iterable[str]) -> None:
        by_head: dict[str, list[str]] = defaultdict(list)
        for text in filter(None, texts):
            by_head[encodable(text[:_HEAD])].append(text)
        self._candidates = list(by_head.values())
        self._automaton = AhoCorasick(list(by_head))

    def hits(self, text: str) -> Iterator[tuple[str, int]]:
        """Which texts stand in ``text`` and where, block by block."""
        for first in range(0, len(text), _BLOCK):
            block = encodable(text[first : first + _BLOCK + _HEAD - 1])
            for head, start, _ in self._automaton.find_matches_as_indexes(block, overlapping=True):
                for sought in self._candidates[head] if start < _BLOCK else ():
                    # In heads U+FFFD stands for each lone surrogate; here the text itself is compared.
                    if text.startswith(sought, first + start):
                        yield sought, first + start


def _find_in_form(
    form: Form, texts: Sequence[str], documents: Sequence[Document], limit: int, *, is_chunk: bool
) -> dict[str, list[Span]]:
    """The occurrences in a normal form; those of the whole text before those of its core alone."""
    by_core: dict[str, list[tuple[str, Sought]]] = defaultdict(list)
    for text in texts:
        sought = sought_in(text, form)
        for core in sought.cores if form is not SPACED else {sought.core}:
            by_core[core].append((text, sought))
    finder = _Finder(by_core)
    whole: dict[str, list[Span]] = {text: [] for text in texts}
    parts: dict[str, list[Span]] = {text: [] for text in texts}
    for index, document in enumerate(documents):
        normal = in_form(form, document.text)
        for core, at in finder.hits(normal.text):
            for text, sought in by_core[core]:
                start, end = sought.around(normal.text, at)
                is_same = normal.text[start:end] == "".join(sought)
                spans = (whole if is_same else parts)[text]
                if len(spans) < limit and (is_chunk or form is SPACED or is_whole(normal.text, start, end)):
                    spans.append(Span(index, *normal.source(start, end)))
    return {text: whole[text] or parts[text] for text in texts}


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
