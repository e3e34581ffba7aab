"""One run of ``python -m harness.golden.generate``: what is read, confirmed, asked, written and reported."""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

from harness.cell.settings import new
from harness.cli.compose import Composed
from harness.cli.say import complain, say, say_all
from harness.corpus import Loaded
from harness.corpus.gather import summary as corpus_summary
from harness.errors import SettingError, switch
from harness.files.journal import Journal
from harness.progress import bar
from harness.questions import golden_file
from harness.questions.generate import Prompt, summary
from harness.questions.generate.asking import Asking, Batching
from harness.questions.generate.batches import Batches, unfinished
from harness.questions.generate.choosing import PassageOrder
from harness.questions.generate.client import ClaudeClient, key_of
from harness.questions.generate.ledger import Ledger, beside, write_about
from harness.questions.generate.money import Budget, estimate, price_of
from harness.questions.generate.settings import GeneratorSettings, read_weights
from harness.questions.generate.writing import RetryState, Writing


def run(made: Composed, given: Sequence[str]) -> int:
    """Writes the questions; ``given`` is the command line as it was typed, for the next command."""
    config = made.config
    settings, prompt = GeneratorSettings(**_plain(config.generator)), Prompt(**_plain(config.prompt))
    is_agreed = switch(config.yes, "yes")
    golden = golden_file(made)
    if made.choices["corpus"] == "handbook" and golden.parent == Path(str(config.corpus.path)):
        raise SettingError(
            "The sample has its own questions. Give corpus=folder corpus.path=DIR for your documents, "
            "or golden.path=FILE to write questions about the sample to another file.",
            key="golden.path",
        )
    corpus = new(config, "corpus").load()
    characters = sum(len(document.text) for document in corpus.documents)
    say(f"documents  {len(corpus.documents):,} with {characters:,} characters")
    say_all(f"           {line}" for line in corpus_summary(corpus.notes))
    with ExitStack() as held:
        journals = {}
        for what, path in (("golden", golden), *((w, beside(golden, w)) for w in ("ledger", "batches"))):
            journals[what] = Journal(path)
            held.enter_context(journals[what].locked())
        session = _Session(settings, prompt, corpus, journals)
        held.callback(session.close)
        try:
            session.write(is_agreed=is_agreed)
        finally:
            saved = session.saved()
            say_all(summary.outcome(session.writing, session.ledger, saved, settings, golden))
        session.note()
    default = Path(str(config.corpus.path)) / "golden.jsonl" if "path" in config.corpus else None
    corpus_words = [word for word in given if re.match(r"corpus[.\w]*=", word)]
    say(summary.following(corpus_words, None if golden == default else golden))
    return 0


def _plain(node: DictConfig) -> dict[str, Any]:
    return {str(key): value for key, value in (OmegaConf.to_object(node) or {}).items()}  # type: ignore[union-attr]  # a mapping: the YAML has keys


