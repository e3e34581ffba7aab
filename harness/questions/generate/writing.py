"""The golden set as it is written: passages in their order, each settled, each question a line.

Answers come back in any order, but a line is written only when every passage before it is settled. The set is therefore
the same whatever was slow, failed or killed on the way.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from harness.files.journal import Journal
from harness.questions.generate import Accepted, Passage, Rejection
from harness.questions.generate.dialogue import Dialogues, Settled
from harness.questions.generate.prompt import Request
from harness.records import Evidence, Question

_IDS = ("question_id", "id", "_id", "qid")


class Waiting(NamedTuple):
    """A passage whose next answer is missing. ``number`` is its place in the order."""

    number: int
    passage: Passage
    request: Request


class Writing:
    """``n`` questions of ``passages``, appended to ``golden``, which is held by the caller (``golden.locked``).

    Lines that are there stay as they are; a passage whose question is among them is settled. A passage that gives no question is replaced by
    the next one in the order. ``about`` goes into every question's provenance.
    """

    def __init__(
        self,
        golden: Journal,
        passages: Iterable[Passage],
        dialogues: Dialogues,
        n: int,
        about: Mapping[str, Any],
    ) -> None:
        self.golden, self.dialogues, self.n, self.about = golden, dialogues, n, about
        lines = golden.items()
        self.ids = {str(line[key]) for line in lines for key in _IDS if line.get(key) is not None}
        self.others = len(lines)
        self.written = 0
        self.already = 0
        self.rejected: Counter[str] = Counter()
        self.accepted: list[Accepted] = []
        self.begun: list[Passage] = []
        self.is_exhausted = False
        self._passages = iter(passages)
        self._lost = 0
        self._settled: dict[int, tuple[str, Settled | None]] = {}
        self._next_line = 0

    @property
    def questions(self) -> int:
        """Questions that are certain: written, there already, or waiting for an earlier passage."""
        return self.already + len(self.accepted)

    def begin(self) -> Iterator[Waiting]:
        """Passages that may be asked about now: never more than could be needed, so that nothing is paid for and left over.

        What needs no answer, because it is written or in the ledger, is settled on the way. Ends when the rest depends on
        answers on their way, or the documents have no more.
        """
        while len(self.begun) - self._lost < self.n:
            passage = next(self._passages, None)
            if passage is None:
                self.is_exhausted = True
                return
            number = len(self.begun)
            self.begun.append(passage)
            if self._id(passage) in self.ids:
                self.already += 1
                self._settle(number, None)
                continue
            step = self.dialogues.step(passage)
            if isinstance(step, Settled):
                self.settle(number, step)
            else:
                yield Waiting(number, passage, step)

    def settle(self, number: int, settled: Settled) -> None:
        """The end of passage ``number``'s dialogue."""
        if settled.accepted is None:
            self._lost += 1
            rejection = settled.rejection or Rejection("unknown", "")
            self.rejected[rejection.kind] += 1
        else:
            self.accepted.append(settled.accepted)
        self._settle(number, settled)

    def _settle(self, number: int, settled: Settled | None) -> None:
        self._settled[number] = self._id(self.begun[number]), settled
        lines = []
        while self._next_line in self._settled:
            question_id, ended = self._settled.pop(self._next_line)
            if ended is not None and ended.accepted is not None:
                passage = self.begun[self._next_line]
                lines.append(_line(self._question(question_id, passage, ended.accepted, ended.calls)))
            self._next_line += 1
        if lines:
            self.golden.extend(lines)
            self.written += len(lines)

    def _id(self, passage: Passage) -> str:
        """Of the passage, the prompt and the model: another prompt's question about the same passage stands beside this one's."""
        of = f"{passage.passage_id} {self.dialogues.prompt.digest} {self.dialogues.model}"
        return "g" + hashlib.sha256(of.encode()).hexdigest()[:15]

    def _question(self, question_id: str, passage: Passage, accepted: Accepted, calls: int) -> Question:
        provenance = {
            **self.about,
            "passage": passage.passage_id[:16],
            "calls": calls,
            "overlap": round(accepted.overlap, 3),
            **({"overlapping": True} if accepted.is_overlapping else {}),
        }
        return accepted.question(question_id, provenance)


def _line(question: Question) -> dict[str, Any]:
    return {
        "question_id": question.question_id,
        "question": question.text,
        "evidence": [_place(label) for label in question.evidence],
        "source": question.source,
        "provenance": dict(question.provenance),
    }


def _place(evidence: Evidence) -> dict[str, Any]:
    place: dict[str, Any] = {
        "doc_id": evidence.doc_id,
        "start": evidence.start,
        "end": evidence.end,
        "quote": evidence.quote,
    }
    if evidence.alternatives:
        place["alternatives"] = [_place(other) for other in evidence.alternatives]
    return place
