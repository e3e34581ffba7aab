"""The sweep's one tokenizer: sizes and budgets are counted by it, never by each model's own.

Chunk boundaries must not change with the model axis, and a budget of 2,000 tokens must mean the same text in
every cell. A text is tokenised once; after that a count or a cut is a search in a sorted array.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, overload

import numpy as np
import numpy.typing as npt

from harness.errors import ModelError
from harness.records import IntArray
from harness.text.encodings import encodable
from harness.text.token_starts import BLANK, Piece, pieces, read
from harness.text.tokenizer_file import find_tokenizer_file

BATCH_CHARS = (
    2_000_000  # bounds the memory that the library takes for what it found: a few hundred bytes a token
)


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


@dataclass(frozen=True, slots=True)
class TokenMaps(Sequence[TokenMap]):
    """The maps of many texts in three arrays: a million short texts cost four bytes a token and no objects.

    ``starts``: uint32 (tokens,), those of all texts, one after the other; ``bounds``: int64 (texts + 1,), text ``i`` has
    ``starts[bounds[i] : bounds[i + 1]]``; ``lengths``: int64 (texts,), characters.
    """

    starts: npt.NDArray[np.uint32]
    bounds: IntArray
    lengths: IntArray

    def __len__(self) -> int:
        return len(self.lengths)

    @overload
    def __getitem__(self, index: int) -> TokenMap: ...
    @overload
    def __getitem__(self, index: slice) -> list[TokenMap]: ...
    def __getitem__(self, index: int | slice) -> TokenMap | list[TokenMap]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        i = range(len(self))[index]
        starts = self.starts[self.bounds[i] : self.bounds[i + 1]].astype(np.int64)
        return TokenMap(starts, int(self.lengths[i]))


class Tokenizer(Protocol):
    """Anything that maps texts to where their tokens begin."""

    @property
    def name(self) -> str:
        """The name that it was asked for by."""

    @property
    def digest(self) -> str:
        """What its tokens depend on, as a hex digest."""

    def map(self, texts: Sequence[str]) -> TokenMaps:
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
        name,
        hashlib.sha256(data).hexdigest(),
        backend,
        _unknown_id(backend, data),
        _splits_at_blanks(backend),
    )


@dataclass(frozen=True)
class _FileTokenizer:
    """A tokenizer read from a ``tokenizer.json``. ``splits``: a text may be cut before any blank for speed."""

    name: str
    digest: str
    backend: Any = field(repr=False)
    unknown: int | None
    splits: bool

    def map(self, texts: Sequence[str]) -> TokenMaps:
        """One map per text, in order; all cores work, also on a single long text."""
        starts = [np.zeros(0, np.uint32)]
        counts = np.zeros(len(texts) + 1, np.int64)
        for batch in self._batches(texts):
            encodings = self.backend.encode_batch(
                [piece.content for piece in batch], add_special_tokens=False
            )
            found = read(batch, encodings, texts, self.unknown)
            starts.append(found.start.astype(np.uint32))
            first = batch[0].text
            new = np.bincount(found.text - first, minlength=1)
            counts[first + 1 : first + 1 + len(new)] += new
        lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        return TokenMaps(np.concatenate(starts), np.cumsum(counts), lengths)

    def _batches(self, texts: Sequence[str]) -> Iterator[list[Piece]]:
        batch: list[Piece] = []
        room = BATCH_CHARS
        for position, text in enumerate(texts):
            clean = encodable(text)
            for start, end in pieces(clean) if self.splits else [(0, len(clean))]:
                batch.append(Piece(position, start, clean[start:end]))
                room -= end - start
                if room <= 0:
                    yield batch
                    batch, room = [], BATCH_CHARS
        if batch:
            yield batch


def _unknown_id(backend: Any, data: bytes) -> int | None:
    """The id that stands for what the vocabulary can't spell, or None when it spells everything."""
    import tokenizers

    if isinstance(backend.model, tokenizers.models.Unigram):
        unknown: int | None = json.loads(data)["model"].get("unk_id")
        return unknown
    word = backend.model.unk_token
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
