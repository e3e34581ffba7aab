"""One run of ``python -m harness.golden.judge``: what is read, asked, measured, accepted and said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from omegaconf import DictConfig, OmegaConf

from harness.cell.settings import new
from harness.cli.compose import Composed
from harness.cli.say import say, say_all
from harness.cli.values import check_plain_settings
from harness.errors import InputError, SettingError, share, switch, whole
from harness.files.atomic import write_json
from harness.files.journal import Journal
from harness.golden.file import FileContent, FileGolden
from harness.questions.check.accepting import keep_backup
from harness.questions.generate.ledger import Ledger, beside
from harness.questions.generate.money import BudgetReachedError, dollars
from harness.questions.generate.run import agree, plain
from harness.questions.generate.session import CallSettings, Session
from harness.questions.judging import JudgePrompt
from harness.questions.judging.answers import Judging
from harness.questions.judging.asked import judgeable
from harness.questions.judging.labels import Line, NewLabels, contradictions, new_labels, with_labels
from harness.questions.judging.pool import PassagePool, rows_of
from harness.questions.judging.trust import Trust, trust
from harness.records import Document
from harness.results.finished import FinishedSweep
from harness.results.load import finished
from harness.view.formats import counted

_SHOWN = 5


@dataclass(frozen=True, kw_only=True)
class JudgeSettings(CallSettings):
    """What ``conf/command/judge.yaml`` explains."""

    GROUP = "judge"
    k: int
    min_accuracy: float

    def __post_init__(self) -> None:
        whole(self.k, "judge.k", 1, of="rows")
        share(self.min_accuracy, "judge.min_accuracy")
        super().__post_init__()


def run(made: Composed) -> int:
    """Judges what the cells of a sweep returned; 1 where the judge can't be trusted, else 0."""
    config = made.config
    settings, prompt = JudgeSettings(**plain(config.judge)), JudgePrompt(**plain(config.prompt))
    is_agreed = switch(config.yes, "yes")
    sweep = finished(config)
    recorded = OmegaConf.create(dict(sweep.cells[0].content["config"]))
    check_plain_settings(recorded)
    golden, documents = _golden(recorded), _documents(recorded, sweep)
    with ExitStack() as held:
        journals = [Journal(golden.path), *(Journal(beside(golden.path, w)) for w in ("ledger", "batches"))]
        for journal in journals:
            held.enter_context(journal.locked())
        content = golden.read(documents)
        pool = PassagePool(documents)
        rows = rows_of(sweep.cells, settings.k)
        asked = judgeable(golden, content, pool, rows, k=settings.k, seed=settings.seed)
        passages = sum(len(one.passages) for one in asked)
        total, cells = len(content.questions), counted(len(sweep.cells), "cell")
        say(f"questions  {len(asked):,} of {total:,} with quoted evidence, from '{sweep.name}'")
        say(f"passages   {passages:,} from the first {settings.k} rows of {cells} and of BM25")
        ledger = Ledger(journals[1])
        judging = Judging(asked, pool.by_id, prompt, ledger, settings)
        session = Session(settings, judging, ledger, journals[2], "Judging")
        held.callback(session.close)
        try:
            session.run((lambda: None) if is_agreed else agree, judging.tokens_out)
        except BudgetReachedError:
            _accept(golden.path, content, judging, settings)
            raise
        finally:
            say(f"spent      {dollars(ledger.dollars_now)} in {counted(ledger.calls_now, 'call')}")
        return _accept(golden.path, content, judging, settings)


def _golden(recorded: DictConfig) -> FileGolden:
    golden = new(recorded, "golden")
    if not isinstance(golden, FileGolden):
        raise SettingError(
            "Judgements are written into a JSONL file, and the questions of this sweep are not in one. "
            "Sweep with golden=file golden.path=FILE.",
            key="golden",
        )
    return golden


def _documents(recorded: DictConfig, sweep: FinishedSweep) -> Sequence[Document]:
    loaded = new(recorded, "corpus").load()
    if loaded.digest != sweep.cells[0].content["corpus_digest"]:
        raise InputError(
            f"The documents have changed since the sweep '{sweep.name}', so its rows stand elsewhere now. "
            "Run the sweep again, then the judge."
        )
    documents: Sequence[Document] = loaded.documents
    return documents


def _accept(path: Path, content: FileContent, judging: Judging, settings: JudgeSettings) -> int:
    """Measures the judge, and writes what it found where it can be trusted."""
    judged = [(one, judging.judgements(one)) for one in judging.asked]
    measured = trust(judged)
    say_all(_measured(measured, judging))
    accuracy = measured.accuracy
    is_trusted = accuracy is not None and accuracy >= settings.min_accuracy
    about = {"model": settings.model, "prompt": judging.prompt.digest}
    rates = {name: rate.as_object() for name, rate in measured._asdict().items()}
    write_json(
        path.with_name(f"{path.stem}.judge.json"),
        {**about, **rates, "accuracy": accuracy, "accepted": is_trusted, "refused": dict(judging.rejected)},
    )
    if not is_trusted:
        reached = "could not be measured" if accuracy is None else f"is {accuracy:.1%}"
        say(
            f"accepted   nothing: the judge's accuracy {reached}, and judge.min_accuracy is "
            f"{settings.min_accuracy:g}. Try another judge.model. Its answers stay in the ledger."
        )
        return 1
    found: dict[int, NewLabels] = {
        one.position: new_labels(one, known, content.questions[one.position], judging.all_passages)
        for one, known in judged
    }
    say_all(f"           {said}" for said in contradictions(list(found.values()), _SHOWN))
    alternatives = sum(len(new.alternatives) for new in found.values())
    zeros = sum(len(new.not_relevant) for new in found.values())
    say(f"accepted   {counted(alternatives, 'alternative')}, {counted(zeros, 'passage')} judged not relevant")
    if alternatives or zeros:
        lines = [
            with_labels(Line(item, content.questions[i], content.entries[i]), found[i], about)
            if i in found and (found[i].alternatives or found[i].not_relevant)
            else dict(item)
            for i, item in enumerate(content.objects)
        ]
        backup = keep_backup(path)
        Journal(path).rewrite(lines)
        say(f"written    {path}; the old file is {backup.name}. The same sweep again scores with it.")
    return 0


def _measured(measured: Trust, judging: Judging) -> Iterator[str]:
    yield f"misses     {measured.misses} of known evidence"
    yield f"alarms     {measured.false_alarms} among passages by chance"
    for kind, count in sorted(judging.rejected.items()):
        yield f"unjudged   {counted(count, 'passage')}: {kind}"
