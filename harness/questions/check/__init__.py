"""Checks of a golden set before anything is spent on it, grouped by what they look at.

Promises: nothing is changed by looking; every finding names its questions and says what to do; a sound set
has none.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

from harness.cli.say import wrapped
from harness.errors import StoreError
from harness.golden.anchoring import Unit
from harness.records import Document, Evidence, Question
from harness.view.formats import counted

_IDS_SHOWN = 10
_DETAILS_SHOWN = 3
_NAME_COLUMNS = 13

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


def shortened(text: str, characters: int = 70) -> str:
    """A text on one line, cut where it is longer."""
    line = " ".join(text.split())
    return line if len(line) <= characters else line[: characters - 1].rstrip() + "…"


@dataclass(frozen=True)
class CheckReport:
    """All checks in the order in which they are shown. ``name``: of the golden file."""

    name: str
    questions: int
    documents: int
    results: tuple[CheckResult, ...]

    @property
    def findings(self) -> list[Finding]:
        """Serious ones first, otherwise in the order of the checks."""
        found = [finding for result in self.results for finding in result.findings]
        return sorted(found, key=lambda finding: finding.severity != "serious")

    @property
    def serious(self) -> int:
        """How many findings are serious."""
        return sum(finding.severity == "serious" for finding in self.findings)


def in_lines(report: CheckReport, *, in_full: bool = False) -> Iterator[str]:
    """A line for each figure, then the findings, each with its first questions and details; or with all."""
    yield _title(report)
    yield ""
    for result in report.results:
        yield from wrapped(result.fact, f"{result.name:<{_NAME_COLUMNS}}", " " * _NAME_COLUMNS)
    yield ""
    if not report.findings:
        yield "Nothing to fix."
    for i, finding in enumerate(report.findings):
        yield from [""] * bool(i)
        yield from _in_lines(finding, in_full=in_full)


def _in_lines(finding: Finding, *, in_full: bool) -> Iterator[str]:
    ids, details = finding.question_ids, finding.details
    shown_ids = ids if in_full else ids[:_IDS_SHOWN]
    shown_details = details if in_full else details[:_DETAILS_SHOWN]
    mark = "!!" if finding.severity == "serious" else "! "
    yield from wrapped(finding.sentence, f"{mark} ", "   ")
    for detail in shown_details:
        yield from wrapped(detail, "   | ", "   |   ")
    if len(details) > len(shown_details):
        yield f"   | and {counted(len(details) - len(shown_details), 'more line')}: output=report.txt"
    if ids:
        more = f" and {len(ids) - len(shown_ids):,} more" if len(ids) > len(shown_ids) else ""
        yield from wrapped(", ".join(shown_ids) + more, "   questions: ", "   ")
    if finding.advice:
        yield from wrapped(finding.advice, "   → ", "     ")


def _title(report: CheckReport) -> str:
    documents = counted(report.documents, "document")
    about = f"{counted(report.questions, 'question')}, {documents}"
    serious, others = report.serious, len(report.findings) - report.serious
    found = [counted(serious, "serious finding")] * bool(serious)
    found += [counted(others, "note")] * bool(others)
    return f"{report.name}: {about}; {' and '.join(found) or 'nothing found'}"


def in_json(report: CheckReport) -> dict[str, Any]:
    """The same as plain values, so that no script parses English."""
    return {
        "name": report.name,
        "questions": report.questions,
        "documents": report.documents,
        "serious": report.serious,
        "figures": {result.name: result.fact for result in report.results},
        "findings": [asdict(finding) for finding in report.findings],
    }


def write(report: CheckReport, path: Path) -> None:
    """Writes the whole report, as JSON to a ``.json`` file, otherwise as text. Raises ``StoreError``."""
    if path.suffix.lower() == ".json":
        text = json.dumps(in_json(report), indent=1, ensure_ascii=False)
    else:
        text = "\n".join(in_lines(report, in_full=True))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n", encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise StoreError(
            f"The report can't be written to {path}: {error.strerror}. Give another file: output=FILE.",
            where=path,
        ) from error
