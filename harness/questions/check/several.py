"""Where a quote stands whose label does not say in which of several places."""

from __future__ import annotations

from collections.abc import Mapping

from harness.questions.check import Examined
from harness.records import Evidence
from harness.text.spans import find_spans

_PLACES = 20
SHORTEST = 16
"""Characters of a quote whose copies may count: a number or a name somewhere else answers nothing."""


def several(examined: Examined) -> Mapping[tuple[int, int], tuple[Evidence, ...]]:
    """For evidence that is AMBIGUOUS all its places, in its own document where it stands there, by positions of question and evidence.

    Quotes under 16 characters have none: somebody must say which is meant.
    """
    open_ = {
        (piece.question, piece.position): piece.written
        for piece in examined.pieces()
        if piece.unit.reason.startswith("AMBIGUOUS") and len(piece.written.quote or "") >= SHORTEST
    }
    spans = find_spans({label.quote for label in open_.values() if label.quote}, examined.documents, _PLACES)
    found = {}
    for key, label in open_.items():
        places = [
            Evidence(examined.documents[i].doc_id, start, end, examined.documents[i].text[start:end])
            for i, start, end in spans[label.quote or ""]
        ]
        at_home = [place for place in places if place.doc_id == label.doc_id]
        found[key] = tuple(at_home or places)
    return found
