"""Questions with passages of documents: SQuAD, legal spans, test sets that name the chunks to be found."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from harness.golden.jsonl import FieldError, as_list, shown
from harness.questions.importing.columns import is_given, texts, unpacked
from harness.questions.importing.rows import Shape
from harness.text.encodings import encodable

_TEXTS = ("text", "content", "contents", "page_content")
_DOCUMENTS = ("doc_uri", "doc_id", "source", "id")
_EXPECTED = ("expected_chunks", "expected_retrieved_context", "positive_passages", "positive_ctxs")
_GISKARD_DOCUMENT = re.compile(r"(?:^|\n\n)Document [^\s:]+: ")


def paragraphs_of(content: Mapping[str, Any]) -> list[Any]:
    """The questions of a SQuAD file, each with its paragraph."""
    return [
        {"title": article.get("title"), "context": paragraph["context"], **question}
        for article in content["data"]
        for paragraph in article["paragraphs"]
        for question in paragraph["qas"]
    ]


def pairs_of(content: Mapping[str, Any]) -> list[Any]:
    """The queries of a LlamaIndex set with the texts of their nodes, whose ids are its own."""
    queries, corpus, relevant = (content[key] for key in ("queries", "corpus", "relevant_docs"))
    rows = []
    for query_id in dict.fromkeys([*queries, *relevant]):
        nodes = as_list(relevant.get(query_id, []))
        contexts = [corpus.get(node, {"not in corpus": node}) for node in nodes]
        given = {"question_id": query_id, "question": queries.get(query_id), "reference_contexts": contexts}
        rows.append(given)
    return rows


def _example(row: dict[str, Any]) -> dict[str, Any]:
    """``query_by`` says whether a model wrote the question."""
    by = row["query_by"]
    return {"source": "synthetic", **row} if isinstance(by, dict) and by.get("type") == "ai" else row


def _is_squad(row: Mapping[str, Any]) -> bool:
    has_answers = "is_impossible" in row or _starts(row.get("answers")) is not None
    return {"context", "question"} <= set(row) and has_answers


def _squad(row: dict[str, Any]) -> dict[str, Any]:
    """The sentence that holds an answer is the evidence; those of other answers are alternatives."""
    context, answers = row.pop("context"), _starts(row.pop("answers", None))
    is_impossible = row.pop("is_impossible", None)
    if is_impossible or (is_impossible is None and answers == []):
        return row | {"evidence": []}
    if not answers:
        raise FieldError("answers, each with text and answer_start, are expected.")
    first, *others = dict.fromkeys(_sentence(context, text, start) for text, start in answers)
    alternatives = {"alternatives": [{"quote": quote} for quote in others]} if others else {}
    return row | {"answer": answers[0][0], "evidence": [{"quote": first, **alternatives}]}


def _starts(answers: Any) -> list[tuple[Any, Any]] | None:
    """Text and start of each answer, given as a list of objects or an object of lists; None for others."""
    given = unpacked(answers)
    if isinstance(given, dict) and {"text", "answer_start"} <= set(given):
        return list(zip(as_list(given["text"]), as_list(given["answer_start"]), strict=False))
    if isinstance(given, list) and all(isinstance(item, dict) and "answer_start" in item for item in given):
        return [(item.get("text"), item["answer_start"]) for item in given]
    return None


def _sentence(context: str, text: Any, start: Any) -> str:
    """The sentences that hold the answer; with those beside them while the same words stand there twice."""
    import sentencex

    if not text.strip() or context[start : start + len(text)] != text:
        if context.count(text) != 1:
            raise FieldError(f"the answer {shown(text)} does not stand at {start} of its context.")
        start = context.index(text)
    found = sentencex.get_sentence_boundaries("en", encodable(context))
    bounds = sorted({0, *(int(each["start_index"]) for each in found), len(context)})
    first = max(i for i, bound in enumerate(bounds) if bound <= start)
    last = min(i for i, bound in enumerate(bounds) if bound >= start + len(text))
    for wider in range(len(bounds)):
        quote = context[bounds[max(first - wider, 0)] : bounds[min(last + wider, len(bounds) - 1)]].strip()
        if context.count(quote) == 1:
            break
    return quote


def _snippets(row: dict[str, Any]) -> dict[str, Any]:
    """Files, spans and their texts, as in LegalBench-RAG."""
    evidence = []
    for item in unpacked(row.pop("snippets")):
        start, end = item["span"]
        quote = {"quote": item["answer"]} if item.get("answer") else {}
        evidence.append({"doc_id": item["file_path"], "start": start, "end": end, **quote})
    return row | {"evidence": evidence}


def _is_expected(row: Mapping[str, Any]) -> bool:
    return bool({"query", "question", "request"} & set(row)) and bool(set(_EXPECTED) & set(row))


def _expected(row: dict[str, Any]) -> dict[str, Any]:
    """Chunks with a score are graded quotes; those without a text are documents."""
    items = as_list(unpacked(row.pop(next(key for key in _EXPECTED if key in row))))
    row = {{"expected_response": "answer", "request": "question"}.get(k, k): v for k, v in row.items()}
    if any(isinstance(item, dict) and "expected_score" in item for item in items):
        grades = [item.get("expected_score", 1) for item in items]
        quotes = [{"quote": _text(i, _TEXTS), "grade": g} for i, g in zip(items, grades, strict=True)]
        return row | {"evidence": quotes}
    if any(isinstance(item, dict) and not set(_TEXTS) & set(item) for item in items):
        return row | {"relevant_doc_ids": [_text(item, _DOCUMENTS) for item in items]}
    return row | {"reference_contexts": [_text(item, _TEXTS) for item in items]}


def _text(item: Any, names: tuple[str, ...]) -> Any:
    return next((item[name] for name in names if name in item), None) if isinstance(item, dict) else item


def _giskard(row: dict[str, Any]) -> dict[str, Any]:
    """The documents that Giskard joined into one text; none for a question that they don't answer."""
    metadata, joined = unpacked(row.get("metadata")), row.pop("reference_context")
    kind = str(metadata.get("question_type", "")) if isinstance(metadata, dict) else ""
    if "out of" in kind.replace("_", " "):
        return row | {"evidence": []}
    contexts = _GISKARD_DOCUMENT.split(joined) if isinstance(joined, str) else texts(joined)
    return row | {"source": "synthetic", "reference_contexts": list(filter(is_given, contexts))}


