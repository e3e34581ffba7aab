"""One configuration, deployed: in a folder that answers questions, in MLflow's registry, or live.

Only the model's weights (a package or a folder of the hub's cache) are needed beside the folder, for the
questions.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from omegaconf import DictConfig, OmegaConf

from harness.cell.build import Shared
from harness.cell.reranked import reranked
from harness.cell.settings import cut_offs, new, retriever_settings, uses
from harness.chunker import columns
from harness.chunker.context import with_context
from harness.errors import InputError, SettingError
from harness.metrics.operating_point import OperatingPoint
from harness.metrics.reading import fills, within_budget
from harness.records import Chunks, Document, IntArray, Ranking
from harness.results.finished import FinishedCell
from harness.store.embedding_store import EmbeddingStore
from harness.store.embeddings import CachedModel
from harness.store.rankings import CachedRetriever
from harness.store.reranker_scores import CachedReranker
from harness.text.tokenizer import load_tokenizer
from harness.text.tokens import TokenMap

_CONFIG, _DOCUMENTS, _EMBEDDINGS = "config.json", "documents.jsonl", "embeddings"
# Rows that are searched for first where a budget says how many come back.
_FIRST_DEPTH = 100


def save(config: DictConfig, folder: Path) -> None:
    """Writes what ``load`` needs; cached vectors are not computed again.

    Raises ``SettingError`` for a retriever that returns its own chunks.
    """
    if not uses(config, "chunker"):
        raise SettingError(
            "A retriever that returns its own chunks can't be registered. Give pick.register=null.",
            key="pick.register",
        )
    made = Shared().components(config)
    folder.mkdir(parents=True, exist_ok=True)
    settings = OmegaConf.to_container(config, resolve=True)
    (folder / _CONFIG).write_text(json.dumps(settings, indent=1, ensure_ascii=False), encoding="utf-8")
    with (folder / _DOCUMENTS).open("w", encoding="utf-8") as file:
        for document in made.inputs.documents:
            # ``context`` reads nothing else of the metadata.
            title = document.title or document.metadata.get("title") or ""
            entry = [document.doc_id, document.text, title, document.embed_prefix]
            file.write(json.dumps(entry, ensure_ascii=True) + "\n")
    if made.first_stage.uses_model:
        texts = list(made.chunks.embed_texts(np.arange(len(made.chunks))))
        made.model.copy(texts, "document", _store(config, folder))


def load(folder: Path) -> Deployed:
    """The configuration in ``folder``, searched from memory; ``InputError`` for another kind of folder."""
    try:
        config = OmegaConf.create(json.loads((folder / _CONFIG).read_text(encoding="utf-8")))
        lines = (folder / _DOCUMENTS).read_text(encoding="utf-8").split("\n")
        documents = [Document(*json.loads(line)) for line in lines if line]
    except (OSError, ValueError, TypeError) as error:
        raise InputError(
            f"{folder} is not the folder of a deployed configuration ({error}).", path=folder
        ) from error
    tokenizer = load_tokenizer(str(config.tokenizer))
    maps = tokenizer.map([document.text for document in documents])
    chunks = with_context(
        columns.cut(documents, maps, new(config, "chunker")), str(config.get("context", "none"))
    )
    return Deployed(config, chunks, maps, _store(config, folder))


def register(uri: str, cell: FinishedCell, point: OperatingPoint, name: str, about: Mapping[str, str]) -> int:
    """Registers the cell at ``point`` as the MLflow model ``name``, alias champion; gives the version.

    The champion with the same configuration over the same documents stays as it is. ``about``: tags of a new
    version.
    """
    from harness.tracker.mlflow_artifacts import CONFIGURATION, champion
    from harness.tracker.mlflow_artifacts import register as registered

    config = cell.content["config"]
    same = [retriever_settings(config), point.settings(), cell.content["corpus_digest"]]
    digest = hashlib.sha256(json.dumps(same, sort_keys=True).encode()).hexdigest()
    version = champion(uri, name, digest)
    if version is not None:
        return version
    about = {**about, CONFIGURATION: digest}
    question = str(cell.questions["question"][0]) if "question" in cell.questions else "What is this about?"
    shipped = {"primary_k": point.k, "context_budget": point.context_budget}
    with tempfile.TemporaryDirectory(prefix="harness-") as scratch:
        folder = Path(scratch) / "deployment"
        save(OmegaConf.create({**config, **shipped}), folder)
        file = Path(__file__).with_name("pyfunc.py")
        return registered(uri, cell.run_id, name, file, folder, question, about)


class Deployed:
    """A retriever over the chunks of one configuration."""

    def __init__(
        self, config: DictConfig, chunks: Chunks, tokens: Sequence[TokenMap], store: EmbeddingStore
    ) -> None:
        self.chunks, self._tokens = chunks, tokens
        self._last_row = str(OmegaConf.select(config, "metrics.last_row", default="cut"))
        budget = config.get("context_budget")
        k = None if budget else int(config.primary_k or max(cut_offs(config)))
        self.point = OperatingPoint(k, budget, self._last_row)
        self._model = CachedModel(new(config, "model"), store)
        first_stage = CachedRetriever(
            new(config, "retriever"), self._model, new(config, "index"), None, {}, ""
        )
        self._retriever = reranked(first_stage, CachedReranker(new(config, "reranker"), None))
        self._retriever.prepare(chunks, (), {}, (), new(config, "metrics"))

    def answer(
        self, questions: Sequence[str], k: int | None = None, context_budget: int | None = None
    ) -> list[list[dict[str, Any]]]:
        """What comes back for each question, best first: the ``k`` best chunks, or ``context_budget`` tokens.

        The default is the operating point of the configuration. Within a budget, a chunk that lies wholly
        inside better ones is left out; ``metrics.last_row`` says whether the last one is cut.
        """
        point = self.point
        if k is not None or context_budget is not None:
            point = OperatingPoint(k, context_budget, self._last_row)
        with self._model.live():  # production questions are not cached
            ranking, cut = self._ranked(list(questions), point)
        lists = zip(ranking.rows.tolist(), ranking.scores.tolist(), cut.tolist(), strict=True)
        return [[self._hit(*hit) for hit in zip(*found, strict=True) if hit[2] >= 0] for found in lists]

    def _ranked(self, questions: list[str], point: OperatingPoint) -> tuple[Ranking, IntArray]:
        """The ranking, and where each of its rows ends, -1 if it does not come back.

        The ends are int64 (questions, depth).
        """
        chunks, groups = self.chunks.returned, self.chunks.groups("span")
        depth = point.k or _FIRST_DEPTH
        ranking = self._retriever.search(questions, depth, groups)
        ends = np.append(chunks.end, -1)[ranking.rows]
        if point.context_budget is None:
            return ranking, ends
        while not fills(chunks, ranking, point.context_budget):
            depth *= 2
            ranking = self._retriever.search(questions, depth, groups)
        return ranking, within_budget(point, ranking, chunks, self._tokens)

    def _hit(self, row: int, score: float, end: int) -> dict[str, Any]:
        chunks = self.chunks.returned
        document, start = chunks.documents[chunks.doc[row]], int(chunks.start[row])
        return {
            "doc_id": document.doc_id,
            "start": start,
            "end": end,
            "text": document.text[start:end],
            "score": score,
        }


def _store(config: DictConfig, folder: Path) -> EmbeddingStore:
    return EmbeddingStore(folder / _EMBEDDINGS, str(config.cache_dtype))
