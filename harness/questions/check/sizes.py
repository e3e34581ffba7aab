"""Whether the documents leave a chunker anything to decide."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from harness.questions.check import Finding, Look, counted

_ALMOST_ALL = 0.9


def sizes(tokens: Sequence[int], chunk_sizes: Sequence[int], chunks: int) -> Look:
    """How long documents are, in ``tokens`` each, and whether the ``chunk_sizes`` that are to be compared cut them differently.

    ``chunks``: how many chunks there are at the first of these sizes.
    """
    shown = ", ".join(f"{size:,}" for size in chunk_sizes)
    longest, least = max(tokens, default=0), min(chunk_sizes)
    fact = f"{counted(len(tokens), 'document', 'documents')}, {median(tokens):,.0f} tokens (median), the longest {longest:,}; {counted(chunks, 'chunk', 'chunks')} of {chunk_sizes[0]:,}"
    whole = sum(length <= least for length in tokens)
    fitting = [size for size in chunk_sizes if size >= longest]
    if whole == len(tokens):
        return Look("documents", fact, (_all_whole(shown, longest),))
    if len(fitting) > 1:
        return Look("documents", fact, (_same(fitting, longest),))
    if whole >= _ALMOST_ALL * len(tokens):
        return Look("documents", fact, (_almost(whole, len(tokens), least),))
    if chunks <= 10:
        return Look("documents", fact, (_few(chunks),))
    return Look("documents", fact)


def _all_whole(shown: str, longest: int) -> Finding:
    return Finding(
        "short documents",
        "serious",
        (),
        f"Every document is one chunk (the longest has {longest:,} tokens; chunk={shown}): all chunkers and sizes are the same here.",
        "Leave chunk and chunker out of the sweep, or compare sizes below the documents'.",
    )


def _same(fitting: Sequence[int], longest: int) -> Finding:
    return Finding(
        "equal sizes",
        "note",
        (),
        f"chunk={' and '.join(map(str, fitting))} cut nothing: the longest document has {longest:,} tokens.",
        f"Keep one of them, chunk={min(fitting)}.",
    )


def _almost(whole: int, documents: int, least: int) -> Finding:
    return Finding(
        "short documents",
        "note",
        (),
        f"{whole:,} of {documents:,} documents are one chunk at any size compared (chunk={least} or more): chunkers differ on the rest only.",
        "Compare smaller chunks too, and don't expect much of the choice.",
    )


def _few(chunks: int) -> Finding:
    return Finding(
        "few chunks",
        "serious",
        (),
        f"There are {counted(chunks, 'chunk', 'chunks')} in all: five rows bring back half of everything, whatever the model.",
        "Measure on more documents, or judge at k=1.",
    )
