"""Questions with their evidence, checked against the documents before anything is scored.

Promises: every evidence that takes part in a score stands in the document where the label says; what moved is
re-anchored, what changed or is lost is counted and left out, never scored silently.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

if TYPE_CHECKING:
    from harness.records import Document, Question

State = Literal["VALID", "MOVED", "CHANGED", "LOST"]


class EqualTexts(NamedTuple):
    """How many pieces of evidence have the same text elsewhere, and in how many places, which count as well.

    ``joined``: pieces that have the same text as another one of their question and count with it as one.
    """

    labels: int
    places: int
    joined: int


@dataclass(frozen=True)
class Labels:
    """A golden set after the check against the documents.

    ``questions``: those that can be scored, evidence re-anchored, in the order of the file. ``left_out``: ids
    of the questions that can't, each with its reason, which begins with the state of the evidence (CHANGED,
    LOST), with AMBIGUOUS (of the state CHANGED: the quote stands in several places), with CONTRADICTORY (one
    place, two grades), with NO QUERY or with NO EVIDENCE, and names the document and the quote's first words.
    ``states``: how many evidence units are in each state. ``lost_evidence``: units that are CHANGED or LOST.
    ``digest``: hex sha256 of the questions as they stand in the file. ``other_names``: ids that are not those
    of the documents that they were taken for. ``not_relevant``: how many judgements say so.
    ``equal_texts``: places that ``questions`` have beside those in the file; None where labels count as
    written.
    """

    name: str
    questions: tuple[Question, ...]
    left_out: Mapping[str, str]
    states: Mapping[State, int]
    digest: str
    other_names: Mapping[str, str] = field(default_factory=dict)
    not_relevant: int = 0
    equal_texts: EqualTexts | None = None

    @property
    def lost_evidence(self) -> int:
        """Evidence units whose text is changed or gone."""
        return self.states.get("CHANGED", 0) + self.states.get("LOST", 0)


class Golden(Protocol):
    """A source of questions."""

    def load(self, documents: Sequence[Document]) -> Labels:
        """The questions, checked against ``documents`` (in the order of their source).

        Raises ``InputError`` with file and line for anything malformed and for duplicate question ids, and
        when no question is left to score or most evidence is lost (a golden set for another corpus).
        """
