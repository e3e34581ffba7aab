"""One run of writing questions: what is kept is taken up, the rest is asked for, the sidecar says what the set was made from."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence

from harness.files.journal import Journal
from harness.questions.generate import Passage
from harness.questions.generate.about import write_about
from harness.questions.generate.asking import Asking
from harness.questions.generate.batches import Batches, unfinished
from harness.questions.generate.batching import Batching
from harness.questions.generate.client import ClaudeClient, key_of, stop_event
from harness.questions.generate.dialogue import Dialogues
from harness.questions.generate.ledger import Ledger
from harness.questions.generate.money import Budget, Estimate, Price, estimate, price_of
from harness.questions.generate.pace import Pace
from harness.questions.generate.prompt import Prompt
from harness.questions.generate.settings import Settings
from harness.questions.generate.writing import Waiting, Writing
from harness.records import Document


class Session:
    """``journals``: ``golden``, ``ledger`` and ``batches``, all held by the caller. ``digest`` is the corpus's.

    Nothing is asked, and no key needed, before ``connect``.
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
        self.price: Price = price_of(
            settings.model,
            price_in=settings.price_in,
            price_out=settings.price_out,
            batch=settings.batch,
        )
        self.ledger = Ledger(journals["ledger"])
        by_id = {document.doc_id: document for document in documents}
        dialogues = Dialogues(
            prompt, settings.model, settings.max_tokens, settings.max_overlap, by_id, self.ledger
        )
        about = {"model": settings.model, "prompt": prompt.digest, "seed": settings.seed}
        self.writing = Writing(journals["golden"], passages, dialogues, settings.n, about)
        self.stopped = stop_event()
        self._client: ClaudeClient | None = None

    def attach(self, on_poll: Callable[[str, int, int], None]) -> None:
        """Waits for batches that an earlier run sent, whatever this run's settings: their answers are paid for."""
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
                pace=Pace(self.settings.concurrency, self.stopped),
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
        """Asks until the set is complete or the passages are used up. What ends it otherwise is raised, everything answered kept."""
        budget = Budget(self.settings.budget_usd, self.ledger.spent)
        if self.settings.batch:
            Batching(self.writing, self._batches(on_poll), self.ledger, self.price, budget, on_change).run(
                waiting
            )
        else:
            Asking(
                self.writing,
                self.connect(),
                self.ledger,
                self.price,
                budget,
                self.stopped,
                self.settings.concurrency,
                on_change,
                on_stop,
            ).run(waiting)

    def saved(self) -> tuple[int, float]:
        """How many kept answers this run used instead of asking, and what they had cost."""
        ids = [passage.passage_id for passage in self.writing.begun]
        answers, dollars = self.ledger.kept(ids, self.prompt.digest, self.settings.model)
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
        return Batches(
            self.connect(),
            self.journals["batches"],
            self.ledger,
            self.settings.poll,
            on_poll,
            self.settings.model,
        )
