"""Judgements as labels: alternatives, what is not relevant, and what contradicts the golden set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from harness.golden.doc_ids import shown_id
from harness.golden.question_json import LABELS, evidence_object, labels_object
from harness.questions.generate import Excerpt
from harness.questions.judging import Judgeable, Stated
from harness.questions.judging.answers import Judgements
from harness.records import Evidence, Question


class Line(NamedTuple):
    """A line of the golden set: its object, its question, and where in the object each evidence stands."""

    item: Mapping[str, Any]
    question: Question
    entries: Sequence[int]


@dataclass
class NewLabels:
    """What the judge adds to one question.

    ``alternatives``: position in the file's evidence and span. ``not_relevant``: spans without a quote.
    ``contradictions``: sentences; what the golden set says stays.
    """

    alternatives: list[tuple[int, Evidence]] = field(default_factory=list)
    not_relevant: list[Evidence] = field(default_factory=list)
    contradictions: list[str] = field(default_factory=list)


def new_labels(
    asked: Judgeable, judged: Judgements, question: Question, passages: Mapping[str, Excerpt]
) -> NewLabels:
    """What the judgements add to ``question``, which is as it stands in the file."""
    found = NewLabels()
    denied = list(question.not_relevant)
    for each, stated in sorted(judged.stated.items(), key=lambda entry: _order(passages[entry[0]])):
        passage = passages[each]
        missed = set(asked.known(passage)) - {one.evidence for one in stated}
        found.contradictions += [_said(asked, passage, f"states evidence {at + 1}") for at in sorted(missed)]
        own = Evidence(passage.doc_id, passage.start, passage.end, grade=0)
        for one in stated:
            span = _span(one, passage)
            # The judge's own judgement of 0, of an earlier prompt, is the passage without a quote.
            if any(_meet(span, zero) for zero in denied if zero != own):
                found.contradictions.append(_said(asked, passage, "is not relevant"))
            elif not any(_meet(span, place) for place in asked.places[one.evidence]):
                found.alternatives.append((asked.groups[one.evidence], span))
        is_free = not any(_meet(own, place) for places in asked.places for place in places)
        if not stated and is_free and own not in denied:
            found.not_relevant.append(own)
    return found


def with_labels(line: Line, new: NewLabels, about: Mapping[str, Any]) -> dict[str, Any]:
    """The object of ``line`` with the new labels; ``about`` goes into its provenance under ``judge``."""
    item = deepcopy(dict(line.item))
    is_own = isinstance(item.get("evidence"), list) and len(line.entries) == len(line.question.evidence)
    if not is_own:
        item = {key: value for key, value in item.items() if key not in LABELS} | labels_object(line.question)
    for group, span in new.alternatives:
        unit = item["evidence"][line.entries[group] if is_own else group]
        unit["alternatives"] = [*(unit.get("alternatives") or []), evidence_object(span)]
    zeros = [*(item.get("not_relevant") or []), *(evidence_object(zero, 0) for zero in new.not_relevant)]
    taken = [span for _, span in new.alternatives]
    zeros = [zero for zero in zeros if not _is_overruled(zero, taken)]
    if zeros or "not_relevant" in item:
        item["not_relevant"] = zeros
    before = item.get("provenance") or {}
    earlier = (before.get("judge") or {}).get("alternatives") or []
    quotes = dict.fromkeys((*earlier, *(span.quote for span in taken)))
    item["provenance"] = {**before, "judge": {**about, "alternatives": list(quotes)}}
    return item


def _is_overruled(zero: Mapping[str, Any], taken: Sequence[Evidence]) -> bool:
    """Whether the judge itself now sees evidence where it once saw none."""
    if "quote" in zero or "start" not in zero:
        return False
    return any(_meet(span, Evidence(zero["doc_id"], zero["start"], zero["end"])) for span in taken)


def _span(one: Stated, passage: Excerpt) -> Evidence:
    quote = passage.text[one.start - passage.start : one.end - passage.start]
    return Evidence(passage.doc_id, one.start, one.end, quote)


def _meet(one: Evidence, other: Evidence) -> bool:
    """Whether two places share a character; a whole document holds all of its own."""
    if one.doc_id != other.doc_id:
        return False
    if one.start is None or other.start is None or one.end is None or other.end is None:
        return True
    return one.start < other.end and other.start < one.end


def _order(passage: Excerpt) -> tuple[str, int]:
    return passage.doc_id, passage.start


def _said(asked: Judgeable, passage: Excerpt, held: str) -> str:
    return (
        f'line {asked.line} "{asked.question_id}": the set says that {shown_id(passage.doc_id)} at '
        f"{passage.start:,} {held}, and the judge says the opposite. The set stays as it is."
    )


def contradictions(found: Sequence[NewLabels], most: int) -> Iterator[str]:
    """The first contradictions, and how many more there are."""
    said = [sentence for new in found for sentence in new.contradictions]
    yield from said[:most]
    if len(said) > most:
        yield f"and {len(said) - most:,} more"