def _autorag(row: dict[str, Any]) -> dict[str, Any]:
    """Each list of ids is one group of alternatives. Ids are those of AutoRAG's corpus."""
    groups = [as_list(group) for group in as_list(unpacked(row.pop("retrieval_gt"))) if group]
    others = [[{"doc_id": doc_id} for doc_id in group[1:]] for group in groups]
    evidence = [
        {"doc_id": group[0], **({"alternatives": rest} if rest else {})}
        for group, rest in zip(groups, others, strict=True)
    ]
    return row | {"evidence": evidence, "answer": row.pop("generation_gt", None)}


_AUTORAG = "AutoRAG's questions; the documents must have the ids of its corpus"
SHAPES = (
    Shape(
        "llama_index", "a question set of LlamaIndex", {"query_by", "reference_contexts"}.issubset, _example
    ),
    Shape("squad", "SQuAD; the evidence is the sentence of the answer", _is_squad, _squad),
    Shape("legalbench_rag", "LegalBench-RAG", {"query", "snippets"}.issubset, _snippets),
    Shape(
        "expected_chunks", "questions with expected chunks, as of TruLens and MLflow", _is_expected, _expected
    ),
    Shape("giskard", "a Giskard test set", {"reference_answer", "reference_context"}.issubset, _giskard),
    Shape("autorag", _AUTORAG, {"query", "retrieval_gt"}.issubset, _autorag),
)
DOCUMENTS: tuple[tuple[str, Callable[[Mapping[str, Any]], list[Any]]], ...] = (
    ("", paragraphs_of),
    ("a question set of LlamaIndex", pairs_of),
    ("", lambda content: [item["row"] for item in content["rows"]]),  # what Hugging Face's viewer answers
    ("", lambda content: [dict(zip(content["columns"], row, strict=True)) for row in content["data"]]),
)
