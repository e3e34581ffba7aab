"""What a file of questions is, told by what stands in it, and read as that."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from harness.errors import InputError, SettingError
from harness.golden.jsonl import FieldError, read_text
from harness.questions.importing import GivenQuestion, QuestionFile, Refused
from harness.questions.importing.columns import LABELS, adapted, expected, is_ragas_set, meanings
from harness.questions.importing.entry import asked_in, id_in
from harness.questions.importing.grades import GradeError
from harness.questions.importing.rows import (
    NamedRows,
    of_columns,
    of_entries,
    of_lines,
    of_table,
    rows_of_llama_index,
)
from harness.questions.importing.table import read_table
from harness.questions.importing.topics import is_sgml, looks_like_qrels, read_beir, read_topics

FORMATS = ("csv", "pairs", "jsonl", "ragas", "llama_index", "trec", "beir")
_LINES = 20  # of a file are looked at to see what it is
_JSON = {".json", ".jsonl", ".ndjson"}
_PAIR = ("question", "quote")
# First bytes of files that hold tables, but are not text.
_BINARY = {
    b"PK": "an Excel workbook or a zip",
    b"PAR1": "Parquet",
    b"\x1f\x8b": "gzip",
    b"%PDF": "a PDF",
    b"SQLite": "SQLite",
}


def read(
    path: Path, *, qrels: Path | None = None, split: str = "test", forced: str | None = None
) -> QuestionFile:
    """The questions in ``path``, with ``qrels`` the topics in it; ``split`` is of a BEIR folder.

    ``forced`` is one of ``FORMATS`` where the content is not to decide. Raises ``InputError`` when nothing in
    the file can be understood; single rows that can't be used are in what comes back.
    """
    if qrels is not None and (path.is_dir() or forced not in {None, "trec"}):
        raise SettingError(f"qrels={qrels} needs a file of topics, but {path} is not one.", key="qrels")
    if path.is_dir() or forced == "beir":
        return read_beir(path, split)
    text = _text(path)
    if qrels is not None:
        if not qrels.is_file():
            raise InputError(f"qrels is {qrels}, and there is no such file. Check the spelling.", path=qrels)
        return read_topics(path, text, qrels)
    if forced == "trec" or (forced is None and is_sgml(text[:2000])):
        raise SettingError(
            f"{path} holds topics of TREC; give their judgements, too: qrels=FILE.", key="qrels"
        )
    if forced is None and looks_like_qrels(text):
        raise InputError(
            f"{path} holds judgements (qrels). Give the topics first: TOPICS qrels={path}.", path=path
        )
    rows, kind, is_ragas = _rows(path, text, forced)
    if not rows.total:
        raise InputError(f"{path} holds no questions. {expected()}.", path=path)
    asked, refused = _questions(rows, is_ragas=is_ragas)
    return QuestionFile(kind, rows.total, asked, refused, rows.layout)


def _text(path: Path) -> str:
    if not path.is_file():
        raise InputError(
            f"{path}: there is no such file (looked from {Path.cwd()}). Check the spelling.", path=path
        )
    with path.open("rb") as file:
        head = file.read(8)
    kind = next((kind for magic, kind in _BINARY.items() if head.startswith(magic)), None)
    if kind:
        raise InputError(f"{path} is {kind}, not text. Save it as CSV (UTF-8) or as JSON lines.", path=path)
    text = read_text(path)
    if not text.strip():
        raise InputError(f"{path} is empty. {expected()}.", path=path)
    return text


def _rows(path: Path, text: str, forced: str | None) -> tuple[NamedRows, str, bool]:
    """The rows, in words what they are, and whether they are ragas's."""
    content = None if forced in {"csv", "pairs", "jsonl"} else _document(text)
    is_json = isinstance(content, (dict, list)) or _has_objects(text) or path.suffix.lower() in _JSON
    if forced in {"csv", "pairs"} or (not is_json and forced in {None, "ragas"}):
        return _of_table(path, text, forced)
    if content is None and forced in {None, "ragas"} and not _has_objects(text):
        raise InputError(
            f"{path} is neither one JSON document nor JSON lines. It may have been cut off.", path=path
        )
    rows = rows_of_llama_index(content)
    if rows is not None:
        return rows, "a question set of LlamaIndex", False
    if forced == "llama_index":
        raise InputError(
            f"{path} is not a question set of LlamaIndex: queries, corpus and relevant_docs, or examples, "
            "are expected.",
            path=path,
        )
    entries = _entries(content, text)
    if entries is None and isinstance(content, dict) and "\n" in text.strip():
        raise InputError(
            f"{path} is a JSON object with {', '.join(content)[:80]}. {expected()}, in a list or one a line.",
            path=path,
        )
    rows = of_lines(text) if entries is None else of_entries(entries)
    kind = "JSON lines" if entries is None else "JSON"
    if forced == "ragas" or (forced is None and is_ragas_set(_keys(rows))):
        return rows, f"a ragas test set ({kind})", True
    return rows, kind, False


