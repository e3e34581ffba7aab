"""Judgements of documents as teams with a search engine export them: Quepid, OpenSearch, Elasticsearch."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from harness.errors import InputError, SettingError
from harness.golden.jsonl import FieldError, shown
from harness.questions.importing.columns import is_given, meanings, unpacked
from harness.questions.importing.rows import Shape
from harness.questions.importing.topics import is_sgml

_DOCUMENT_IDS = ("doc_id", "docid", "docId", "_id")
_NO_JUDGE = re.compile(r"position|rank|score|page|count|gain|labels?|\w*(rel|judg|grad)\w*")
_RATING = re.compile(r"\s*(\d|10)(\.\d+)?\s*")  # on Quepid's scales
# Where Elasticsearch and OpenSearch have the words that are looked for; what is filtered is not asked.
_QUERIES = re.compile(
    r"match|match_(phrase|phrase_prefix|bool_prefix)|multi_match|(simple_)?query_string|combined_fields"
    r"|semantic|sparse_vector|text_expansion|text_embedding|neural(_sparse)?"
)
_WORDS = {"query", "query_text", "model_text"}
_NOT_ASKED = {"filter", "must_not", "post_filter", "highlight", "aggs", "aggregations", "suggest", "sort"}
_PARAMETERS = {*_WORDS, "query_string", "q"}
_PARAMETER = re.compile(r"\{\{\s*(\w+)\s*\}\}")

_FIRST_LINES = 20
# What all of the first lines are in files without questions and evidence.
_LINES = {
    r"\S+[ \t]+\S+[ \t]+\S+[ \t]+\d+[ \t]+-?[\d.eE+-]+[ \t]+\S+\s*": "is a run of TREC: what a retriever "
    "returned, not what is right. Give the topics with qrels=FILE.",
    r"-?[\d.]+\s+qid:\S+(\s.*)?": "holds features for learning to rank. Give the topics with qrels=FILE.",
    r"(query.id\tcorpus.id\tscore|\S+(\t\S+|[ \t]+\S+[ \t]+\S+)[ \t]+-?\d+(\.\d+)?)\s*": "holds "
    "judgements (qrels). Give the topics first: TOPICS qrels=FILE.",
    r"\S+\t[^\t]*\S [^\t]*": "holds ids and texts. Give the judgements of topics with qrels=FILE; documents "
    "are read with corpus=jsonl.",
}


def refuse_others(
    path: Path, text: str, *, is_header: Callable[[Sequence[str]], bool], is_trec: bool
) -> None:
    """Raises for a text whose first lines have a form that questions with evidence never have."""
    if is_trec or is_sgml(text[:2000]):
        said = "holds topics of TREC; give their judgements, too: qrels=FILE."
        raise SettingError(f"{path} {said}", key="qrels")
    lines = [line for line in text.split("\n", _FIRST_LINES)[:_FIRST_LINES] if line.strip()]
    for form, said in _LINES.items():
        if all(re.fullmatch(form, line) for line in lines) and not is_header(lines[0].split("\t")):
            raise InputError(f"{path} {said}", path=path)


def requests_of(content: Mapping[str, Any]) -> list[Any]:
    """The requests of a ``_rank_eval``, the templates in them filled in."""
    templates = {item["id"]: item["template"] for item in content.get("templates") or []}
    return [_filled(request, templates.get(request.get("template_id"))) for request in content["requests"]]


def lists_of(content: Mapping[str, Any]) -> list[Any]:
    """The judgements in an answer of OpenSearch."""
    return [row for hit in content["hits"]["hits"] for row in hit["_source"]["judgmentRatings"]]


def _filled(request: dict[str, Any], template: Any) -> dict[str, Any]:
    """The request with the query that its template becomes; unchanged where that can't be told."""
    if template is None:
        return request
    source, params = template.get("source", template.get("inline", template)), request["params"]
    text = source if isinstance(source, str) else json.dumps(source)
    filled = _PARAMETER.sub(lambda found: json.dumps(str(params.get(found[1], "")))[1:-1], text)
    try:
        return {**request, "request": json.loads(filled)}
    except ValueError:
        return request


def _is_case(row: Mapping[str, Any]) -> bool:
    """A query, a document and a rating, named as Quepid names them in a case, or in a book as JSON."""
    is_detailed = {"query_text", "doc_id"} <= set(row) and bool({"rating", "judgements"} & set(row))
    return is_detailed or set(row) == {"query", "docid", "rating"}


