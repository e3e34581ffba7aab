"""What is said about one passage: ask, once more after a rejection, once more after too much overlap.

Everything follows from the answers in the ledger, so that a run that was killed goes on exactly where it was.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from harness.questions.generate import Accepted, Passage, Rejection
from harness.questions.generate.acceptance import accept
from harness.questions.generate.ledger import Answer, Ledger
from harness.questions.generate.prompt import Prompt, Request
from harness.records import Document

_NO_JSON = Rejection("no_json", "Your answer was not the JSON object that was asked for.")
_CUT_OFF = Rejection(
    "cut_off", "Your answer was too long and cut off. Keep the question and the quotes short."
)
_REFUSED = Rejection("refused", "The model refused to answer.", is_final=True)


class Settled(NamedTuple):
    """The end of a dialogue: a question, or the last reason why there is none. ``calls``: how many answers it took."""

    accepted: Accepted | None
    rejection: Rejection | None
    calls: int


@dataclass(frozen=True)
class Dialogues:
    """The rules of all dialogues of a run. ``documents`` by id."""

    prompt: Prompt
    model: str
    max_tokens: int
    max_overlap: float
    documents: Mapping[str, Document]
    ledger: Ledger

    def step(self, passage: Passage) -> Request | Settled:
        """The next request whose answer is missing, or the end."""
        request = self.prompt.ask(passage, self.model, self.max_tokens)
        kept: Accepted | None = None
        is_retried = False
        calls = 0
        while (answer := self.ledger.answer(request)) is not None:
            calls += 1
            verdict = self._verdict(answer, passage)
            if isinstance(verdict, Rejection):
                # A rewriting that went wrong leaves the question that was sound before.
                if kept or is_retried or verdict.is_final:
                    return Settled(kept, None if kept else verdict, calls)
                is_retried, reason = True, verdict.reason
            else:
                if kept or not verdict.is_overlapping:
                    return Settled(verdict, None, calls)
                kept, reason = verdict, _reason(verdict)
            request = self.prompt.again(request, answer.text, reason)
        return request

    def _verdict(self, answer: Answer, passage: Passage) -> Accepted | Rejection:
        if answer.stop == "refusal":
            return _REFUSED
        if answer.stop == "max_tokens":
            return _CUT_OFF
        reply = _object(answer.text)
        if reply is None:
            return _NO_JSON
        instructions = "\n".join([self.prompt.system, *self.prompt.templates.values()])
        return accept(reply, passage, self.documents, self.max_overlap, instructions=instructions)


def _object(text: str) -> dict[str, Any] | None:
    """The JSON object that ``text`` is, with or without the fence that some models put around one."""
    bare = text.strip().removeprefix("```json").removeprefix("```").removesuffix("```")
    try:
        found = json.loads(bare)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _reason(accepted: Accepted) -> str:
    return (
        f"{accepted.overlap:.0%} of your question's words are words of the quotes. Say it as somebody would who has never seen them, "
        "with other words."
    )
