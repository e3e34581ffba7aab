"""Test sets of the tools that evaluate LLM applications; what a retriever returned is no evidence."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from harness.golden.jsonl import FieldError
from harness.questions.importing.columns import (
    LABELS,
    is_given,
    meanings,
    missing_names,
    plain,
    texts,
    unpacked,
)
from harness.questions.importing.rows import Shape, WrongKindError

_HOP = re.compile(r"<\d+-hop>\s*")  # ragas puts it before each context of a question that needs several
_GENERATED = {"response", "actual_output", "generated_answer", "prediction"}
_ANSWERS = {"answer", "ground_truth", "ground_truths", *_GENERATED}
_RETURNED = re.compile(r"retriev(ed|al)_(contexts?|chunks?|documents|docs|ids|contents)|source_documents")
_OUTPUTS = ("outputs", "output", "expectations", "reference_outputs", "expected")
# Where an example has its question, its answer and what else is known of it.
_PARTS = {
    **dict.fromkeys(("inputs", "input", "vars"), "question"),
    **dict.fromkeys((*_OUTPUTS, "expected_output", "ideal"), "answer"),
    "metadata": "metadata",
}
_PREFIX = re.compile(r"(inputs?|outputs?|vars|expectations|metadata)[._:](.+)")
_QUESTIONS = ("input", "prompt", "user_question", "message", "messages")

_DIALOGUES = "dialogues of several turns (DeepEval); one question a row is expected"
_RANKING = "a ranking: what a retriever returned, not what is right"
_TRACES = "traces of an application, not questions with evidence"
# What rows of other kinds of files have, and what such a file holds.
_OTHERS = {
    ("query_text", "case_id"): "a Quepid export without ratings; export the case as Detailed or Basic",
    ("turns", "scenario"): _DIALOGUES,
    ("turns", "expected_outcome"): _DIALOGUES,
    ("trace_id", "span_id"): _TRACES,
    ("trace_id", "run_type"): _TRACES,
    ("context.trace_id", "context.span_id"): _TRACES,
    ("resource_spans",): _TRACES,
    ("took", "hits"): "what a search engine found, not what is right",
    ("_index", "_source"): "a dump of an index, not questions with evidence; documents are for corpus=jsonl",
    ("doc_id", "rank", "score"): _RANKING,
    ("docid", "rank", "score"): _RANKING,
}


def _is_generated(row: Mapping[str, Any]) -> bool:
    """Whether ragas wrote the question, and its contexts are those that it was written from."""
    return (
        {"user_input", "synthesizer_name"} <= set(row)
        or (
            {"evolution_type", "contexts", "ground_truth"} <= set(row)
            and not {"answer", "response"} & set(row)
        )
        or ("question_type" in row and bool({"ground_truth_context", "ground_truth_contexts"} & set(row)))
    )


def _is_ragas(row: Mapping[str, Any]) -> bool:
    has_reference = bool({"reference_contexts", "reference", "response"} & set(row))
    return _is_generated(row) or "eval_sample" in row or ("user_input" in row and has_reference)


def _ragas(row: dict[str, Any]) -> dict[str, Any]:
    """The row without what only ragas knows: marks before contexts, a sample inside its record."""
    sample = unpacked(row.pop("eval_sample", None))
    row |= {plain(key): value for key, value in sample.items()} if isinstance(sample, dict) else {}
    if isinstance(unpacked(row.get("user_input")), list):
        raise FieldError("user_input is a conversation of several turns; one question is expected.")
    if _is_generated(row):
        row.setdefault("source", "synthetic")
        row = {"reference_contexts" if key == "contexts" else key: value for key, value in row.items()}
    for key in {"reference_contexts"} & set(row):
        row[key] = [_HOP.sub("", t, count=1) if isinstance(t, str) else t for t in texts(row[key])]
    return row


def _is_example(row: Mapping[str, Any]) -> bool:
    """Inputs beside outputs, as objects or texts, or as columns such as ``inputs.question``."""
    names = [(found[1], found[2]) for key in row if (found := _PREFIX.fullmatch(key))]
    return (
        any(isinstance(unpacked(row.get(key)), dict) for key in ("inputs", "input", "vars"))
        or bool({"inputs", "input"} & set(row) and set(_OUTPUTS) & set(row))
        or any(_PARTS[part] == "question" and "question" in meanings([name]) for part, name in names)
    )


def _example(row: dict[str, Any]) -> dict[str, Any]:
    """What the inputs and outputs hold, and labels that stand in the metadata."""
    parts: dict[str, dict[str, Any]] = {part: {} for part in _PARTS.values()}
    left: dict[str, Any] = {}
    for key, value in row.items():
        found = _PREFIX.fullmatch(key)
        part = _PARTS.get(found[1] if found else key)
        inner = {found[2]: value} if found else unpacked(value)
        if part is None:
            left[key] = value
        elif is_given(inner):
            parts[part] |= (
                {plain(k): v for k, v in inner.items()} if isinstance(inner, dict) else {part: inner}
            )
    asked, inside = parts["question"], parts["answer"] | parts["question"]
    name = meanings(asked).get("question") or next((key for key in _QUESTIONS if key in asked), None)
    if name is None:
        raise FieldError(f"no question among the inputs {', '.join(asked) or '(none)'}; name it question.")
    inside["question"] = _only_turn(inside.pop(name))
    if str(inside.get("context")).startswith("file://"):  # promptfoo's way to name a document
        inside["doc_id"] = inside.pop("context").removeprefix("file://").removeprefix("./")
    if not _has_label(inside):
        inside |= {key: parts["metadata"].pop(key) for key in [*parts["metadata"]] if _has_label({key: 1})}
    return left | inside | ({"metadata": parts["metadata"]} if parts["metadata"] else {})


def _only_turn(question: Any) -> Any:
    """What the user says in a conversation of one question; anything else as it is."""
    if not isinstance(question, list):
        return question
    asked = [turn["content"] for turn in question if turn.get("role", turn.get("type")) in {"user", "human"}]
    if len(asked) == 1:
        return asked[0]
    raise FieldError("the input is a conversation of several turns; one question is expected.")


def _is_golden(row: Mapping[str, Any]) -> bool:
    return "input" in row and bool({"expected_output", "retrieval_context", "actual_output"} & set(row))


def _golden(row: dict[str, Any]) -> dict[str, Any]:
    """DeepEval joins contexts by a bar where it writes a table."""
    context = unpacked(row.pop("context", None))
    contexts = context.split("|") if isinstance(context, str) else context or []
    return row | {"question": row.pop("input"), "reference_contexts": list(filter(is_given, contexts))}


def other_kind(row: Collection[str]) -> str | None:
    """What a file holds whose rows are no questions with evidence, told by keys as ``plain`` gives them."""
    return next((said for keys, said in _OTHERS.items() if set(keys) <= set(row)), None)


def without_results(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """The row with what a retriever returned among its metadata.

    Raises ``WrongKindError`` where nothing else is left to take for evidence, for rows of other files, and
    for a row without the keys of a question or its evidence.
    """
    columns = {plain(key): key for key, value in given.items() if is_given(value)}
    other = other_kind({plain(key) for key in given})
    if other and not set(meanings(columns)) & (set(LABELS) - {"doc_id"}):
        raise WrongKindError(f"it holds {other}.")
    answers = [key for name, key in columns.items() if name in _ANSWERS]
    returned = [
        key
        for name, key in columns.items()
        if _RETURNED.fullmatch(name)
        or (name == "contexts" and answers)
        or (name == "context" and _GENERATED & set(columns))
    ]
    rest = {key: value for key, value in given.items() if key not in returned}
    if not returned:
        said = missing_names(given)
        if said:
            raise WrongKindError(said)
        return given
    if not _has_label(rest):
        beside = f" beside {' and '.join(answers)}" if answers else ""
        raise WrongKindError(
            f"{' and '.join(returned)}{beside}: this is what a retriever returned, not evidence. If it is "
            "evidence, name it reference_contexts."
        )
    metadata = unpacked(rest.pop("metadata", None)) or {}
    metadata = metadata if isinstance(metadata, dict) else {"metadata": metadata}
    return {**rest, "metadata": {**metadata, **{key: given[key] for key in returned}}}


def _has_label(row: Mapping[str, Any]) -> bool:
    """Whether something says where the answer stands; an empty list of evidence says: nowhere."""
    known = meanings(
        key for key, value in row.items() if is_given(value) or (key == "evidence" and value == [])
    )
    return bool(set(LABELS) & set(known))


SHAPES = (
    Shape("promptfoo", "tests of promptfoo", lambda row: isinstance(row.get("vars"), dict), _example),
    Shape("langsmith", "examples with inputs and outputs, as LangSmith writes them", _is_example, _example),
    Shape("deepeval", "goldens of DeepEval", _is_golden, _golden),
    Shape("ragas", "a ragas test set", _is_ragas, _ragas),
)
