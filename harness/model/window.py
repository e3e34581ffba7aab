"""How much of each text a model reads: counted in the model's own tokens, without truncation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from harness.model.rows import portions
from harness.records import IntArray

# A text with so many tokens beyond the window is cut before the model tokenises it again.
_LONG = 2_048
_REACHES = (256, 1_024)


class Seen(NamedTuple):
    """What is read of each text.

    ``texts``: what to hand to the model, the same texts or prefixes that give the same vectors. ``tokens``,
    ``seen_tokens``, ``seen_chars``: int64 (texts,), as in ``Encoded``.
    """

    texts: list[str]
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
        heads: list[str] = []
        counts = np.zeros((len(texts), 3), dtype=np.int64)
        for start, portion in portions(texts):
            encodings = self._tokenizer.encode_batch(
                [prompt + text for text in portion], add_special_tokens=False
            )
            for i, (text, encoding) in enumerate(zip(portion, encodings, strict=True), start):
                counts[i] = self._count(text, encoding, len(prompt))
                heads.append(self._head(text, encoding, prompt))
        tokens, seen_tokens, seen_chars = counts.T
        return Seen(heads, tokens.copy(), seen_tokens.copy(), seen_chars.copy())

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

    def _head(self, text: str, encoding: Any, prompt: str) -> str:
        budget = self._budget
        if budget is None or len(encoding) <= budget + _LONG:
            return text
        wanted = encoding.ids[:budget]
        for reach in _REACHES:
            head = text[: _span(encoding, budget + reach)[0] - len(prompt)]
            # Cutting inside a word may change its tokens; only a prefix that reads the same is used.
            if self._tokenizer.encode(prompt + head, add_special_tokens=False).ids[:budget] == wanted:
                return head
        return text


def _span(encoding: Any, token: int) -> tuple[int, int]:
    return encoding.token_to_chars(token) or (0, 0)