def _is_book(row: Mapping[str, Any]) -> bool:
    """``query`` and ``docid``, and for each judge a column of numbers."""
    judges = {key: value for key, value in row.items() if key not in {"query", "docid"}}
    are_ratings = all(not is_given(value) or _RATING.fullmatch(str(value)) for value in judges.values())
    are_people = bool(judges) and not meanings(judges) and not any(map(_NO_JUDGE.fullmatch, judges))
    return {"query", "docid"} <= set(row) and are_ratings and are_people


def _rated(row: dict[str, Any]) -> dict[str, Any] | None:
    """The grade is the rating as it is given, or the mean of the judges' ratings."""
    row["question"] = row.pop("query_text" if "query_text" in row else "query")
    if "rating" in row:
        grade = row.pop("rating")
    else:
        pair = unpacked(row.pop("judgements", None))
        values = [value for key, value in row.items() if key not in {"question", "docid"}]
        grades = [_grade(value) for value in ([item.get("rating") for item in pair] if pair else values)]
        known = [grade for grade in grades if grade is not None]
        grade = _grade(fmean(known)) if known else None
    return row | {"grade": grade} if is_given(grade) else None


def _is_list(row: Mapping[str, Any]) -> bool:
    return "query" in row and isinstance(unpacked(row.get("ratings")), (list, dict))


def _is_request(row: Mapping[str, Any]) -> bool:
    return "ratings" in row and bool({"request", "template_id"} & set(row))


def _list(row: dict[str, Any]) -> dict[str, Any] | None:
    """``ratings`` is a list of documents with a rating each, or an object of ratings by document."""
    given = unpacked(row.pop("ratings"))
    if isinstance(given, dict):
        return _judged(row, given.items())
    ids = [next((item[key] for key in _DOCUMENT_IDS if key in item), None) for item in given]
    return _judged(row, zip(ids, (item.get("rating") for item in given), strict=True))


def _request(row: dict[str, Any]) -> dict[str, Any] | None:
    """The words that a request looks for are the question."""
    asked = dict.fromkeys(_words(row.pop("request", None)))
    if not asked and is_given(row.get("params")):
        asked = dict.fromkeys(value for key, value in row["params"].items() if key in _PARAMETERS)
    if len(asked) != 1:
        found = f"several: {', '.join(map(shown, asked))}" if asked else "none"
        raise FieldError(
            f"the text of the question is not clear from the request; found: {found}. Write it as "
            '{"query": "...", "ratings": [...]}.'
        )
    return _list(row | {"query": next(iter(asked))})


def _words(part: Any, *, is_query: bool = False) -> Iterator[str]:
    """All texts that a query looks for. ``is_query``: ``part`` is what a query such as ``match`` is given."""
    if isinstance(part, list):
        for item in part:
            yield from _words(item)
    for key, value in part.items() if isinstance(part, dict) else ():
        if is_query and isinstance(value, str) and (key in _WORDS or len(part) == 1):
            yield value
        elif key not in _NOT_ASKED:
            yield from _words(value, is_query=is_query or bool(_QUERIES.fullmatch(key)))


def _judged(row: dict[str, Any], ratings: Iterable[tuple[Any, Any]]) -> dict[str, Any] | None:
    """The row as question and graded documents; None if no document has a rating."""
    graded = [(doc_id, grade) for doc_id, rating in ratings if (grade := _grade(rating)) is not None]
    row["question"] = row.pop("query")
    return row | {"evidence": [{"doc_id": i, "grade": grade} for i, grade in graded]} if graded else None


def _grade(value: Any) -> int | float | None:
    """A number, maybe written as a text; None where nothing is written."""
    if not is_given(value):
        return None
    try:
        grade = float(value)
    except (TypeError, ValueError):
        grade = math.nan
    if not math.isfinite(grade):
        raise FieldError(f"the rating is {shown(value)}; a number is expected.")
    return int(grade) if grade.is_integer() else grade


SHAPES = (
    Shape("quepid", "ratings of documents, as Quepid and OpenSearch write them", _is_case, _rated),
    Shape("quepid_book", "a Quepid book, graded by the mean of its judges", _is_book, _rated, is_whole=True),
    Shape("rank_eval", "an Elasticsearch _rank_eval", _is_request, _request),
    Shape("opensearch", "judgements of OpenSearch", _is_list, _list),
)
DOCUMENTS = (("", requests_of), ("", lists_of))
