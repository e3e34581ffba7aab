"""``python -m harness.golden.check``: whether a golden set is fit to decide anything, and what to mend first."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import NamedTuple

import numpy as np
from omegaconf import DictConfig

from harness.cell import pipeline
from harness.cell.build import Inputs, Shared
from harness.cell.settings import new
from harness.cli import compose
from harness.cli.compose import check_plain_settings
from harness.cli.run import run_command
from harness.cli.say import say_all
from harness.cli.words import Words
from harness.errors import SettingError
from harness.files.journal import Journal
from harness.golden import Golden
from harness.golden.anchoring import NothingToScoreError, Unit, check_units
from harness.golden.file import FileGolden, Read
from harness.golden.parse import LOST
from harness.questions.check import Examined, Finding, Look, counted
from harness.questions.check.accepting import accepted, keep_backup
from harness.questions.check.copies import copies
from harness.questions.check.coverage import coverage
from harness.questions.check.duplicates import duplicates
from harness.questions.check.labels import labels
from harness.questions.check.near_copies import near_copies
from harness.questions.check.page import Report, in_lines, write
from harness.questions.check.placement import placement
from harness.questions.check.power import power
from harness.questions.check.rewording import Reworded, reworded
from harness.questions.check.several import several
from harness.questions.check.sizes import sizes
from harness.questions.check.subjects import subjects
from harness.questions.check.wording_overlap import wording_overlap
from harness.questions.check.words_alone import WordsAlone, words_alone
from harness.records import Document, Evidence
from harness.results.cells import about_questions
from harness.sweep.check import BUDGET_TOKENS
from harness.verdict.clusters import cluster_ids, effective_clusters
from harness.verdict.power import minimum_detectable_effect

_ROWS = 5
_USAGE = "python -m harness.golden.check corpus=folder corpus.path=DIR golden.path=FILE"


class _Proposals(NamedTuple):
    """What ``accept=true`` would write, by the positions of question and evidence."""

    reworded: Mapping[tuple[int, int], Reworded]
    several: Mapping[tuple[int, int], Sequence[Evidence]]
    copies: Mapping[tuple[int, int], Sequence[Evidence]]


def main(argv: Sequence[str] | None = None) -> int:
    """Prints the report; the exit code is 1 for a mistake, and with ``strict=true`` when something serious was found."""
    stopped = "Stopped. The golden set is as it was, or as accept=true has written it: never in between."
    return run_command("check", __doc__, argv, _run, stopped)


def _run(words: Words) -> int:
    if words.files or words.is_sweep:
        raise SettingError(f"'{(*words.files, '-m')[0]}' means nothing here. For example: {_USAGE}")
    chunk_sizes, overrides = _chunk_sizes(words.overrides)
    if any(word.startswith("retriever=") and word != "retriever=bm25" for word in overrides):
        raise SettingError("The check searches by words; leave retriever= out.", key="retriever")
    retriever = [] if "retriever=bm25" in overrides else ["retriever=bm25"]
    config = compose.composed(words, ["+command=check", *retriever, *overrides]).config
    check_plain_settings(config)
    for switch in ("accept", "strict"):
        if not isinstance(config[switch], bool):
            raise SettingError(f"{switch}={config[switch]}: give true or false.", key=switch)
    if not isinstance(config.cells, int) or isinstance(config.cells, bool) or config.cells < 2:
        raise SettingError(
            f"cells={config.cells}: give how many configurations will be compared, 2 or more.", key="cells"
        )
    golden = new(config, "golden")
    if config.accept and not isinstance(golden, FileGolden):
        raise SettingError("accept=true changes a JSONL file; golden=beir is only looked at.", key="accept")
    if config.accept and not golden.path.is_file():
        golden.read([])  # says that there is no such file, before a lock is made beside it
    with Journal(Path(str(config.golden.path)).expanduser()).locked() if config.accept else nullcontext():
        return _checked(config, chunk_sizes or [int(config.chunk)], golden)


def _chunk_sizes(overrides: Sequence[str]) -> tuple[list[int], list[str]]:
    """The sizes of ``chunk=128,256``, and the words with the first of them alone."""
    given = next((word for word in overrides if word.startswith("chunk=") and "," in word), None)
    if given is None:
        return [], list(overrides)
    texts = [text.strip() for text in given.removeprefix("chunk=").split(",")]
    if not all(text.isdecimal() and int(text) for text in texts):
        raise SettingError(f"{given}: give whole numbers of tokens, such as chunk=128,256,512.", key="chunk")
    return [int(text) for text in texts], [
        f"chunk={texts[0]}" if word == given else word for word in overrides
    ]


def _checked(config: DictConfig, chunk_sizes: Sequence[int], golden: Golden) -> int:
    """Looks, reports and, where it is wanted, writes."""
    nothing_left: tuple[Look, ...] = ()
    given: Inputs | None = None
    shared = Shared()
    try:
        given = shared.inputs(config)
        documents = given.corpus.documents
    except NothingToScoreError as error:
        documents = new(config, "corpus").load().documents
        nothing_left = (
            Look(
                "questions", "none can be scored", (Finding("nothing left", "serious", (), str(error), ""),)
            ),
        )
    read = golden.read(documents) if isinstance(golden, FileGolden) else None
    examined = _examined(read, documents, given)
    proposals = _Proposals(reworded(examined), several(examined), {})
    looks = [*nothing_left, labels(examined, proposals.reworded)]
    if given and read is None and given.labels.left_out:
        looks.append(_left_out(given.labels.left_out))
    if given:
        copied, found = copies(examined)
        proposals = proposals._replace(copies=found)
        power_look, *others = _further(shared, config, given, examined, chunk_sizes)
        looks += [power_look, copied, near_copies(examined, found), *others]
    report = Report(Path(str(config.golden.path)).name, len(examined.questions), len(documents), tuple(looks))
    say_all(in_lines(report))
    if config.output is not None:
        write(report, Path(str(config.output)))
        say_all(["", f"Written to {config.output}."])
    if config.accept and read and isinstance(golden, FileGolden):
        say_all(["", *_accept(golden.path, read, examined, proposals)])
    return 1 if config.strict and report.serious else 0


def _examined(read: Read | None, documents: Sequence[Document], given: Inputs | None) -> Examined:
    """The questions of a file with the state of each evidence; of another source, those that can be scored."""
    if read is None:
        questions = given.labels.questions if given else ()
        units = [[Unit("VALID", evidence, "") for evidence in question.evidence] for question in questions]
        return Examined(questions, units, documents)
    units = check_units([question.evidence for question in read.questions], documents, read.no_documents)
    marked = {
        (i, j)
        for i, item in enumerate(read.objects)
        for j, evidence in enumerate(item.get("evidence", ()))
        if evidence.get("state") == LOST
    }
    return Examined(read.questions, units, documents, frozenset(marked))


def _left_out(reasons: Mapping[str, str]) -> Look:
    """Questions of a data set that can't be scored."""
    number = counted(len(reasons), "question", "questions")
    details = tuple(f"{question_id}: {reason}" for question_id, reason in reasons.items())
    finding = Finding(
        "left out",
        "serious",
        tuple(reasons),
        f"{number} can't be scored: documents that were judged, or the query itself, are missing.",
        "Complete the data set, or set golden.keep_lost=true to count what is missing as not found.",
        details,
    )
    return Look("left out", number, (finding,))


