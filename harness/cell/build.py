"""The parts of a cell, made from its configuration. What several cells share is made once per process.

Launchers may run a cell in a process of its own; the state lives here, in an imported module, so that it works the
same under all of them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from hydra.errors import InstantiationException
from hydra.utils import instantiate
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from harness.cell.components import class_of
from harness.cell.external import returns_own_chunks
from harness.cell.inactive import unused_by
from harness.cell.reranked import RerankedRetriever
from harness.chunker import Chunker
from harness.chunker.columns import cut
from harness.chunker.context import with_context
from harness.corpus import Loaded
from harness.errors import HarnessError, SettingError
from harness.golden import Labels
from harness.index import Index
from harness.metrics import Metrics
from harness.records import Chunks, Document
from harness.retriever.external.asking import ExternalRetriever
from harness.retriever.external.pool import uncut
from harness.store.embedding_store import EmbeddingStore
from harness.store.embeddings import CachedModel
from harness.store.rankings import CachedRetriever
from harness.store.reranker_scores import CachedReranker
from harness.store.token_maps import cached_maps
from harness.text.tokens import Tokenizer, TokenMap, load_tokenizer
from harness.tracker import Tracker

# In the order in which their mistakes are told.
_GROUPS = ("chunker", "index", "retriever", "reranker", "metrics", "tracker", "corpus", "golden", "model")
_EXACT = {"_target_": "harness.index.exact.ExactIndex", "block_mb": 32}


@dataclass(frozen=True, eq=False)
class Inputs:
    """What a sweep measures on: documents (sorted by id), the map of each one's tokens, and the questions.

    Made once per process for the same settings, so each is equal to itself alone, and what follows from it can be kept beside it.
    """

    corpus: Loaded
    documents: Sequence[Document]
    tokens: Sequence[TokenMap]
    labels: Labels
    tokenizer: Tokenizer


@dataclass(frozen=True)
class Parts:
    """The parts of one cell. ``exact``: the same retriever with exact search, where ``index`` may miss something that it uses."""

    inputs: Inputs
    chunks: Chunks
    model: CachedModel
    index: Index
    retriever: CachedRetriever | ExternalRetriever
    reranker: CachedReranker
    metrics: Metrics
    exact: CachedRetriever | None = None

    def searching(self) -> CachedRetriever | ExternalRetriever | RerankedRetriever:
        """What ranks in this cell: the retriever, with the reranker behind it where there is one."""
        return RerankedRetriever(self.retriever, self.reranker) if self.reranker.depth else self.retriever


def parts(config: DictConfig) -> Parts:
    """All parts of the cell, checked in the order in which mistakes are cheapest to find; no weights are loaded."""
    _ = chunker(config)
    return Parts(
        metrics=metrics(config),
        index=new(config, "index"),
        retriever=retriever(config),
        reranker=_reranker(_key(config, "reranker"), str(config.cache)),
        model=model(config),
        inputs=inputs(config),
        chunks=uncut(inputs(config).documents) if returns_own_chunks(config) else chunks(config),
        exact=_exact(config),
    )


def settings_hold(config: DictConfig) -> None:
    """Makes every part once, to find wrong settings before a document is read or a weight is loaded."""
    for group in _GROUPS:
        class_of(config, group)
        _holds(_key(config, group))


def inputs(config: DictConfig) -> Inputs:
    """Documents and questions, loaded once per process for the same settings."""
    return _inputs(*_given(config))


def chunks(config: DictConfig) -> Chunks:
    """The corpus cut by the cell's chunker, once per process for the same settings."""
    return _chunks(*_given(config), _key(config, "chunker"), str(config.get("context", "none")))


def chunker(config: DictConfig) -> Chunker:
    """The chunker alone: its settings are checked without reading a document."""
    made: Chunker = new(config, "chunker")
    return made


def metrics(config: DictConfig) -> Metrics:
    """The metrics alone."""
    made: Metrics = new(config, "metrics")
    return made


def retriever(config: DictConfig) -> CachedRetriever | ExternalRetriever:
    """The retriever behind the store of its rankings; one with chunks of its own is asked every time."""
    if returns_own_chunks(config):
        return ExternalRetriever(new(config, "retriever"), _tokenizer(str(config.tokenizer)))
    return _kept(config, _key(config, "index"))


def _kept(config: DictConfig, index: str) -> CachedRetriever:
    made, settings = new(config, "retriever"), {"retriever": _key(config, "retriever")}
    if made.uses_model:
        settings["cache_dtype"] = str(config.cache_dtype)
    if made.uses_index:
        settings["index"] = index
    return CachedRetriever(made, Path(str(config.cache)) / "rankings", settings, inputs(config).corpus.digest)