def _of_table(path: Path, text: str, forced: str | None) -> tuple[NamedRows, str, bool]:
    table = read_table(text, has_header={"pairs": False, "csv": True}.get(forced or ""))
    if not table.columns:
        if any(len(record.cells) == len(_PAIR) for record in table.records):
            return of_table(table, _PAIR), f"question and quote, {table.separated}, no header", False
        first = " | ".join(table.records[0].cells)[:80] if table.records else "nothing"
        raise InputError(
            f'{path}: its first row is "{first}". {expected()}, or two columns without a header.', path=path
        )
    known = meanings(table.columns)
    if "question" not in known or not set(LABELS) & set(known):
        raise InputError(
            f"{path} has the columns {', '.join(table.columns)}. {expected()}. "
            "(An answer is evidence only if it is copied from a document; then name its column quote.)",
            path=path,
        )
    is_ragas = forced == "ragas" or (forced is None and is_ragas_set(table.columns))
    kind = "a ragas test set (CSV" if is_ragas else "a table ("
    return of_table(table, table.columns), f"{kind}{', ' if is_ragas else ''}{table.separated})", is_ragas


def _has_objects(text: str) -> bool:
    """Whether one of the first lines is a whole object: the very first may be broken."""
    lines = text.split("\n", _LINES)[:_LINES]
    return any(line.startswith("{") and isinstance(_document(line), dict) for line in lines)


def _document(text: str) -> Any:
    """The one JSON value that the whole file is, or None."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _entries(content: Any, text: str) -> list[Any] | None:
    """The rows of a JSON document: a list, a list under ``data`` or the like, or columns; None for lines."""
    if isinstance(content, list):
        return content
    if not isinstance(content, dict):
        return None
    known = meanings(content)
    if "question" in known and isinstance(content[known["question"]], str):
        return [content] if "\n" in text.strip() else None
    lists = [
        value
        for key, value in content.items()
        if key in {"data", "samples", "questions", "rows"} and isinstance(value, list)
    ]
    return lists[0] if len(lists) == 1 else of_columns(content)


def _keys(rows: NamedRows) -> Collection[str]:
    return {key for _, fields in rows.named[:20] for key in fields}


def _questions(rows: NamedRows, *, is_ragas: bool) -> tuple[list[GivenQuestion], list[Refused]]:
    asked, refused = [], list(rows.refused)
    for row, fields in rows.named:
        try:
            asked.append(asked_in(row, adapted(fields) if is_ragas else fields))
        except FieldError as error:
            # A question with a judgement less is the same question; with less of its passages it is not.
            question_id = "" if isinstance(error, GradeError) else _id(fields)
            refused.append(Refused(row, str(error), question_id))
    return asked, refused


def _id(fields: Mapping[str, Any]) -> str:
    try:
        return id_in(fields)
    except FieldError:
        return ""
