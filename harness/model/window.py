"""What a model reads of each text: its tokens, cut to the window, and how much of the text they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from harness.model.rows import portions
from harness.records import IntArray


class Seen(NamedTuple):
    """What is read of each text.

    ``ids``: int64, what the model gets of each text, with prompt and special tokens. ``tokens``, ``seen_tokens``,
    ``seen_chars``: int64 (texts,), as in ``Encoded``, from the text before it is cut.
    """

    ids: list[IntArray]
    tokens: IntArray
    seen_tokens: IntArray
    seen_chars: IntArray


class Window:
    """A model's window.

    ``tokenizer`` is a ``tokenizers.Tokenizer`` of its own (truncation and padding are switched off in it); ``size``
    counts tokens with the special ones, None when nothing limits the model.
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
        for start, portion in portions(texts):
            encodings = self._tokenizer.encode_batch(
                [prompt + text for text in portion], add_special_tokens=False
            )
            for i, (text, encoding) in enumerate(zip(portion, encodings, strict=True), start):
                counts[i] = self._count(text, encoding, len(prompt))
                ids.append(self._ids(encoding))
        tokens, seen_tokens, seen_chars = counts.T
        return Seen(ids, tokens.copy(), seen_tokens.copy(), seen_chars.copy())

    def prompt_tokens(self, prompt: str) -> int:
        """The tokens before a text's own: those of the prompt and the special ones that open every text."""
        if not prompt:
            return 0
        encoding = self._tokenizer.encode(prompt)
        return len(encoding) - (encoding.special_tokens_mask[-1] if len(encoding) else 0)

    def _count(self, text: str, encoding: Any, prompt_chars: int) -> tuple[int, int, int]:
        total = len(encoding)
        first = 0
        # A token that spans the border (a blank and the word after it) belongs to the text.
        while prompt_chars and first < total and _span(encoding, first)[1] <= prompt_chars:
            first += 1
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


def _span(encoding: Any, token: int) -> tuple[int, int]:
    return encoding.token_to_chars(token) or (0, 0)
