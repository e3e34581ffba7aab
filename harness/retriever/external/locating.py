"""Rows of an external retriever as spans of the documents: by id, by offsets, or by the text alone.

White space, typography and markup do not count when texts are compared or looked for. What can't be found is
said to be so, with the reason.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from harness.records import Document
from harness.retriever import Row
from harness.text.copied import bare
from harness.text.spans import Span, find_spans, squeezed

# "refunds.md:120-480", "refunds.md#120-480": a document's id with the offsets of a chunk.
_CHUNK_ID = re.compile(r"(.+)[:#](\d+)-(\d+)", re.DOTALL)
# Two occurrences are enough to know that there are several.
_OCCURRENCES = 2
_LONGEST_NAME = 400  # characters; whatever is longer is a text


class Located(NamedTuple):
    """Where a row stands.

    ``doc``: the position of its document, -1 without one. ``span``: None where the text can't be found.

    ``is_ambiguous``: the text occurs several times, and this is the first occurrence. ``is_cleaned``: it has
    another typography there, or markup. ``reason``: why there is no span.
    """

    doc: int
    span: Span | None
    is_ambiguous: bool = False
    reason: str = ""
    is_cleaned: bool = False


def key(row: Row) -> Row:
    """What decides where a row stands: all but its score."""
    return row._replace(score=None)


def named(row: Row, index: Mapping[str, int]) -> Row:
    """``row`` with one id: the first of its names that a document in ``index`` has, else the first of all.

    A path names the document whose id it ends with. A row that is a text alone may be such a name too.
    """
    for name in (row.id, *row.also) if row.id is not None else (row.text or "",):
        for doc_id in _endings(str(name)):
            if _named(Row(doc_id), index)[0] >= 0:
                return row._replace(id=doc_id, also=(), text=row.text if row.id is not None else None)
    return row._replace(also=())


def _endings(name: str) -> list[str]:
    """A name, and if it is a path the shorter ones at its end."""
    parts = re.split(r"[/\\]+", name) if len(name) <= _LONGEST_NAME else []
    return [name, *("/".join(parts[first:]) for first in range(len(parts)))]


def locate(rows: Iterable[Row], documents: Sequence[Document]) -> dict[Row, Located]:
    """Of each distinct row (by its ``key``) where it stands.

    An id is a document's, or a document's with offsets (``doc:start-end``, ``doc#start-end``). Offsets count
    where they lie in the document and the row's text, if any, holds the text there or is part of it; else the
    text is looked for, in its document first and then in all. An id alone is the whole document.
    """
    index = {document.doc_id: i for i, document in enumerate(documents)}
    found: dict[Row, Located] = {}
    by_text: dict[int, dict[Row, str]] = defaultdict(dict)
    for row in dict.fromkeys(map(key, rows)):
        doc, start, end = _named(row, index)
        at, reason = _at(documents, doc, start, end, row.text)
        if at is not None:
            found[row] = Located(doc, at)
        elif row.text is not None and row.text.strip():
            by_text[doc][row] = row.text
        elif doc >= 0 and start is None and not row.fault:
            found[row] = Located(doc, Span(doc, 0, len(documents[doc].text)))
        else:
            found[row] = Located(doc, None, reason=reason or row.fault or _unknown(row))
    return found | _by_text(by_text, documents)


def _by_text(texts_of: Mapping[int, dict[Row, str]], documents: Sequence[Document]) -> dict[Row, Located]:
    """Rows by the document they name (-1 for none), looked for in that document first and then in all."""
    found: dict[Row, Located] = {}
    elsewhere: dict[Row, tuple[int, str]] = {}
    for doc, texts in texts_of.items():
        places = (
            find_spans(set(texts.values()), [documents[doc]], _OCCURRENCES, is_chunk=True) if doc >= 0 else {}
        )
        for row, text in texts.items():
            if spans := places.get(text):
                found[row] = _first(text, [span._replace(document=doc) for span in spans], documents)
            else:
                elsewhere[row] = doc, text
    places = find_spans({text for _, text in elsewhere.values()}, documents, _OCCURRENCES, is_chunk=True)
    for row, (doc, text) in elsewhere.items():
        spans = places[text]
        if spans:
            first = _first(text, spans, documents)
            found[row] = first._replace(doc=doc) if doc >= 0 else first
        else:
            found[row] = Located(doc, None, reason=_not_there(row, doc))
    return found


def _named(row: Row, index: Mapping[str, int]) -> tuple[int, int | None, int | None]:
    """The document that a row names, -1 for none, and offsets in it."""
    if row.id is None:
        return -1, None, None
    doc = index.get(row.id, -1)
    if doc < 0 and (parts := _CHUNK_ID.fullmatch(row.id)) and parts[1] in index:
        doc = index[parts[1]]
        if row.start is None:
            return doc, int(parts[2]), int(parts[3])
    return doc, row.start, row.end


def _at(
    documents: Sequence[Document], doc: int, start: int | None, end: int | None, text: str | None
) -> tuple[Span | None, str]:
    """The span that offsets give, or why they don't hold."""
    if doc < 0 or start is None or end is None:
        return None, ""
    whole = documents[doc].text
    if not 0 <= start < end <= len(whole):
        return None, f"the offsets {start} to {end} lie outside of a document of {len(whole):,} characters"
    if text is not None and text.strip():
        there = whole[start:end]
        if not (_is_part(squeezed(there), squeezed(text)) or _is_part(bare(there), bare(text))):
            return None, "another text stands at its offsets"
    return Span(doc, start, end), ""


def _is_part(there: str, given: str) -> bool:
    """Whether one of the two texts is part of the other."""
    return bool(there) and (there in given or given in there)


def _first(text: str, spans: Sequence[Span], documents: Sequence[Document]) -> Located:
    doc, start, end = spans[0]
    is_cleaned = squeezed(text) != squeezed(documents[doc].text[start:end])
    return Located(doc, spans[0], is_ambiguous=len(spans) > 1, is_cleaned=is_cleaned)


def _unknown(row: Row) -> str:
    return "neither an id nor a text" if row.id is None else "no document has this id, and there is no text"


def _not_there(row: Row, doc: int) -> str:
    if row.id is None or doc >= 0:
        return "its text stands in no document"
    return "no document has this id, and its text stands in none"