def _exact(config: DictConfig) -> CachedRetriever | None:
    """The retriever with exact search, where the cell's own index may miss something."""
    if unused_by(config, "index") or new(config, "index").is_exact:
        return None
    # As index=exact has it: its rankings are kept under the same name.
    return _kept(config, json.dumps(_EXACT, sort_keys=True))


def tracker(config: DictConfig) -> Tracker:
    """The tracker alone."""
    made: Tracker = new(config, "tracker")
    return made


def model(config: DictConfig) -> CachedModel:
    """The model behind the store of its vectors; one object per process for the same settings, so weights load once."""
    return _model(_key(config, "model"), str(config.cache), str(config.cache_dtype))


def cut_offs(config: DictConfig) -> list[int]:
    """``k`` as ascending distinct numbers. Raises ``SettingError`` for anything but whole numbers of at least 1."""
    given = OmegaConf.to_object(config.k) if OmegaConf.is_list(config.k) else [config.k]
    ks = [given] if not isinstance(given, list) else given
    wrong = [k for k in ks if not isinstance(k, int) or isinstance(k, bool) or k < 1]
    if wrong or not ks:
        shown = ", ".join(map(str, wrong)) or "empty"
        raise SettingError(
            f"k is {shown}; it must be a whole number of at least 1, or a list such as k=3,5,10.", key="k"
        )
    return sorted(set(ks))


def _given(config: DictConfig) -> tuple[str, str, str, str]:
    return _key(config, "corpus"), _key(config, "golden"), str(config.tokenizer), str(config.cache)


def _key(config: DictConfig, group: str) -> str:
    """A group's settings as text: equal settings give equal keys."""
    try:
        return json.dumps(OmegaConf.to_container(config[group], resolve=True), sort_keys=True)
    except OmegaConfBaseException as error:
        raise SettingError(
            f"The settings of {group} can't be read: {str(error).splitlines()[0]}", key=group
        ) from error


def new(config: DictConfig, group: str) -> Any:
    """The object of one group, new. Raises what its constructor has to say."""
    return _made(_key(config, group))


def _made(key: str) -> Any:
    """The object that ``_target_`` names. What its constructor has to say is raised as it is, without Hydra's wrapping."""
    try:
        return instantiate(OmegaConf.create(json.loads(key)))
    except InstantiationException as error:
        cause: BaseException | None = error
        while cause is not None and not isinstance(cause, HarnessError):
            cause = cause.__cause__
        target = json.loads(key).get("_target_")
        raise cause or SettingError(
            f"{target} can't be made with these settings: {error.__cause__ or error}. Correct the option's file or the class."
        ) from None


@lru_cache(maxsize=256)
def _holds(key: str) -> None:
    """Makes a part and forgets it: the cells of a sweep share most of their settings."""
    _made(key)


@lru_cache(maxsize=4)
def _loaded(corpus: str) -> Loaded:
    loaded: Loaded = _made(corpus).load()
    return loaded


@lru_cache(maxsize=4)
def _tokenizer(name: str) -> Tokenizer:
    return load_tokenizer(name)


@lru_cache(maxsize=4)
def _inputs(corpus: str, golden: str, tokenizer: str, cache: str) -> Inputs:
    loaded = _loaded(corpus)
    labels = _made(golden).load(loaded.documents)
    documents = tuple(sorted(loaded.documents, key=lambda document: document.doc_id))
    tokens = _tokenizer(tokenizer)
    texts = [document.text for document in documents]
    maps = cached_maps(Path(cache) / "tokens", tokens, loaded.digest, texts)
    return Inputs(loaded, documents, maps, labels, tokens)


@lru_cache(maxsize=8)
def _chunks(corpus: str, golden: str, tokenizer: str, cache: str, chunker: str, context: str) -> Chunks:
    if context != "none":
        return with_context(_chunks(corpus, golden, tokenizer, cache, chunker, "none"), context)
    given = _inputs(corpus, golden, tokenizer, cache)
    return cut(given.documents, given.tokens, _made(chunker))


@lru_cache(maxsize=4)
def _model(key: str, cache: str, dtype: str) -> CachedModel:
    return CachedModel(_made(key), EmbeddingStore(Path(cache) / "embeddings", dtype))


@lru_cache(maxsize=2)
def _reranker(key: str, cache: str) -> CachedReranker:
    return CachedReranker(_made(key), Path(cache) / "rankings")
