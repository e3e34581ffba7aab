"""A document, its passages and a ledger, for tests of what becomes of answers."""

from __future__ import annotations

import json
from typing import Any

from harness.files.journal import Journal
from harness.questions.generate import Excerpt, Passage, Prompt, Request
from harness.questions.generate.ledger import Ledger, Reply
from harness.questions.generate.money import Price
from harness.questions.generate.writing import RetryState
from harness.records import Document

PROMPT = Prompt(
    system="Write questions.",
    one="<heading {mark}>{heading}</heading {mark}>\n<text {mark}>\n{text}\n</text {mark}>",
    two="<text 1 {mark}>\n{text}\n</text 1 {mark}>\n<text 2 {mark}>\n{text2}\n</text 2 {mark}>",
    again="Not so. {reason}",
)
PRICE = Price(1.0, 5.0, "2026-11-30", 3.5)
RULES = [
    "Returned sensors are refunded within forty five days of their delivery.",
    "Night alarms of medium weight are delivered at seven in the morning.",
    "Every vault plan keeps readings for a span of ten full years.",
    "Broken hinges are swapped by the workshop in Ghent free of charge.",
    "Apprentices may sign a delivery note only beside their own mentor.",
    "The archive locks itself after nine failed attempts on a Sunday.",
]
DOCUMENT = Document("rules.md", "\n\n".join(RULES) + "\n")


def passages(n: int = len(RULES)) -> list[Passage]:
    """The first ``n`` rules, each a passage."""
    made = []
    for i, rule in enumerate(RULES[:n]):
        start = DOCUMENT.text.index(rule)
        made.append(Passage(f"{i:032x}", (Excerpt("rules.md", start, start + len(rule), rule, "Rules"),)))
    return made


def retry_state(path: Any, max_overlap: float = 0.8) -> RetryState:
    """The rules of a run whose ledger is ``path``."""
    ledger = Ledger(Journal(path))
    return RetryState(PROMPT, "claude-haiku-4-5", 600, max_overlap, {"rules.md": DOCUMENT}, ledger)


def good(passage: Passage, question: str = "When do I get my money back?") -> dict[str, Any]:
    """An answer that is accepted: the quote is the passage but for its first word."""
    return {"answerable": True, "question": question, "quotes": [passage.excerpts[0].text.partition(" ")[2]]}


def put(ledger: Ledger, request: Request, reply: Any, stop: str = "end_turn") -> None:
    """Puts an answer into the ledger, as if it had just come."""
    text = reply if isinstance(reply, str) else json.dumps(reply)
    ledger.record(request, Reply(text, stop, 1000, 100, "msg_1"), PRICE)
