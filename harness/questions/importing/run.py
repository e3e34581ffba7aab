"""One import: a file of questions is read, its evidence found, the golden set extended."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import get_args

from omegaconf import DictConfig

from harness.cell.settings import new
from harness.cli.compose import Composed
from harness.cli.say import say, say_all, wrapped
from harness.corpus.gather import summary
from harness.errors import InputError, SettingError, switch
from harness.files.journal import Journal
from harness.golden.file import read_chunks
from harness.questions import golden_file
from harness.questions.importing import (
    GivenQuestion,
    QuestionFile,
    Refused,
    grouped,
    without_refused,
    write_rejected,
)
from harness.questions.importing.finding import LocatedQuestions, find, known_questions
from harness.questions.importing.merging import MergedSet, merge
from harness.questions.importing.recognise import FORMATS, read
from harness.records import Document, Source
from harness.view.formats import counted, equal_texts

_WAIT_SECONDS = 60.0  # for another process that adds or generates
_SHOWN = 5
_INDENT = " " * 11


def run(file: Path, made: Composed, corpus: Sequence[str]) -> int:
    """Adds the questions of ``file``; ``corpus``: the words that name the documents, for the next command."""
    config = made.config
    golden = golden_file(made)
    for key, allowed in (("format", FORMATS), ("source", get_args(Source))):
        if config[key] is not None and config[key] not in allowed:
            raise SettingError(f"{key}={config[key]}: allowed are {', '.join(allowed)}.", key=key)
    given = read(file, qrels=_path(config.qrels), split=str(config.split), forced=config.format)
    loaded = new(config, "corpus").load()
    _refuse_document(file, config, loaded.documents)
    say(f"documents  {len(loaded.documents):,}")
    say_all(f"{_INDENT}{line}" for line in summary(loaded.notes))
    chunks_file = _path(config.golden.chunks)
    chunks = read_chunks(chunks_file) if chunks_file else None
    whole, refused = without_refused(_marked(given, file, config.source or "import"), given.refused)
    twins = switch(config.golden.twins, "golden.twins")
    located = find(grouped(whole), loaded.documents, chunks, twins=twins)
    refused = sorted([*refused, *located.refused], key=lambda row: row.row.number)
    merged = _added(golden, located, loaded.documents, chunks)
    rejected = write_rejected(refused, given.layout, file, _path(config.rejected)) if refused else None
    for line in _report(file, given, located, merged, refused, rejected):
        say_all(wrapped(line, "", " " * 13))
    say_all(_closing(golden, merged, corpus))
    return 0 if merged.added or merged.same else 1


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


def _report(
    file: Path,
    given: QuestionFile,
    located: LocatedQuestions,
    merged: MergedSet,
    refused: Sequence[Refused],
    rejected: Path | None,
) -> Iterator[str]:
    """What was recognised, how many rows came in and what became of them, with the first five refused."""
    yield f"file       {file.name}: {given.recognised}"
    yield f"rows       {given.rows:,}"
    yield from (f"{_INDENT}{note}" for note in given.notes)
    states = [
        f"{located.states[s]:,} {s}" for s in ("VALID", "MOVED", "CHANGED", "LOST") if located.states[s]
    ]
    yield f"labels     {', '.join(states) or 'none'}"
    if equal := equal_texts(located.equal_texts):
        yield f"{_INDENT}{equal}"
    yield from _examples("other names for documents", located.completed)
    yield f"added      {counted(len(merged.added), 'question')}"
    yield from _examples("ids taken by other questions", merged.renamed)
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


def _examples(what: str, pairs: Mapping[str, str]) -> Iterator[str]:
    for given, now in list(pairs.items())[:1]:
        more = f" and {len(pairs) - 1:,} more" if len(pairs) > 1 else ""
        yield f"{_INDENT}{what}: {given} is {now}{more}"


def _closing(golden: Path, merged: MergedSet, corpus: Sequence[str]) -> list[str]:
    lines = [*merged.lines, *merged.added]
    if not lines:
        return [f"golden set {golden}: no questions yet"]
    sources = Counter(str(line.get("source", "import")) for line in lines)
    counts = ", ".join(f"{count:,} {source}" for source, count in sources.most_common())
    return [
        f"golden set {golden}: {len(lines):,} questions ({counts})",
        f"next       python -m harness {shlex.join([*corpus, f'golden.path={golden}'])} model=wordllama",
    ]
