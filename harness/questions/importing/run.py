"""One import: a file of questions is read, its evidence found, the golden set extended."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import get_args

from omegaconf import DictConfig

from harness.cell.settings import new
from harness.cli.compose import Composed
from harness.cli.say import say, say_all, wrapped
from harness.corpus.gather import summary
from harness.errors import InputError, SettingError, switch
from harness.files.journal import Journal
from harness.golden import State
from harness.golden.file import read_chunks
from harness.golden.judgements import lowest_relevant
from harness.questions import golden_file
from harness.questions.importing import (
    GivenQuestion,
    QuestionFile,
    Refused,
    grouped,
    with_one_id,
    without_quote,
    without_refused,
    write_rejected,
)
from harness.questions.importing.finding import LocatedQuestions, find
from harness.questions.importing.known import known_questions
from harness.questions.importing.merging import MergedSet, merge
from harness.questions.importing.proposing import with_proposals
from harness.questions.importing.recognise import FORMATS, read
from harness.records import Document, Source
from harness.text.copied import WAYS
from harness.view.formats import counted, equal_texts
from harness.view.terminal import other_names

_WAIT_SECONDS = 60.0  # for another process that adds or generates
_SHOWN = 5
_INDENT = " " * 11


def run(file: Path, made: Composed, corpus: Sequence[str]) -> int:
    """Adds the questions of ``file``; ``corpus``: the words that name the documents, for the next command."""
    config = made.config
    golden = golden_file(made)
    for key, allowed in (("format", FORMATS), ("source", get_args(Source)), ("quotes", ("optional",))):
        if config[key] is not None and config[key] not in allowed:
            raise SettingError(f"{key}={config[key]}: allowed are {', '.join(allowed)}.", key=key)
    given = read(file, qrels=_path(config.qrels), split=str(config.split), forced=config.format)
    loaded = new(config, "corpus").load()
    _refuse_document(file, config, loaded.documents)
    say(f"documents  {len(loaded.documents):,}")
    say_all(f"{_INDENT}{line}" for line in summary(loaded.notes))
    chunks_file = _path(config.golden.chunks)
    chunks = read_chunks(chunks_file) if chunks_file else None
    asked = _marked(given, file, config.source or "import")
    unquoted = [] if config.quotes == "optional" else without_quote(asked)
    whole, refused = without_refused(asked, [*given.refused, *unquoted])
    groups = grouped(whole)
    lowest = lowest_relevant(config.relevant_from, "relevant_from")
    twins = switch(config.golden.twins, "golden.twins")
    located = find(groups, loaded.documents, chunks, lowest, twins=twins)
    refused = sorted([*refused, *located.refused], key=lambda row: row.row.number)
    merged = _added(golden, located, loaded.documents, chunks)
    proposed, layout = with_proposals(refused, whole, loaded.documents, given.layout)
    rejected = write_rejected(proposed, layout, file, _path(config.rejected)) if refused else None
    outcome = _outcome(merged, refused, rejected, is_proposed=proposed != refused)
    for line in (*_read(file, given, groups, located), *outcome):
        say_all(wrapped(line, "", " " * 13))
    say_all(_closing(golden, merged, corpus))
    return 0 if (merged.added or merged.same) and not located.is_mostly_lost else 1


def _path(given: object) -> Path | None:
    return Path(str(given)).expanduser() if given else None


def _refuse_document(file: Path, config: DictConfig, documents: Sequence[Document]) -> None:
    """A file of questions among the documents would be searched, and answer its own questions."""
    folder, path = Path(str(config.corpus.path)).expanduser().resolve(), file.resolve()
    if path.is_relative_to(folder):
        doc_id = path.relative_to(folder).as_posix()
        if any(document.doc_id == doc_id for document in documents):
            raise InputError(
                f"{file} is one of the documents, so every quote would be found in it. Move it elsewhere.",
                path=file,
            )


def _marked(given: QuestionFile, file: Path, source: Source) -> list[GivenQuestion]:
    """The questions with the file that they come from, and a source for those without."""
    name = file.resolve().name
    return [
        question._replace(
            source=question.source or source, provenance={**question.provenance, "imported_from": name}
        )
        for question in given.questions
    ]


def _added(
    golden: Path, located: LocatedQuestions, documents: Sequence[Document], chunks: Sequence[str] | None
) -> MergedSet:
    """Writes what is new.

    After a kill the file has some of the new lines or none; the same command adds the rest.
    """
    journal = Journal(golden, wait_seconds=_WAIT_SECONDS)
    with journal.locked():
        merged = merge(known_questions(golden, documents, chunks), located.questions, located.twins)
        if merged.changed:
            journal.rewrite([*merged.lines, *merged.added])
        elif merged.added:
            journal.extend(merged.added)
    return merged


def _read(
    file: Path, given: QuestionFile, groups: Sequence[Sequence[GivenQuestion]], located: LocatedQuestions
) -> Iterator[str]:
    """What was recognised, how many rows came in, which questions and labels they hold."""
    yield f"file       {file.name}: {given.recognised}"
    yield f"rows       {given.rows:,}"
    rows = [row for group in groups for row in group]
    if len(groups) < len(rows):
        yield f"{_INDENT}{counted(len(groups), 'question')} from {counted(len(rows), 'row')}"
    yield from (f"{_INDENT}{note}" for note in (*given.notes, *with_one_id(groups)))
    states = ", ".join(f"{located.states[s]:,} {s}" for s in get_args(State) if located.states[s])
    yield f"labels     {states or 'none'}"
    if equal := equal_texts(located.equal_texts):
        yield f"{_INDENT}{equal}"
    if located.is_mostly_lost:
        yield "!! More than half of the labels were not found. Are these the documents of these questions?"
    if set(located.ways) - {WAYS[0]}:
        ways = ", ".join(f"{located.ways[way]:,} {way}" for way in WAYS if located.ways[way])
        yield f"quotes     {ways}"
    judged = sum(len(question.not_relevant) for question in located.questions)
    if judged:
        yield f"{_INDENT}{counted(judged, 'judgement says', 'judgements say')}: not relevant"
    without = sum(not question.evidence for question in located.questions)
    if without:
        yield f"{_INDENT}{counted(without, 'question')} without evidence: kept in the set, not scored"
    unquoted = sum(row.is_unquoted for row in rows)
    if unquoted:
        yield f"{_INDENT}{counted(unquoted, 'row')} without a quote: the whole document counts"
    moved = other_names(located.moved, "quotes whose document does not exist stand elsewhere")
    yield from (f"{_INDENT}{line}" for line in (*other_names(located.completed), *moved))


def _outcome(
    merged: MergedSet, refused: Sequence[Refused], rejected: Path | None, *, is_proposed: bool
) -> Iterator[str]:
    """What became of the rows, with the first five refused."""
    yield f"added      {counted(len(merged.added), 'question')}"
    for taken, own in list(merged.renamed.items())[:1]:
        more = f" and {len(merged.renamed) - 1:,} more" if len(merged.renamed) > 1 else ""
        yield f"{_INDENT}ids taken by other questions: {taken} is {own}{more}"
    if merged.same:
        gained = f"; {merged.changed:,} were extended" if merged.changed else ""
        same = counted(merged.same, "question")
        yield f"merged     {same}, in the set already or twice in the file{gained}"
    if refused:
        yield f"rejected   {counted(len(refused), 'row')}"
        yield from (f"{_INDENT}{row.where}: {reason}" for row, reason, _ in refused[:_SHOWN])
        more = f"and {len(refused) - _SHOWN:,} more; " if len(refused) > _SHOWN else ""
        yield f"{_INDENT}{more}all of them, with reasons: {rejected}"
        yield f"{_INDENT}correct them there and add that file"
        if is_proposed:
            yield f"{_INDENT}to accept what is proposed there, rename proposed_quote to quote, and"
            yield f"{_INDENT}proposed_doc_id to doc_id, in place of the old ones"


def _closing(golden: Path, merged: MergedSet, corpus: Sequence[str]) -> list[str]:
    lines = [*merged.lines, *merged.added]
    if not lines:
        return [f"golden set {golden}: no questions yet"]
    sources = Counter(str(line.get("source", "import")) for line in lines)
    counts = ", ".join(f"{count:,} {source}" for source, count in sources.most_common())
    return [
        f"golden set {golden}: {counted(len(lines), 'question')} ({counts})",
        f"next       python -m harness {shlex.join([*corpus, f'golden.path={golden}'])} model=wordllama",
    ]