def _further(
    shared: Shared, config: DictConfig, given: Inputs, examined: Examined, chunk_sizes: Sequence[int]
) -> Iterator[Look]:
    """What needs no proposal: wording, search by words, where evidence stands, documents, and what all this can show."""
    about = about_questions(given)
    clusters = cluster_ids([one.cluster for one in about.values()])
    least = minimum_detectable_effect(len(about), effective_clusters(clusters), cells=int(config.cells))
    yield power(len(about), len(set(clusters.tolist())), least, int(config.cells))
    yield duplicates(examined)
    yield subjects(examined)
    yield wording_overlap(examined, str(config.language))
    yield words_alone(_found_by_words(shared, config), least)
    yield placement(examined, shared.chunks(config))
    yield coverage(examined)
    yield sizes([len(tokens) for tokens in given.tokens], chunk_sizes, len(shared.chunks(config)))


def _found_by_words(shared: Shared, config: DictConfig) -> WordsAlone:
    """What a sweep's cell of ``retriever=bm25`` finds, kept as any other ranking is."""
    made = shared.components(config)
    result = pipeline.evaluate(made, [_ROWS], f"recall_at_{_ROWS}")
    scores = result.scores.get("span") or result.scores["document"]
    none = np.zeros(0, np.float64)
    rows = len(made.chunks.returned) if scores.kind == "span" else len(made.chunks.documents)
    in_tokens = scores.values.get(f"recall_at_{BUDGET_TOKENS}_tokens", none)
    return WordsAlone(scores.question_ids, scores.values[f"recall_at_{_ROWS}"], in_tokens, rows)


def _accept(path: Path, read: Read, examined: Examined, proposals: _Proposals) -> Iterator[str]:
    """Writes what is proposed and says what was done; the lock is held by the caller."""
    lines, done = accepted(read.objects, examined, *proposals)
    if not done:
        yield "Nothing to accept: the file stays as it is."
        return
    backup = keep_backup(path)
    Journal(path).rewrite(lines)
    yield f"{path}: {', '.join(f'{number:,} {what}' for what, number in done.items())}. The old file is {backup.name}."


if __name__ == "__main__":
    sys.exit(main())
