"""What a model reads of each text: its tokens, cut to the window, and how much of the text they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np

from harness.errors import SettingError
from harness.records import Float32Array, FloatArray, IntArray

# Texts are tokenised in portions of so many characters: a token's record takes about a hundred bytes.
_PORTION = 1_000_000


class Seen(NamedTuple):
    """What is read of each text.

    ``ids``: int64, what the model gets of each text, with prompt and special tokens. ``tokens``,
    ``seen_tokens``, ``seen_chars``: int64 (texts,), as in ``Encoded``, from the text before it is cut.
    """

    ids: list[IntArray]
    tokens: IntArray
    seen_tokens: IntArray
    seen_chars: IntArray

    def keys(self) -> list[bytes]:
        """A hash of what is read of each truncated text, 32 bytes; empty for the others."""
        is_cut = self.seen_tokens < self.tokens
        return [
            sha256(b"reading" + ids.tobytes()).digest() if cut else b""
            for ids, cut in zip(self.ids, is_cut, strict=True)
        ]


class TextPieces(NamedTuple):
    """Texts read to their end, a window at a time.

    ``ids``: int64, what the model gets of each piece. ``first``: int64 (texts,), the place of each text's
    first piece; those of a text stand together. ``sizes``: int64 (pieces,), tokens of the text in each.
    ``tokens``: int64 (texts,), tokens of each text.
    """

    ids: list[IntArray]
    first: IntArray
    sizes: IntArray
    tokens: IntArray

    def sums(self, rows: Float32Array) -> FloatArray:
        """float64 (texts, dim): the sum of each text's piece vectors, weighted by their tokens.

        Without the weights a last piece of three words would say as much as all that went before it.
        """
        if len(self.ids) == len(self.first):
            return rows.astype(np.float64)
        weights = np.maximum(self.sizes, 1).astype(np.float64)
        return np.add.reduceat(rows * weights[:, np.newaxis], self.first, axis=0)


class Window:
    """A model's window.

    ``tokenizer`` is a ``tokenizers.Tokenizer`` of its own (truncation and padding are switched off in it);
    ``size`` counts tokens with the special ones, None when nothing limits the model.
    """

    def __init__(self, tokenizer: Any, size: int | None) -> None:
        tokenizer.no_truncation()
        tokenizer.no_padding()
        self._tokenizer = tokenizer
        special = int(tokenizer.num_special_tokens_to_add(False))
        self._budget = None if size is None else max(size - special, 0)

    def read(self, texts: Sequence[str], prompt: str) -> Seen:
        """What is seen of each text when the prompt stands before it."""
        ids: list[IntArray] = []
        counts = np.zeros((len(texts), 3), dtype=np.int64)
        for i, encoding in enumerate(self._encodings(texts, prompt)):
            counts[i] = self._count(texts[i], encoding, len(prompt))
            ids.append(self._ids(encoding))
        tokens, seen_tokens, seen_chars = counts.T
        return Seen(ids, tokens.copy(), seen_tokens.copy(), seen_chars.copy())

    def read_all(self, texts: Sequence[str], prompt: str) -> TextPieces:
        """All of every text, in as few pieces as fit; the prompt stands before each, and no token is in two.

        Raises ``SettingError`` when the prompt leaves no room in the window.
        """
        ids: list[IntArray] = []
        sizes: list[int] = []
        first = np.zeros(len(texts), dtype=np.int64)
        for i, encoding in enumerate(self._encodings(texts, prompt)):
            first[i] = len(ids)
            for size, piece in self._cut(encoding, prompt):
                sizes.append(size)
                ids.append(piece)
        counts = np.array(sizes, dtype=np.int64)
        tokens = np.add.reduceat(counts, first) if len(texts) else counts
        return TextPieces(ids, first, counts, tokens)

    def prompt_tokens(self, prompt: str) -> int:
        """The tokens before a text's own: those of the prompt and the special ones that open every text."""
        if not prompt:
            return 0
        encoding = self._tokenizer.encode(prompt)
        return len(encoding) - (encoding.special_tokens_mask[-1] if len(encoding) else 0)

    def _encodings(self, texts: Sequence[str], prompt: str) -> Iterator[Any]:
        for portion in portions(texts):
            given = [prompt + text for text in portion]
            yield from self._tokenizer.encode_batch(given, add_special_tokens=False)

    def _count(self, text: str, encoding: Any, prompt_chars: int) -> tuple[int, int, int]:
        total = len(encoding)
        first = _of_prompt(encoding, prompt_chars)
        if self._budget is None or total <= self._budget:
            return total - first, total - first, len(text)
        seen = max(self._budget - first, 0)
        if not seen:
            return total - first, 0, 0
        # Several byte tokens may share one character: it counts as seen when all of them are.
        end = min(_span(encoding, self._budget - 1)[1], _span(encoding, self._budget)[0])
        return total - first, seen, max(end - prompt_chars, 0)

    def _ids(self, encoding: Any) -> IntArray:
        if self._budget is not None:
            encoding.truncate(self._budget)
        return np.array(self._tokenizer.post_process(encoding).ids, dtype=np.int64)

    def _cut(self, encoding: Any, prompt: str) -> Iterator[tuple[int, IntArray]]:
        """The tokens of the text in each of its pieces, and the piece's ids."""
        first = _of_prompt(encoding, len(prompt))
        total = len(encoding) - first
        if self._budget is None or len(encoding) <= self._budget:
            yield total, self._ids(encoding)
            return
        room = self._budget - first
        if room < 1:
            raise SettingError(
                f"model.long_chunks is window, and the prompt {prompt!r} takes all {self._budget} tokens of "
                "the model's window (special ones aside). Raise model.max_tokens or set model.prompts=none.",
                key="model.long_chunks",
            )
        before, after = self._frame
        ids = np.array(encoding.ids, dtype=np.int64)
        for start in range(first, len(ids), room):
            own = ids[start : start + room]
            yield len(own), np.concatenate([before, ids[:first], own, after])

    @cached_property
    def _frame(self) -> tuple[IntArray, IntArray]:
        """The special ids before and after every text."""
        plain = self._tokenizer.encode("a", add_special_tokens=False)
        bare, framed = plain.ids, self._tokenizer.post_process(plain).ids
        places = range(len(framed) - len(bare) + 1)
        lead = next(place for place in places if framed[place : place + len(bare)] == bare)
        return np.array(framed[:lead], np.int64), np.array(framed[lead + len(bare) :], np.int64)


def portions(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    """Runs of texts of at most a million characters, or one longer text."""
    start = size = 0
    for i, text in enumerate(texts):
        if size and size + len(text) > _PORTION:
            yield texts[start:i]
            start, size = i, 0
        size += len(text)
    if start < len(texts):
        yield texts[start:]


def _of_prompt(encoding: Any, prompt_chars: int) -> int:
    """How many tokens belong to the prompt; one that spans the border belongs to the text."""
    first = 0
    while prompt_chars and first < len(encoding) and _span(encoding, first)[1] <= prompt_chars:
        first += 1
    return first


def _span(encoding: Any, token: int) -> tuple[int, int]:
    return encoding.token_to_chars(token) or (0, 0)
