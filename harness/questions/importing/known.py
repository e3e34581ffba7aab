"""The questions that a golden file holds already."""

from __future__ import annotations

import codecs
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from harness.errors import InputError
from harness.golden.anchoring import check_units
from harness.golden.drafts import questions_of
from harness.golden.file import read_drafts
from harness.records import Document, Question


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
    questions, no_documents, _ = questions_of(drafts, chunks, documents)
    checked = check_units([question.evidence for question in questions], documents, no_documents)
    known = []
    for (_, item), question, units in zip(objects, questions, checked, strict=True):
        pairs = zip(units, question.evidence, strict=True)
        evidence = tuple(unit.evidence or label for unit, label in pairs)
        known.append(KnownQuestion(item, replace(question, evidence=evidence)))
    return known
