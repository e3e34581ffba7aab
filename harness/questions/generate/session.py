"""One run of writing questions: cached answers are used, the rest is asked for, and the run is noted."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence

from harness.files.journal import Journal
from harness.questions.generate import Passage, Prompt
from harness.questions.generate.asking import Asking, Batching
from harness.questions.generate.batches import Batches, unfinished
from harness.questions.generate.client import ClaudeClient, key_of
from harness.questions.generate.ledger import Ledger, write_about
from harness.questions.generate.money import Budget, Estimate, Price, estimate, price_of
from harness.questions.generate.settings import Settings
from harness.questions.generate.writing import RetryState, Waiting, Writing
from harness.records import Document


class Session:
    """A run of writing questions. Nothing is asked, and no key needed, before ``connect``.

    ``digest`` is the corpus's. ``journals``: ``golden``, ``ledger`` and ``batches``, all locked by the
    caller.
    """

    def __init__(
        self,
        settings: Settings,
        prompt: Prompt,
        documents: Sequence[Document],
        digest: str,
        passages: Iterable[Passage],
        journals: Mapping[str, Journal],
    ) -> None:
        self.settings, self.prompt, self.digest, self.journals = settings, prompt, digest, journals
        prices = {"price_in": settings.price_in, "price_out": settings.price_out}
        self.price: Price = price_of(settings.model, **prices, batch=settings.batch)
        self.ledger = Ledger(journals["ledger"])
        by_id = {document.doc_id: document for document in documents}
        retries = RetryState(
            prompt, settings.model, settings.max_tokens, settings.max_overlap, by_id, self.ledger
        )
        about = {"model": settings.model, "prompt": prompt.digest, "seed": settings.seed}
        self.writing = Writing(journals["golden"], passages, retries, settings.n, about)
        self.stopped = threading.Event()
        self._client: ClaudeClient | None = None

    def attach(self, on_poll: Callable[[str, int, int], None]) -> None:
        """Waits for batches that an earlier run sent: their answers are paid for."""
        if self.journals["batches"].path.exists():
            for sent in unfinished(self.journals["batches"]):
                self._batches(on_poll).attach(sent)

    def waiting(self) -> list[Waiting]:
        """The passages that must be asked about; everything that needs no call is written by then."""
        return list(self.writing.begin())

    def estimate(self, waiting: Sequence[Waiting]) -> Estimate:
        """What asking will cost."""
        return estimate([one.request for one in waiting], self.price)

    def connect(self) -> ClaudeClient:
        """The client, made once. Raises ``ModelError`` without a key."""
        if self._client is None:
            self._client = ClaudeClient(
                key_of(os.environ),
                stopped=self.stopped,
                base_url=self.settings.base_url,
                timeout=self.settings.timeout,
                retries=self.settings.retries,
            )
        return self._client

    def write(
        self,
        waiting: Sequence[Waiting],
        on_change: Callable[[], None],
        on_poll: Callable[[str, int, int], None],
        on_stop: Callable[[int], None],
    ) -> None:
        """Asks until the set is complete or no passage is left.

        Raises what ended it; all answers are cached.
        """
        budget = Budget(self.settings.budget_usd, self.ledger.spent)
        paid = (self.ledger, self.price, budget)
        if self.settings.batch:
            Batching(self.writing, self._batches(on_poll), *paid, on_change).run(waiting)
        else:
            threads, client = self.settings.concurrency, self.connect()
            Asking(self.writing, client, *paid, self.stopped, threads, on_change, on_stop).run(waiting)

    def saved(self) -> tuple[int, float]:
        """How many cached answers this run used instead of asking, and what they had cost."""
        ids = [passage.passage_id for passage in self.writing.begun]
        answers, dollars = self.ledger.cached(ids, self.prompt.digest, self.settings.model)
        answers -= self.ledger.calls_now
        return (answers, dollars - self.ledger.dollars_now) if answers > 0 else (0, 0.0)

    def close(self) -> None:
        """Ends the connections."""
        if self._client is not None:
            self._client.sdk.close()

    def note(self) -> None:
        """Writes down what the set was made from, and what was saved."""
        answers, dollars = self.saved()
        if answers:
            self.ledger.record_saved(answers, dollars)
        writing, settings = self.writing, self.settings
        made = {
            **writing.about,
            "corpus": self.digest,
            "max_overlap": settings.max_overlap,
            "questions": writing.questions,
            "passages": len(writing.begun),
            "rejected": dict(sorted(writing.rejected.items())),
        }
        write_about(self.journals["golden"].path, self.prompt, made)

    def _batches(self, on_poll: Callable[[str, int, int], None]) -> Batches:
        journal, settings = self.journals["batches"], self.settings
        return Batches(self.connect(), journal, self.ledger, settings.poll, on_poll, settings.model)
