"""One run of ``python -m harness.golden.generate``: what is read, confirmed, written and reported."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

from harness.cell.settings import new
from harness.cli import compose
from harness.cli.command import Words
from harness.cli.compose import check_plain_settings
from harness.cli.say import complain, say, say_all
from harness.corpus import Loaded
from harness.corpus.gather import summary as corpus_summary
from harness.errors import SettingError
from harness.files.journal import Journal
from harness.progress import bar
from harness.questions.generate import Prompt, summary
from harness.questions.generate.choosing import PassageOrder
from harness.questions.generate.ledger import beside
from harness.questions.generate.session import Session
from harness.questions.generate.settings import Settings, read_weights

_USAGE = "python -m harness.golden.generate corpus=folder corpus.path=DIR generator.n=NUMBER yes=true"


def run(words: Words, given: Sequence[str]) -> int:
    """Writes the questions; ``given`` is the command line as it was typed, for the next command."""
    if words.files or words.is_sweep:
        raise SettingError(f"unexpected argument '{(*words.files, '-m')[0]}'. Usage: {_USAGE}")
    made = compose.composed(words, ["+command=generate", *words.overrides])
    config = made.config
    settings = Settings(**_plain(config.generator))
    prompt = Prompt(**_plain(config.prompt))
    if not isinstance(config.yes, bool):
        raise SettingError(f"yes is {config.yes}; it must be true or false.", key="yes")
    check_plain_settings(config)
    golden = _golden_path(config, made.choices)
    corpus = new(config, "corpus").load()
    _say_documents(corpus)
    with ExitStack() as held:
        journals = {}
        for what, path in (("golden", golden), *((w, beside(golden, w)) for w in ("ledger", "batches"))):
            journals[what] = Journal(path)
            held.enter_context(journals[what].locked())
        passages = _passages(settings, corpus)
        session = Session(settings, prompt, corpus.documents, corpus.digest, passages, journals)
        try:
            _write(session, settings, is_agreed=config.yes)
        finally:
            session.close()
            say_all(summary.outcome(session, settings, golden))
        session.note()
    default = Path(str(config.corpus.path)) / "golden.jsonl" if "path" in config.corpus else None
    corpus_words = [word for word in given if re.match(r"corpus[.\w]*=", word)]
    say(summary.following(corpus_words, None if golden == default else golden))
    return 0


def _plain(node: DictConfig) -> dict[str, Any]:
    return {str(key): value for key, value in (OmegaConf.to_object(node) or {}).items()}  # type: ignore[union-attr]  # a mapping: the YAML has keys


def _golden_path(config: DictConfig, choices: Any) -> Path:
    if choices["golden"] != "file":
        raise SettingError(
            f"golden={choices['golden']}: questions are written to a file. Use golden=file golden.path=FILE.",
            key="golden",
        )
    path = Path(str(config.golden.path)).expanduser()
    if choices["corpus"] == "handbook" and path.parent == Path(str(config.corpus.path)):
        raise SettingError(
            "The sample has its own questions. Give corpus=folder corpus.path=DIR for your documents, "
            "or golden.path=FILE to write questions about the sample to another file.",
            key="golden.path",
        )
    if path.parent.is_file():
        raise SettingError(
            f"golden.path is {path}, but {path.parent} is a file. Give golden.path=FILE.", key="golden.path"
        )
    return path


def _passages(settings: Settings, corpus: Loaded) -> PassageOrder:
    ids = {document.doc_id for document in corpus.documents}
    weights = None if settings.weights is None else read_weights(Path(settings.weights).expanduser(), ids)
    return PassageOrder(corpus.documents, settings.seed, weights)


def _write(session: Session, settings: Settings, *, is_agreed: bool) -> None:
    """Uses what is cached, says what the rest costs, asks, and lets the questions be written."""
    session.attach(_say_batch)
    waiting = session.waiting()
    if not waiting:
        return
    estimate, price = session.estimate(waiting), session.price
    say_all(summary.plan(estimate, price, settings.model, batch=settings.batch, budget=settings.budget_usd))
    session.connect()
    if not is_agreed:
        _agree()
    with _progress(session) as show:
        session.write(waiting, show, _say_batch, _say_stop)


def _agree() -> None:
    if not sys.stdin.isatty():
        raise SettingError(
            "Nothing was sent and nothing spent: there is no terminal to confirm in. Add yes=true to go on.",
            key="yes",
        )
    say("Go on? yes or no")
    if sys.stdin.readline().strip().lower() not in {"y", "yes"}:
        raise SettingError("Nothing was sent and nothing spent.", key="yes")


@contextmanager
def _progress(session: Session) -> Iterator[Any]:
    with bar("Writing", session.writing.n, "questions") as progress:

        def show() -> None:
            progress.n = session.writing.questions
            rejected = sum(session.writing.rejected.values())
            progress.set_postfix_str(f"{rejected} rejected, {summary.dollars(session.ledger.dollars_now)}")

        yield show


def _say_batch(batch_id: str, done: int, total: int) -> None:
    if not done or done == total:
        _say_once(f"batch      {batch_id}: {done:,} of {total:,} answered")


@cache
def _say_once(text: str) -> None:
    """A line for what is polled again and again."""
    say(text)


def _say_stop(calls: int) -> None:
    are = "call is" if calls == 1 else "calls are"
    complain(f"Stopping. {calls} {are} still running; their answers are paid for and will be cached.")


def _say_documents(corpus: Loaded) -> None:
    characters = sum(len(document.text) for document in corpus.documents)
    say(f"documents  {len(corpus.documents):,} with {characters:,} characters")
    say_all(f"           {line}" for line in corpus_summary(corpus.notes))
