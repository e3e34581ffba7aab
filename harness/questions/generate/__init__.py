"""Questions written by a model from passages of the documents.

Passages are chosen from the documents (never from chunks), a model is asked about each, the answer goes to
the ledger before it is used, is accepted or rejected with a reason, and an accepted one becomes a line of the
golden set.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from harness.errors import SettingError
from harness.records import Evidence

SCHEMA = {
    "type": "object",
    "properties": {
        "answerable": {"type": "boolean"},
        "question": {"type": "string"},
        "quotes": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["answerable", "question", "quotes"],
    "additionalProperties": False,
}
_NEEDED = {"one": ("mark", "text"), "two": ("mark", "text", "text2"), "again": ("reason",)}
_PLACEHOLDER = re.compile(r"\{(mark|heading2?|text2?|reason)\}")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A stretch of natural length of one document: whole paragraphs or a section.

    ``text`` is ``document.text[start:end]``. ``heading`` is what it stands under (title and headings, joined
    by " > "), or empty. ``copies`` are other excerpts (with no copies of their own) that say nearly the same
    in the same words.
    """

    doc_id: str
    start: int
    end: int
    text: str
    heading: str = ""
    copies: tuple[Excerpt, ...] = ()


@dataclass(frozen=True, slots=True)
class Passage:
    """The text for one question: one excerpt, or two from different paragraphs that are both needed.

    ``passage_id``: hex digest of the ids, offsets aside, and the texts; equal passages of equal documents
    have equal ids on every machine.
    """

    passage_id: str
    excerpts: tuple[Excerpt, ...]


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why an answer was not taken.

    ``kind`` is a fixed word for counting (``not_answerable``, ``quote_not_found``, ...).

    ``reason`` is a sentence for the model, which is asked once more with it. ``is_final``: asking again is of
    no use.
    """

    kind: str
    reason: str
    is_final: bool = False


@dataclass(frozen=True, slots=True)
class Accepted:
    """A question with its evidence, and what was noticed.

    ``overlap``: share of the question's distinct lower-cased words that occur in its quotes.
    ``is_overlapping``: it is above the limit, so the question is written once more; the second is taken
    whatever its overlap, and marked.
    """

    text: str
    evidence: tuple[Evidence, ...]
    overlap: float
    is_overlapping: bool


@dataclass(frozen=True)
class Request:
    """One call.

    ``body``: the arguments of ``messages.create``. ``passage``: id of what it asks about; ``prompt``: digest
    of the words.

    ``sent_as``: its key, where the body is no longer at hand.
    """

    body: Mapping[str, Any]
    passage: str
    prompt: str
    sent_as: str = ""

    @cached_property
    def key(self) -> str:
        """Hex sha256 of everything that shapes the answer; a limit on its length does not."""
        if self.sent_as:
            return self.sent_as
        shaping = {name: value for name, value in self.body.items() if name != "max_tokens"}
        return hashlib.sha256(json.dumps(shaping, sort_keys=True).encode()).hexdigest()

    @property
    def model(self) -> str:
        """The model that is asked."""
        return str(self.body["model"])

    @property
    def max_tokens(self) -> int:
        """Tokens of the answer, at most."""
        return int(self.body["max_tokens"])


class Prompt:
    """The words around a passage.

    ``system`` says what is wanted; ``one`` and ``two`` hold the excerpts of a passage (placeholders
    ``{mark}``, ``{heading}``, ``{text}``, ``{heading2}``, ``{text2}``); ``again`` asks once more, with
    ``{reason}``. Raises ``SettingError`` for a missing placeholder.
    """

    def __init__(self, *, system: str, one: str, two: str, again: str) -> None:
        self.system = system
        self.templates = {"one": one, "two": two, "again": again}
        for name, placeholders in _NEEDED.items():
            missing = [word for word in placeholders if f"{{{word}}}" not in str(self.templates[name])]
            if missing:
                raise SettingError(
                    f"prompt.{name} has no {{{missing[0]}}}; it must hold "
                    f"{', '.join(f'{{{word}}}' for word in placeholders)}.",
                    key=f"prompt.{name}",
                )

    @cached_property
    def digest(self) -> str:
        """16 hex digits of the words and the answer's schema, for the ledger and every question."""
        words = json.dumps([self.system, self.templates, SCHEMA], sort_keys=True)
        return hashlib.sha256(words.encode()).hexdigest()[:16]

    def ask(self, passage: Passage, model: str, max_tokens: int) -> Request:
        """The first call about a passage."""
        first, *others = passage.excerpts
        words = {"mark": passage.passage_id[:12], "heading": first.heading, "text": first.text}
        if others:
            words |= {"heading2": others[0].heading, "text2": others[0].text}
        content = _filled(self.templates["two" if others else "one"], words)
        body = request_body(model, max_tokens, self.system, content, SCHEMA)
        return Request(body, passage.passage_id, self.digest)

    def again(self, request: Request, answer: str, reason: str) -> Request:
        """The next call, after ``answer`` could not be used for ``reason``, a sentence."""
        turns = [
            *request.body["messages"],
            {"role": "assistant", "content": answer.strip() or "(empty)"},
            {"role": "user", "content": _filled(self.templates["again"], {"reason": reason})},
        ]
        return Request({**request.body, "messages": turns}, request.passage, request.prompt)


def request_body(
    model: str, max_tokens: int, system: str, content: str, schema: Mapping[str, Any]
) -> dict[str, Any]:
    """The arguments of ``messages.create`` for one question that is answered with JSON of ``schema``."""
    return {
        "model": model,
        "max_tokens": max_tokens,
        "system": system,
        "messages": [{"role": "user", "content": content}],
        # Models that think unless told otherwise would pay several times the answer's tokens for it.
        "thinking": {"type": "disabled"},
        "output_config": {"format": {"type": "json_schema", "schema": schema}},
    }


def _filled(template: str, words: Mapping[str, str]) -> str:
    """All placeholders at once: what a passage holds is never taken for one."""
    return _PLACEHOLDER.sub(lambda found: words.get(found[1], ""), template).strip()
