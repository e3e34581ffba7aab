"""Topics and the judgements of documents for them: TREC's files and BEIR's."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from harness.golden.faults import Faults
from harness.golden.lines import read_text
from harness.questions.importing import Asked, Given, Refused, Row
from harness.records import Evidence


class Topic(NamedTuple):
    """A topic's text, the line on which it stands, and what else is known of it."""

    text: str
    line: int
    known: Mapping[str, Any] = {}


def given_of(topics: Mapping[str, Topic], qrels_file: Path, recognised: str) -> Given:
    """Each topic that has relevant documents, its evidence these documents. A grade of 0 or less is no evidence.

    Topics that nobody judged are no part of the set, and counted. Documents of a topic that there is not are refused.
    """
    qrels = read_qrels(qrels_file)
    asked, refused, aside = [], [], 0
    for number, topic_id in enumerate(dict.fromkeys([*topics, *qrels])):
        evidence = tuple(Evidence(doc_id, grade=grade) for doc_id, grade in qrels.get(topic_id, {}).items())
        topic = topics.get(topic_id)
        places = [{"doc_id": place.doc_id, "grade": place.grade} for place in evidence]
        item = {"question_id": topic_id, "question": topic.text if topic else None, "evidence": places}
        if topic is None:
            row = Row(number, f'topic "{topic_id}"', item)
            reason = (
                f"judged in {qrels_file.name}, but there is no topic with this id; add its text as question."
            )
            refused.append(Refused(row, reason, topic_id))
        elif not evidence:
            aside += 1
        else:
            row = Row(number, f"line {topic.line}", {**topic.known, **item})
            provenance = {"metadata": dict(topic.known)} if topic.known else {}
            asked.append(Asked((row,), topic_id, topic.text, evidence, (), (), None, provenance))
    notes = (
        (f"{aside:,} without a relevant document in {qrels_file.name}; no part of the set",) if aside else ()
    )
    return Given(recognised, len(asked) + len(refused), asked, refused, None, notes)


def read_qrels(path: Path) -> dict[str, dict[str, int]]:
    """Topic to its relevant documents and their grades, in the order of the file.

    A line is ``topic 0 document grade`` (TREC) or ``topic document grade`` (BEIR, parted by tabs, below a header).
    """
    faults = Faults(path)
    qrels: dict[str, dict[str, int]] = {}
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        fields = _fields(line)
        grade = _grade(fields[-1]) if fields else None
        if not fields or (number == 1 and grade is None):
            continue
        if len(fields) not in {3, 4} or grade is None:
            faults.add(number, "not 'topic 0 document grade', nor topic, document and grade parted by tabs.")
        elif grade > 0 and qrels.setdefault(fields[0], {}).setdefault(fields[-2], grade) != grade:
            faults.add(
                number, f"topic {fields[0]} and document {fields[-2]} were given another grade before."
            )
    faults.raise_if_any()
    return qrels


def looks_like_qrels(text: str) -> bool:
    """Whether the first lines are all ``topic 0 document grade``."""
    lines = [line for line in text.split("\n", 20)[:20] if line.strip()]
    return bool(lines) and all(re.fullmatch(r"\S+\s+\S+\s+\S+\s+-?\d+\s*", line) for line in lines)


def _fields(line: str) -> list[str]:
    """An id may hold blanks where tabs part the fields."""
    stripped = line.strip("\r\n")
    return [part.strip() for part in stripped.split("\t")] if "\t" in stripped else stripped.split()


def _grade(field: str) -> int | None:
    try:
        return int(float(field))
    except (ValueError, OverflowError):
        return None
