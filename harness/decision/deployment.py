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

from harness.cell.build import Shared
from harness.cell.inactive import uses
from harness.cell.reranked import reranked
from harness.cell.settings import cut_offs, new
from harness.chunker import columns
from harness.chunker.context import with_context
from harness.errors import InputError, SettingError
from harness.records import Chunks, Document
from harness.store.embedding_store import EmbeddingStore
from harness.store.embeddings import CachedModel
from harness.store.rankings import CachedRetriever
from harness.store.reranker_scores import CachedReranker
from harness.text.tokenizer import load_tokenizer

_CONFIG, _DOCUMENTS, _EMBEDDINGS = "config.json", "documents.jsonl", "embeddings"


def save(config: DictConfig, folder: Path) -> None:
    """Writes what ``load`` needs. Vectors are taken from the cache, so nothing is embedded that was embedded before.

    Raises ``SettingError`` for an external retriever: it runs elsewhere already.
    """
    if not uses(config, "chunker"):
        raise SettingError(
            "An external retriever is deployed already, so there is nothing to register. pick.register=null leaves it out.",
            key="pick.register",
        )
    made = Shared().components(config)
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
    if made.first_stage.uses_model:
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
        columns.cut(documents, maps, new(config, "chunker")), str(config.get("context", "none"))
    )
    return Deployed(config, chunks, _store(config, folder))


class Deployed:
    """A retriever over the chunks of one configuration."""

    def __init__(self, config: DictConfig, chunks: Chunks, store: EmbeddingStore) -> None:
        self.chunks = chunks
        self.k = int(config.primary_k or max(cut_offs(config)))
        self._model = CachedModel(new(config, "model"), store)
        first_stage = CachedRetriever(
            new(config, "retriever"), self._model, new(config, "index"), None, {}, ""
        )
        self._retriever = reranked(first_stage, CachedReranker(new(config, "reranker"), None))
        self._retriever.prepare(chunks, (), {}, (), new(config, "metrics"))

    def answer(self, questions: Sequence[str], k: int | None = None) -> list[list[dict[str, Any]]]:
        """For each question the ``k`` best chunks (default: the configuration's), best first: doc_id, start, end, text, score."""
        with self._model.live():  # what is asked in production is not cached
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


def _store(config: DictConfig, folder: Path) -> EmbeddingStore:
    return EmbeddingStore(folder / _EMBEDDINGS, str(config.cache_dtype))
