"""What is to be known of a golden set before anything is spent on it: one file per question that is asked of it.

Promises: nothing is changed by looking; every finding names its questions and says what to do; a sound set has none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from harness.golden.anchoring import Unit
from harness.records import Document, Evidence, Question

Severity: TypeAlias = Literal["serious", "note"]


@dataclass(frozen=True)
class Finding:
    """Something that makes scores mean less than they seem to.

    ``serious``: scores would mislead as the set stands. ``sentence`` says what was found, ``advice`` what to do; ``details`` are lines about single
    questions. ``question_ids`` stand in the order of the file; none where the whole set is meant.
    """

    kind: str
    severity: Severity
    question_ids: tuple[str, ...]
    sentence: str
    advice: str
    details: tuple[str, ...] = ()


class Look(NamedTuple):
    """One question asked of the set: the figure that answers it, and what is wrong, if anything."""

    name: str
    fact: str
    findings: tuple[Finding, ...] = ()


class Piece(NamedTuple):
    """One evidence with its alternatives: the positions of its question and of itself there, as it was written, and as it stands now."""

    question: int
    position: int
    written: Evidence
    unit: Unit


@dataclass(frozen=True)
class Examined:
    """Questions beside the documents they are about.

    ``questions`` stand as in the file; ``units[i]`` is the evidence of question ``i`` where it stands today. ``marked``: pairs of positions
    (question, evidence) that are marked as lost already.
    """

    questions: Sequence[Question]
    units: Sequence[Sequence[Unit]]
    documents: Sequence[Document]
    marked: frozenset[tuple[int, int]] = field(default_factory=frozenset)

    def pieces(self) -> Iterator[Piece]:
        """Every evidence of every question."""
        for i, (question, units) in enumerate(zip(self.questions, self.units, strict=True)):
            for j, (written, unit) in enumerate(zip(question.evidence, units, strict=True)):
                yield Piece(i, j, written, unit)

    def ids(self, questions: Sequence[int]) -> tuple[str, ...]:
        """The ids of the questions at these positions, each once, in the order of the file."""
        return tuple(self.questions[i].question_id for i in sorted(set(questions)))


def counted(number: int, one: str, many: str) -> str:
    """``1 question``, ``2,000 questions``."""
    return f"{number:,} {one if number == 1 else many}"


def shortened(text: str, characters: int = 70) -> str:
    """A text on one line, cut where it is longer."""
    line = " ".join(text.split())
    return line if len(line) <= characters else line[: characters - 1].rstrip() + "…"
