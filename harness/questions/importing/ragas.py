"""Test sets of ragas, of all its versions: their columns as those that everything else here has.

Since 0.2: ``user_input``, ``reference_contexts``, ``reference``, ``synthesizer_name``. In 0.1: ``question``, ``contexts``,
``ground_truth``, ``evolution_type``, ``episode_done``. Before: ``question``, ``ground_truth_context``, ``question_type``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from harness.golden.fields import FieldError
from harness.questions.importing.columns import plain
from harness.questions.importing.values import is_given, texts, unpacked

# Any of these says that a row was written by a generator of test sets.
_WRITTEN_BY = ("synthesizer_name", "evolution_type", "question_type")
_OWN = {"user_input", "ground_truth_context", "ground_truth_contexts", "eval_sample", *_WRITTEN_BY}
_HOP = re.compile(r"<\d+-hop>\s*")  # put before each context of a question that needs several


def is_ragas(columns: Collection[str]) -> bool:
    """Whether these are the columns of a ragas set."""
    return bool(_OWN & {plain(column) for column in columns})


def adapted(given: Mapping[str, Any]) -> dict[str, Any]:
    """The row without what only ragas knows: marks before contexts, a sample inside its record.

    Raises ``FieldError`` for a conversation, and for contexts that a retriever returned: these are no evidence.
    """
    row = {plain(key): value for key, value in given.items() if is_given(value)}
    sample = row.pop("eval_sample", None)
    row |= {plain(key): value for key, value in sample.items()} if isinstance(sample, dict) else {}
    if isinstance(unpacked(row.get("user_input")), list):
        raise FieldError("user_input is a conversation of several turns; one question is expected.")
    by_generator = any(key in row for key in _WRITTEN_BY)
    if (
        "contexts" in row
        and "answer" in row
        and not by_generator
        and {"ground_truth", "ground_truths"} & set(row)
    ):
        raise FieldError(
            "contexts beside answer and ground_truth are what a retriever returned, no evidence. "
            "If they are, name them reference_contexts."
        )
    for key in ("reference_contexts", "contexts"):
        if key in row:
            row[key] = [
                _HOP.sub("", text, count=1) if isinstance(text, str) else text for text in texts(row[key])
            ]
    if by_generator:
        row.setdefault("source", "synthetic")
    return row
