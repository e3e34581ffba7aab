"""Whether the questions ask about the whole corpus or about a corner of it."""

from __future__ import annotations

from collections import Counter

import numpy as np

from harness.questions.check import Examined, Finding, Look

_MOST_ASKED = 0.2  # of all questions about one document: its kind of text decides
_FEWEST_DOCUMENTS = 10  # with fewer, some document must have many questions
_FEWEST_ASKED = 0.5  # of the documents (or, where there are fewer questions than documents, of the questions)
_LONG_HALF = 0.25  # of the questions, about the long documents that hold half of the text


def coverage(examined: Examined) -> Look:
    """The share of documents that are asked about, the one asked most, and whether long documents are asked about as much as short ones."""
    documents = examined.documents
    asked: Counter[str] = Counter()
    questions_of: dict[str, list[int]] = {}
    for i, units in enumerate(examined.units):
        for doc_id in {unit.evidence.doc_id for unit in units if unit.evidence}:
            asked[doc_id] += 1
            questions_of.setdefault(doc_id, []).append(i)
    if not asked:
        return Look("coverage", "not known: no evidence was found")
    (most, number), total = asked.most_common(1)[0], len(examined.questions)
    fact = f"{len(asked):,} of {len(documents):,} documents are asked about; the most asked, {most}, by {number:,} of {total:,} questions"
    found = []
    if len(documents) >= _FEWEST_DOCUMENTS and number > _MOST_ASKED * total:
        found.append(
            Finding(
                "one document",
                "note",
                examined.ids(questions_of[most]),
                f"{number / total:.0%} of the questions are about {most}: what suits this document wins.",
                "Ask about the others too, as often as users do.",
            )
        )
    found += _unasked(examined, asked)
    found += _lengths(examined, questions_of)
    return Look("coverage", fact, tuple(found))


def _unasked(examined: Examined, asked: Counter[str]) -> list[Finding]:
    documents = examined.documents
    possible = min(len(documents), len(examined.questions))
    if len(asked) >= _FEWEST_ASKED * possible:
        return []
    silent = [document.doc_id for document in documents if document.doc_id not in asked]
    return [
        Finding(
            "unasked documents",
            "note",
            (),
            f"{len(silent):,} of {len(documents):,} documents are asked about by nobody: they count as distractors only.",
            "Ask about more of them, unless users never do.",
            tuple(silent),
        )
    ]


def _lengths(examined: Examined, questions_of: dict[str, list[int]]) -> list[Finding]:
    """Half of the text stands in the longest documents; half of the questions should be about them."""
    lengths = np.array([len(document.text) for document in examined.documents])
    if len(lengths) < _FEWEST_DOCUMENTS:
        return []
    order = np.argsort(-lengths, kind="stable")
    many = int(np.searchsorted(np.cumsum(lengths[order]), lengths.sum() / 2)) + 1
    long = [examined.documents[i].doc_id for i in order[:many].tolist()]
    about = {i for doc_id in long for i in questions_of.get(doc_id, [])}
    if len(about) >= _LONG_HALF * len(examined.questions):
        return []
    return [
        Finding(
            "long documents",
            "note",
            examined.ids(sorted(about)),
            f"{'The longest document holds' if many == 1 else f'The {many:,} longest documents hold'} half of the text, but only {len(about) / len(examined.questions):.0%} of the questions are about "
            "them: chunk sizes matter most there.",
            "Ask more about the long documents.",
            tuple(long),
        )
    ]
