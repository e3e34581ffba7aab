"""The evidence of given questions looked up in the documents."""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from harness.golden import EqualTexts, State
from harness.golden.anchoring import Unit, check_units, reason_of
from harness.golden.drafts import chunks_at, questions_of
from harness.golden.judgements import Place, apart, each_once, place_of
from harness.golden.question_json import Draft
from harness.golden.twins import Twins, with_joined
from harness.questions.importing import GivenQuestion, Refused
from harness.records import Document, Evidence, Question
from harness.text.copied import WAYS, way_of


class LocatedQuestions(NamedTuple):
    """Questions with their evidence in the documents, and rows whose evidence was not found.

    ``states``: how many pieces of evidence are in each state. ``completed``: names of documents as they were
    given and as they are. ``ways``: how many quotes and texts of chunks were found in each way, for instance
    ``with other typography``. ``twins``: places of the evidence that count without being written;
    ``equal_texts``: how many. ``moved``: unknown documents that labels name, and where their quotes stand.
    """

    questions: list[Question]
    refused: list[Refused]
    states: Counter[State]
    completed: Mapping[str, str]
    ways: Counter[str]
    twins: Twins
    equal_texts: EqualTexts
    moved: Mapping[str, str]

    @property
    def is_mostly_lost(self) -> bool:
        """Whether more than half of the evidence was not found."""
        return self.states["CHANGED"] + self.states["LOST"] > self.states["VALID"] + self.states["MOVED"]


def find(
    groups: Sequence[Sequence[GivenQuestion]],
    documents: Sequence[Document],
    chunks: Sequence[str] | None = None,
    relevant_from: float | None = None,
    *,
    twins: bool = True,
) -> LocatedQuestions:
    """Every question whose whole evidence stands in ``documents``; of any other, the reason.

    ``groups``: the rows of each question. ``chunks`` is the list that gold ids count in, where there is one.
    White space, typography and markup do not matter, nor do copies of a text that was cut from a document.
    Evidence with a grade below ``relevant_from`` (None: 0 or less) was judged not relevant, and needs no
    document. With ``twins``, two pieces of evidence with the same text are one.
    """
    asked = [row for group in groups for row in group]
    end = math.inf if chunks is None else len(chunks)
    known = [row._replace(positions=()) if max(row.positions, default=0) >= end else row for row in asked]
    given = questions_of(_drafts(known, documents), chunks, documents, loosely=True)
    labels = [
        apart((*row.evidence, *row.not_relevant), row.not_relevant, relevant_from) for row in given.questions
    ]
    checked = check_units([label for pair in labels for label in pair], documents, given.no_documents)
    states = Counter(unit.state for units in checked[::2] for unit in units)
    found = LocatedQuestions([], [], states, given.other_names, Counter(), {}, EqualTexts(0, 0, 0), {})
    beyond = f"gold_id is beyond the {end:,} texts of golden.chunks, counted from 0."
    reasons, located = [], []
    for i, (relevant, others) in enumerate(zip(checked[::2], checked[1::2], strict=True)):
        reasons.append(reason_of(relevant) if known[i] is asked[i] else beyond)
        evidence = tuple(unit.evidence for unit in relevant if unit.evidence)
        apart_from = tuple(unit.evidence or label for unit, label in zip(others, labels[i][1], strict=True))
        located.append(replace(given.questions[i], evidence=evidence, not_relevant=apart_from))
        if not reasons[-1]:
            found.ways.update(_ways(asked[i], given.questions[i].evidence, labels[i][0], relevant))
    at = 0
    for group in groups:
        rows = slice(at, at := at + len(group))
        question, refused = _joined(group, located[rows], reasons[rows])
        found.refused.extend(refused)
        found.questions.extend([question] if question else [])
    kept, same, equal = with_joined(found.questions, documents if twins else ())
    pairs = (pair for i, (label, _) in enumerate(labels) for pair in zip(label, checked[2 * i], strict=True))
    moved = {label.doc_id: unit.evidence.doc_id for label, unit in pairs if unit.evidence and label.doc_id}
    moved = {name: own for name, own in moved.items() if own not in {name, found.completed.get(name)}}
    return found._replace(questions=kept, twins=same, equal_texts=equal, moved=moved)


