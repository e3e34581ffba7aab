"""Topics and judgements of documents: TREC's files and BEIR's folders."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from harness.errors import InputError
from harness.golden.beir import find_qrels, find_queries, judged_splits
from harness.golden.jsonl import Faults, FieldError, identifier, read_lines, read_objects, read_text
from harness.golden.judgements import read_qrels
from harness.questions.importing import GivenQuestion, GivenRow, QuestionFile, Refused
from harness.questions.importing.columns import is_given, meanings
from harness.records import Evidence

_TOP = re.compile(r"<top>(.*?)(?=</top>|<top>|\Z)", re.DOTALL | re.IGNORECASE)
_TOPIC = re.compile(
    r"<topic\s+number\s*=\s*[\"']?([^\"'>\s]+)[\"']?[^>]*>(.*?)</topic>", re.DOTALL | re.IGNORECASE
)
_PREFIX = re.compile(r"^(number|topic|description|narrative|query)\s*:\s*", re.IGNORECASE)


class Topic(NamedTuple):
    """A topic's text, the line on which it stands, and what else is known of it."""

    text: str
    line: int
    known: Mapping[str, Any] = {}


def given_of(topics: Mapping[str, Topic], qrels_file: Path, recognised: str) -> QuestionFile:
    """The topics with judgements. Topics without are counted in a note.

    Judgements for an unknown topic are refused, and lines of ``qrels_file`` that can't be read.
    """
    faults = Faults(qrels_file)
    qrels = read_qrels(qrels_file, faults)
    if not qrels:
        faults.raise_if_any()
    lines = dict(read_lines(qrels_file)) if faults.found else {}
    refused = [
        Refused(GivenRow(len(qrels) + line, f"{qrels_file.name}, line {line}", lines[line]), said)
        for line, said in faults.found
    ]
    asked = []
    for number, topic_id in enumerate(dict.fromkeys([*filter(qrels.get, topics), *qrels])):
        labels = tuple(Evidence(doc_id, grade=grade) for doc_id, grade in qrels[topic_id].items())
        topic = topics.get(topic_id)
        places = [{"doc_id": place.doc_id, "grade": place.grade} for place in labels]
        item = {"question_id": topic_id, "question": topic.text if topic else None, "evidence": places}
        if topic is None:
            row = GivenRow(number, f'topic "{topic_id}"', item)
            reason = (
                f"judged in {qrels_file.name}, but there is no topic with this id; add its text as question."
            )
            refused.append(Refused(row, reason, topic_id))
        else:
            row = GivenRow(number, f"line {topic.line}", {**topic.known, **item})
            provenance = {"metadata": dict(topic.known)} if topic.known else {}
            asked.append(GivenQuestion(row, topic_id, topic.text, labels, (), (), None, provenance))
    aside = len(topics.keys() - qrels)
    note = f"{aside:,} without a judgement in {qrels_file.name}; not part of the set"
    return QuestionFile(recognised, len(asked) + len(refused), asked, refused, None, (note,) * bool(aside))


def read_topics(path: Path, text: str, qrels: Path) -> QuestionFile:
    """The topics in ``text``, judged by ``qrels``.

    Raises ``InputError`` for topics that can't be read, or none.
    """
    faults = Faults(path)
    if is_sgml(text):
        topics, kind = _sgml(text, faults), "TREC topics"
    elif text.lstrip().startswith("{"):
        topics, kind = _objects(path, faults), "JSON lines of topics"
    else:
        topics, kind = _lines(text, faults), "topics of id, tab and text"
    faults.raise_if_any()
    if not topics:
        raise InputError(
            f"{path} holds no topics. TREC's <top>, or lines of id, tab and text, are expected.", path=path
        )
    return given_of(topics, qrels, f"{kind}, judged in {qrels.name}")


def is_sgml(text: str) -> bool:
    """Whether there are topics in tags."""
    return bool(re.search(r"<top>|<topic\s+number", text, re.IGNORECASE))


def _sgml(text: str, faults: Faults) -> dict[str, Topic]:
    found = [(_tag("num", match[1]), match[1], match.start()) for match in _TOP.finditer(text)]
    found += [(match[1], match[2], match.start()) for match in _TOPIC.finditer(text)]
    topics: dict[str, Topic] = {}
    for topic_id, body, at in found:
        line = text.count("\n", 0, at) + 1
        asked = next(filter(None, (_tag(tag, body) for tag in ("title", "question", "query", "desc"))), "")
        if not topic_id or not asked:
            faults.add(line, "a topic without <num> or without <title>.")
        else:
            known = {tag: words for tag in ("desc", "narr") if (words := _tag(tag, body)) not in {"", asked}}
            _add(topics, topic_id, Topic(asked, line, known), faults)
    return topics


def _tag(name: str, body: str) -> str:
    """The text after a tag, up to the next; TREC does not close its tags."""
    found = re.search(rf"<{name}>(.*?)(?=<[a-z/]|\Z)", body, re.DOTALL | re.IGNORECASE)
    words = " ".join(html.unescape(found[1]).split()) if found else ""
    return _PREFIX.sub("", words).strip()


def _lines(text: str, faults: Faults) -> dict[str, Topic]:
    topics: dict[str, Topic] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        topic_id, tab, asked = line.strip("\r\n").partition("\t")
        if not line.strip() or (number == 1 and {"id", "question"} <= set(meanings([topic_id, asked]))):
            continue
        if not tab or not topic_id.strip() or not asked.strip():
            faults.add(number, "a topic is its id, a tab and its text.")
        else:
            _add(topics, topic_id.strip(), Topic(asked.strip(), number), faults)
    return topics


def _objects(path: Path, faults: Faults) -> dict[str, Topic]:
    topics: dict[str, Topic] = {}
    for line, item in read_objects(path, faults):
        columns = meanings(item)
        asked = item.get(columns.get("question", ""))
        try:
            topic_id = identifier(item.get(columns.get("id", "")), "_id")
        except FieldError as error:
            faults.add(line, str(error))
            continue
        if not isinstance(asked, str) or not asked.strip():
            faults.add(line, f"the text is {json.dumps(asked)}; a text that is not blank is expected.")
        else:
            used = {columns["id"], columns["question"]}
            known = {key: value for key, value in item.items() if key not in used and is_given(value)}
            _add(topics, topic_id, Topic(asked, line, known), faults)
    return topics


def _add(topics: dict[str, Topic], topic_id: str, topic: Topic, faults: Faults) -> None:
    earlier = topics.setdefault(topic_id, topic)
    if earlier is not topic:
        faults.add(topic.line, f'the topic "{topic_id}" stands in line {earlier.line} already.')


def read_beir(folder: Path, split: str) -> QuestionFile:
    """The queries of the split. Raises ``InputError`` where the folder does not hold both files."""
    queries, qrels = find_queries(folder, split), find_qrels(folder, split)
    if queries is None or qrels is None:
        splits = judged_splits(folder)
        has = f" There are judgements for split={splits}." if splits else ""
        raise InputError(
            f"{folder} is not a folder in BEIR's layout: queries.jsonl and qrels/{split}.tsv (or qrels.tsv) "
            f"are expected.{has}",
            path=folder,
        )
    given = read_topics(queries, read_text(queries), qrels)
    return replace(given, recognised=f"BEIR, judged in {qrels.relative_to(folder).as_posix()}")
