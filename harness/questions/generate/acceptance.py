"""An answer of the model into a question with its evidence, or the reason why not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.golden.doc_ids import quoted
from harness.golden.jsonl import encodable_json
from harness.questions.generate import Accepted, Excerpt, Passage, Rejection
from harness.questions.generate.excerpts import evidence_of
from harness.questions.generate.validation import echo_of, is_order, objection_to
from harness.records import Document, Evidence
from harness.text.words import overlap, size

_MOST_QUOTES = 4
_SHORTEST = 16  # size; a shorter quote (a number, a name) is found in too many places
_LONGEST = 600  # size
_WHOLE, _WHOLE_FROM = 0.9, 300  # an excerpt may be quoted as a whole only if it is short


def accept(
    reply: Mapping[str, Any],
    passage: Passage,
    documents: Mapping[str, Document],
    max_overlap: float,
    *,
    language: str = "english",
    instructions: str = "",
) -> Accepted | Rejection:
    """The question in ``reply``, or why it is rejected.

    A passage of two excerpts needs a quote from each, one of a single excerpt needs one or more.
    ``documents`` by id. ``language`` of the documents, for ``harness.text.words.overlap``.
    ``instructions``: what the model was told (the prompt without the passage); a question that repeats ten
    words of it in a row is rejected. Never raises for anything that a model can write.

    Kinds of rejection: ``not_answerable`` (the only final one), ``malformed``, ``no_question``, ``too_long``,
    ``injection``, ``mentions_passage``, ``quote_not_found``, ``quote_too_short``, ``quote_too_long``,
    ``quotes_in_one_place``, ``quotes_itself``.
    """
    given = _fields(reply)
    if isinstance(given, Rejection):
        return given
    question, quotes = given
    if found := objection_to(question, instructions):
        return found
    evidence = _evidence(quotes, passage, documents)
    if isinstance(evidence, Rejection):
        return evidence
    told = [each.quote or "" for each in evidence]
    if found := echo_of(question, told, passage, language):
        return found
    share = overlap(question, told, language).plain
    return Accepted(question, evidence, share, share > max_overlap)


def _fields(reply: Any) -> tuple[str, list[str]] | Rejection:
    """Question and quotes, the question with one blank for each white space."""
    if not isinstance(reply, Mapping) or not isinstance(reply.get("answerable"), bool):
        return Rejection(
            "malformed", 'The answer is not as agreed: an object with "answerable", "question" and "quotes".'
        )
    if not reply["answerable"]:
        return Rejection(
            "not_answerable", "The passage answers no question that a user would ask.", is_final=True
        )
    question, quotes = reply.get("question"), reply.get("quotes")
    if (
        not isinstance(question, str)
        or not isinstance(quotes, list)
        or not all(isinstance(each, str) for each in quotes)
    ):
        return Rejection(
            "malformed", 'The answer is not as agreed: "question" is a text, "quotes" a list of texts.'
        )
    if not 1 <= len(quotes) <= _MOST_QUOTES:
        return Rejection("malformed", f"Quotes: {len(quotes)}; one to {_MOST_QUOTES} are expected.")
    question, quotes = encodable_json(question), encodable_json(quotes)
    return " ".join(question.split()), quotes


def _evidence(
    quotes: Sequence[str], passage: Passage, documents: Mapping[str, Document]
) -> tuple[Evidence, ...] | Rejection:
    """The quotes in the order of the passage's excerpts; those inside of others left out."""
    found: list[tuple[int, Evidence]] = []
    for number, quote in enumerate(quotes):
        placed = _placed(quote, number, passage, documents)
        if isinstance(placed, Rejection):
            return placed
        found.append(placed)
    if {at for at, _ in found} != set(range(len(passage.excerpts))):
        return Rejection(
            "quotes_in_one_place",
            "The quotes all come from one of the two passages. Ask what needs both, and quote from each.",
        )
    outer: list[tuple[int, Evidence]] = []
    for at, each in sorted(found, key=lambda entry: _length(entry[1]), reverse=True):
        if not any(_is_inside(each, other) for _, other in outer):
            outer.append((at, each))
    own = [each for _, each in sorted(outer, key=lambda entry: (entry[0], entry[1].start))]
    return tuple(_without(each, own) for each in own)


def _placed(
    quote: str, number: int, passage: Passage, documents: Mapping[str, Document]
) -> tuple[int, Evidence] | Rejection:
    """The quote with the position of its excerpt: the one of the same number if it stands there."""
    shown = quoted(quote, 60)
    if is_order(quote):
        return Rejection(
            "injection", f"The quote {shown} gives instructions and answers nothing. Quote what answers."
        )
    if size(" ".join(quote.split())) < _SHORTEST:
        return Rejection(
            "quote_too_short", f"The quote {shown} is too short. Quote the whole clause that answers."
        )
    order = sorted(range(len(passage.excerpts)), key=lambda at: at != number)
    for at in order:
        excerpt = passage.excerpts[at]
        if evidence := evidence_of(quote, excerpt, documents):
            return _too_long(shown, evidence, excerpt) or (at, evidence)
    return Rejection(
        "quote_not_found",
        f"The quote {shown} does not stand in the passage. Copy the words exactly, "
        "character by character, without leaving any out.",
    )


def _too_long(shown: str, evidence: Evidence, excerpt: Excerpt) -> Rejection | None:
    length, whole = size(evidence.quote or ""), size(excerpt.text)
    if length > _LONGEST or (length > _WHOLE * whole and whole > _WHOLE_FROM):
        return Rejection(
            "quote_too_long", f"The quote {shown} is too long. Quote only the words that answer."
        )
    return None


def _length(evidence: Evidence) -> int:
    return (evidence.end or 0) - (evidence.start or 0)


def _is_inside(one: Evidence, other: Evidence) -> bool:
    return (
        one.doc_id == other.doc_id
        and (other.start or 0) <= (one.start or 0)
        and (one.end or 0) <= (other.end or 0)
    )


def _without(evidence: Evidence, own: Sequence[Evidence]) -> Evidence:
    """The evidence without alternatives that are another evidence of the same question, or part of one."""
    others = tuple(
        each
        for each in evidence.alternatives
        if not any(_is_inside(each, other) or _is_inside(other, each) for other in own)
    )
    return Evidence(evidence.doc_id, evidence.start, evidence.end, evidence.quote, evidence.grade, others)
