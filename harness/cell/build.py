"""The components of a cell, made from its configuration in one place.

What cells have in common (documents, labels, chunks, models) is held by a ``Shared`` object that is handed to
each cell.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from omegaconf import DictConfig, OmegaConf

from harness.cell.reranked import reranked
from harness.cell.settings import Settings, new, unused_by, uses
from harness.chunker.columns import cut
from harness.chunker.context import with_context
from harness.corpus import Loaded
from harness.golden import Labels
from harness.metrics import Metrics
from harness.records import Chunks, Document
from harness.retriever import Searcher
from harness.retriever.external.asking import ExternalRetriever
from harness.retriever.external.returned import uncut
from harness.store.arrays import cached_maps
from harness.store.embedding_store import EmbeddingStore
from harness.store.embeddings import CachedModel
from harness.store.rankings import CachedRetriever
from harness.store.reranker_scores import CachedReranker
from harness.text.tokenizer import load_tokenizer
from harness.text.tokens import Tokenizer, TokenMap

# As index=exact has it: its rankings are cached under the same name.
_EXACT = OmegaConf.create({"_target_": "harness.index.exact.ExactIndex", "block_mb": 32})


@dataclass(frozen=True, eq=False)
class Inputs:
    """What a sweep measures on: documents (sorted by id), the map of each one's tokens, and the questions."""

    corpus: Loaded
    documents: Sequence[Document]
    tokens: Sequence[TokenMap]
    labels: Labels
    tokenizer: Tokenizer


@dataclass(frozen=True)
class Components:
    """The components of one cell.

    ``first_stage`` is the retriever before reranking. ``exact``: the same with exact search, where the cell's
    index may miss something. ``chunks``: those of the cell's chunker; the documents alone where the retriever
    returns its own.
    """

    inputs: Inputs
    chunks: Chunks
    model: CachedModel
    first_stage: Searcher
    reranker: CachedReranker
    metrics: Metrics
    exact: Searcher | None = None

    @cached_property
    def retriever(self) -> Searcher:
        """What ranks: the first stage, with the reranker behind it where there is one."""
        return reranked(self.first_stage, self.reranker)


class Shared:
    """What the cells of one process have in common.

    Equal settings give the same object, so weights load once.
    """

    def __init__(self) -> None:
        self._corpus: Callable[[Settings], Loaded] = lru_cache(4)(lambda settings: settings.make().load())
        self._tokenizer: Callable[[str], Tokenizer] = lru_cache(4)(load_tokenizer)
        self._inputs: Callable[..., Inputs] = lru_cache(4)(self._read)
        self._cut: Callable[..., Chunks] = lru_cache(8)(self._made_chunks)
        self._model: Callable[..., CachedModel] = lru_cache(4)(_model)
        self._reranker: Callable[..., CachedReranker] = lru_cache(2)(_reranker)

    def __reduce__(self) -> tuple[Callable[[], Shared], tuple[()]]:
        """A launcher sends the object to its worker processes: all cells of a worker get the same one."""
        return of_process, ()

    def inputs(self, config: DictConfig) -> Inputs:
        """Documents and questions. Raises ``InputError`` for what can't be read."""
        return self._inputs(*_sources(config))

    def chunks(self, config: DictConfig) -> Chunks:
        """The corpus cut by the cell's chunker.

        The uncut documents where the retriever returns its own chunks.
        """
        if not uses(config, "chunker"):
            return uncut(self.inputs(config).documents)
        return self._cut(
            *_sources(config), Settings.of(config, "chunker"), str(config.get("context", "none"))
        )

    def model(self, config: DictConfig) -> CachedModel:
        """The model behind the store of its vectors; no weights are loaded."""
        return self._model(Settings.of(config, "model"), str(config.cache), str(config.cache_dtype))

    def reranker(self, config: DictConfig) -> CachedReranker:
        """The reranker behind the store of its scores; no weights are loaded."""
        return self._reranker(Settings.of(config, "reranker"), str(config.cache))

    def components(self, config: DictConfig) -> Components:
        """All components of the cell; no weights are loaded.

        They are made in the order in which mistakes are cheapest to find.
        """
        new(config, "chunker")
        metrics, index = new(config, "metrics"), Settings.of(config, "index")
        first_stage = self._first_stage(config, index)
        reranker = self.reranker(config)
        misses = not unused_by(config, "index") and not index.make().is_exact
        return Components(
            inputs=self.inputs(config),
            chunks=self.chunks(config),
            model=self.model(config),
            first_stage=first_stage,
            reranker=reranker,
            metrics=metrics,
            exact=self._first_stage(config, Settings.of(OmegaConf.create({"index": _EXACT}), "index"))
            if misses
            else None,
        )

    def _first_stage(self, config: DictConfig, index: Settings) -> Searcher:
        """The retriever behind the store of its rankings.

        One that returns its own chunks is asked every time.
        """
        settings = Settings.of(config, "retriever")
        made = settings.make()
        if not uses(config, "chunker"):
            return ExternalRetriever(made, self._tokenizer(str(config.tokenizer)))
        key = {"retriever": settings.without(getattr(made, "later", {}))}
        if made.uses_model:
            key["cache_dtype"] = str(config.cache_dtype)
        if made.uses_index:
            key["index"] = index.text
        folder, digest = Path(str(config.cache)) / "rankings", self.inputs(config).corpus.digest
        return CachedRetriever(made, self.model(config), index.make(), folder, key, digest)

    def _read(self, corpus: Settings, golden: Settings, tokenizer: str, cache: str) -> Inputs:
        loaded = self._corpus(corpus)
        labels = golden.make().load(loaded.documents)
        documents = tuple(sorted(loaded.documents, key=lambda document: document.doc_id))
        tokens = self._tokenizer(tokenizer)
        texts = [document.text for document in documents]
        maps = cached_maps(Path(cache) / "tokens", tokens, loaded.digest, texts)
        return Inputs(loaded, documents, maps, labels, tokens)

    def _made_chunks(
        self, corpus: Settings, golden: Settings, tokenizer: str, cache: str, chunker: Settings, context: str
    ) -> Chunks:
        if context != "none":
            return with_context(self._cut(corpus, golden, tokenizer, cache, chunker, "none"), context)
        given = self._inputs(corpus, golden, tokenizer, cache)
        return cut(given.documents, given.tokens, chunker.make())


@lru_cache(maxsize=1)
def of_process() -> Shared:
    """The one object that the cells share which a launcher runs in this worker process."""
    return Shared()


def _sources(config: DictConfig) -> tuple[Settings, Settings, str, str]:
    return (
        Settings.of(config, "corpus"),
        Settings.of(config, "golden"),
        str(config.tokenizer),
        str(config.cache),
    )


def _model(settings: Settings, cache: str, dtype: str) -> CachedModel:
    return CachedModel(settings.make(), EmbeddingStore(Path(cache) / "embeddings", dtype))


def _reranker(settings: Settings, cache: str) -> CachedReranker:
    return CachedReranker(settings.make(), Path(cache) / "rankings")
