"""An answer of the model into a question with its evidence, or the reason why not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.golden.generation import Accepted, Passage, Rejection
from harness.records import Document


def accept(
    reply: Mapping[str, Any],
    passage: Passage,
    documents: Mapping[str, Document],
    max_overlap: float,
    *,
    language: str = "english",
    instructions: str = "",
) -> Accepted | Rejection:
    """What becomes of ``reply``: ``{"answerable": bool, "question": str, "quotes": [str, ...]}``, other keys aside.

    A passage of two excerpts needs a quote from each, one of a single excerpt needs one or more. ``documents`` by id. ``language`` of
    the documents, for ``harness.golden.overlap``. ``instructions``: what the model was told (the prompt without the passage); a question
    that repeats it is rejected. Never raises for anything that a model can write.
    """
    raise NotImplementedError
