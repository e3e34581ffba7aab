"""The sweep's one tokenizer: sizes and budgets are counted by it, never by each model's own.

Chunk boundaries must not change with the model axis, and a budget of 2,000 tokens must mean the same text in
every cell. A text is tokenised once; after that a count or a cut is a search in a sorted array.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Protocol

import numpy as np

from harness.errors import ModelError
from harness.records import IntArray
from harness.tokenizer_file import find_tokenizer_file

BATCH_CHARS = 8_000_000  # bounds the memory that offsets take as Python objects
PIECE_CHARS = 8_000  # small enough for all cores to work on one long document
BYTES_PER_TOKEN = 4  # what a token of English text comes to

BLANK = re.compile("[ \n]")
SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class TokenMap:
    """Where the tokens of one text begin.

    ``starts``: int64 (tokens,), strictly increasing character offsets. ``length``: characters of the text. A token
    belongs to the span in which it starts, so counts of adjacent spans add up to the count of their union.
    """

    starts: IntArray
    length: int

    def __len__(self) -> int:
        return len(self.starts)

    def count(self, start: int, end: int) -> int:
        """Tokens that start in ``[start, end)``."""
        low, high = np.searchsorted(self.starts, (start, end))
        return int(high - low)

    def counts(self, bounds: IntArray) -> IntArray:
        """int64 (len(bounds) - 1,): tokens that start in each ``[bounds[i], bounds[i + 1])``; ``bounds`` ascend."""
        return np.diff(np.searchsorted(self.starts, bounds))

    def cut(self, start: int, tokens: int) -> int:
        """The largest offset ``end`` with ``count(start, end) == tokens``, or the text's length if it has fewer."""
        first = int(np.searchsorted(self.starts, start))
        return int(self.starts[first + tokens]) if first + tokens < len(self.starts) else self.length


class Tokenizer(Protocol):
    """Anything that maps texts to where their tokens begin."""

    @property
    def name(self) -> str:
        """The name that it was asked for by."""

    @property
    def digest(self) -> str:
        """What its tokens depend on, as a hex digest."""

    def map(self, texts: list[str]) -> list[TokenMap]:
        """One map per text, in order."""


def load_tokenizer(name: str) -> Tokenizer:
    """The tokenizer called ``name``; its ``digest`` is the hex sha256 of its file.

    ``bert``: the WordPiece vocabulary that minilm, bge, gte and e5-v2 share. Otherwise a path to a
    ``tokenizer.json`` or to a folder that holds one, or ``org/name`` on the Hugging Face hub. Truncation, padding
    and special tokens are off. Raises ``ModelError`` when it can't be found or read.

    A word that the vocabulary can't spell (``[UNK]``; WordPiece gives one for any blank-free string of more than
    100 characters) counts as its UTF-8 bytes / 4, rounded up, spread evenly over its characters. Tokens that start
    at the same character (the letters of a Hangul syllable, the bytes of an emoji) count once, and tokens without
    width not at all: neither leaves a place to cut. Characters that the tokenizer drops cost nothing.
    """
    import tokenizers

    path = find_tokenizer_file(name)
    try:
        data = path.read_bytes()
        backend = tokenizers.Tokenizer.from_buffer(data)
    except Exception as error:  # the library raises bare Exceptions and ValueErrors for a damaged file
        raise ModelError(
            f"The tokenizer {name!r} can't be read: {path}: {error}. A tokenizer.json as the `tokenizers` library "
            "saves it is needed: give another tokenizer=PATH or download the file again.",
            model=name,
        ) from error
    backend.no_truncation()
    backend.no_padding()
    return _FileTokenizer(
        name, hashlib.sha256(data).hexdigest(), backend, _unknown_id(backend), _splits_at_blanks(backend)
    )


