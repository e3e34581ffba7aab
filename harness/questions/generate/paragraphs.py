"""Documents into excerpts of natural length: paragraphs, joined if short, cut at sentences if long.

Sizes are characters that a reader sees; those of Chinese, Japanese and others without blanks count twice. An
excerpt has at least 160 (one full sentence or two: with less, a question can only repeat it) and at most
1,600 (250 words, about half a page: with more, the model asks about the beginning). It never knows the sizes
that chunkers will use.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from harness.questions.generate import Excerpt
from harness.questions.generate.blocks import TextBlock, blocks_of
from harness.questions.generate.prose import cut, prose_size, worth
from harness.records import Document
from harness.text.words import size

_LEAST = 160
_LEAST_DOCUMENT = 60  # of a document that has nothing else
_JOINED = 400  # neighbours are joined until there is so much
_CUT = 1100  # pieces of a long paragraph
_MOST = 1600
_PROSE = 0.5  # share of an excerpt that is prose; the rest is code and numbers between it
_REPEATED = 5  # a text in so many documents (or half the square root of their number) is boilerplate
_REPEATED_CHARACTERS = 30
_DIGIT = re.compile(r"\d+")


class _Paragraph(NamedTuple):
    """A part of a document: of size ``size`` when it is prose, 0 for what may only stand between prose."""

    start: int
    end: int
    path: tuple[str, ...]
    section: int
    size: int


def excerpts_of(documents: Sequence[Document], *, all_text: bool = False) -> list[list[Excerpt]]:
    """For each document its excerpts in order; none of a document that holds no prose.

    ``excerpt.text == document.text[excerpt.start:excerpt.end]``, and excerpts of a document don't overlap.
    Tables of contents, lists of links and references, front matter, code alone and text that is repeated over
    many documents are left out; with ``all_text`` nothing is, headings and front matter aside.
    """
    blocks = [list(blocks_of(document)) for document in documents]
    boilerplate = set() if all_text else _boilerplate(documents, blocks)
    least = (1, 0.0) if all_text else (_LEAST, _PROSE)
    return [
        [
            Excerpt(document.doc_id, start, end, document.text[start:end], _heading(document, path))
            for start, end, path in _joined(
                document.text, _runs(document.text, own, boilerplate, all_text=all_text), *least
            )
        ]
        for document, own in zip(documents, blocks, strict=True)
    ]


def _heading(document: Document, path: Sequence[str]) -> str:
    title = " ".join(document.title.split())
    return " > ".join([title, *path] if title and title not in path[:1] else path)


def _boilerplate(documents: Sequence[Document], blocks: Sequence[Iterable[TextBlock]]) -> set[int]:
    """Keys of the blocks that stand in many documents, numbers aside (a year, a page)."""
    counts: Counter[int] = Counter()
    for document, own in zip(documents, blocks, strict=True):
        counts.update(
            {_key(document.text, block) for block in own if block.end - block.start >= _REPEATED_CHARACTERS}
        )
    limit = max(_REPEATED, math.isqrt(len(documents)) // 2)
    return {key for key, count in counts.items() if count >= limit}


def _key(text: str, block: TextBlock) -> int:
    return hash(_DIGIT.sub("0", " ".join(text[block.start : block.end].lower().split())))


def _runs(
    text: str, blocks: Iterable[TextBlock], boilerplate: set[int], *, all_text: bool
) -> Iterator[list[_Paragraph]]:
    """The pieces between what is skipped; pieces of one list may be joined."""
    run: list[_Paragraph] = []
    for block in blocks:
        for start, end in _spans(text, block, all_text=all_text):
            inner = text[start:end]
            value = "filler" if block.kind == "code" else worth(inner, block.path)
            value = "prose" if all_text else value
            if value == "skipped" or _key(text, block) in boilerplate:
                yield run
                run = []
                break
            section = block.section if start == block.start else start
            run.append(_Paragraph(start, end, block.path, section, _size_of(inner, value, all_text=all_text)))
    yield run


def _size_of(text: str, value: str, *, all_text: bool) -> int:
    if all_text:
        return max(1, size(text))
    return prose_size(text) if value == "prose" else 0


def _spans(text: str, block: TextBlock, *, all_text: bool) -> list[tuple[int, int]]:
    if (block.kind == "code" and not all_text) or size(text[block.start : block.end]) <= _MOST:
        return [(block.start, block.end)]
    return cut(text, block.start, block.end, _CUT, _MOST)


def _joined(
    text: str, runs: Iterable[list[_Paragraph]], least: int, prose: float
) -> list[tuple[int, int, tuple[str, ...]]]:
    """Spans of the excerpts of at least this size and share of prose, each with its headings."""
    groups: list[list[_Paragraph]] = []
    for run in runs:
        own: list[list[_Paragraph]] = []
        for piece in run:
            if own and _belongs(text, own[-1], piece):
                own[-1].append(piece)
            elif piece.size:
                own.append([piece])
        if len(own) > 1 and _prose(own[-1]) < _LEAST and _fits(text, own[-2] + own[-1]):
            own[-2:] = [own[-2] + own[-1]]
        groups += own
    spans = [span for group in groups if (span := _span(text, group, least, prose))]
    if not spans and len(groups) == 1:
        spans = [span for group in groups if (span := _span(text, group, _LEAST_DOCUMENT, prose))]
    return spans


def _belongs(text: str, group: Sequence[_Paragraph], piece: _Paragraph) -> bool:
    """Whether ``piece`` continues ``group``: under the same headings, or after a very short section."""
    is_short = _prose(group) < _LEAST
    is_near = piece.path == group[-1].path or (is_short and piece.path[:1] == group[0].path[:1])
    if not is_near or not _fits(text, [*group, piece]):
        return False
    leads_over = text[group[-1].end - 1] in ":："
    return not piece.size or leads_over or _prose(group) < _JOINED


def _fits(text: str, group: Sequence[_Paragraph]) -> bool:
    return size(text[_begin(group) : group[-1].end]) <= _MOST


def _begin(group: Sequence[_Paragraph]) -> int:
    """Where the excerpt begins: several sections are shown with the heading of the first."""
    return group[0].start if all(piece.path == group[0].path for piece in group) else group[0].section


def _prose(group: Iterable[_Paragraph]) -> int:
    return sum(piece.size for piece in group)


def _span(
    text: str, group: Sequence[_Paragraph], least: int, prose: float
) -> tuple[int, int, tuple[str, ...]] | None:
    last = max(i for i, piece in enumerate(group) if piece.size)
    group = group[: last + 1]
    start, end = _begin(group), group[-1].end
    if _prose(group) < max(least, prose * prose_size(text[start:end])):
        return None
    path = group[0].path
    for piece in group:
        path = tuple(one for i, one in enumerate(path) if piece.path[: i + 1] == path[: i + 1])
    return start, end, path
