from __future__ import annotations

import re

import numpy as np
import pytest

from harness.chunker.recursive import Recursive
from harness.chunker.sentence import Sentence
from harness.chunker.tokens import Tokens
from harness.chunker.whole import Whole
from harness.errors import SettingError
from harness.records import Document
from harness.text.tokens import TokenMap


def word_map(text: str) -> TokenMap:
    """One token a word or punctuation mark: easy to count by hand."""
    return TokenMap(np.array([m.start() for m in re.finditer(r"\w+|[^\w\s]", text)], np.int64), len(text))


class PieceMap(TokenMap):
    """Counts each piece by itself and one token a character, as for a tokenizer that merges across cuts."""

    def counts(self, bounds):
        return np.diff(bounds)


def split(chunker, text: str, tokens: TokenMap | None = None) -> list[str]:
    chunks = list(chunker.split(Document("d", text), word_map(text) if tokens is None else tokens))
    return [text[one.start : one.end] for one in chunks]


def test_tokens_join_up_without_a_gap() -> None:
    """A window ends where the next token begins; the first begins at 0 and the last ends with the text."""
    # words at 1, 5, 9, 15, 20
    assert split(Tokens(2), " one two three four five ") == [" one two ", "three four ", "five "]


def test_tokens_overlap_and_stop() -> None:
    """Each window begins size - overlap tokens on; none lies inside the one before it."""
    # step 1: a b c | b c d | c d e, and there it ends: "d e" holds nothing new
    assert split(Tokens(3, 2), "a b c d e") == ["a b c ", "b c d ", "c d e"]
    assert split(Tokens(3, 2), "a b c") == ["a b c"]
    assert split(Tokens(3, 2), "a") == ["a"]


def test_tokens_leave_out_blank_windows() -> None:
    """A tokenizer whose tokens may be blank makes no blank chunks."""
    tokens = TokenMap(np.array([0, 1, 3, 4], np.int64), 5)
    assert split(Tokens(1), "a  \nb", tokens) == ["a", "b"]


def test_text_without_tokens_is_one_window() -> None:
    """Characters that the tokenizer drops are still covered."""
    assert split(Tokens(2), "\u200b\u200b", TokenMap(np.array([], np.int64), 2)) == ["\u200b\u200b"]


def test_recursive_takes_the_coarsest_separator_first() -> None:
    """Paragraphs stay whole where they fit.

    Only the long one is cut, at lines, and nothing is packed across it.
    """
    # tokens: "a b" 2, "\n\nc d e\nf g" 5, "\n\nh" 1; size 4: the middle is cut into "c d e" (3) and "f g" (2)
    assert split(Recursive(4), "a b\n\nc d e\nf g\n\nh") == ["a b", "c d e", "f g", "h"]


def test_recursive_keeps_the_separator_with_what_follows() -> None:
    """As in the published splitter, a sentence end opens the next piece."""
    # at ".": "One two" 2, ". Three four" 3, "." 1; size 4: 2 + 3 is too much, 3 + 1 fits
    assert split(Recursive(4), "One two. Three four.") == ["One two", ". Three four."]


def test_recursive_repeats_whole_pieces() -> None:
    """The overlap is the last pieces that come to at most so many tokens and leave room for the next."""
    # pieces of 1 token: a b c d | overlap 2: c d e f | e f g
    assert split(Recursive(4, 2), "a b c d e f g") == ["a b c d", "c d e f", "e f g"]
    # lines of 3, 1 and 3 tokens, size 4, overlap 3: "a b c\nd" is full; "d" (1) leaves room for "e f g" (3)
    assert split(Recursive(4, 3), "a b c\nd\ne f g") == ["a b c\nd", "d\ne f g"]
    # lines of 2, 2 and 3: after "a b\nc d" the overlap "c d" (2) leaves no room for 3 more, so it is dropped
    assert split(Recursive(4, 2), "a b\nc d\ne f g") == ["a b\nc d", "e f g"]


def test_recursive_cuts_between_characters_at_last() -> None:
    """A string without any separator is cut where tokens begin, without overlap when none is asked for."""
    tokens = TokenMap(np.arange(0, 12, 3), 12)  # a token every three characters
    assert split(Recursive(2), "abcdefghijkl", tokens) == ["abcdef", "ghijkl"]
    assert split(Recursive(2, 1), "abcdefghijkl", tokens) == ["abcdef", "defghi", "ghijkl"]


