"""Small chunks within larger ones: by hand, and for any text."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.chunker.columns import cut
from harness.chunker.markdown import Markdown
from harness.chunker.parent import Parent
from harness.chunker.recursive import Recursive
from harness.errors import SettingError
from harness.records import Chunk, Document
from harness.text.tokens import TokenMap

PLAIN = "One two\nthree four\n\nFive six seven\n\nEight"
MARKED = "# One\n\nTwo three\n\nFour five\n\n## Six\n\nSeven\n\n# Eight\n\nNine"


def words(text: str) -> TokenMap:
    """One token a word, so that sizes are counted by hand."""
    starts = [i for i, x in enumerate(text) if not x.isspace() and (i == 0 or text[i - 1].isspace())]
    return TokenMap(np.array(starts, np.int64), len(text))


def families(text: str, size: int, parent: int, overlap: int = 0) -> dict[str, list[str]]:
    """Each parent's text with those of the chunks inside it."""
    chunks = cut([Document("d", text)], [words(text)], Parent(size, parent, overlap))
    groups, parents = chunks.groups("span"), chunks.returned
    assert groups is not None
    return {
        parents.text(i): [chunks.text(row) for row in range(groups[i], groups[i + 1])]
        for i in range(len(parents))
    }


def test_without_headings_by_hand() -> None:
    """Eight words in paragraphs of 4, 3 and 1. Of a parent of 4 words, chunks of at most 2.

    One of no more than 2 is its own chunk.
    """
    assert families(PLAIN, 2, 4) == {
        "One two\nthree four": ["One two", "three four"],
        "Five six seven\n\nEight": ["Five six", "seven", "Eight"],
    }
    assert families(PLAIN, 4, 4) == {
        "One two\nthree four": ["One two\nthree four"],
        "Five six seven\n\nEight": ["Five six seven\n\nEight"],
    }


def test_along_headings_by_hand() -> None:
    """Parents are sections (a heading is "#" and a word).

    They are cut along their own headings and paragraphs, and share nothing.
    """
    assert families(MARKED, 4, 10) == {
        "# One\n\nTwo three\n\nFour five\n\n## Six\n\nSeven": [
            "# One\n\nTwo three",
            "Four five",
            "## Six\n\nSeven",
        ],
        "# Eight\n\nNine": ["# Eight\n\nNine"],
    }


def test_a_parent_in_the_midst_of_code_is_code() -> None:
    """Of 12 words of code 6 stay with the heading of 2.

    The others are cut between lines, greedily: a comment in them is no heading.
    """
    text = "# H\n\n```\nu v w x y\na b\n# c\nd\n```"
    assert families(text, 4, 8) == {
        "# H\n\n```\nu v w x y": ["# H", "```", "u v w x", "y"],
        "a b\n# c\nd\n```": ["a b\n# c", "d\n```"],
    }


def test_overlap_stays_within_a_parent() -> None:
    """A chunk repeats the end of the one before it, the first of a parent nothing."""
    text = "a b c d e f\n\ng h i j"
    assert families(text, 3, 6, overlap=1) == {
        "a b c d e f": ["a b c", "c d e", "e f"],
        "g h i j": ["g h i", "i j"],
    }


