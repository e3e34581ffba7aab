"""Topics of TREC: SGML as the tracks have it, XML of later years, or lines of id, tab and text; JSON lines as BEIR has them, too."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

from harness.errors import InputError
from harness.golden.faults import Faults
from harness.golden.fields import FieldError, identifier
from harness.golden.lines import read_objects
from harness.questions.importing import Given
from harness.questions.importing.columns import meanings
from harness.questions.importing.judged import Topic, given_of
from harness.questions.importing.values import is_given

_TOP = re.compile(r"<top>(.*?)(?=</top>|<top>|\Z)", re.DOTALL | re.IGNORECASE)
_TOPIC = re.compile(
    r"<topic\s+number\s*=\s*[\"']?([^\"'>\s]+)[\"']?[^>]*>(.*?)</topic>", re.DOTALL | re.IGNORECASE
)
_PREFIX = re.compile(r"^(number|topic|description|narrative|query)\s*:\s*", re.IGNORECASE)


def read(path: Path, text: str, qrels: Path) -> Given:
    """The topics in ``text``, judged by ``qrels``. Raises ``InputError`` for topics that can't be read, or none."""
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
    """What stands behind a tag, up to the next; TREC does not close its tags."""
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
