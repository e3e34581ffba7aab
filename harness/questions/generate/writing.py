"""The golden set as it is written: passages in their order, each settled, each question a line.

A line is written only when every passage before it is settled, in whatever order answers come.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from harness.files.journal import Journal
from harness.golden.question_json import IDS, as_object
from harness.questions.generate import Accepted, Passage, Prompt, Rejection, Request
from harness.questions.generate.acceptance import accept
from harness.questions.generate.ledger import Ledger, Reply
from harness.records import Document, Question

_NO_JSON = Rejection("no_json", "Your answer was not the JSON object that was asked for.")
# Reasons are part of the next request, and so of its key: other words would not find cached answers.
_TOO_LONG = "Your answer was too long and cut off. Keep the question and the quotes short."
_CUT_OFF = Rejection("cut_off", _TOO_LONG)
_REFUSED = Rejection("refused", "The model refused to answer.", is_final=True)


class Settled(NamedTuple):
    """The end of the ``calls`` about a passage: a question, or the last rejection."""

    accepted: Accepted | None
    rejection: Rejection | None
    calls: int


@dataclass(frozen=True)
class RetryState:
    """The state of the calls about a passage, which follows from the answers in the ledger."""

    prompt: Prompt
    model: str
    max_tokens: int
    max_overlap: float
    documents: Mapping[str, Document]
    ledger: Ledger

    def step(self, passage: Passage) -> Request | Settled:
        """The next request whose answer is missing, or the end."""
        request = self.prompt.ask(passage, self.model, self.max_tokens)
        sound: Accepted | None = None
        is_retried = False
        calls = 0
        while (answer := self.ledger.answer(request)) is not None:
            calls += 1
            verdict = self._verdict(answer, passage)
            if isinstance(verdict, Rejection):
                # A rewriting that went wrong leaves the question that was sound before.
                if sound or is_retried or verdict.is_final:
                    return Settled(sound, None if sound else verdict, calls)
                is_retried, reason = True, verdict.reason
            else:
                if sound or not verdict.is_overlapping:
                    return Settled(verdict, None, calls)
                sound, reason = verdict, _reason(verdict)
            request = self.prompt.again(request, answer.text, reason)
        return request

    def _verdict(self, answer: Reply, passage: Passage) -> Accepted | Rejection:
        if answer.stop == "refusal":
            return _REFUSED
        if answer.stop == "max_tokens":
            return _CUT_OFF
        reply = object_in(answer.text)
        if reply is None:
            return _NO_JSON
        instructions = "\n".join([self.prompt.system, *self.prompt.templates.values()])
        return accept(reply, passage, self.documents, self.max_overlap, instructions=instructions)


def object_in(text: str) -> dict[str, Any] | None:
    """The JSON object that ``text`` is, with or without the fence that some models put around one."""
    bare = text.strip().removeprefix("```json").removeprefix("```").removesuffix("```")
    try:
        found = json.loads(bare)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _reason(accepted: Accepted) -> str:
    return (
        f"{accepted.overlap:.0%} of your question's words are words of the quotes. "
        "Say it as somebody would who has never seen them, with other words."
    )


class Waiting(NamedTuple):
    """A piece of work, such as a passage, whose next answer is missing; ``number``: its place."""

    number: int
    passage: Any
    request: Request


class Writing:
    """``n`` questions of ``passages``, appended to ``golden``, which the caller has locked.

    Passages of existing lines are settled; one without a question is replaced by the next one.
    """

    def __init__(
        self,
        golden: Journal,
        passages: Iterable[Passage],
        retries: RetryState,
        n: int,
        about: Mapping[str, Any],
    ) -> None:
        self.golden, self.retries, self.n, self.about = golden, retries, n, about
        self.ids = {str(line[key]) for line in golden.items() for key in IDS if line.get(key) is not None}
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
        """Passages that may be asked about now: never more than could be needed.

        Passages with cached answers are settled at once. Ends when the rest depends on running calls.
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
            step = self.retries.step(passage)
            if isinstance(step, Settled):
                self.settle(number, step)
            else:
                yield Waiting(number, passage, step)

    def step(self, waiting: Waiting) -> Request | Settled:
        """The next request about a passage, or its end."""
        return self.retries.step(waiting.passage)

    def settle(self, number: int, settled: Settled) -> None:
        """The end of the calls about passage ``number``."""
        if settled.accepted is not None:
            self.accepted.append(settled.accepted)
        else:
            self._lost += 1
            self.rejected[settled.rejection.kind if settled.rejection else "unknown"] += 1
        self._settle(number, settled)

    def _settle(self, number: int, settled: Settled | None) -> None:
        self._settled[number] = self._id(self.begun[number]), settled
        lines = []
        while self._next_line in self._settled:
            question_id, ended = self._settled.pop(self._next_line)
            if ended is not None and ended.accepted is not None:
                passage = self.begun[self._next_line]
                lines.append(as_object(self._question(question_id, passage, ended.accepted, ended.calls)))
            self._next_line += 1
        if lines:
            self.golden.extend(lines)
            self.written += len(lines)

    def _id(self, passage: Passage) -> str:
        """The question's id, from the passage, the prompt and the model."""
        of = f"{passage.passage_id} {self.retries.prompt.digest} {self.retries.model}"
        return "g" + hashlib.sha256(of.encode()).hexdigest()[:15]

    def _question(self, question_id: str, passage: Passage, accepted: Accepted, calls: int) -> Question:
        provenance = {
            **self.about,
            "passage": passage.passage_id[:16],
            "calls": calls,
            "overlap": round(accepted.overlap, 3),
            **({"overlapping": True} if accepted.is_overlapping else {}),
        }
        return Question(question_id, accepted.text, accepted.evidence, "synthetic", provenance)
