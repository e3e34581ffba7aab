"""One configuration in a folder of its own: documents, their vectors and the settings, ready to answer questions anywhere.

Nothing outside the folder is needed but the model's weights (a package or a folder of the hub's cache), for the questions.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from omegaconf import DictConfig, OmegaConf

from harness.cell import build
from harness.cell.external import returns_own_chunks
from harness.cell.reranked import RerankedRetriever
from harness.chunker import columns
from harness.chunker.context import with_context
from harness.errors import InputError, SettingError
from harness.records import Chunks, Document, Encoded
from harness.store.embedding_store import EmbeddingStore
from harness.store.embeddings import CachedModel
from harness.store.reranker_scores import CachedReranker
from harness.text.tokens import load_tokenizer

_CONFIG, _DOCUMENTS, _EMBEDDINGS = "config.json", "documents.jsonl", "embeddings"


def save(config: DictConfig, folder: Path) -> None:
    """Writes what ``load`` needs. Vectors are taken from the cache, so nothing is embedded that was embedded before.

    Raises ``SettingError`` for a retriever that brings its own chunks: it runs elsewhere already.
    """
    if returns_own_chunks(config):
        raise SettingError(
            "A retriever that brings its own chunks is deployed already, so there is nothing to register. pick.register=null leaves it out.",
            key="pick.register",
        )
    made = build.parts(config)
    folder.mkdir(parents=True, exist_ok=True)
    settings = OmegaConf.to_container(config, resolve=True)
    (folder / _CONFIG).write_text(json.dumps(settings, indent=1, ensure_ascii=False), encoding="utf-8")
    with (folder / _DOCUMENTS).open("w", encoding="utf-8") as file:
        for document in made.inputs.documents:
            title = (
                document.title or document.metadata.get("title") or ""
            )  # all that ``context`` reads of either
            entry = [document.doc_id, document.text, title, document.embed_prefix]
            file.write(json.dumps(entry, ensure_ascii=True) + "\n")
    if made.retriever.uses_model:
        texts = list(made.chunks.embed_texts(np.arange(len(made.chunks))))
        made.model.copy(texts, "document", _store(config, folder))


def load(folder: Path) -> Deployed:
    """The configuration in ``folder``, searched from memory. Raises ``InputError`` when it is none of ours."""
    try:
        config = OmegaConf.create(json.loads((folder / _CONFIG).read_text(encoding="utf-8")))
        lines = (folder / _DOCUMENTS).read_text(encoding="utf-8").split("\n")
        documents = [Document(*json.loads(line)) for line in lines if line]
    except (OSError, ValueError, TypeError) as error:
        raise InputError(f"{folder} holds no deployed configuration ({error}).", path=folder) from error
    tokenizer = load_tokenizer(str(config.tokenizer))
    maps = tokenizer.map([document.text for document in documents])
    chunks = with_context(
        columns.cut(documents, maps, build.chunker(config)), str(config.get("context", "none"))
    )
    return Deployed(config, chunks, _store(config, folder))


class Deployed:
    """A retriever over the chunks of one configuration."""

    def __init__(self, config: DictConfig, chunks: Chunks, store: EmbeddingStore) -> None:
        self.chunks = chunks
        self.k = int(config.primary_k or max(build.cut_offs(config)))
        retriever = build.new(config, "retriever")
        reranker = CachedReranker(build.new(config, "reranker"), None)
        self._retriever = RerankedRetriever(retriever, reranker) if reranker.depth else retriever
        model = build.new(config, "model")
        self._retriever.build(chunks, _Passages(CachedModel(model, store), model), build.new(config, "index"))

    def answer(self, questions: Sequence[str], k: int | None = None) -> list[list[dict[str, Any]]]:
        """For each question the ``k`` best chunks (default: the configuration's), best first: doc_id, start, end, text, score."""
        ranking = self._retriever.search(list(questions), k or self.k, self.chunks.groups("span"))
        return [
            [self._hit(int(row), float(score)) for row, score in zip(rows, scores, strict=True) if row >= 0]
            for rows, scores in zip(ranking.rows, ranking.scores, strict=True)
        ]

    def _hit(self, row: int, score: float) -> dict[str, Any]:
        chunks = self.chunks.returned
        return {
            "doc_id": chunks.documents[chunks.doc[row]].doc_id,
            "start": int(chunks.start[row]),
            "end": int(chunks.end[row]),
            "text": chunks.text(row),
            "score": score,
        }


class _Passages:
    """Vectors of passages from the folder, those of questions from the model: what is asked in production is not kept."""

    def __init__(self, kept: CachedModel, model: Any) -> None:
        self.encode_documents = kept.encode_documents
        self._model = model

    def encode_queries(self, texts: Sequence[str]) -> Encoded:
        """Vectors of questions."""
        encoded: Encoded = self._model.encode_queries(texts)
        return encoded


def _store(config: DictConfig, folder: Path) -> EmbeddingStore:
    return EmbeddingStore(folder / _EMBEDDINGS, str(config.cache_dtype))
