"""Judgements: each place once, relevant or not, contradictions apart; and files of them (qrels)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from harness.errors import SettingError, number
from harness.golden.jsonl import Faults, FieldError, exact_number, identifier, number_in, read_lines, shown
from harness.records import Evidence
from harness.text.spans import squeezed

Place: TypeAlias = tuple[str, int | None, int | None, str]
Qrels: TypeAlias = dict[str, dict[str, float]]
# What columns of judgements are called: of the query, the document and the grade.
_COLUMNS = (
    {"queryid", "query", "qid", "topicid", "topic", "topicno"},
    {"corpusid", "documentid", "document", "docid", "doc", "docno", "pid", "passageid"},
    {"score", "grade", "relevance", "rel", "rating", "label", "judgement", "judgment"},
)


def place_of(label: Evidence) -> Place:
    """What makes two labels the same: a span without white space at its ends, a quote by its words."""
    if label.start is None or label.end is None:
        return label.doc_id, None, None, squeezed(label.quote or "")
    quote = label.quote or ""
    start = label.start + len(quote) - len(quote.lstrip())
    return label.doc_id, start, label.end - len(quote) + len(quote.rstrip()), ""


def each_once(labels: Iterable[Evidence]) -> tuple[list[Evidence], dict[Place, list[float]]]:
    """The labels, each place once with all its alternatives, and the grades of places that have several.

    Such a place is in none of the labels that come back: which of its grades is right is not known.
    """
    kept: dict[Place, Evidence] = {}
    grades: dict[Place, dict[float, None]] = {}
    for label in labels:
        place = place_of(label)
        there = kept.setdefault(place, label)
        grades.setdefault(place, {})[label.grade] = None
        if there.alternatives != label.alternatives:
            both = dict.fromkeys((*there.alternatives, *label.alternatives))
            kept[place] = replace(there, alternatives=tuple(both))
    several = {place: list(given) for place, given in grades.items() if len(given) > 1}
    return [label for place, label in kept.items() if place not in several], several


def contradiction(several: dict[Place, list[float]]) -> str:
    """The first place with several grades, as the beginning of a sentence."""
    place, grades = next(iter(several.items()))
    at = "" if place[1] is None else f" at {place[1]:,}"
    return f"{place[0] or 'a quote'}{at} has the grades {' and '.join(map(str, grades))}"


def apart(
    labels: Iterable[Evidence], not_relevant: Iterable[Evidence], relevant_from: float | None
) -> tuple[tuple[Evidence, ...], tuple[Evidence, ...]]:
    """The relevant ones of ``labels``, and the others: by their grade, or named in ``not_relevant``."""
    named = {place_of(label) for label in not_relevant}
    split: tuple[list[Evidence], list[Evidence]] = ([], [])
    for label in labels:
        split[place_of(label) in named or not is_relevant(label.grade, relevant_from)].append(label)
    return tuple(split[0]), tuple(split[1])


def is_relevant(grade: float, relevant_from: float | None) -> bool:
    """Whether a grade says that the place is relevant: it is above 0, or at least ``relevant_from``."""
    return grade > 0 if relevant_from is None else grade >= relevant_from


def lowest_relevant(value: object, key: str) -> float | None:
    """The setting ``key`` as a grade above 0, or None. Raises ``SettingError`` for any other value."""
    if value is None or number(value, key) > 0:
        return None if value is None else number(value, key)
    raise SettingError(
        f'{key} is {value}; it must be above 0, because a grade of 0 always says "not relevant".', key=key
    )


def read_qrels(path: Path, faults: Faults) -> Qrels:
    """Query id to its judged documents and their grades, in the order of the file.

    A line is ``query document grade`` or ``query 0 document grade``, separated by tabs or blanks (BEIR, TREC,
    MS MARCO). A first line whose last field is not a number, with a known name or without any digit, is a
    header, and its known names say which column is which. Other lines that can't be read are ``faults``, and
    so are pairs with two grades, which are left out.
    """
    judged: dict[tuple[str, str], tuple[int, float]] = {}
    contradictory: set[tuple[str, str]] = set()
    columns: tuple[int, ...] = ()
    for i, (line, content) in enumerate(read_lines(path)):
        fields = _fields(content)
        if i == 0 and (columns := _header(fields)):
            continue
        try:
            query_id, doc_id, grade = _judgement(fields, columns)
        except FieldError as error:
            faults.add(line, str(error))
            continue
        at, earlier = judged.setdefault((query_id, doc_id), (line, grade))
        if earlier != grade:
            contradictory.add((query_id, doc_id))
            said = (
                f"the grade of query {query_id} and document {doc_id} is {grade}, and {earlier} in line {at}."
            )
            faults.add(line, said)
    qrels: Qrels = {}
    for (query_id, doc_id), (_, grade) in judged.items():
        if (query_id, doc_id) not in contradictory:
            qrels.setdefault(query_id, {})[doc_id] = grade
    return qrels


def _fields(content: str) -> list[str]:
    by_tabs = [field.strip() for field in content.rstrip().split("\t")]
    return by_tabs if len(by_tabs) in {3, 4} else content.split()


def _header(fields: Sequence[str]) -> tuple[int, ...]:
    """The columns of query, document and grade, from 0; empty when the line is no header."""
    names = [re.sub(r"[\W_]+", "", field.casefold()) for field in fields]
    at = [next((i for i, name in enumerate(names) if name in known), -1) for known in _COLUMNS]
    is_named = max(at) >= 0 or not any(map(str.isdigit, "".join(names)))
    if not isinstance(number_in(fields[-1]), str) or not is_named or len(fields) not in {3, 4}:
        return ()
    return tuple(at) if min(at) >= 0 and len(set(at)) == len(at) else (0, len(fields) - 2, len(fields) - 1)


def _judgement(fields: Sequence[str], columns: Sequence[int]) -> tuple[str, str, float]:
    query, document, grade = columns or (0, len(fields) - 2, len(fields) - 1)
    if len(fields) not in {3, 4} or max(query, document, grade) >= len(fields):
        raise FieldError(
            f"{len(fields)} {'field' if len(fields) == 1 else 'fields'}, the last being {shown(fields[-1])}; "
            "query, document and grade, separated by tabs or blanks, are expected."
        )
    return (
        identifier(fields[query], "the query's id"),
        identifier(fields[document], "the document's id"),
        exact_number(number_in(fields[grade]), "the grade"),
    )
