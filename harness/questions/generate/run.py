"""One run of ``python -m harness.golden.generate``: what is read, confirmed, asked, written and reported."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

from harness.cell.settings import new
from harness.cli.compose import Composed
from harness.cli.say import say, say_all
from harness.corpus import Loaded
from harness.corpus.gather import summary
from harness.errors import InputError, SettingError, share, switch, whole
from harness.files.journal import Journal
from harness.questions import golden_file
from harness.questions.generate import Prompt
from harness.questions.generate.choosing import PassageOrder
from harness.questions.generate.ledger import Ledger, beside
from harness.questions.generate.money import dollars
from harness.questions.generate.session import CallSettings, Session
from harness.questions.generate.writing import RetryState, Writing
from harness.view.formats import counted

_KINDS = {
    "not_answerable": "the passage answers no question that a user would ask",
    "refused": "the model refused",
    "no_json": "the answer was not a JSON object",
    "cut_off": "the answer was longer than generator.max_tokens",
}


@dataclass(frozen=True, kw_only=True)
class GeneratorSettings(CallSettings):
    """What ``conf/command/generate.yaml`` explains."""

    GROUP = "generator"
    n: int
    max_overlap: float

    def __post_init__(self) -> None:
        whole(self.n, "generator.n", 1, of="questions")
        share(self.max_overlap, "generator.max_overlap")
        super().__post_init__()


def writing_of(
    settings: GeneratorSettings, prompt: Prompt, corpus: Loaded, golden: Journal, ledger: Ledger
) -> Writing:
    """The questions that are to be written about the documents of ``corpus``."""
    by_id = {document.doc_id: document for document in corpus.documents}
    passages = PassageOrder(corpus.documents, settings.seed)
    retries = RetryState(prompt, settings.model, settings.max_tokens, settings.max_overlap, by_id, ledger)
    about = {"model": settings.model, "prompt": prompt.digest, "seed": settings.seed}
    return Writing(golden, passages, retries, settings.n, about)


def run(made: Composed, given: Sequence[str]) -> int:
    """Writes the questions; ``given`` is the command line as it was typed, for the next command."""
    config = made.config
    settings, prompt = GeneratorSettings(**plain(config.generator)), Prompt(**plain(config.prompt))
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
    say_all(f"           {line}" for line in summary(corpus.notes))
    with ExitStack() as held:
        journals = {}
        for what, path in (("golden", golden), *((w, beside(golden, w)) for w in ("ledger", "batches"))):
            journals[what] = Journal(path)
            held.enter_context(journals[what].locked())
        ledger = Ledger(journals["ledger"])
        writing = writing_of(settings, prompt, corpus, journals["golden"], ledger)
        session = Session(settings, writing, ledger, journals["batches"])
        held.callback(session.close)
        try:
            session.run((lambda: None) if is_agreed else agree)
        finally:
            say_all(_outcome(writing, ledger, settings, golden))
    if not journals["golden"].items():
        raise InputError(
            f"{golden} has no question, so there is nothing to compare on. Give documents with more text "
            "(corpus.path=DIR), or add questions of your own: python -m harness.golden.add FILE.",
            path=golden,
        )
    default = Path(str(config.corpus.path)) / "golden.jsonl" if "path" in config.corpus else None
    corpus_words = [word for word in given if re.match(r"corpus[.\w]*=", word)]
    say(_following(corpus_words, None if golden == default else golden))
    return 0


def plain(node: DictConfig) -> dict[str, Any]:
    """The settings of a group as arguments."""
    return {str(key): value for key, value in (OmegaConf.to_object(node) or {}).items()}  # type: ignore[union-attr]  # a mapping: the YAML has keys


def agree() -> None:
    """Asks in the terminal whether to spend. Raises ``SettingError`` without a yes."""
    if not sys.stdin.isatty():
        raise SettingError(
            "Nothing was sent and nothing spent: there is no terminal to confirm in. Add yes=true to go on.",
            key="yes",
        )
    say("Go on? yes or no")
    if sys.stdin.readline().strip().lower() not in {"y", "yes"}:
        raise SettingError("Nothing was sent and nothing spent.", key="yes")


def _outcome(writing: Writing, ledger: Ledger, settings: GeneratorSettings, golden: Path) -> Iterator[str]:
    """What came of a run: questions, rejections by kind, overlap with the quotes, and dollars."""
    yield f"questions  {writing.written:,} written now, {writing.questions:,} of this kind in {golden}"
    if writing.is_exhausted:
        yield f"           below generator.n={settings.n:,}: the documents have no more suitable passages"
    yield from _rejected(writing.rejected, is_exhausted=writing.is_exhausted)
    if accepted := writing.accepted:
        mean = sum(question.overlap for question in accepted) / len(accepted)
        marked = sum(question.is_overlapping for question in accepted)
        limit = f"{marked:,} above {settings.max_overlap:g}, marked"
        yield f"overlap    {mean:.3f} on average with the quotes; {limit}"
    yield f"spent      {dollars(ledger.dollars_now)} in {counted(ledger.calls_now, 'call')}"


def _rejected(kinds: Mapping[str, int], *, is_exhausted: bool) -> Iterator[str]:
    """Passages that gave no question, by kind."""
    if not kinds:
        return
    replaced = "" if is_exhausted else ", replaced by others"
    yield f"rejected   {counted(sum(kinds.values()), 'passage')}{replaced}"
    for kind, count in sorted(kinds.items(), key=lambda pair: (-pair[1], pair[0])):
        yield f"           {count:,} {kind}{': ' + _KINDS[kind] if kind in _KINDS else ''}"


def _following(corpus_words: Sequence[str], golden: Path | None) -> str:
    """The next command to type."""
    words = [*corpus_words, *([] if golden is None else [f"golden.path={golden}"])]
    return f"next       python -m harness -m {shlex.join(words)} model=minilm,wordllama chunk=256,512"