def test_recursive_counts_through_the_map_alone() -> None:
    """Lengths come from ``counts``, so another way to count can be put in.

    Extra tokens weigh on piece and seam.
    """
    # one token a character. "aa", " bb", " cc" weigh 2, 3, 3: size 6 takes 2 + 3
    text = "aa bb cc"
    other = PieceMap(np.array([], np.int64), len(text))
    assert split(Recursive(6), text, other) == ["aa bb", "cc"]
    # with 1 extra: 3, 4, 4 and 1 a seam: 3 + 4 + 1 = 8 is the least that holds two
    assert split(Recursive(7, extra_tokens=1), text, other) == ["aa", "bb", "cc"]
    assert split(Recursive(8, extra_tokens=1), text, other) == ["aa bb", "cc"]


def test_recursive_gives_no_chunk_twice() -> None:
    """Two overlapping runs that differ by blanks alone are one chunk."""
    # one token a character, at "\n": "\n", "\na", "\n" + ...: runs "\n\na" (3) and "\na\n" (3) both hold "a"
    text = "\n\na\n\nb"
    other = PieceMap(np.array([], np.int64), len(text))
    assert split(Recursive(3, 2, separators=["\n", ""]), text, other) == ["a", "b"]


@pytest.mark.parametrize("separators", [[], ["\n"], ["", "\n"], ["", ""], [1, ""]])
def test_recursive_refuses_separators_that_could_leave_long_chunks(separators) -> None:
    """Without "" at the end a piece without separators would pass the size."""
    with pytest.raises(SettingError, match=r"chunker\.separators is .* last and only the last") as error:
        Recursive(4, separators=separators)
    assert error.value.key == "chunker.separators"


@pytest.mark.parametrize("extra", [-1, 4])
def test_recursive_refuses_extra_tokens_that_leave_no_room(extra: int) -> None:
    """Extra tokens must leave room for at least one real one."""
    with pytest.raises(SettingError, match=rf"extra_tokens is {extra}; .* from 0 to 3") as error:
        Recursive(4, extra_tokens=extra)
    assert error.value.key == "chunker.extra_tokens"


def test_sentences_stay_whole() -> None:
    """As many whole sentences as fit; an abbreviation ends none."""
    # Dr. Who pays it. = 6 tokens, Does she? = 3, Yes. = 2
    text = "Dr. Who pays it. Does she?  Yes."
    assert split(Sentence(6), text) == ["Dr. Who pays it.", "Does she?  Yes."]
    assert split(Sentence(9), text) == ["Dr. Who pays it. Does she?", "Yes."]


def test_sentences_overlap_in_whole_sentences() -> None:
    """The overlap is whole sentences, or nothing when none fits."""
    text = "Aa bb. Cc. Dd ee. Ff."  # 3, 2, 3, 2 tokens
    assert split(Sentence(5, 2), text) == ["Aa bb. Cc.", "Cc. Dd ee.", "Ff."]  # "Dd ee." (3) is over 2
    assert split(Sentence(5, 3), text) == ["Aa bb. Cc.", "Cc. Dd ee.", "Dd ee. Ff."]


def test_a_long_sentence_is_cut_at_tokens() -> None:
    """A sentence over the size is cut after every `size` tokens, and its rest is packed with what follows."""
    text = "Red foxes run very far. Cats nap. Go."  # 6, 3 and 2 tokens
    # 4 + 2 of the first; 2 + 3 is over 4, and so is 3 + 2
    assert split(Sentence(4), text) == ["Red foxes run very", "far.", "Cats nap.", "Go."]
    # 5 + 1 of the first; 1 + 3 fits, 1 + 3 + 2 does not
    assert split(Sentence(5), text) == ["Red foxes run very far", ". Cats nap.", "Go."]


def test_sentence_offsets_survive_long_runs_of_blanks() -> None:
    """Blank runs are shortened for the sentence splitter alone; offsets are the document's."""
    text = "One here." + "\r\n" * 50 + "Two there." + " " * 99 + "Three."
    chunks = list(Sentence(3).split(Document("d", text), word_map(text)))
    assert [(one.start, text[one.start : one.end]) for one in chunks] == [
        (0, "One here."),
        (109, "Two there."),
        (218, "Three."),
    ]


def test_whole_is_the_document() -> None:
    """One chunk from the first character to the last, white space included."""
    assert split(Whole(), " a b. \n") == [" a b. \n"]


@pytest.mark.parametrize("chunker", [Tokens, Recursive, Sentence])
def test_sizes_are_checked_before_anything_runs(chunker) -> None:
    """The message names the keys of the command line, what is allowed and what to do."""
    with pytest.raises(
        SettingError, match=r"chunk is 0; it must be a whole number of tokens, at least 1"
    ) as error:
        chunker(0)
    assert error.value.key == "chunk"
    with pytest.raises(
        SettingError, match=r"overlap is -1; it must be a whole number of tokens, at least 0"
    ) as error:
        chunker(4, -1)
    assert error.value.key == "overlap"
    with pytest.raises(SettingError, match=r"overlap is 4 tokens; it must be below chunk=4"):
        chunker(4, 4)
