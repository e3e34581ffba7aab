"""Question sets of LlamaIndex: ``EmbeddingQAFinetuneDataset`` (queries, corpus, relevant_docs) and ``LabelledRagDataset`` (examples)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.golden.lines import whole
from harness.questions.importing import Refused, Row
from harness.questions.importing.rows import Rows, of_entries


def rows_of(content: Any) -> Rows | None:
    """The rows of such a file; None when it is none."""
    if not isinstance(content, dict):
        return None
    if isinstance(content.get("examples"), list):
        read = of_entries(content["examples"])
        return read._replace(named=[(row, _example(fields)) for row, fields in read.named])
    if all(isinstance(content.get(key), dict) for key in ("queries", "corpus", "relevant_docs")):
        return _pairs(content["queries"], content["corpus"], content["relevant_docs"])
    return None


def _example(fields: Mapping[str, Any]) -> dict[str, Any]:
    """``query_by`` says whether a model wrote the question."""
    by = fields.get("query_by")
    is_written = isinstance(by, dict) and by.get("type") == "ai"
    return {"source": "synthetic", **fields} if is_written else dict(fields)


def _pairs(queries: Mapping[str, Any], corpus: Mapping[str, Any], relevant: Mapping[str, Any]) -> Rows:
    """Each query with the texts of its nodes: their ids mean nothing outside LlamaIndex, their texts stand in the documents."""
    named: list[tuple[Row, Mapping[str, Any]]] = []
    refused = []
    for number, query_id in enumerate(dict.fromkeys([*queries, *relevant])):
        nodes = relevant.get(query_id) or []
        nodes = nodes if isinstance(nodes, list) else [nodes]
        given = {"question_id": query_id, "question": queries.get(query_id)}
        given |= {"reference_contexts": [corpus[node] for node in nodes if node in corpus]}
        row = Row(number, f'query "{query_id}"', {**given, "relevant_docs": nodes})
        missing = [node for node in nodes if node not in corpus]
        if query_id not in queries:
            refused.append(Refused(row, "it has relevant_docs, but no text in queries.", query_id))
        elif missing:
            refused.append(
                Refused(row, f'relevant_docs names "{missing[0]}", which is not in corpus.', query_id)
            )
        else:
            named.append((row._replace(given=given), whole(given)))
    return Rows(named, refused)
