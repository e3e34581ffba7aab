"""The questions that can be judged, each with its passages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.errors import InputError
from harness.golden.anchoring import check_units
from harness.golden.file import FileContent, FileGolden, read_drafts
from harness.questions.judging import Judgeable
from harness.questions.judging.pool import PassagePool, ReturnedSpan
from harness.records import Evidence, Question
from harness.text.spans import squeezed


def judgeable(
    golden: FileGolden,
    content: FileContent,
    pool: PassagePool,
    rows: Mapping[str, Sequence[ReturnedSpan]],
    *,
    k: int,
    seed: int,
) -> list[Judgeable]:
    """The questions with rows and quoted evidence, with their passages; others are left out.

    The passages: those that ``rows`` and lexical search returned, one for each known evidence, and one by
    chance. Raises ``InputError`` where there is none.
    """
    scored = {question.question_id: question for question in golden.load(pool.documents).questions}
    lines = {draft.question_id: draft.line for draft in read_drafts(golden.path)[1]}
    units = check_units([q.evidence for q in content.questions], pool.documents, content.no_documents)
    lexical = pool.bm25([question.text for question in content.questions], k)
    made = []
    for position, question in enumerate(content.questions):
        groups = tuple(
            at for at, unit in enumerate(units[position]) if unit.evidence and not unit.evidence.is_document
        )
        if question.question_id not in scored or question.question_id not in rows or not groups:
            continue
        evidence = tuple(unit for at in groups if (unit := units[position][at].evidence))
        places = tuple(_places(each, scored[question.question_id]) for each in evidence)
        found = [each for row in rows[question.question_id] for each in pool.touching(row)]
        found += lexical[position]
        known = [each for some in places for each in _holding(pool, some[:1])]
        by_judge = _by_judge(question)
        marked = [p for some in places for p in some if squeezed(p.quote or "") not in by_judge]
        random = pool.by_chance(seed, question.text, (*found, *known), marked)
        ids = dict.fromkeys((*found, *known, *([random] if random else [])))
        made.append(
            Judgeable(
                question_id=question.question_id,
                position=position,
                line=lines[question.question_id],
                text=question.text,
                evidence=evidence,
                groups=groups,
                places=places,
                by_judge=by_judge,
                passages={each: pool.by_id[each] for each in ids},
                random=random,
            )
        )
    if not made:
        raise InputError(
            f"{golden.path}: no question of the sweep has quoted evidence, so there is nothing to judge. "
            "Labels of whole documents can't be judged.",
            path=golden.path,
        )
    return made


def _by_judge(question: Question) -> frozenset[str]:
    """The texts that ``harness.golden.judge`` noted in the question's provenance."""
    about = question.provenance.get("judge")
    quotes = about.get("alternatives") if isinstance(about, dict) else None
    return frozenset(squeezed(str(quote)) for quote in quotes or ())


def _places(evidence: Evidence, scored: Question) -> tuple[Evidence, ...]:
    """All places of the evidence, equal texts elsewhere included."""
    own = {(place.doc_id, place.start, place.end) for place in evidence.places}
    more = [
        place
        for unit in scored.evidence
        if own & {(place.doc_id, place.start, place.end) for place in unit.places}
        for place in unit.places
    ]
    return tuple(
        {(place.doc_id, place.start, place.end): place for place in (*evidence.places, *more)}.values()
    )


def _holding(pool: PassagePool, places: Sequence[Evidence]) -> list[str]:
    """Ids of the passages that hold one of the places as a whole."""
    spans = [
        ReturnedSpan(place.doc_id, place.start, place.end)
        for place in places
        if place.start is not None and place.end
    ]
    return [
        each
        for span in spans
        for each in pool.touching(span)
        if pool.by_id[each].start <= span.start and span.end <= pool.by_id[each].end
    ]
