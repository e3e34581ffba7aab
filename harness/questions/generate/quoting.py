"""Where the quotes of an answer stand, and where else they stand as well."""

from __future__ import annotations

import re
from collections.abc import Mapping

from harness.questions.generate import Excerpt
from harness.records import Document, Evidence
from harness.text.spans import find_spans
from harness.text.words import UNSPACED, size

_PLACES = 20
_TELLING = 40  # a shorter text (a name, a number) elsewhere in the document need not say the same
_UNSPACED = re.compile(f"[{UNSPACED}]")
_BLANKS = re.compile(r"\s+")


def spans_in(quote: str, text: str) -> list[tuple[int, int]]:
    """Every place of ``quote`` in ``text``, white space aside, at most 20; in scripts without blanks also where a blank stands between.

    Nothing for a quote without a single visible character.
    """
    quote = quote.strip()
    if not quote:
        return []
    found = find_spans([quote], [Document("", text)], _PLACES)[quote]
    if found or not _UNSPACED.search(quote):
        return [(span.start, span.end) for span in found]
    # A line break inside of Chinese or Japanese is no word's end, and is seldom copied.
    offsets = [at for at, character in enumerate(text) if not character.isspace()]
    bare, sought = _BLANKS.sub("", text), _BLANKS.sub("", quote)
    at = bare.find(sought)
    return [] if at < 0 else [(offsets[at], offsets[at + len(sought) - 1] + 1)]


def evidence_of(quote: str, excerpt: Excerpt, documents: Mapping[str, Document]) -> Evidence | None:
    """The quote where it stands first in its excerpt, or None when it does not stand there.

    ``alternatives``: its other places in the excerpt and its copies, and in the rest of their documents if it is long enough to mean the
    same there (size 40).
    """
    own = spans_in(quote, excerpt.text)
    if not own:
        return None
    start, end = (excerpt.start + at for at in own[0])
    taken = [(excerpt.doc_id, start, end)]
    for doc_id, first, last in _places(documents[excerpt.doc_id].text[start:end], excerpt, documents):
        if all(doc_id != other or last <= begin or first >= stop for other, begin, stop in taken):
            taken.append((doc_id, first, last))
    first_place, *others = (
        Evidence(doc_id, begin, stop, documents[doc_id].text[begin:stop])
        for doc_id, begin, stop in taken[:_PLACES]
    )
    return Evidence(first_place.doc_id, start, end, first_place.quote, 1, tuple(others))


def _places(quote: str, excerpt: Excerpt, documents: Mapping[str, Document]) -> list[tuple[str, int, int]]:
    """All places of the quote, those of the excerpt first."""
    places = []
    for each in (excerpt, *excerpt.copies):
        places += [
            (each.doc_id, each.start + start, each.start + end) for start, end in spans_in(quote, each.text)
        ]
    if size(quote) >= _TELLING:
        for doc_id in dict.fromkeys(each.doc_id for each in (excerpt, *excerpt.copies)):
            places += [(doc_id, start, end) for start, end in spans_in(quote, documents[doc_id].text)]
    return places
