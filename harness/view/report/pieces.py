"""The stretches of documents that the shown rows and the evidence need, each character once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from harness.records import IntArray

# Characters shown before and after an evidence.
AROUND = 280
# Of a longer row (a whole document) only its beginning is shown.
LONGEST = 3000


def pieces(
    texts: Mapping[str, Sequence[tuple[int, str]]], doc_ids: Sequence[str], spans: IntArray
) -> dict[int, list[tuple[int, str]]]:
    """Document's place in ``doc_ids`` to its pieces ``(start, text)`` in order; what ``texts`` lacks is left out.

    ``spans``: int64 (spans, 3), document's place, start and end.
    """
    found: dict[int, list[tuple[int, str]]] = {}
    for doc, start, end in merged(spans).tolist():
        for first, text in texts.get(doc_ids[doc], ()):
            low, high = max(start, first), min(end, first + len(text))
            if low < high:
                found.setdefault(doc, []).append((low, text[low - first : high - first]))
    return found


def merged(spans: IntArray) -> IntArray:
    """The union of spans as int64 (spans, 3), sorted; spans that touch are joined."""
    if not len(spans):
        return spans.reshape(0, 3)
    order = np.lexsort((spans[:, 1], spans[:, 0]))
    doc, start, end = spans[order].T
    # Documents are laid end to end, a gap between them, so that one running maximum serves all.
    stride = int(end.max()) + 2
    reach = np.maximum.accumulate(doc * stride + end)
    first = np.concatenate(([True], doc[1:] * stride + start[1:] > reach[:-1]))
    last = np.concatenate((np.flatnonzero(first)[1:] - 1, [len(doc) - 1]))
    return np.stack([doc[first], start[first], reach[last] - doc[last] * stride], axis=1)


def clipped(spans: IntArray) -> IntArray:
    """Spans without what lies beyond their first ``LONGEST`` characters."""
    short = spans.copy()
    short[:, 2] = np.minimum(spans[:, 2], spans[:, 1] + LONGEST)
    return short


def around(places: Sequence[tuple[int, int, int]]) -> IntArray:
    """Evidence with what stands around it; of very long evidence the beginning."""
    spans = np.array(places, np.int64).reshape(-1, 3)
    wide = clipped(spans)
    wide[:, 1] = np.maximum(wide[:, 1] - AROUND, 0)
    wide[:, 2] += AROUND
    return wide
