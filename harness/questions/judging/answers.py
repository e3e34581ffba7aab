"""The judge's answers: what is stated where, what can't be used, and what must still be asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.golden.doc_ids import quoted
from harness.golden.jsonl import encodable_json
from harness.questions.generate import Excerpt, Request
from harness.questions.generate.excerpts import spans_in
from harness.questions.generate.ledger import Ledger, Reply
from harness.questions.generate.session import CallSettings
from harness.questions.generate.validation import is_order
from harness.questions.generate.writing import Waiting, object_in
from harness.questions.judging import Judgeable, JudgePrompt, Stated
from harness.text.words import size

_TRIES = 2
_SHORTEST, _LONGEST = 16, 600  # sizes of a quote
_TOKENS_A_PASSAGE, _TOKENS_A_QUOTE = 16, 45


class AnswerError(Exception):
    """Why what was said of a passage can't be used, as a sentence for the judge; ``kind`` is for counting."""

    def __init__(self, kind: str, reason: str) -> None:
        super().__init__(reason)
        self.kind = kind


@dataclass
class Judgements:
    """What is known of the passages of one question.

    ``stated``: id of a passage to what it states, nothing for one that is not relevant. ``faults``: why the
    last answer about a passage could not be used. ``tries``: answers about each passage.
    """

    stated: dict[str, tuple[Stated, ...]] = field(default_factory=dict)
    faults: dict[str, AnswerError] = field(default_factory=dict)
    tries: Counter[str] = field(default_factory=Counter)

    def add(
        self, reply: Reply, shown: Sequence[str], asked: Judgeable, all_passages: Mapping[str, Excerpt]
    ) -> None:
        """Takes one answer about the passages ``shown``; what was known before stays."""
        told = _told(reply)
        for number, passage in enumerate(shown, 1):
            if passage in self.stated or passage not in all_passages:
                continue
            self.tries[passage] += 1
            try:
                if isinstance(told, AnswerError):
                    raise told
                self.stated[passage] = _stated(told.get(number), number, all_passages[passage], asked)
            except AnswerError as error:
                self.faults[passage] = error
            else:
                self.faults.pop(passage, None)


def _told(reply: Reply) -> dict[int, Any] | AnswerError:
    """What is said of each passage by its number."""
    if reply.stop == "refusal":
        return AnswerError("refused", "The model refused to answer.")
    if reply.stop == "max_tokens":
        return AnswerError("cut_off", "The answer was too long and cut off. Keep the quotes short.")
    found = object_in(reply.text)
    entries = found.get("passages") if found else None
    if not isinstance(entries, list):
        return AnswerError("no_json", "The answer was not the JSON object that was asked for.")
    told: dict[int, Any] = {}
    for entry in entries:
        number = entry.get("passage") if isinstance(entry, dict) else None
        if isinstance(number, int) and not isinstance(number, bool):
            # Two different answers about one passage are no answer.
            told[number] = (
                entry.get("states") if told.get(number, entry.get("states")) == entry.get("states") else None
            )
    return told


def _stated(states: Any, number: int, passage: Excerpt, asked: Judgeable) -> tuple[Stated, ...]:
    """The quotes where they stand. Raises ``AnswerError``."""
    if not isinstance(states, list):
        raise AnswerError("missing", f"There must be one answer about passage {number}.")
    return tuple(dict.fromkeys(_placed(state, number, passage, asked) for state in states))


def _placed(state: Any, number: int, passage: Excerpt, asked: Judgeable) -> Stated:
    at = state.get("evidence") if isinstance(state, dict) else None
    quote = state.get("quote") if isinstance(state, dict) else None
    if not isinstance(at, int) or not 1 <= at <= len(asked.evidence) or not isinstance(quote, str):
        raise AnswerError("malformed", f"Passage {number}: name an evidence by its number, and copy a quote.")
    quote = str(encodable_json(quote))
    said = f"Passage {number}: the quote {quoted(quote, 60)}"
    if is_order(quote):
        raise AnswerError("injection", f"{said} gives instructions and states nothing.")
    if size(" ".join(quote.split())) < min(_SHORTEST, size(asked.evidence[at - 1].quote or "")):
        raise AnswerError("quote_too_short", f"{said} is too short. Quote the whole clause.")
    if size(quote) > _LONGEST:
        raise AnswerError("quote_too_long", f"{said} is too long. Quote only the words that state it.")
    spans = spans_in(quote, passage.text)
    if not spans:
        raise AnswerError("quote_not_found", f"{said} does not stand in it. Copy character by character.")
    start, end = spans[0]
    return Stated(at - 1, passage.start + start, passage.start + end)


class Judging:
    """The judgements that ``asked`` questions need, as far as the ledger does not have them.

    ``all_passages``: those of the whole corpus by id: earlier judgements of them count too.
    """

    def __init__(
        self,
        asked: Sequence[Judgeable],
        all_passages: Mapping[str, Excerpt],
        prompt: JudgePrompt,
        ledger: Ledger,
        settings: CallSettings,
    ) -> None:
        self.asked, self.all_passages, self.prompt, self.ledger = asked, all_passages, prompt, ledger
        self._settings = settings
        self.n = len(asked)
        self.rejected: Counter[str] = Counter()
        self.settled: dict[int, Judgements] = {}
        self._coming = iter(range(len(asked)))

    @property
    def questions(self) -> int:
        """Questions of which everything is judged that can be."""
        return len(self.settled)

    def judgements(self, asked: Judgeable) -> Judgements:
        """What the ledger knows of the passages of a question."""
        known = Judgements()
        replies = self.ledger.replies_about(asked.key, self.prompt.digest, self._settings.model)
        for about, reply in replies:
            known.add(reply, about.split()[1:], asked, self.all_passages)
        return known

    def next_of(self, asked: Judgeable) -> Request | Judgements:
        """The request about what is open, or, where nothing is, what is known."""
        known = self.judgements(asked)
        ids = [each for each in asked.passages if each not in known.stated and known.tries[each] < _TRIES]
        if not ids:
            return known
        reasons = dict.fromkeys(str(known.faults[each]) for each in ids if each in known.faults)
        call = self._settings
        return self.prompt.ask(asked, ids, " ".join(reasons), call.model, call.max_tokens, call.seed)

    def begin(self) -> Iterator[Waiting]:
        """Questions with passages that are not judged yet; the others are settled at once."""
        for number in self._coming:
            step = self.next_of(self.asked[number])
            if isinstance(step, Request):
                yield Waiting(number, self.asked[number], step)
            else:
                self.settle(number, step)

    def step(self, waiting: Waiting) -> Request | Judgements:
        """The next request about a question, or what is known of it."""
        return self.next_of(waiting.passage)

    def settle(self, number: int, settled: Judgements) -> None:
        """The end of the calls about a question."""
        self.settled[number] = settled
        self.rejected.update(fault.kind for fault in settled.faults.values())

    def tokens_out(self) -> int:
        """About how many tokens the answers to all open requests have."""
        open_ones = [(one, step) for one in self.asked if isinstance(step := self.next_of(one), Request)]
        return sum(
            _TOKENS_A_PASSAGE * len(step.passage.split()[1:]) + _TOKENS_A_QUOTE * len(one.evidence)
            for one, step in open_ones
        )