@pytest.mark.parametrize(
    ("settings_", "key", "said"),
    [
        ({"size": 256, "parent": 128}, "chunker.parent", "chunker.parent is 128; .* at least chunk=256"),
        ({"size": 256, "parent": None}, "chunker.parent", "chunker.parent is empty"),
        ({"size": 1, "parent": True}, "chunker.parent", "whole number of tokens"),
        ({"size": 256, "parent": 512.5}, "chunker.parent", "chunker.parent is 512.5"),
        ({"size": 0, "parent": 512}, "chunk", "chunk is 0; it must be a whole number of tokens"),
        ({"size": 4, "parent": 8, "overlap": 4}, "overlap", "overlap is 4 tokens"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings_, key: str, said: str) -> None:
    """The setting, what was given, and what is allowed."""
    with pytest.raises(SettingError, match=said) as error:
        Parent(**settings_)
    assert error.value.key == key


ATOMS = st.sampled_from(
    [
        *(
            " ",
            "\n",
            "\n\n",
            "\r\n",
            "# ",
            "## x\n",
            "---\n",
            "===\n",
            "```\n",
            "| a | b |\n|---|---|\n",
            "- ",
        ),
        *("a", "b c d ", ". ", "? ", "word ", "x" * 30, "\u6c49", "e\u0301", "\ud800", "\u200b", "\t"),
    ]
)
texts = st.lists(ATOMS, max_size=80).map("".join)


@settings(derandomize=True, deadline=None, max_examples=300)
@given(text=texts, size=st.integers(1, 6), more=st.integers(0, 12), share=st.floats(0, 0.99))
def test_any_text(text: str, size: int, more: int, share: float) -> None:
    """Parents share nothing, are no larger than asked for and hold all that is not blank.

    Each has chunks, whose ink is its own.
    """
    tokens = words(text)
    chunks = cut([Document("d", text)], [tokens], Parent(size, size + more, int(size * share)))
    parents, groups = chunks.returned, chunks.groups("span")
    assert groups is not None
    assert groups[0] == 0
    assert (np.diff(groups) > 0).all()
    assert (parents.tokens <= size + more).all()
    assert (parents.start[1:] >= parents.end[:-1]).all()
    inked: set[int] = set()
    for i, (start, end) in enumerate(zip(parents.start.tolist(), parents.end.tolist(), strict=True)):
        of_chunks = {
            place
            for row in range(groups[i], groups[i + 1])
            for place in range(chunks.start[row], chunks.end[row])
            if not text[place].isspace()
        }
        assert of_chunks == {place for place in range(start, end) if not text[place].isspace()}
        inked |= of_chunks
    assert inked == {place for place, letter in enumerate(text) if not letter.isspace()}


@settings(derandomize=True, deadline=None, max_examples=300)
@given(text=texts, size=st.integers(1, 12))
def test_as_big_as_its_parent_it_is_the_plain_chunker(text: str, size: int) -> None:
    """With chunks of the parents' size both are exactly what the chunker for such a document gives."""
    document, tokens = Document("d", text), words(text)
    parent = Parent(size, size)
    chunks = list(parent.split(document, tokens))
    plain = [list(kind(size).split(document, tokens)) for kind in (Markdown, Recursive)]

    assert chunks == list(parent.parents(document, tokens))
    assert chunks in plain
    if not {"#", "-", "="} & set(text):
        assert chunks == plain[1]


class Own:
    """A chunker of somebody's own, with parents."""

    def __init__(self, chunks: list[tuple[int, int]], parents: list[tuple[int, int]]) -> None:
        self._chunks, self._parents = chunks, parents

    def split(self, document: Document, tokens: TokenMap) -> list[Chunk]:
        return [Chunk(document.doc_id, *span) for span in self._chunks]

    def parents(self, document: Document, tokens: TokenMap) -> list[Chunk]:
        return [Chunk(document.doc_id, *span) for span in self._parents]


@pytest.mark.parametrize(
    ("chunks", "parents", "said"),
    [
        ([(0, 2)], [(0, 4), (3, 6)], "parent from 3 to 6 of document 'a' overlaps the one before it"),
        ([(0, 2), (2, 5)], [(0, 4), (4, 6)], "chunk from 2 to 5 of document 'a' lies in none of its parents"),
        ([(0, 2), (4, 6)], [(3, 6)], "chunk from 0 to 2 of document 'a' lies in none"),
        ([(0, 2)], [], "chunk from 0 to 2 of document 'a' lies in none"),
    ],
)
def test_parents_that_do_not_hold_are_refused(chunks, parents, said: str) -> None:
    """The first fault of somebody's own chunker is named."""
    documents = [Document("a", "abcdef"), Document("b", "abcdef")]
    with pytest.raises(SettingError, match=said) as error:
        cut(documents, [words("abcdef")] * 2, Own(chunks, parents))
    assert error.value.key == "chunker"


def test_parents_of_ones_own_that_hold() -> None:
    """A parent without chunks is allowed (nothing finds it), and so are several in each document."""
    chunks = cut(
        [Document(x, "abcdef") for x in "ab"],
        [words("abcdef")] * 2,
        Own([(0, 1), (1, 2), (5, 6)], [(0, 2), (2, 4), (4, 6)]),
    )

    groups = chunks.groups("span")
    assert groups is not None
    assert groups.tolist() == [0, 2, 2, 3, 5, 5, 6]
    assert chunks.groups("document") is chunks.doc_rows
    assert chunks.returned.start.tolist() == [0, 2, 4] * 2