def encodable(text: str) -> str:
    """``text`` with each lone surrogate replaced by U+FFFD: the same length, and valid for compiled libraries."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return SURROGATE.sub("\ufffd", text)
    return text


@dataclass(frozen=True)
class _FileTokenizer:
    """A tokenizer read from a ``tokenizer.json``. ``splits``: a text may be cut before any blank for speed."""

    name: str
    digest: str
    backend: Any = field(repr=False)
    unknown: int | None
    splits: bool

    def map(self, texts: list[str]) -> list[TokenMap]:
        """One map per text, in order; all cores work, also on a single long text."""
        found: list[list[tuple[IntArray, IntArray]]] = [[] for _ in texts]
        for batch in self._batches(texts):
            encodings = self.backend.encode_batch([piece for _, _, piece in batch], add_special_tokens=False)
            for (text, offset, _), encoding in zip(batch, encodings, strict=True):
                found[text].append(self._read(encoding, offset))
        return [_token_map(text, parts) for text, parts in zip(texts, found, strict=True)]

    def _batches(self, texts: list[str]) -> Iterator[list[tuple[int, int, str]]]:
        """Lists of (position in ``texts``, offset of the piece, piece)."""
        batch: list[tuple[int, int, str]] = []
        room = BATCH_CHARS
        for position, text in enumerate(texts):
            clean = encodable(text)
            for start, end in _pieces(clean) if self.splits else [(0, len(clean))]:
                batch.append((position, start, clean[start:end]))
                room -= end - start
                if room <= 0:
                    yield batch
                    batch, room = [], BATCH_CHARS
        yield batch

    def _read(self, encoding: Any, offset: int) -> tuple[IntArray, IntArray]:
        """The starts of the tokens, and the spans (words, 2) of those that are unknown, in the text's offsets."""
        spans = np.fromiter(chain.from_iterable(encoding.offsets), np.int64, 2 * len(encoding)).reshape(-1, 2)
        spans += offset
        ids = encoding.ids
        unknown = spans[np.array(ids) == self.unknown] if self.unknown in ids else spans[:0]
        wide = spans[:, 1] > spans[:, 0]
        return (spans[:, 0] if wide.all() else spans[wide, 0]), unknown


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    """Spans of about ``PIECE_CHARS`` characters, each but the first beginning with a blank."""
    start = 0
    while blank := BLANK.search(text, start + PIECE_CHARS):
        yield start, blank.start()
        start = blank.start()
    yield start, len(text)


def _token_map(text: str, parts: list[tuple[IntArray, IntArray]]) -> TokenMap:
    """The map of ``text`` from its pieces: unknown words become as many tokens as their bytes are worth."""
    starts = np.concatenate([starts for starts, _ in parts])
    unknown = np.concatenate([unknown for _, unknown in parts])
    if len(unknown):
        starts = np.concatenate([starts, _spread(text, unknown)])
    if not (np.diff(starts) > 0).all():
        starts = np.unique(starts)
    return TokenMap(starts, len(text))


def _spread(text: str, words: IntArray) -> IntArray:
    """Starts of pseudo-tokens for ``words``, spans (words, 2): ceil(UTF-8 bytes / 4) each, evenly over characters."""
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    width = 1 + (points >= 0x80).astype(np.int64) + (points >= 0x800) + (points >= 0x10000)
    total = np.concatenate([[0], np.cumsum(width)])
    start, end = words.T
    tokens = -(-(total[end] - total[start]) // BYTES_PER_TOKEN)
    first = np.cumsum(tokens) - tokens
    nth = np.arange(tokens.sum()) - np.repeat(first, tokens)
    return np.asarray(
        np.repeat(start, tokens) + nth * np.repeat(end - start, tokens) // np.repeat(tokens, tokens)
    )


def _unknown_id(backend: Any) -> int | None:
    """The id that stands for what the vocabulary can't spell, or None when it spells everything."""
    word = getattr(backend.model, "unk_token", None)
    return None if word is None else backend.token_to_id(word)


def _splits_at_blanks(backend: Any) -> bool:
    """True when a cut before a blank can't change a token: BERT's own rules and no added token that spans blanks."""
    import tokenizers

    added = backend.get_added_tokens_decoder().values()
    return (
        isinstance(backend.normalizer, tokenizers.normalizers.BertNormalizer)
        and isinstance(backend.pre_tokenizer, tokenizers.pre_tokenizers.BertPreTokenizer)
        and not any(token.lstrip or token.rstrip or BLANK.search(token.content) for token in added)
    )
