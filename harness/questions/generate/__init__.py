"""Questions written by a model from passages of the documents: what is asked about, what comes back, what becomes of it.

The way of a question: passages are chosen from the documents (never from chunks), a model is asked about each, the answer goes to
the ledger before it is looked at, is accepted or rejected with a reason, and an accepted one becomes a line of the golden set.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harness.records import Evidence, Question


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A stretch of natural length of one document: whole paragraphs or a section.

    ``text`` is ``document.text[start:end]``. ``heading`` is what it stands under (title and headings, joined by " > "), or empty.
    ``copies`` are other excerpts (with no copies of their own) that say nearly the same in the same words.
    """

    doc_id: str
    start: int
    end: int
    text: str
    heading: str = ""
    copies: tuple[Excerpt, ...] = ()


@dataclass(frozen=True, slots=True)
class Passage:
    """What one question is asked about: one excerpt, or two from different paragraphs that must both be needed.

    ``passage_id``: hex digest of the ids, offsets aside, and the texts; equal passages of equal documents have equal ids on every machine.
    """

    passage_id: str
    excerpts: tuple[Excerpt, ...]


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why an answer was not taken. ``kind`` is a fixed word for counting (``not_answerable``, ``quote_not_found``, ...).

    ``reason`` is a sentence for the model, which is asked once more with it. ``is_final``: asking again is of no use.
    """

    kind: str
    reason: str
    is_final: bool = False


@dataclass(frozen=True, slots=True)
class Accepted:
    """A question with its evidence, and what was noticed.

    ``overlap``: share of the question's distinct lower-cased words that occur in its quotes. ``is_overlapping``: it is above the limit,
    so the question is written once more; the second is kept whatever its overlap, and marked.
    """

    text: str
    evidence: tuple[Evidence, ...]
    overlap: float
    is_overlapping: bool

    def question(self, question_id: str, provenance: Mapping[str, Any]) -> Question:
        """The question as it goes into the golden set."""
        return Question(question_id, self.text, self.evidence, "synthetic", provenance)
