"""Where headings stand in Markdown and reStructuredText, and what only looks like one."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.text.headings import headings, title_of
from harness.text.markdown import LONGEST


def found(name, text):
    """Level and text of each heading."""
    return [(heading.level, heading.text) for heading in headings(name, text)]


MARKDOWN = {
    "marks": ("# A\n## B ##\n###### F\n", [(1, "A"), (2, "B"), (6, "F")]),
    "up to three blanks before, a tab after": ("   #\tA\n", [(1, "A")]),
    "four blanks before": ("    # code\n", []),
    "seven marks": ("####### A\n", []),
    "no blank after": ("#hashtag\n#!/bin/sh\n", []),
    "nothing after": ("#\n# #\n##   \n", []),
    "marks within": ("# C# and #1\n", [(1, "C# and #1")]),
    "underlined": ("One\n===\n\nTwo\n---\n", [(1, "One"), (2, "Two")]),
    "underlined at once": ("One\n=\n", [(1, "One")]),
    "a rule below a paragraph": ("One line\nand another\n---\n", []),
    "a rule on its own": ("One\n\n---\n", []),
    "a rule below an item": ("- one\n---\n", []),
    "a rule below a quotation": ("> one\n---\n", []),
    "a rule below a heading": ("# One\n---\n", [(1, "One")]),
    "underlined below a heading": ("# One\nTwo\n---\n", [(1, "One"), (2, "Two")]),
    "underlined below code": ("```\n```\nTwo\n---\n", [(2, "Two")]),
    "underlined marks": ("#One #\n===\n\nC #\n---\n", [(1, "#One #"), (2, "C #")]),
    "a rule below a rule": ("***\n---\n", []),
    "a table": ("| a |\n|---|\n\na | b\n--- | ---\n", []),
    "fenced": ("```sh\n# no\n```\n# yes\n", [(1, "yes")]),
    "fenced with tildes": ("~~~\n```\n# no\n~~~\n# yes\n", [(1, "yes")]),
    "a shorter fence does not close": ("````\n```\n# no\n````\n# yes\n", [(1, "yes")]),
    "a fence with words does not close": ("```\n```sh\n# no\n```\n# yes\n", [(1, "yes")]),
    "never closed": ("# yes\n```\n# no\n", [(1, "yes")]),
    "code within a line": ("```a``` b\n# yes\n", [(1, "yes")]),
    "front matter": ("---\ntitle: T\n# comment\nx: y\n---\nOne\n===\n", [(1, "One")]),
    "a rule first": ("---\n\nOne\n\n---\n# A\n", [(1, "A")]),
    "commented out": ("<!--\n# no\n\nNo\n--\n--> \n# yes\n<!-- # no --> # no\n# yes\n", [(1, "yes")] * 2),
    "a comment in code": ("```\n<!--\n```\n# yes\n", [(1, "yes")]),
    "Windows": ("# A\r\n\r\nB\r\n---\r\n", [(1, "A"), (2, "B")]),
    "old Mac": ("# A\r\rB\r---\r", [(1, "A"), (2, "B")]),
    "blanks inside": ("#  A \t b\u00a0c \n", [(1, "A b c")]),
    "no end of line": ("# A", [(1, "A")]),
    "empty": ("", []),
}
RESTRUCTURED = {
    "underlined": ("One\n===\n\ntext\n\nTwo\n---\n\nThree\n=====\n", [(1, "One"), (2, "Two"), (1, "Three")]),
    "levels by appearance": ("A\n~~~~\n\nB\n****\n\nC\n~~~~\n", [(1, "A"), (2, "B"), (1, "C")]),
    "over and under": ("=====\n One\n=====\n\nTwo\n===\n", [(1, "One"), (2, "Two")]),
    "longer than four": ("A long title\n----\n", [(1, "A long title")]),
    "too short": ("A long title\n---\n", []),
    "a transition": ("One\n\n------\n\nTwo\n", []),
    "within a paragraph": ("One\ntwo\n====\n", []),
    "a table": ("==  ==\na   b\n==  ==\n1   2\n==  ==\n", []),
    "code": ("See ::\n\n  One\n  ===\n", []),
    "marks of Markdown": ("# A\n\n## B\n", []),
    "Windows": ("One\r\n===\r\n", [(1, "One")]),
}


@pytest.mark.parametrize("case", MARKDOWN)
def test_markdown(case):
    """What CommonMark shows as a heading is one (of underlined ones: one line); nothing else is."""
    text, expected = MARKDOWN[case]

    assert found("a/b.md", text) == found("B.MARKDOWN", text) == expected


@pytest.mark.parametrize("case", RESTRUCTURED)
def test_restructured_text(case):
    """What docutils reads as a section title is one, with its level."""
    text, expected = RESTRUCTURED[case]

    assert found("a.rst", text) == expected


def test_other_files_have_none():
    """In a text file, a ``#`` may be a comment."""
    assert found("a.txt", "# A\n\nB\n===\n") == found("md", "# A\n") == []


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Intro\n\n  ## Fees ##\n# Later\n", "Fees"),
        ("---\n# comment\nweight: 3\n---\n# Fees\n", "Fees"),
        ("---\n# comment\ntitle: x\n---\n# Fees\n", "x"),
        ("---\r\n\r\n# comment\r\ntitle: 'A: b' # c\r\n---\r\n# Fees\r\n", "A: b"),
        ('---\nsome key: 3\n# comment\nTitle: "2024"\n...\n# Fees\n', "2024"),
        ("---\ntitle: 2024-01-02\n---\n", "2024-01-02"),
        ("---\ntitle: >-\n  Two\n  lines\ntags: [a]\n---\n# Fees\n", "Two lines"),
        ("---\ntitle: No: YAML\n---\n# Fees\n", "No: YAML"),
        ("---\nseo:\n  title: inner\n---\n# Fees\n", "Fees"),
        ("---\ntitle: [a, b]\n---\n# Fees\n", "Fees"),
        ("---\ntitle:\n---\n# Fees\n", "Fees"),
        ('+++\n# comment\ntitle = "Toml"\n[x]\ntitle = 3\n+++\n# Fees\n', "Toml"),
        ("+++\n# comment\ntitle = 'broken\n+++\n# Fees\n", "broken"),
        ("+++\n# comment\n+++\n# Fees\n", "Fees"),
        ("+++\n# Fees\n", "Fees"),
        ("<pre>\n# no\n<b>x</b>\n\n# no\n</pre>\n# Fees\n", "Fees"),
        ("<!-- a -->\n<script>\n# no\n</script>\n# Fees\n", "Fees"),
        ("<!--\n# Template\n-->\n# Fees\n", "Fees"),
        ("~~~\n```\n# code\n~~~\n# Fees\n", "Fees"),
        ("Underlined\n===\n\n#tag\n---\n\n#\tFees", "Underlined"),
        ("no heading", "a.md"),
        ("x" * 20_000 + "\n# Too late\n", "a.md"),
    ],
)
def test_a_title_is_that_of_the_front_matter_or_the_first_heading(text, title):
    """What stands in comments or code is none; without a heading it is the file's name."""
    assert title_of("g/a.md", text) == title
    assert title_of("g/a.txt", text) == "a.txt"


