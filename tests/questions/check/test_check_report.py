from __future__ import annotations

import json

import pytest

from harness.errors import StoreError
from harness.questions.check import CheckReport, CheckResult, Finding, in_lines, write

IDS = tuple(f"q{i:03}" for i in range(25))
NOTE = Finding(
    "near-duplicates", "note", IDS, "12 groups.", "Delete some.", tuple(f"line {i}" for i in range(9))
)
SERIOUS = Finding(
    "lost", "serious", ("q*1",), "One <b>quote</b> is LOST.", "Mend it.", ("q*1: ```python``` is gone",)
)
REPORT = CheckReport(
    "golden.jsonl", 40, 2, (CheckResult("alike", "25 | 26"), CheckResult("labels", "1 LOST", (NOTE, SERIOUS)))
)


def test_the_terminal_shows_the_worst_first_and_not_too_much():
    """Serious findings come first; ten ids and three lines of each, and where the rest is."""
    lines = list(in_lines(REPORT))

    assert lines[0] == "golden.jsonl: 40 questions, 2 documents; 1 serious finding and 1 note"
    assert "alike        25 | 26" in lines
    assert lines.index("!! One <b>quote</b> is LOST.") < lines.index("!  12 groups.")
    assert "q009 and 15 more" in " ".join(" ".join(lines).split())
    assert "   | and 6 more lines: output=report.txt" in lines
    assert not any("line 3" in line for line in lines)


def test_in_full_every_question_and_line_is_there():
    """What a file gets; the terminal has room for less."""
    page = "\n".join(in_lines(REPORT, in_full=True))

    assert all(i in page for i in IDS)
    assert all(f"   | line {i}\n" in page for i in range(9))
    assert "more" not in page


def test_a_sound_set_is_said_to_be_sound():
    """Without findings the page ends with that."""
    lines = list(in_lines(CheckReport("golden.jsonl", 1, 1, (CheckResult("labels", "1 VALID"),))))

    assert lines[0].endswith("nothing found")
    assert lines[-1] == "Nothing to fix."


def test_files(tmp_path):
    """The ending decides between JSON and text; a folder in the way is told in a sentence."""
    write(REPORT, tmp_path / "new" / "r.json")
    write(REPORT, tmp_path / "r.txt")

    assert json.loads((tmp_path / "new" / "r.json").read_text())["findings"][0]["question_ids"] == ["q*1"]
    assert (tmp_path / "r.txt").read_text().splitlines() == list(in_lines(REPORT, in_full=True))
    with pytest.raises(StoreError, match="can't be written"):
        write(REPORT, tmp_path)
