"""Checks of a golden set before anything is spent on it, grouped by what they look at.

Promises: nothing is changed by looking; every finding names its questions and says what to do; a sound set
has none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from harness.golden.anchoring import Unit
from harness.records import Document, Evidence, Question

Severity: TypeAlias = Literal["serious", "note"]
Position: TypeAlias = tuple[int, int]
"""The positions of a question and of one evidence in it."""


@dataclass(frozen=True)
class Finding:
    """Something that makes scores less informative than they seem.

    ``serious``: scores would mislead as the set stands. ``sentence`` says what was found, ``advice`` what to
    do; ``details`` are lines about single questions. ``question_ids`` is empty where the whole set is meant.
    """

    kind: str
    severity: Severity
    question_ids: tuple[str, ...]
    sentence: str
    advice: str
    details: tuple[str, ...] = ()


class CheckResult(NamedTuple):
    """The outcome of one check: its name, the figure that it gives, and what is wrong, if anything."""

    name: str
    fact: str
    findings: tuple[Finding, ...] = ()


class CheckedEvidence(NamedTuple):
    """One evidence with its alternatives: where it is in the set, as it was written, and as it stands now."""

    question: int
    position: int
    written: Evidence
    unit: Unit

    @property
    def key(self) -> Position:
        """The positions of its question and of itself there."""
        return self.question, self.position


@dataclass(frozen=True)
class CheckedSet:
    """Questions beside the documents they are about.

    ``questions`` are in the order of the file; ``units[i]`` is the evidence of question ``i`` where it stands
    today. ``marked``: evidence that the file marks as lost already.
    """

    questions: Sequence[Question]
    units: Sequence[Sequence[Unit]]
    documents: Sequence[Document]
    marked: frozenset[Position] = field(default_factory=frozenset)

    def pieces(self) -> Iterator[CheckedEvidence]:
        """Every evidence of every question."""
        for i, (question, units) in enumerate(zip(self.questions, self.units, strict=True)):
            for j, (written, unit) in enumerate(zip(question.evidence, units, strict=True)):
                yield CheckedEvidence(i, j, written, unit)

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
