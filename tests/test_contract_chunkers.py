"""Every option in conf/chunker keeps the promises of ``harness.chunker``, for every text.

A new YAML file gets all of these tests by being there.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hydra.utils import instantiate
from hypothesis import given, settings
from hypothesis import strategies as st
from omegaconf import OmegaConf

from harness.chunker import ParentChunker
from harness.chunker.columns import check_chunks, cut
from harness.records import Document
from harness.text.tokenizer import load_tokenizer
from harness.text.tokens import TokenMap

pytestmark = pytest.mark.models

CONF = Path(__file__).parents[1] / "conf" / "chunker"
OPTIONS = sorted(path.stem for path in CONF.glob("*.yaml"))
SIZES = [(1, 0), (3, 0), (3, 2), (16, 5), (256, 64)]

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
PROSE = (
    "The fee is 3.50 euro. Dr. Who pays it! Does she? Yes.\n\nA second paragraph, e.g. this one.\nA line.\n"
)
HOSTILE = {
    "empty": "",
    "one letter": "a",
    "blank": " \n\t\u00a0\u2003 \r\n",
    "prose": PROSE * 40,
    "CRLF": PROSE.replace("\n", "\r\n") * 20,
    "lone CR": PROSE.replace("\n", "\r") * 20,
    "no blanks": "lorem.ipsum/dolor-sit" * 300,
    "one word over 100 letters": "x" * 5000,
    "emoji with joiners": f"Hi {FAMILY}{FAMILY} there \u2708\ufe0f {FAMILY * 30} end.",
    "combining marks": "e\u0301\u0323o\u0308 " * 300 + "\u0301" * 50,
    "right to left": "\u0645\u0631\u062d\u0628\u0627 \u0628\u0627\u0644\u0639\u0627\u0644\u0645\u061f "
    "\u05e9\u05dc\u05d5\u05dd. " * 100,
    "CJK": "\u6c49\u5b57\u6ca1\u6709\u7a7a\u683c\u3002\u4f60\u597d\uff01" * 100
    + "\ud55c\uad6d\uc5b4 \ubb38\uc7a5. " * 50,
    "newlines": "a\n" + "\n" * 20_000 + "b" + "\n" * 20_000 + "c.",
    "blank first and last": "\n\n   a b c.   \n\n",
    "separators alone": "\n\n..??!!  " * 200,
    "dropped by the tokenizer": "a\u200b\u200b\x00\ufffd b" * 100 + "\u200b" * 1000,
    "lone surrogate": "a \ud800 b. " * 50,
    "unknown words": "[UNK] \u1200\u1201\u1202 <unk> @-@ " * 100,
}


@cache
def tokens_of(text: str) -> TokenMap:
    return load_bert().map([text])[0]


@cache
def load_bert():
    return load_tokenizer("bert")


def compose(option: str, chunk: int, overlap: int):
    config = OmegaConf.create(
        {"chunk": chunk, "overlap": overlap, "chunker": OmegaConf.load(CONF / f"{option}.yaml")}
    )
    return instantiate(config.chunker), "size" in config.chunker


def check_promises(option: str, text: str, chunk: int, overlap: int) -> None:
    chunker, limited = compose(option, chunk, overlap)
    document = Document("d", text)
    tokens = tokens_of(text)
    chunks = list(chunker.split(document, tokens))
    # Span, order, progress, not blank: what is also asked of foreign chunkers.
    assert check_chunks(document, chunks) == chunks
    assert len(set(chunks)) == len(chunks)
    if isinstance(chunker, ParentChunker):
        cut([document], [tokens], chunker)  # raises where parents overlap or a chunk lies in none
    if limited:
        assert all(tokens.count(one.start, one.end) <= chunk for one in chunks)
    change = np.zeros(len(text) + 1, np.int64)
    for one in chunks:
        change[one.start] += 1
        change[one.end] -= 1
    bare = [text[place] for place in np.flatnonzero(np.cumsum(change)[: len(text)] == 0)]
    assert not "".join(bare).strip()
    assert list(compose(option, chunk, overlap)[0].split(document, tokens)) == chunks


def test_there_are_options() -> None:
    """The folder that the tests below are taken from is the real one."""
    assert {"recursive", "sentence", "tokens", "whole"} <= set(OPTIONS)


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("option", OPTIONS)
def test_promises_on_hostile_text(option: str, name: str, size: tuple[int, int]) -> None:
    """Exact spans in order, within the size, that cover all that is not white space, the same every time."""
    check_promises(option, HOSTILE[name], *size)


ATOMS = st.sampled_from(
    [
        *(" ", "  ", "\n", "\n\n", "\r\n", "\r", "\t", "\u00a0", ".", "?", "!", ". ", '"', "("),
        *("Dr. ", "word", "unbelievable ", "12.5", "x" * 130, "\u6c49", "\u3002", "\ud55c", "\u0627"),
        *("e\u0301", "\u0301", FAMILY, "\u200b", "\x00", "\ud800"),
    ]
)


@pytest.mark.parametrize("option", OPTIONS)
@settings(derandomize=True, deadline=None, max_examples=150)
@given(
    text=st.one_of(st.lists(ATOMS, max_size=60).map("".join), st.text(max_size=40)),
    chunk=st.integers(1, 12),
    share=st.floats(0, 0.999),
)
def test_promises_on_any_text(option: str, text: str, chunk: int, share: float) -> None:
    """The promises hold for texts and sizes nobody thought of."""
    check_promises(option, text, chunk, int(chunk * share))


def words_of_chunks(option: str, text: str, size: tuple[int, int]) -> list[tuple[list[str], int]]:
    """The words of each chunk, and of each parent, with its number of tokens."""
    chunker, _ = compose(option, *size)
    chunks = cut([Document("d", text)], [tokens_of(text)], chunker)
    both = [chunks] if chunks.parents is None else [chunks, chunks.parents]
    return [(some.text(row).split(), int(some.tokens[row])) for some in both for row in range(len(some))]


LINES = st.lists(
    st.sampled_from(
        [
            *("\n", "\n", "\n\n", "\n\n\n", " \n", "# A\n", "```\n", "- a\n", "| a |\n|---|\n", "A\n---\n"),
            *("word ", "Dr. Who. ", "It is? ", "\u6c49\u3002", "x" * 130, "end.\n"),
        ]
    ),
    max_size=50,
).map("".join)


@pytest.mark.parametrize("option", OPTIONS)
@settings(derandomize=True, deadline=None, max_examples=100)
@given(
    text=LINES,
    chunk=st.integers(1, 24),
    share=st.floats(0, 0.999),
    ends=st.lists(st.sampled_from(["\n", "\r\n", "\r"]), min_size=1, max_size=9),
)
def test_line_ends_move_no_word(option: str, text: str, chunk: int, share: float, ends: list[str]) -> None:
    """A document with any line ends, mixed ones too, gives chunks of the same words and token counts."""
    size = (chunk, int(chunk * share))
    first, *others = text.split("\n")
    # "\r" and an empty line that ends in "\n" would be one "\r\n".
    mixed = first
    for i, line in enumerate(others):
        end = ends[i % len(ends)]
        mixed += ("\r\n" if end == "\n" and mixed.endswith("\r") else end) + line
    expected = words_of_chunks(option, text, size)

    for given_text in (text.replace("\n", "\r\n"), text.replace("\n", "\r"), mixed):
        assert words_of_chunks(option, given_text, size) == expected


@pytest.mark.parametrize(
    "unit", ["x", "word ", "\n", "a. "], ids=["letters", "words", "newlines", "sentences"]
)
@pytest.mark.parametrize("option", OPTIONS)
def test_promises_on_three_megabytes_in_one_line(option: str, unit: str) -> None:
    """A minified file is cut like any other text, in time that grows with its length."""
    check_promises(option, unit * (3_000_000 // len(unit)), 256, 64)


@pytest.mark.parametrize("option", OPTIONS)
def test_blank_documents_have_no_chunks(option: str) -> None:
    """A document of nothing but white space has no chunks, and is no error."""
    for text in ("", " ", "\n\r\n\t\u2003"):
        assert list(compose(option, 4, 0)[0].split(Document("d", text), tokens_of(text))) == []


@pytest.mark.parametrize("option", OPTIONS)
def test_every_number_has_its_unit(option: str) -> None:
    """Whoever opens the file sees what each number counts."""
    for line in (CONF / f"{option}.yaml").read_text().splitlines():
        if line.startswith(("size", "overlap")) or line.split("#")[0].rstrip().endswith(tuple("0123456789")):
            assert "#" in line, line
