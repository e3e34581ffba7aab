"""``python -m harness.golden.add FILE``: questions that you have already, into the golden set of your documents."""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, cast, get_args

from omegaconf import DictConfig

from harness.cell.settings import new
from harness.cli import compose
from harness.cli.compose import check_plain_settings
from harness.cli.run import run_command
from harness.cli.say import say, say_all, wrapped
from harness.cli.words import Words, check_flags
from harness.corpus.summary import summary
from harness.errors import InputError, SettingError
from harness.files.journal import Journal
from harness.golden.gold_ids import read_chunks
from harness.questions.importing import Given, Refused
from harness.questions.importing.finding import Found, find
from harness.questions.importing.grouping import grouped, without_refused
from harness.questions.importing.known import known_questions
from harness.questions.importing.merging import Merged, merge
from harness.questions.importing.recognise import FORMATS, read
from harness.questions.importing.rejected import write_rejected
from harness.questions.importing.report import report
from harness.records import Document, Source

_USAGE = "python -m harness.golden.add FILE corpus=folder corpus.path=DIR"
_WAIT_SECONDS = 60.0  # for another process that adds or generates


class _Settings(NamedTuple):
    file: Path
    golden: Path
    qrels: Path | None
    split: str
    format: str | None
    source: Source
    rejected: Path | None
    chunks: Path | None


def main(argv: Sequence[str] | None = None) -> int:
    """Adds the questions of one file; the exit code is 1 for a mistake, and when no row could be used."""
    given = sys.argv[1:] if argv is None else argv
    corpus = [word for word in given if word.startswith("corpus")]
    stopped = "Stopped. The golden set is whole; the same command adds what is missing."
    return run_command("add", __doc__, given, lambda words: _run(words, corpus), stopped)


def _run(words: Words, corpus: Sequence[str]) -> int:
    check_flags(words)
    composed = compose.composed(words, ["+command=add", *words.overrides])
    settings = _settings(words, composed.config, composed.choices)
    given = read(settings.file, qrels=settings.qrels, split=settings.split, forced=settings.format)
    loaded = new(composed.config, "corpus").load()
    _refuse_document(settings.file, composed.config, loaded.documents)
    say(f"documents  {len(loaded.documents):,}")
    say_all(f"           {line}" for line in summary(loaded.notes))
    chunks = read_chunks(settings.chunks) if settings.chunks else None
    found, refused = _found(given, settings, loaded.documents, chunks)
    merged = _added(settings.golden, found, loaded.documents, chunks)
    rejected = None
    if refused:
        rejected = write_rejected(refused, given.layout, settings.file, settings.rejected)
    for line in report(settings.file, given, found, merged, refused, rejected):
        say_all(wrapped(line, "", " " * 13))
    say_all(_closing(settings.golden, merged, corpus))
    return 0 if merged.added or merged.same else 1


def _settings(words: Words, config: DictConfig, choices: object) -> _Settings:
    if words.is_sweep or len(words.files) != 1:
        raise SettingError(f"Give one file of questions: {_USAGE}.")
    chosen = cast("dict[str, str]", choices)
    given = {word.partition("=")[0] for word in words.overrides}
    if not given & {"corpus", "corpus.path", "golden.path"}:
        raise SettingError(f"Which documents are the questions about? {_USAGE}.", key="corpus")
    if chosen["golden"] != "file":
        raise SettingError(
            "Questions are added to a file of lines; leave golden=file as it is.", key="golden"
        )
    check_plain_settings(config)
    golden = Path(str(config.golden.path)).expanduser()
    if golden.parent.is_file() or golden.is_dir():
        raise SettingError(
            f"{golden} can't be the golden set. Give a file: golden.path=FILE.", key="golden.path"
        )
    for key, allowed in (("format", FORMATS), ("source", get_args(Source))):
        if config[key] is not None and config[key] not in allowed:
            raise SettingError(f"{key}={config[key]}: allowed are {', '.join(allowed)}.", key=key)
    return _Settings(
        file=Path(words.files[0]).expanduser(),
        golden=golden,
        qrels=_path(config.qrels),
        split=str(config.split),
        format=config.format,
        source=config.source or "import",
        rejected=_path(config.rejected),
        chunks=_path(config.golden.chunks),
    )


def _path(given: object) -> Path | None:
    return Path(str(given)).expanduser() if given else None


def _refuse_document(file: Path, config: DictConfig, documents: Sequence[Document]) -> None:
    """A file of questions among the documents would be searched, and answer its own questions."""
    folder = Path(str(config.corpus.path)).expanduser().resolve()
    path = file.resolve()
    if path.is_relative_to(folder):
        doc_id = path.relative_to(folder).as_posix()
        if any(document.doc_id == doc_id for document in documents):
            raise InputError(
                f"{file} lies among the documents and counts as one, so every quote would be found in it. Move it elsewhere.",
                path=file,
            )


def _found(
    given: Given, settings: _Settings, documents: Sequence[Document], chunks: Sequence[str] | None
) -> tuple[Found, list[Refused]]:
    file = settings.file.resolve().name
    asked = [
        question._replace(
            source=question.source or settings.source,
            provenance={**question.provenance, "imported_from": file},
        )
        for question in given.asked
    ]
    whole, refused = without_refused(asked, given.refused)
    found = find(grouped(whole), documents, chunks)
    return found, sorted([*refused, *found.refused], key=lambda row: row.row.number)


def _added(golden: Path, found: Found, documents: Sequence[Document], chunks: Sequence[str] | None) -> Merged:
    """Writes what is new. A kill leaves the file as it was, or with some of the new lines; the same command adds the others."""
    journal = Journal(golden, wait_seconds=_WAIT_SECONDS)
    with journal.locked():
        merged = merge(known_questions(golden, documents, chunks), found.questions)
        if merged.changed:
            journal.rewrite([*merged.lines, *merged.added])
        elif merged.added:
            journal.extend(merged.added)
    return merged


def _closing(golden: Path, merged: Merged, corpus: Sequence[str]) -> list[str]:
    lines = [*merged.lines, *merged.added]
    if not lines:
        return [f"golden set {golden}: no questions yet"]
    sources = Counter(str(line.get("source", "import")) for line in lines)
    counts = ", ".join(f"{count:,} {source}" for source, count in sources.most_common())
    words = shlex.join([*corpus, f"golden.path={golden}"])
    return [
        f"golden set {golden}: {len(lines):,} questions ({counts})",
        f"next       python -m harness {words} model=wordllama",
    ]


if __name__ == "__main__":
    sys.exit(main())