def _joined(
    rows: Sequence[GivenQuestion], found: Sequence[Question], reasons: Sequence[str]
) -> tuple[Question | None, list[Refused]]:
    """The rows of one question as one with the labels of all, each once; and the rows that are refused.

    ``found[i]`` is the question in ``rows[i]``, ``reasons[i]`` why it can't be used: one such row is enough
    to refuse all. Judgements that contradict each other are left out, their rows refused; the others go on.
    """
    bad = next((row.row.where for row, reason in zip(rows, reasons, strict=True) if reason), "")
    if bad:
        whole = f"belongs to the question of {bad}, which can't be used."
        pairs = zip(rows, reasons, strict=True)
        return None, [Refused(row.row, reason or whole, row.question_id) for row, reason in pairs]
    labels = [
        (label, row)
        for row, question in zip(rows, found, strict=True)
        for label in (*question.evidence, *question.not_relevant)
    ]
    kept, several = each_once(label for label, _ in labels)
    where: dict[Place, dict[float, str]] = defaultdict(dict)
    for label, row in labels:
        where[place_of(label)].setdefault(label.grade, row.row.where)
    refused = [
        Refused(row.row, f"{_denied(label.doc_id, where[place_of(label)])}", row.question_id)
        for label, row in labels
        if place_of(label) in several
    ]
    evidence, others = apart(kept, (label for one in found for label in one.not_relevant), None)
    provenance = _all_of([question.provenance for question in found])
    together = replace(found[0], evidence=evidence, not_relevant=others, provenance=provenance)
    return (together if kept or not several else None), refused


def _denied(doc_id: str, where: Mapping[float, str]) -> str:
    grades = " and ".join(f"{grade} in {row}" for grade, row in where.items())
    return f"the grade of {doc_id} is {grades}, so this judgement is left out of its question."


def _all_of(provenances: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The first row's values, and under ``also`` the values of others that differ, each once."""
    known: dict[str, Any] = dict(provenances[0])
    others = [
        {key: value for key, value in provenance.items() if known.setdefault(key, value) != value}
        for provenance in provenances[1:]
    ]
    also = unique(filter(None, others))
    return known | ({"also": also} if also else {})


def unique(items: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The items, equal ones once."""
    return list({json.dumps(item, sort_keys=True, default=str): item for item in items}.values())


def _ways(
    asked: GivenQuestion, given: Sequence[Evidence], labels: Sequence[Evidence], units: Sequence[Unit]
) -> Iterator[str]:
    """How each quote of a row was found, and each text of a chunk.

    ``given``: its labels, those of chunks last; ``labels``, ``units``: the relevant ones, and what was found.
    """
    quotes = {place.quote for place in asked.evidence if place.quote}
    yield from (WAYS[-1] for _ in quotes - {label.quote for label in given})
    found = zip(labels, units, strict=True)
    pairs = [(label.quote or "", unit.evidence) for label, unit in found if label.quote in quotes]
    pairs += [
        (chunk.quote or "", place) for chunk, place in zip(asked.chunks[::-1], given[::-1], strict=False)
    ]
    yield from (way_of(text.strip(), place.quote) for text, place in pairs if place and place.quote)


def _drafts(asked: Sequence[GivenQuestion], documents: Sequence[Document]) -> list[Draft]:
    """The questions as a golden file would have them, texts of chunks as the spans where they stand."""
    texts = list(dict.fromkeys(chunk.quote or "" for row in asked for chunk in row.chunks))
    spans = chunks_at(range(len(texts)), texts, documents)
    at = {text: spans[i] for i, text in enumerate(texts)}
    return [
        Draft(
            i,
            row.question_id,
            row.text,
            (*row.evidence, *(replace(at[chunk.quote or ""], grade=chunk.grade) for chunk in row.chunks)),
            row.positions,
            row.source or "import",
            row.provenance,
            row.not_relevant,
        )
        for i, row in enumerate(asked)
    ]
