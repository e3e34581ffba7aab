"""The questions that a golden file holds already, with their evidence where it stands today."""

from __future__ import annotations

import codecs
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from harness.errors import InputError
from harness.golden.anchoring import check_units
from harness.golden.faults import Faults
from harness.golden.fields import FieldError
from harness.golden.gold_ids import questions_of
from harness.golden.lines import read_objects
from harness.golden.parse import draft_of
from harness.records import Document, Question


class Known(NamedTuple):
    """A line of the golden file: its object, and the question in it. Evidence that can't be found stays as it is written."""

    item: Mapping[str, Any]
    question: Question


def known_questions(path: Path, documents: Sequence[Document], chunks: Sequence[str] | None) -> list[Known]:
    """All questions of the file ``path``; none where there is no file. Raises ``InputError`` for a file that a sweep would refuse.

    Call it while the file is locked: a torn last line is then cut off already.
    """
    if not path.is_file():
        return []
    with path.open("rb") as file:
        if file.read(2) in {codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE}:
            raise InputError(
                f"{path} is UTF-16; lines can be added to a UTF-8 file only. Save it as UTF-8.", path=path
            )
    faults = Faults(path)
    objects, drafts = read_objects(path, faults), []
    for line, item in objects:
        try:
            drafts.append(draft_of(line, item))
        except FieldError as error:
            faults.add(line, str(error))
    faults.raise_if_any()
    questions, no_documents = questions_of(drafts, chunks, documents)
    checked = check_units([question.evidence for question in questions], documents, no_documents)
    return [
        Known(
            item,
            replace(
                question,
                evidence=tuple(
                    unit.evidence or label for unit, label in zip(units, question.evidence, strict=True)
                ),
            ),
        )
        for (_, item), question, units in zip(objects, questions, checked, strict=True)
    ]
