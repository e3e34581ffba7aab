"""The report of the check: a page in the terminal, all of it in Markdown or JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from harness.cli.say import wrapped
from harness.errors import StoreError
from harness.questions.check import CheckResult, Finding, counted

_IDS_SHOWN = 10
_DETAILS_SHOWN = 3
_NAME_COLUMNS = 13


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


def in_lines(report: CheckReport) -> Iterator[str]:
    """For the terminal: a line for each figure, then the findings, each with its first ten questions."""
    yield _title(report)
    yield ""
    for result in report.results:
        yield from wrapped(result.fact, f"{result.name:<{_NAME_COLUMNS}}", " " * _NAME_COLUMNS)
    yield ""
    if not report.findings:
        yield "Nothing to fix."
    for i, finding in enumerate(report.findings):
        yield from [""] * bool(i)
        yield from _in_lines(finding)


def _in_lines(finding: Finding) -> Iterator[str]:
    mark = "!!" if finding.severity == "serious" else "! "
    yield from wrapped(finding.sentence, f"{mark} ", "   ")
    for detail in finding.details[:_DETAILS_SHOWN]:
        yield from wrapped(detail, "   | ", "   |   ")
    if len(finding.details) > _DETAILS_SHOWN:
        yield f"   | and {len(finding.details) - _DETAILS_SHOWN:,} lines more: output=report.md"
    if finding.question_ids:
        yield from wrapped(_ids(finding.question_ids), "   questions: ", "   ")
    if finding.advice:
        yield from wrapped(finding.advice, "   → ", "     ")


def _ids(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - _IDS_SHOWN:,} more" if len(ids) > _IDS_SHOWN else ""
    return ", ".join(ids[:_IDS_SHOWN]) + more


def _title(report: CheckReport) -> str:
    documents = counted(report.documents, "document", "documents")
    about = f"{counted(report.questions, 'question', 'questions')}, {documents}"
    serious, others = report.serious, len(report.findings) - report.serious
    found = [counted(serious, "serious finding", "serious findings")] * bool(serious)
    found += [counted(others, "note", "notes")] * bool(others)
    return f"{report.name}: {about}; {' and '.join(found) or 'nothing found'}"


def in_markdown(report: CheckReport) -> str:
    """The whole report, with every question id and every detail."""
    lines = ["# Health of a golden set", "", _title(report), "", "| check | result |", "|---|---|"]
    lines += [f"| {result.name} | {_cell(result.fact)} |" for result in report.results]
    for finding in report.findings:
        lines += [
            "",
            f"## {finding.kind[0].upper()}{finding.kind[1:]} ({finding.severity})",
            "",
            _plain(finding.sentence),
        ]
        lines += ["", _plain(finding.advice)] if finding.advice else []
        if finding.question_ids:
            ids = ", ".join(f"`{i}`" for i in finding.question_ids)
            lines += ["", f"Questions ({len(finding.question_ids):,}): {ids}"]
        if finding.details:
            # What stands in a document must not end the block that shows it.
            longest = max(len(run) for run in re.findall("`*", "\n".join(finding.details)))
            fence = "`" * max(3, 1 + longest)
            lines += [
                "",
                f"{fence}text",
                *(" ".join(detail.splitlines()) for detail in finding.details),
                fence,
            ]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return _plain(text).replace("|", "\\|")


def _plain(text: str) -> str:
    """Text that Markdown shows as it is."""
    return "".join("\\" + char if char in "\\`*_<>[]#" else char for char in text)


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
    """Writes the report, as JSON to a ``.json`` file, otherwise as Markdown. Raises ``StoreError``."""
    is_json = path.suffix.lower() == ".json"
    text = (
        json.dumps(in_json(report), indent=1, ensure_ascii=False) + "\n" if is_json else in_markdown(report)
    )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise StoreError(
            f"The report can't be written to {path}: {error.strerror}. Give another file: output=FILE.",
            where=path,
        ) from error
