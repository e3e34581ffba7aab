"""Evidence that stands word for word in other places too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from harness.questions.check import Examined, Finding, Look, counted, shortened
from harness.questions.check.several import SHORTEST
from harness.records import Evidence
from harness.text.spans import Span, find_spans

_PLACES = 100  # a text that stands in so many places is boilerplate
_SERIOUS = 0.05  # of all evidence
_SHOWN = 5


def copies(examined: Examined) -> tuple[Look, Mapping[tuple[int, int], tuple[Evidence, ...]]]:
    """Evidence with copies that its label does not name, and these, by the positions of question and evidence.

    Quotes under 16 characters are left alone.
    """
    pieces = [piece for piece in examined.pieces() if piece.unit.evidence and piece.unit.evidence.quote]
    quotes = {p.unit.evidence.quote for p in pieces if p.unit.evidence and p.unit.evidence.quote}
    spans = find_spans({quote for quote in quotes if len(quote) >= SHORTEST}, examined.documents, _PLACES)
    others: dict[tuple[int, int], tuple[Evidence, ...]] = {}
    for piece in pieces:
        evidence = piece.unit.evidence
        if evidence and evidence.quote in spans:
            found = _others(evidence, spans[evidence.quote], examined)
            if found:
                others[piece.question, piece.position] = found
    if not others:
        return Look("copies", "no evidence stands anywhere else"), {}
    ids = examined.ids([question for question, _ in others])
    of = Counter(examined.questions[i].evidence[j].doc_id for i, j in others)
    finding = Finding(
        "copies",
        "serious" if len(others) > _SERIOUS * len(pieces) else "note",
        ids,
        f"{counted(len(others), 'quote stands', 'quotes stand')} word for word in other places too ({_listed(of)}): "
        "whoever finds another copy is told to be wrong.",
        "accept=true names them as alternatives, any one of which counts.",
        tuple(_detail(examined, key, places) for key, places in others.items()),
    )
    return Look(
        "copies", f"{counted(len(others), 'quote has', 'quotes have')} copies that no label names", (finding,)
    ), others


def _others(evidence: Evidence, spans: Sequence[Span], examined: Examined) -> tuple[Evidence, ...]:
    """The spans that no place of the evidence meets."""
    known: dict[str, list[tuple[int, int]]] = {}
    for place in evidence.places:
        if place.start is not None and place.end is not None:
            known.setdefault(place.doc_id, []).append((place.start, place.end))
    found = []
    for index, start, end in spans:
        document = examined.documents[index]
        if all(start >= high or end <= low for low, high in known.get(document.doc_id, [])):
            found.append(Evidence(document.doc_id, start, end, document.text[start:end]))
    return tuple(found)


def _listed(of: Counter[str]) -> str:
    shown = [f"{doc_id} {number:,}" for doc_id, number in of.most_common(_SHOWN)]
    return ", ".join(shown + [f"and {len(of) - _SHOWN:,} documents more"] * (len(of) > _SHOWN))


def _detail(examined: Examined, key: tuple[int, int], places: Sequence[Evidence]) -> str:
    question, position = key
    evidence = examined.units[question][position].evidence
    where = ", ".join(f"{place.doc_id} at {place.start:,}" for place in places[:_SHOWN])
    more = f" and {len(places) - _SHOWN:,} more" if len(places) > _SHOWN else ""
    return f"{examined.questions[question].question_id}: “{shortened(evidence.quote or '' if evidence else '')}” also in {where}{more}"