def test_a_heading_begins_at_its_first_mark():
    """Offsets are those of the file's characters, whatever its line ends."""
    text = "x\r\n\r\n  # A\r\n\r\n  B\r\n===\r\n"
    starts = [heading.start for heading in headings("a.md", text)]

    assert [text[start:].split("\r\n", 1)[0] for start in starts] == ["# A", "B"]
    over = "x\n\n====\n A\n====\n"
    assert over[headings("a.rst", over)[0].start :].startswith("====\n A")


def test_long_lines_and_many_headings():
    """A heading of a megabyte counts with 200 characters, a paragraph above a rule is none.

    Both in time that grows with the text.
    """
    assert found("a.md", "# " + "x" * 1_000_000) == [(1, "x" * LONGEST)]
    assert found("a.md", "x" * 1000 + "\n---\n") == []
    assert found("a.md", "#" + " " * 500_000 + "#" * 500_000 + "x") == [(1, "#" * LONGEST)]
    assert len(found("a.md", "# a\n" * 100_000)) == 100_000
    assert len(found("a.md", "a\n-\n\n" * 100_000)) == 100_000
    assert len(found("a.rst", "a\n-\n\n" * 100_000)) == 100_000
    assert found("a.md", "-" * 1_000_000 + "x\n" + "`" * 1_000_000) == []


ATOMS = st.sampled_from(
    [*"#=-~`*> \t\n\n\n\r", "\r\n", "A", "b c", "```", "---", "===", "# ", "- ", "title: x"]
)


@pytest.mark.parametrize("name", ["a.md", "a.rst"])
@settings(derandomize=True, deadline=None, max_examples=300)
@given(text=st.lists(ATOMS, max_size=40).map("".join))
def test_any_text(name, text):
    """Headings come in order, begin at ink, and what they say stands there."""
    some = headings(name, text)

    assert [heading.start for heading in some] == sorted({heading.start for heading in some})
    for heading in some:
        assert not text[heading.start].isspace()
        assert heading.text
        assert heading.level >= 1
        assert "".join(heading.text.split()) in "".join(text[heading.start :].split())
