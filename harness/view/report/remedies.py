"""What might mend the questions that a cell misses: what usually does, and what was observed to in this very sweep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from harness.decision.findings import Helped
from harness.view.report.effects import plain
from harness.view.report.shares import MEANING

# A suspicion, as the cause is one.
_USUAL = {
    "partial": "more context (k), or a reranker",
    "split": "another chunker, bigger chunks or an overlap",
    "truncated": "smaller chunks, or a model with a longer window",
    "ranked_low": "a reranker, hybrid retrieval or more context (k)",
    "not_retrieved": "another model, or hybrid retrieval",
    "not_in_index": "another chunker; look whether the document is complete",
}


class Remedy(NamedTuple):
    """One cause with its number of questions and what was observed, a sentence each."""

    cause: str
    questions: int
    usual: str
    observed: Sequence[str]


def remedies(causes: Mapping[str, int], helped: Mapping[str, Sequence[Helped]]) -> list[Remedy]:
    """The causes that occur, in their order; ``causes``: cause to number of questions."""
    return [
        Remedy(
            cause, causes[cause], _USUAL[cause], [_said(one) for one in helped.get(cause, ()) if one.found]
        )
        for cause in MEANING
        if cause != "found" and causes.get(cause)
    ]


def _said(one: Helped) -> str:
    return f"{plain(one.setting)} {one.value} finds {one.found} of {one.of}, and loses {one.lost} of {one.had} others"
