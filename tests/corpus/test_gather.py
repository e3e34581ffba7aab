from __future__ import annotations

from harness.corpus.gather import summary


def test_long_lists_are_cut_and_counted():
    """A thousand empty files are one line, with the first names and the number of the others."""
    notes = {"empty": tuple(f"{i}.md" for i in range(1200)), "binary": ("a.md", "b.md")}

    assert summary(notes, names=2) == ["empty (1,200): 0.md, 1.md and 1,198 more", "binary (2): a.md, b.md"]
    assert summary({}) == []


def test_equal_texts_are_said_to_be_kept():
    """Nobody takes "same text" for a document that was dropped."""
    assert summary({"same text": ("copy of guide.md (as guide.md)",)}) == [
        "same text (1): copy of guide.md (as guide.md); all are kept"
    ]


def test_a_name_cannot_break_the_line():
    """File names may hold line breaks and escape sequences; a terminal must not obey them."""
    assert summary({"empty": ("a\nb\x1b[31m.md",)}) == [r"empty (1): a\nb\x1b[31m.md"]
