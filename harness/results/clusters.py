"""What is true of the questions of a sweep whatever the cell: what they are about, and how they are worded."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np

from harness.cell.build import Inputs
from harness.records import Question
from harness.results.cells import About
from harness.text.words import overlap

# Questions about one text are no independent witnesses; a text of this many tokens is one, a longer one is several.
BLOCK_TOKENS = 2000
# What stands before the document of evidence that is kept though it was lost.
LOST = "(lost) "


# Every cell of a sweep writes it down; the questions are the same in all.
@lru_cache(maxsize=4)
def about_questions(given: Inputs) -> Mapping[str, About]:
    """Of each question id its cluster and its overlap with its evidence's wording.

    A cluster is the document of the first evidence. Of a document over 2,000 tokens (of the sweep's tokenizer) it is the block of 2,000
    in which the evidence begins, counted from 1: ``doc.md#3``; for the whole of such a document as evidence it is the document.
    """
    positions = {document.doc_id: i for i, document in enumerate(given.documents)}
    return {
        question.question_id: About(
            _cluster(given, positions, question), _overlap(given, positions, question)
        )
        for question in given.labels.questions
    }


def _cluster(given: Inputs, positions: Mapping[str, int], question: Question) -> str:
    first = question.evidence[0]
    doc_id = first.doc_id
    while doc_id not in positions and doc_id.startswith(LOST):
        doc_id = doc_id.removeprefix(LOST)
    if first.start is None or doc_id not in positions:
        return doc_id
    tokens = given.tokens[positions[doc_id]]
    if len(tokens) <= BLOCK_TOKENS:
        return doc_id
    return f"{doc_id}#{tokens.count(0, first.start) // BLOCK_TOKENS + 1}"


def _overlap(given: Inputs, positions: Mapping[str, int], question: Question) -> float:
    """Against the text that stands in the documents now; where the evidence is lost, against the quote that was."""
    quotes = []
    for evidence in question.evidence:
        if evidence.start is None:
            return float(np.nan)
        position = positions.get(evidence.doc_id)
        text = None if position is None else given.documents[position].text[evidence.start : evidence.end]
        quotes.append(text or evidence.quote or "")
    return overlap(question.text, quotes).plain
