"""Passages judged by a model, which is asked whether each alone states a piece of evidence.

Passages come from what the cells of a sweep returned, in an order that tells nothing. The answer goes to the
ledger before it is used. A copied quote becomes an alternative of the evidence; a passage that states none of
it is judged not relevant.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from harness.errors import SettingError
from harness.questions.generate import Excerpt, Request, request_body
from harness.questions.generate.excerpts import uniform
from harness.records import Evidence
from harness.text.spans import squeezed

SCHEMA = {
    "type": "object",
    "properties": {
        "passages": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "passage": {"type": "integer"},
                    "states": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "properties": {"evidence": {"type": "integer"}, "quote": {"type": "string"}},
                            "required": ["evidence", "quote"],
                            "additionalProperties": False,
                        },
                    },
                },
                "required": ["passage", "states"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["passages"],
    "additionalProperties": False,
}

_PLACEHOLDER = re.compile(r"\{(question|evidence|passages)\}")


class Stated(NamedTuple):
    """A quote that was found: which evidence it states, counted from 0, and its offsets in the document."""

    evidence: int
    start: int
    end: int


@dataclass(frozen=True)
class Judgeable:
    """A question whose passages are judged.

    - ``line``: its line in the golden set; ``position``: its place among the questions, from 0.
    - ``evidence``: what is shown, without alternatives; ``groups``: for each the position in the file's
      evidence.
    - ``places``: for each piece of evidence all its places, copies included.
    - ``by_judge``: texts that a judge added earlier: they are labels, but prove nothing about the judge.
    - ``passages``: id to passage, of everything that is to be judged. ``random``: the id of one among them
      that was drawn by chance; empty where there is none.
    """

    question_id: str
    position: int
    line: int
    text: str
    evidence: tuple[Evidence, ...]
    groups: tuple[int, ...]
    places: tuple[tuple[Evidence, ...], ...]
    by_judge: frozenset[str]
    passages: Mapping[str, Excerpt]
    random: str

    @cached_property
    def key(self) -> str:
        """16 hex digits of the question and the evidence as they are shown."""
        told = json.dumps([self.text, *([each.doc_id, each.quote] for each in self.evidence)])
        return hashlib.sha256(told.encode()).hexdigest()[:16]

    def known(self, passage: Excerpt) -> list[int]:
        """The pieces of evidence of which a place lies wholly inside ``passage``."""
        return [
            at
            for at, places in enumerate(self.places)
            if any(
                place.doc_id == passage.doc_id
                and squeezed(place.quote or "") not in self.by_judge
                and passage.start <= (place.start or 0) < (place.end or 0) <= passage.end
                for place in places
            )
        ]


def passage_id(passage: Excerpt) -> str:
    """12 hex digits of what is shown of a passage: its document's name, headings and text."""
    told = json.dumps([passage.doc_id, passage.heading, passage.text])
    return hashlib.sha256(told.encode()).hexdigest()[:12]


class JudgePrompt:
    """The words around a question and its passages.

    Raises ``SettingError`` for a missing placeholder.
    """

    def __init__(self, *, system: str, question: str, again: str) -> None:
        self.system, self.question, self._again = system, question, again
        for name, text, words in (
            ("question", question, ("question", "evidence", "passages")),
            ("again", again, ("reason",)),
        ):
            for word in words:
                if f"{{{word}}}" not in text:
                    raise SettingError(f"prompt.{name} has no {{{word}}}.", key=f"prompt.{name}")

    @cached_property
    def digest(self) -> str:
        """16 hex digits of the words and the answer's schema."""
        words = json.dumps([self.system, self.question, self._again, SCHEMA], sort_keys=True)
        return hashlib.sha256(words.encode()).hexdigest()[:16]

    def ask(
        self, asked: Judgeable, ids: Sequence[str], reason: str, model: str, max_tokens: int, seed: int
    ) -> Request:
        """One call about the passages ``ids``, in an order by chance; ``reason``: what was wrong before."""
        ids = sorted(ids, key=lambda each: uniform(seed, asked.key, each))
        mark = hashlib.sha256(" ".join([asked.key, *ids]).encode()).hexdigest()[:12]
        evidence = [
            _block("evidence", i, mark, each.doc_id, each.quote or "")
            for i, each in enumerate(asked.evidence, 1)
        ]
        shown = [asked.passages[each] for each in ids]
        passages = [
            _block("passage", i, mark, f"{each.doc_id} > {each.heading}".rstrip(" >"), each.text)
            for i, each in enumerate(shown, 1)
        ]
        words = {
            "question": f"<question {mark}>{asked.text}</question {mark}>",
            "evidence": "\n".join(evidence),
            "passages": "\n".join(passages),
        }
        content = _PLACEHOLDER.sub(lambda found: words[found[1]], self.question)
        content += self._again.replace("{reason}", reason) if reason else ""
        body = request_body(model, max_tokens, self.system, content.strip(), SCHEMA)
        return Request(body, " ".join([asked.key, *ids]), self.digest)


def _block(what: str, number: int, mark: str, source: str, text: str) -> str:
    head = f"{what} {number} {mark}"
    return f"<{head} from {json.dumps(source, ensure_ascii=False)}>\n{text}\n</{head}>"