class _Session:
    """Uses what is cached, says what the rest costs, and asks. Needs no key before the first call.

    ``journals``: ``golden``, ``ledger`` and ``batches``, all locked by the caller.
    """

    def __init__(
        self, settings: GeneratorSettings, prompt: Prompt, corpus: Loaded, journals: Mapping[str, Journal]
    ) -> None:
        self.settings, self.prompt, self.corpus, self.journals = settings, prompt, corpus, journals
        prices = {"price_in": settings.price_in, "price_out": settings.price_out}
        self.price = price_of(settings.model, **prices, batch=settings.batch)
        by_id = {document.doc_id: document for document in corpus.documents}
        weights = settings.weights and read_weights(Path(settings.weights).expanduser(), by_id)
        passages = PassageOrder(corpus.documents, settings.seed, weights or None)
        self.ledger = Ledger(journals["ledger"])
        retries = RetryState(
            prompt, settings.model, settings.max_tokens, settings.max_overlap, by_id, self.ledger
        )
        about = {"model": settings.model, "prompt": prompt.digest, "seed": settings.seed}
        self.writing = Writing(journals["golden"], passages, retries, settings.n, about)
        self.stopped = threading.Event()

    @cached_property
    def client(self) -> ClaudeClient:
        """Made once. Raises ``ModelError`` without a key."""
        settings = self.settings
        return ClaudeClient(
            key_of(os.environ),
            stopped=self.stopped,
            base_url=settings.base_url,
            timeout=settings.timeout,
            retries=settings.retries,
        )

    def write(self, *, is_agreed: bool) -> None:
        """Asks until the set is complete or no passage is left.

        Raises what ended it; all answers are cached.
        """
        settings, journal = self.settings, self.journals["batches"]
        # Answers of batches that an earlier run sent are paid for.
        for sent in unfinished(journal) if journal.path.exists() else ():
            self._batches().attach(sent)
        waiting = list(self.writing.begin())
        if not waiting:
            return
        costs = estimate([one.request for one in waiting], self.price)
        say_all(summary.plan(costs, self.price, settings))
        client = self.client  # without a key nobody is asked to confirm
        if not is_agreed:
            _agree()
        paid = (self.ledger, self.price, Budget(settings.budget_usd, self.ledger.spent))
        with self._progress() as show:
            if settings.batch:
                Batching(self.writing, self._batches(), *paid, show).run(waiting)
            else:
                threads = settings.concurrency
                Asking(self.writing, client, *paid, self.stopped, threads, show, _say_stop).run(waiting)

    def saved(self) -> tuple[int, float]:
        """How many cached answers this run used instead of asking, and what they had cost."""
        ids = [passage.passage_id for passage in self.writing.begun]
        answers, dollars = self.ledger.cached(ids, self.prompt.digest, self.settings.model)
        answers -= self.ledger.calls_now
        return (answers, dollars - self.ledger.dollars_now) if answers > 0 else (0, 0.0)

    def close(self) -> None:
        """Ends the connections."""
        if "client" in vars(self):
            self.client.sdk.close()

    def note(self) -> None:
        """Writes down what the set was made from, and what was saved."""
        answers, dollars = self.saved()
        if answers:
            self.ledger.record_saved(answers, dollars)
        writing = self.writing
        made = {
            **writing.about,
            "corpus": self.corpus.digest,
            "max_overlap": self.settings.max_overlap,
            "questions": writing.questions,
            "passages": len(writing.begun),
            "rejected": dict(sorted(writing.rejected.items())),
        }
        write_about(self.journals["golden"].path, self.prompt, made)

    def _batches(self) -> Batches:
        journal, settings = self.journals["batches"], self.settings
        return Batches(self.client, journal, self.ledger, settings.poll, _say_batch, settings.model)

    @contextmanager
    def _progress(self) -> Iterator[Any]:
        with bar("Writing", self.writing.n, "questions") as progress:

            def show() -> None:
                progress.n = self.writing.questions
                rejected, spent = sum(self.writing.rejected.values()), self.ledger.dollars_now
                progress.set_postfix_str(f"{rejected} rejected, {summary.dollars(spent)}")

            yield show


def _agree() -> None:
    if not sys.stdin.isatty():
        raise SettingError(
            "Nothing was sent and nothing spent: there is no terminal to confirm in. Add yes=true to go on.",
            key="yes",
        )
    say("Go on? yes or no")
    if sys.stdin.readline().strip().lower() not in {"y", "yes"}:
        raise SettingError("Nothing was sent and nothing spent.", key="yes")


@cache
def _say_batch(batch_id: str, done: int, total: int) -> None:
    """A line for what is polled again and again; each stands once."""
    if not done or done == total:
        say(f"batch      {batch_id}: {done:,} of {total:,} answered")


def _say_stop(calls: int) -> None:
    are = "call is" if calls == 1 else "calls are"
    complain(f"Stopping. {calls} {are} still running; their answers are paid for and will be cached.")
