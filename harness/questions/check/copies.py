"""Other places where the evidence stands, word for word or nearly so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from harness.golden import EqualTexts
from harness.golden.twins import SHORTEST, find_twins, more_places
from harness.questions.check import CheckedSet, CheckResult, Finding, Position, shortened
from harness.questions.near_copies import passages_like
from harness.records import Evidence
from harness.text.spans import Span, find_spans
from harness.view.formats import counted, equal_texts

_AMBIGUOUS_PLACES = 20
_SERIOUS = 0.05  # of all evidence
_SHOWN = 5
_MOST_CHARACTERS = 200_000_000  # of documents: about two minutes


def ambiguous_places(checked: CheckedSet) -> Mapping[Position, tuple[Evidence, ...]]:
    """For each AMBIGUOUS evidence all its places, those in its own document if there are any.

    Quotes under 16 characters have none: a person must say which place is meant.
    """
    ambiguous = {
        piece.key: piece.written
        for piece in checked.pieces()
        if piece.unit.reason.startswith("AMBIGUOUS") and len(piece.written.quote or "") >= SHORTEST
    }
    quotes = {label.quote for label in ambiguous.values() if label.quote}
    spans = find_spans(quotes, checked.documents, _AMBIGUOUS_PLACES)
    found = {}
    for key, label in ambiguous.items():
        places = [_place(span, checked) for span in spans[label.quote or ""]]
        at_home = [place for place in places if place.doc_id == label.doc_id]
        found[key] = tuple(at_home or places)
    return found


def copies(
    checked: CheckedSet, counted_already: EqualTexts | None
) -> tuple[CheckResult, Mapping[Position, list[Evidence]]]:
    """Evidence with copies that its label does not name, and these copies.

    A finding only where labels count as written (``counted_already`` is None).
    """
    found = {piece.key: piece.unit.evidence for piece in checked.pieces() if piece.unit.evidence}
    twins = find_twins(found.values(), checked.documents)
    others = {key: more for key, evidence in found.items() if (more := more_places(evidence, twins))}
    if counted_already is not None or not others:
        fact = equal_texts(counted_already) or "no evidence is repeated elsewhere"
        return CheckResult("copies", fact), others
    of = Counter(checked.questions[i].evidence[j].doc_id for i, j in others)
    finding = Finding(
        "copies",
        "serious" if len(others) > _SERIOUS * len(found) else "note",
        checked.ids([question for question, _ in others]),
        f"{counted(len(others), 'label has', 'labels have')} equal texts elsewhere ({_listed(of)}): "
        "a retriever that finds another copy is scored as wrong.",
        "Leave out golden.twins=false, and they count. accept=true adds them as alternatives for good.",
        tuple(_detail(checked, key, found[key], places) for key, places in others.items()),
    )
    fact = f"{counted(len(others), 'label has', 'labels have')} copies that no label names"
    return CheckResult("copies", fact, (finding,)), others


def near_copies(
    checked: CheckedSet, verbatim: Mapping[Position, Sequence[Evidence]], most: int = _MOST_CHARACTERS
) -> CheckResult:
    """Evidence that another passage gives in nearly the same words, except ``verbatim`` copies."""
    if sum(len(document.text) for document in checked.documents) > most:
        return CheckResult("near copies", f"not looked for in more than {most / 1e6:,.0f} million characters")
    known: dict[int, list[Evidence]] = {}
    quotes: list[Evidence] = []
    owners: list[int] = []
    for piece in checked.pieces():
        evidence = piece.unit.evidence
        if evidence and evidence.quote:
            known[len(quotes)] = [*evidence.places, *verbatim.get(piece.key, ())]
            quotes.append(evidence)
            owners.append(piece.question)
    found = passages_like(quotes, checked.documents, known)
    if not found:
        return CheckResult("near copies", "no evidence is given in nearly the same words elsewhere")
    finding = Finding(
        "near copies",
        "note",
        checked.ids([owners[i] for i in found]),
        f"{counted(len(found), 'quote is', 'quotes are')} given elsewhere in nearly the same words: "
        "another version, or the same answer again.",
        "Read both. If the other passage answers the question too, add it as an alternative; "
        "if it is outdated, it is a good test.",
        tuple(
            f"{checked.questions[owners[i]].question_id}: “{shortened(quotes[i].quote or '')}” "
            f"({quotes[i].doc_id}) and “{shortened(place.quote or '')}” ({place.doc_id} at {place.start:,})"
            for i, place in found.items()
        ),
    )
    fact = f"{counted(len(found), 'quote')} in nearly the same words elsewhere"
    return CheckResult("near copies", fact, (finding,))


def _place(span: Span, checked: CheckedSet) -> Evidence:
    document = checked.documents[span.document]
    return Evidence(document.doc_id, span.start, span.end, document.text[span.start : span.end])


def _listed(of: Counter[str]) -> str:
    shown = [f"{doc_id} {number:,}" for doc_id, number in of.most_common(_SHOWN)]
    return ", ".join(shown + [f"and {counted(len(of) - _SHOWN, 'more document')}"] * (len(of) > _SHOWN))


def _detail(checked: CheckedSet, key: Position, evidence: Evidence, places: Sequence[Evidence]) -> str:
    where = ", ".join(f"{place.doc_id} at {place.start or 0:,}" for place in places[:_SHOWN])
    more = f" and {len(places) - _SHOWN:,} more" if len(places) > _SHOWN else ""
    what = shortened(evidence.quote or evidence.doc_id)
    return f"{checked.questions[key[0]].question_id}: “{what}” also in {where}{more}"
