"""Where texts stand in a corpus: many at once, in one pass, in time that grows with the corpus and not with their number.

A window of 8, 16 or 32 characters of each text is hashed, as is every window of the corpus (a polynomial rolling hash,
built by doubling: Karp and Rabin 1987); where hashes agree, the texts are compared.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from harness.records import Document

_WIDTHS = (8, 16, 32)  # characters
_BLOCK_CHARACTERS = 1 << 20
_BASE = 0x9E3779B97F4A7C15 | 1
_TABLE_BITS = 20
_FEW = 8  # so many texts are found faster one by one
_Hashes: TypeAlias = npt.NDArray[np.uint64]


class Place(NamedTuple):
    """The position of a document in the corpus, and an offset in its text."""

    document: int
    start: int


class _Anchor(NamedTuple):
    """A text to be found, and the offset in it of the window that is hashed."""

    text: str
    offset: int


class _Block(NamedTuple):
    """Neighbouring pieces of documents, joined: piece ``i`` begins at ``begins[i]`` in the joined text."""

    text: str
    begins: npt.NDArray[np.int64]
    pieces: Sequence[Place]


def find_places(texts: Collection[str], documents: Sequence[Document], limit: int) -> dict[str, list[Place]]:
    """Every place of every text, in the order of the corpus, but not more than ``limit`` each.

    Places may overlap. Memory does not grow with the corpus.
    """
    one_by_one = [text for text in texts if text and (len(text) < _WIDTHS[0] or len(texts) <= _FEW)]
    found: dict[str, list[Place]] = {text: [] for text in texts} | _one_by_one(one_by_one, documents, limit)
    hashed = {
        width: [text for text in set(texts).difference(one_by_one) if _width(text) == width]
        for width in _WIDTHS
    }
    anchors = {width: _by_hash(texts_of_width, width) for width, texts_of_width in hashed.items()}
    if any(anchors.values()):
        for block in _blocks(documents):
            for width, hashes in zip(_WIDTHS, _windows(block.text, _WIDTHS), strict=True):
                _search(block, hashes, anchors[width], documents, found, limit)
    return found


def occurrences(text: str, within: str, limit: int) -> list[int]:
    """The offsets of ``text`` in ``within``, overlapping ones too, but not more than ``limit``."""
    offsets: list[int] = []
    start = within.find(text)
    while start >= 0 and len(offsets) < limit:
        offsets.append(start)
        start = within.find(text, start + 1)
    return offsets


def _one_by_one(texts: Collection[str], documents: Sequence[Document], limit: int) -> dict[str, list[Place]]:
    found: dict[str, list[Place]] = {text: [] for text in texts}
    for index, document in enumerate(documents if found else ()):
        for text, places in found.items():
            starts = occurrences(text, document.text, limit - len(places))
            places.extend(Place(index, start) for start in starts)
    return found


def _width(text: str) -> int:
    return max((width for width in _WIDTHS if width <= len(text)), default=0)


def _by_hash(texts: Sequence[str], width: int) -> dict[int, list[_Anchor]]:
    """The anchors by the hash of their window: of eight windows, the one with the most different characters.

    Rows of dashes or blanks stand in too many places to be of use.
    """
    anchors: dict[int, list[_Anchor]] = defaultdict(list)
    for text in texts:
        last = len(text) - width
        offset = max(range(0, last + 1, max(1, last // 7)), key=lambda at: len(set(text[at : at + width])))
        key = int(next(_windows(text[offset : offset + width], (width,)))[0])
        anchors[key].append(_Anchor(text, offset))
    return anchors


def _windows(text: str, widths: Sequence[int]) -> Iterator[_Hashes]:
    """For each width the hash of every window of that many characters; entry ``i`` begins at character ``i``."""
    hashes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.uint64)
    width, factor = 1, _BASE
    while width <= widths[-1]:
        if width in widths:
            yield hashes
        hashes = hashes[: max(0, len(hashes) - width)] * np.uint64(factor) + hashes[width:]
        width, factor = 2 * width, factor * factor % (1 << 64)


def _blocks(documents: Sequence[Document]) -> Iterator[_Block]:
    """The corpus in blocks of about a million characters; pieces of one long document overlap by a window less one."""
    pieces: list[Place] = []
    texts: list[str] = []
    size = 0
    for index, document in enumerate(documents):
        for start in range(0, max(1, len(document.text) - _WIDTHS[-1] + 1), _BLOCK_CHARACTERS):
            pieces.append(Place(index, start))
            texts.append(document.text[start : start + _BLOCK_CHARACTERS + _WIDTHS[-1] - 1])
            size += len(texts[-1])
            if size >= _BLOCK_CHARACTERS:
                yield _block(pieces, texts)
                pieces, texts, size = [], [], 0
    if pieces:
        yield _block(pieces, texts)


def _block(pieces: list[Place], texts: list[str]) -> _Block:
    begins = np.concatenate(([0], np.cumsum([len(text) for text in texts])[:-1])).astype(np.int64)
    return _Block("".join(texts), begins, pieces)


def _search(
    block: _Block,
    hashes: _Hashes,
    anchors: dict[int, list[_Anchor]],
    documents: Sequence[Document],
    found: dict[str, list[Place]],
    limit: int,
) -> None:
    keys = np.fromiter(anchors, dtype=np.uint64, count=len(anchors))
    if not len(keys) or not len(hashes):
        return
    table = np.zeros(1 << _TABLE_BITS, dtype=bool)  # a first sieve: one look-up for each window
    shift = np.uint64(64 - _TABLE_BITS)
    table[keys >> shift] = True
    starts = np.flatnonzero(table[hashes >> shift])
    starts = starts[np.isin(hashes[starts], keys)]
    pieces = np.searchsorted(block.begins, starts, side="right") - 1
    for start, key, piece in zip(starts.tolist(), hashes[starts].tolist(), pieces.tolist(), strict=True):
        for anchor in anchors.get(key, ()):
            origin = block.pieces[piece]
            place = Place(origin.document, origin.start + start - int(block.begins[piece]) - anchor.offset)
            places = found[anchor.text]
            if place.start < 0 or place in places[-1:]:  # pieces of a long document overlap
                continue
            if documents[place.document].text.startswith(anchor.text, place.start):
                places.append(place)
                if len(places) >= limit:
                    anchors[key] = [other for other in anchors[key] if other is not anchor]
