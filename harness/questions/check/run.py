"""One check of a golden set: what is read, which checks are made, and what ``accept=true`` writes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from omegaconf import DictConfig

from harness.cell import pipeline
from harness.cell.build import Inputs, Shared
from harness.cell.settings import new
from harness.cli.say import say_all
from harness.cli.values import check_plain_settings
from harness.errors import SettingError, switch
from harness.files.journal import Journal
from harness.golden import Golden
from harness.golden.anchoring import NothingToScoreError, Unit, check_units
from harness.golden.file import FileContent, FileGolden
from harness.golden.question_json import LOST
from harness.questions.check import CheckedSet, CheckReport, CheckResult, Finding, in_lines, write
from harness.questions.check.accepting import Proposals, accepted, keep_backup, reworded
from harness.questions.check.copies import ambiguous_places, copies, near_copies
from harness.questions.check.coverage import coverage, power, sizes, verbatim
from harness.questions.check.evidence import labels, placement
from harness.questions.check.wording import (
    LexicalRecall,
    duplicates,
    lexical_recall,
    subjects,
    wording_overlap,
)
from harness.records import Document
from harness.results.cells import about_questions
from harness.results.earlier import measured_effect
from harness.verdict.clusters import cluster_ids
from harness.view.formats import counted
from harness.view.sample_size import detectable

_ROWS = 5
_RECALL_IN_TOKENS = "recall_at_2000_tokens"


def run(config: DictConfig, chunk_sizes: Sequence[int]) -> int:
    """Checks the golden set and prints the report; 1 with ``strict=true`` and a serious finding, else 0."""
    check_plain_settings(config)
    switch(config.strict, "strict")
    golden = new(config, "golden")
    if not switch(config.accept, "accept"):
        return _checked(config, chunk_sizes, golden)
    if not isinstance(golden, FileGolden):
        raise SettingError(
            "accept=true changes a JSONL file; it can't be used with golden=beir.", key="accept"
        )
    if not golden.path.is_file():
        golden.read([])  # says that there is no such file, before a lock is made beside it
    with Journal(golden.path).locked():
        return _checked(config, chunk_sizes, golden)


def _checked(config: DictConfig, chunk_sizes: Sequence[int], golden: Golden) -> int:
    """Makes all checks, reports and, with ``accept=true``, writes."""
    results: list[CheckResult] = []
    given: Inputs | None = None
    shared = Shared()
    try:
        given = shared.inputs(config)
        documents = given.corpus.documents
    except NothingToScoreError as error:
        documents = new(config, "corpus").load().documents
        nothing = Finding("nothing left", "serious", (), str(error), "")
        results.append(CheckResult("questions", "too few can be scored", (nothing,)))
    content = golden.read(documents) if isinstance(golden, FileGolden) else None
    checked = _with_states(content, documents, given)
    proposals = Proposals(reworded(checked), ambiguous_places(checked), {})
    results.append(labels(checked, proposals.reworded))
    if given:
        results += _left_out(given.labels.left_out, is_file=content is not None)
        equal = given.labels.equal_texts
        copied, found = copies(checked, equal)
        proposals = proposals._replace(copies=found if equal is None else {})
        power_result, *others = _further(shared, config, given, checked, chunk_sizes)
        results += [power_result, copied, near_copies(checked, found), *others]
    name = Path(str(config.golden.path)).name
    report = CheckReport(name, len(checked.questions), len(documents), tuple(results))
    say_all(in_lines(report))
    if config.output is not None:
        write(report, Path(str(config.output)))
        say_all(["", f"Written to {config.output}."])
    if config.accept and content and isinstance(golden, FileGolden):
        say_all(["", *_accept(golden.path, content, checked, proposals)])
    return 1 if config.strict and report.serious else 0


def _with_states(
    content: FileContent | None, documents: Sequence[Document], given: Inputs | None
) -> CheckedSet:
    """The questions of a file with their states; of another source, those that can be scored."""
    if content is None:
        questions = given.labels.questions if given else ()
        units = [[Unit("VALID", evidence, "") for evidence in question.evidence] for question in questions]
        return CheckedSet(questions, units, documents)
    evidence = [question.evidence for question in content.questions]
    marked = {
        (i, j)
        for i, (item, entries) in enumerate(zip(content.objects, content.entries, strict=True))
        for j, entry in enumerate(entries)
        if isinstance(item.get("evidence"), list) and item["evidence"][entry].get("state") == LOST
    }
    states = check_units(evidence, documents, content.no_documents)
    return CheckedSet(content.questions, states, documents, frozenset(marked))


def _left_out(left_out: Mapping[str, str], *, is_file: bool) -> Iterator[CheckResult]:
    """Questions without evidence, and those of a data set that can't be scored."""
    reasons = {key: reason for key, reason in left_out.items() if not reason.startswith("NO EVIDENCE")}
    if without := len(left_out) - len(reasons):
        yield CheckResult("no evidence", f"{counted(without, 'question')}, not scored")
    if is_file or not reasons:
        return
    number = counted(len(reasons), "question")
    finding = Finding(
        "left out",
        "serious",
        tuple(reasons),
        f"{number} can't be scored: judged documents, or the query itself, are missing.",
        "Complete the data set, or set golden.keep_lost=true to count what is missing as not found.",
        tuple(f"{question_id}: {reason}" for question_id, reason in reasons.items()),
    )
    yield CheckResult("left out", number, (finding,))


def _further(
    shared: Shared, config: DictConfig, given: Inputs, checked: CheckedSet, chunk_sizes: Sequence[int]
) -> Iterator[CheckResult]:
    """The checks that propose nothing, the one of the sample size first."""
    about = about_questions(given)
    clusters = cluster_ids([one.cluster for one in about.values()])
    metric = f"recall_at_{_ROWS}" if config.primary == "auto" else str(config.primary)
    said, least = detectable(clusters, measured_effect(given.labels.digest), metric)
    yield power(said, least)
    yield duplicates(checked)
    yield subjects(checked)
    yield verbatim(checked)
    yield wording_overlap(checked, str(config.language))
    yield lexical_recall(_bm25(shared, config), least)
    yield placement(checked, shared.chunks(config))
    yield coverage(checked)
    yield sizes([len(tokens) for tokens in given.tokens], chunk_sizes, len(shared.chunks(config)))


def _bm25(shared: Shared, config: DictConfig) -> LexicalRecall:
    """The scores of a sweep's cell of ``retriever=bm25``, cached like any other ranking."""
    made = shared.components(config)
    result = pipeline.evaluate(made, [_ROWS], f"recall_at_{_ROWS}")
    scores = result.scores.get("span") or result.scores["document"]
    none = np.zeros(0, np.float64)
    rows = len(made.chunks.returned) if scores.kind == "span" else len(made.chunks.documents)
    in_tokens = scores.values.get(_RECALL_IN_TOKENS, none)
    return LexicalRecall(scores.question_ids, scores.values[f"recall_at_{_ROWS}"], in_tokens, rows)


def _accept(path: Path, content: FileContent, checked: CheckedSet, proposals: Proposals) -> Iterator[str]:
    """Writes what is proposed and says what was done; the lock is held by the caller."""
    lines, done = accepted(content.objects, content.entries, checked, proposals)
    if not done:
        yield "Nothing to accept: the file stays as it is."
        return
    backup = keep_backup(path)
    Journal(path).rewrite(lines)
    changes = ", ".join(f"{number:,} {what}" for what, number in done.items())
    yield f"{path}: {changes}. The old file is {backup.name}."
