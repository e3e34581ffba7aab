"""Evidence looked up in the documents: that of given questions, and that of a golden file."""

from __future__ import annotations

import codecs
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from harness.errors import InputError
from harness.golden import EqualTexts, State
from harness.golden.anchoring import check_units, reason_of
from harness.golden.doc_ids import chunks_at, questions_of
from harness.golden.file import read_drafts
from harness.golden.question_json import Draft
from harness.golden.twins import Twins, with_joined
from harness.questions.importing import GivenQuestion, Refused
from harness.records import Document, Evidence, Question

_EXTENSION = re.compile(r"\.[A-Za-z]\w{0,7}$")  # but not what follows the dot in "v1.2"


class LocatedQuestions(NamedTuple):
    """Questions with their evidence in the documents, and rows whose evidence was not found.

    ``states``: how many pieces of evidence are in each state. ``completed``: names of documents as they were
    given and as they are. ``twins``: places of the evidence that count without being written;
    ``equal_texts``: how many.
    """

    questions: list[Question]
    refused: list[Refused]
    states: Counter[State]
    completed: Mapping[str, str]
    twins: Twins
    equal_texts: EqualTexts


def find(
    asked: Sequence[GivenQuestion],
    documents: Sequence[Document],
    chunks: Sequence[str] | None = None,
    *,
    twins: bool = True,
) -> LocatedQuestions:
    """Every question whose whole evidence stands in ``documents``; of any other, the reason.

    ``chunks`` is the list that gold ids count in, where there is one. A document named without its folder or
    its extension is found if there is only one such. White space does not matter, nor do copies of a text
    that was cut from a document. With ``twins``, two pieces of evidence with the same text are one.
    """
    completed: dict[str, str] = {}
    beyond = {
        i
        for i, question in enumerate(asked)
        if chunks is not None and any(p >= len(chunks) for p in question.positions)
    }
    drafts = _drafts(
        [question._replace(positions=()) if i in beyond else question for i, question in enumerate(asked)],
        documents,
        completed,
    )
    questions, no_documents = questions_of(drafts, chunks, documents)
    checked = check_units([question.evidence for question in questions], documents, no_documents)
    whole: list[Question] = []
    refused: list[Refused] = []
    for i, (question, units) in enumerate(zip(questions, checked, strict=True)):
        reason = reason_of(units)
        if i in beyond:
            reason = f"gold_id is beyond the {len(chunks or ()):,} texts of golden.chunks, counted from 0."
        if reason:
            refused.extend(Refused(row, reason, question.question_id) for row in asked[i].rows)
        else:
            evidence = tuple(unit.evidence for unit in units if unit.evidence)
            whole.append(replace(question, evidence=evidence))
    states = Counter(unit.state for units in checked for unit in units)
    kept, same, equal = with_joined(whole, documents if twins else ())
    return LocatedQuestions(kept, refused, states, completed, same, equal)


def _drafts(
    asked: Sequence[GivenQuestion], documents: Sequence[Document], completed: dict[str, str]
) -> list[Draft]:
    """The questions as a golden file would have them, texts of chunks as the spans where they stand."""
    names = _short_names(documents)
    texts = list(dict.fromkeys(text for question in asked for text in question.chunks))
    spans = chunks_at(range(len(texts)), texts, documents)
    at = {text: spans[i] for i, text in enumerate(texts)}
    drafts = []
    for i, question in enumerate(asked):
        evidence = [_named(place, names, completed) for place in question.evidence]
        evidence += [at[text] for text in question.chunks]
        source = question.source or "import"
        drafts.append(
            Draft(
                i,
                question.question_id,
                question.text,
                tuple(evidence),
                question.positions,
                source,
                question.provenance,
            )
        )
    return drafts


def _short_names(documents: Sequence[Document]) -> dict[str, str | None]:
    """What else a document may be called, to its id; None where several may be meant."""
    called: dict[str, set[str]] = defaultdict(set)
    for document in documents:
        doc_id = document.doc_id
        name = doc_id.rpartition("/")[2]
        for short in (doc_id, name, _EXTENSION.sub("", doc_id), _EXTENSION.sub("", name)):
            called[short.casefold()].add(doc_id)
    return {short: next(iter(ids)) if len(ids) == 1 else None for short, ids in called.items() if short}


def _named(place: Evidence, names: Mapping[str, str | None], completed: dict[str, str]) -> Evidence:
    doc_id = place.doc_id
    if doc_id and names.get(doc_id.casefold()) != doc_id:
        short = doc_id.replace("\\", "/").removeprefix("./").casefold()
        known = names.get(short)
        if known:
            completed[doc_id] = known
            place = replace(place, doc_id=known)
    others = tuple(_named(other, names, completed) for other in place.alternatives)
    return replace(place, alternatives=others) if others else place


class KnownQuestion(NamedTuple):
    """A line of the golden file: its object, and the question in it, with lost evidence as it is written."""

    item: Mapping[str, Any]
    question: Question


def known_questions(
    path: Path, documents: Sequence[Document], chunks: Sequence[str] | None
) -> list[KnownQuestion]:
    """All questions of the file ``path``; none where there is no file.

    Raises ``InputError`` for a file that a sweep would refuse. Call it while the file is locked: a torn last
    line is then cut off already.
    """
    if not path.is_file():
        return []
    with path.open("rb") as file:
        if file.read(2) in {codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE}:
            raise InputError(
                f"{path} is UTF-16; lines can be added to a UTF-8 file only. Save it as UTF-8.", path=path
            )
    objects, drafts = read_drafts(path)
    questions, no_documents = questions_of(drafts, chunks, documents)
    checked = check_units([question.evidence for question in questions], documents, no_documents)
    known = []
    for (_, item), question, units in zip(objects, questions, checked, strict=True):
        pairs = zip(units, question.evidence, strict=True)
        evidence = tuple(unit.evidence or label for unit, label in pairs)
        known.append(KnownQuestion(item, replace(question, evidence=evidence)))
    return known
