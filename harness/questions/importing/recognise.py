"""What a file of questions is, told by what stands in it, and read as that."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from harness.errors import InputError, SettingError
from harness.golden.jsonl import FieldError, read_text
from harness.questions.importing import (
    GivenQuestion,
    QuestionFile,
    Refused,
    evaluations,
    judgement_lists,
    passages,
)
from harness.questions.importing.columns import expected, meanings, plain
from harness.questions.importing.entry import asked_in
from harness.questions.importing.grades import GradeError
from harness.questions.importing.rows import (
    UNEXPECTED,
    NamedRows,
    ShapedRows,
    WrongKindError,
    given_id,
    is_indexed,
    of_columns,
    of_entries,
    of_lines,
    of_table,
    shaped,
)
from harness.questions.importing.table import names_question, parquet_rows, read_table
from harness.questions.importing.topics import read_beir, read_topics
from harness.text.opening import plain_name
from harness.view.formats import counted

SHAPES = (*evaluations.SHAPES, *passages.SHAPES, *judgement_lists.SHAPES)
FORMATS = tuple(dict.fromkeys(["csv", "pairs", "jsonl", "trec", "beir", *(shape.name for shape in SHAPES)]))
_PLAIN = {"csv", "pairs", "jsonl"}  # formats that say nothing of the shape of a row
_LINES = 20  # of a file are looked at to see what it is
_PAIR = ("question", "quote")
# Under these keys stand the rows of a JSON document.
_ROWS = {"data", "samples", "questions", "rows", "examples", "tests", "goldens", "query_doc_pairs"}
_ROWS |= {"judgmentRatings", "queries"}


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
    if qrels is not None:
        if not qrels.is_file():
            raise InputError(f"qrels is {qrels}, and there is no such file. Check the spelling.", path=qrels)
        return read_topics(path, _text(path), qrels)
    found, kind = named_rows(path, forced)
    if not (total := found.rows.total + found.empty):
        raise InputError(f"{path} holds no questions. {expected()}.", path=path)
    asked, refused = _questions(found.rows)
    notes = (f"{counted(found.empty, 'row')} without a rating; not part of the set",) * bool(found.empty)
    return QuestionFile(kind, total, asked, refused, found.rows.layout, notes)


def named_rows(path: Path, forced: str | None = None) -> tuple[ShapedRows, str]:
    """The rows of ``path`` under our names, and in words what they are. Raises as ``read`` does."""
    rows, title, kind = _rows(path, forced)
    shapes = () if forced in _PLAIN else [shape for shape in SHAPES if forced in {None, shape.name}]
    try:
        found = shaped(rows, shapes, evaluations.without_results, "ragas" if forced == "ragas" else None)
    except WrongKindError as error:
        raise InputError(f"{path}: {error}", path=path) from None
    title = title or found.title
    if forced and shapes and not title:
        raise InputError(f"{path} is not {shapes[0].title}.", path=path)
    return found, f"{title or 'a table'} ({kind})" if title or rows.layout else kind


def _rows(path: Path, forced: str | None) -> tuple[NamedRows, str, str]:
    """The rows as they stand, what the document that holds them is, if it says so, and how it is written."""
    if path.is_file() and (table := parquet_rows(path)) is not None:
        return of_entries(table), "", "Parquet"
    text, suffix = _text(path), plain_name(path).suffix.lower()
    if suffix in {".yaml", ".yml"}:
        return of_entries(_entries(path, _yaml(path, text), "YAML", is_line=False)[0] or []), "", "YAML"
    if forced in {None, "trec"}:
        judgement_lists.refuse_others(path, text, is_header=_is_header, is_trec=forced == "trec")
    content = None if forced in _PLAIN else _document(text)
    has_objects = _has_objects(text)
    is_json = isinstance(content, (dict, list)) or has_objects or suffix in {".json", ".jsonl", ".ndjson"}
    if forced in {"csv", "pairs"} or (not is_json and forced != "jsonl"):
        return _of_table(path, text, forced)
    if content is None and forced != "jsonl" and not has_objects:
        raise InputError(
            f"{path} is neither one JSON document nor JSON lines. It may have been cut off.", path=path
        )
    entries, title = _entries(path, content, "JSON", is_line="\n" not in text.strip())
    return (of_lines(text), "", "JSON lines") if entries is None else (of_entries(entries), title, "JSON")


def _text(path: Path) -> str:
    if not path.is_file():
        raise InputError(
            f"{path}: there is no such file (looked from {Path.cwd()}). Check the spelling.", path=path
        )
    text = read_text(path)
    if not text.strip():
        raise InputError(f"{path} is empty. {expected()}.", path=path)
    return text


def _yaml(path: Path, text: str) -> Any:
    import yaml

    try:
        return json.loads(json.dumps(yaml.safe_load(text), default=str))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None) or error
        line = f":{mark.line + 1}" if mark else ""
        raise InputError(f"{path}{line}: not valid YAML ({problem}).", path=path) from None


def _of_table(path: Path, text: str, forced: str | None) -> tuple[NamedRows, str, str]:
    table = read_table(text, has_header={"pairs": False, "csv": True}.get(forced or ""), is_header=_is_header)
    if table.columns:
        return of_table(table, table.columns), "", table.separated
    if any(len(record.cells) == len(_PAIR) for record in table.records):
        return of_table(table, _PAIR), "question and quote", f"{table.separated}, no header"
    first = " | ".join(table.records[0].cells)[:80] if table.records else "nothing"
    raise InputError(
        f'{path}: its first row is "{first}". {expected()}, or two columns without a header.', path=path
    )


def _is_header(cells: Sequence[str]) -> bool:
    row = dict.fromkeys(map(plain, cells), "")
    return names_question(cells) or _has_shape(row)


def _has_shape(row: Mapping[str, Any]) -> bool:
    return any(shape.fits(row) for shape in SHAPES) or evaluations.other_kind(row) is not None


def _has_objects(text: str) -> bool:
    """Whether one of the first lines is a whole object: the very first may be broken."""
    objects = (_document(line) for line in text.split("\n", _LINES)[:_LINES] if line.startswith("{"))
    return any(isinstance(found, dict) for found in objects)


def _document(text: str) -> Any:
    """The one JSON value that the whole file is, or None."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _entries(path: Path, content: Any, kind: str, *, is_line: bool) -> tuple[list[Any] | None, str]:
    """The rows of a document and its title; None for JSON lines, of which ``content`` may be the only one."""
    if not isinstance(content, dict):
        return (content if isinstance(content, list) else None), ""
    for title, rows_of in (*passages.DOCUMENTS, *judgement_lists.DOCUMENTS):
        with suppress(*UNEXPECTED):
            return rows_of(content), title
    asked = content.get(meanings(content).get("question", ""))
    is_row = isinstance(asked, str) or _has_shape({plain(key): value for key, value in content.items()})
    if is_row and not is_indexed(content):
        return (None if is_line else [content]), ""
    lists = [value for key, value in content.items() if key in _ROWS and isinstance(value, list)]
    found = lists[0] if len(lists) == 1 else of_columns(content)
    if found is None and not is_line:
        raise InputError(
            f"{path} is a {kind} object with {', '.join(content)[:80]}. {expected()}, in a list or in lines.",
            path=path,
        )
    return found, ""


def _questions(rows: NamedRows) -> tuple[list[GivenQuestion], list[Refused]]:
    asked, refused = [], list(rows.refused)
    for row, fields in rows.named:
        try:
            asked.append(asked_in(row, fields))
        except FieldError as error:
            # A question with a judgement less is the same question; with less of its passages it is not.
            question_id = "" if isinstance(error, GradeError) else given_id(fields)
            refused.append(Refused(row, str(error), question_id))
    return asked, sorted(refused, key=lambda found: found.row.number)
