"""One row of an external retriever, whatever library or service made it."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from numbers import Integral
from typing import Any, TypeGuard

from harness.retriever import Row

# What libraries and services call the fields of a row, the most telling first.
_ID = (
    *("id", "doc_id", "_id", "document_id", "ref_doc_id", "source", "source_id", "file", "file_name"),
    *("filename", "file_path", "path", "url", "document", "doc"),
)
_TEXT = ("text", "page_content", "content", "contents", "chunk", "body", "passage", "document", "doc")
_START = ("start", "start_index", "start_char_idx", "split_idx_start")
_END = ("end", "end_index", "end_char_idx")
_SCORE = ("score", "_score", "similarity")
# What holds such fields in turn.
_INSIDE = ("node", "_source", "payload", "document", "doc", "fields", "properties", "metadata", "meta")
_FIELDS = tuple(dict.fromkeys((*_ID, *_TEXT, *_START, *_END, *_SCORE, *_INSIDE)))
_LONGEST = 200  # characters of an error or a row that are shown


def read_row(given: object) -> Row:
    """The row that ``given`` stands for; what can't be read of it is named in ``fault``.

    It is a text, ``(row, score)``, or an object with a text, names of its document, offsets and a score, in
    itself or in what it holds (a node, a payload, metadata). A missing end follows from start and text.
    """
    if isinstance(given, str):
        return Row(text=given)
    if _is_scored(given):
        return read_row(given[0])._replace(score=_score(given[1]))
    fields = _fields(given)
    faults = [f"{key} is {a(fields[key])}" for key in ("id", "doc_id") if not _is_name(fields.get(key, ""))]
    faults += [f"text is {a(fields['text'])}"] if not isinstance(fields.get("text", ""), str) else []
    text = next((value for value in _values(fields, _TEXT) if isinstance(value, str)), None)
    start, end = _offset(fields, _START, faults), _offset(fields, _END, faults)
    if start is not None and end is None and text:
        end = start + len(text)
    if (start is None) != (end is None):
        faults.append("only one of start and end")
        start = end = None
    names = dict.fromkeys(str(value) for value in _values(fields, _ID) if _is_name(value) and value != text)
    if not names and text is None and not faults:
        faults.append(f"{a(given)} without an id or a text")
    row_id, *others = names or [None]
    score = _score(next(_values(fields, _SCORE), None))
    shown = line(repr(given)) if faults else ""
    return Row(row_id, text, start, end, score, ", ".join(faults), shown, tuple(filter(None, others)))


def a(value: object) -> str:
    """What kind of thing it is."""
    if value is None:
        return "nothing (None)"
    kind = type(value).__name__
    return f"an {kind}" if kind[0] in "aeio" else f"a {kind}"


def line(text: str, longest: int = _LONGEST) -> str:
    """``text`` on one line, cut where it is long."""
    text = " ".join(text.split())
    return text if len(text) <= longest else text[:longest] + " …"


def attribute(given: object, name: str) -> Any:
    """An attribute, None where there is none: a property may raise whatever it likes."""
    with suppress(Exception):
        return getattr(given, name, None)
    return None


def _fields(given: object, levels: int = 4) -> dict[str, Any]:
    """What a row holds under the known names, and behind that what the objects in it hold."""
    if hasattr(given, "_asdict"):  # a named tuple
        given = given._asdict()
    known = given if isinstance(given, Mapping) else {name: attribute(given, name) for name in _FIELDS}
    fields = {name: known[name] for name in _FIELDS if known.get(name) is not None}
    if "text" not in fields:
        with suppress(Exception):
            fields["text"] = attribute(given, "get_content")()
    for held in list(_values(fields, _INSIDE)) if levels else ():
        fields = _fields(held, levels - 1) | fields
    return fields


def _values(fields: Mapping[str, Any], names: Iterable[str]) -> Iterator[Any]:
    """The values under those of ``names`` that there are."""
    return (fields[name] for name in names if name in fields)


def _is_scored(given: object) -> TypeGuard[Sequence[object]]:
    """Whether a row stands beside its score."""
    if not isinstance(given, (tuple, list)) or hasattr(given, "_asdict") or len(given) != 2:
        return False
    return given[1] is None or hasattr(given[1], "__float__")


def _is_name(value: object) -> bool:
    return isinstance(value, (str, Integral)) and not isinstance(value, bool)


def _offset(fields: Mapping[str, Any], names: Sequence[str], faults: list[str]) -> int | None:
    value = next(_values(fields, names), None)
    if value is None:
        return None
    try:
        if not isinstance(value, bool):
            return operator.index(value)
    except TypeError:
        pass
    faults.append(f"{names[0]} is {a(value)}")
    return None


def _score(value: Any) -> float | None:
    if value is None:
        return None
    try:
        score = math.nan if isinstance(value, (str, bool)) else float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan
    return score if math.isfinite(score) else math.nan
