from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.errors import ModelError, SettingError
from harness.metrics.health import health
from harness.model.sentence_transformer import SentenceTransformerModel
from harness.model.static import StaticModel
from harness.records import Chunks, Document, Evidence, Question
from harness.store.embedding_store import EmbeddingStore
from harness.store.embeddings import CachedModel

# The tiny model reads 16 tokens: [CLS], "passage", ":", twelve of the text, and [SEP].
ROOM = 12
LONG = "alpha beta gamma delta the " * 6  # 30 tokens: 12, 12 and 6


@pytest.fixture
def tiny(tiny_folder: Path, tmp_path: Path) -> SentenceTransformerModel:
    return SentenceTransformerModel(
        name=str(tiny_folder), cache_dir=tmp_path / "cache", device="cpu", backend="torch"
    )


def variant(base: SentenceTransformerModel, **changes: Any) -> SentenceTransformerModel:
    return replace(base, **changes)


def unit(rows: Any) -> Any:
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def words(text: str, start: int, end: int) -> str:
    return " ".join(text.split()[start:end])


def test_a_window_at_a_time_by_hand(tiny: SentenceTransformerModel) -> None:
    """30 tokens are pieces of 12, 12 and 6, each with the prompt before it; the mean weighs them 12 : 12 : 6."""
    pieces = tiny.encode_documents([words(LONG, 0, 12), words(LONG, 12, 24), words(LONG, 24, 30)])
    by_hand = unit((12 * pieces.vectors[0] + 12 * pieces.vectors[1] + 6 * pieces.vectors[2]) / 30)

    encoded = variant(tiny, long_chunks="window").encode_documents([LONG])

    assert np.allclose(encoded.vectors[0], by_hand, atol=1e-6)
    assert (encoded.tokens[0], encoded.seen_tokens[0], encoded.seen_chars[0]) == (30, 30, len(LONG))
    assert float(encoded.vectors[0] @ tiny.encode_documents([LONG]).vectors[0]) < 0.999


def test_texts_that_fit_are_as_without_it(tiny: SentenceTransformerModel) -> None:
    """Up to the window nothing changes, whatever stands beside a text; rows stay in their order; no text gives no row."""
    texts = ["", "alpha", LONG, words(LONG, 0, ROOM), "  \n", words(LONG, 0, ROOM + 1)]
    windowed = variant(tiny, long_chunks="window")
    encoded, plain = windowed.encode_documents(texts), tiny.encode_documents(texts)

    for i in (0, 1, 3, 4):
        assert np.allclose(encoded.vectors[i], plain.vectors[i], atol=1e-6)
    for i in (2, 5):
        assert np.allclose(encoded.vectors[i], windowed.encode_documents([texts[i]]).vectors[0], atol=1e-6)
    assert encoded.tokens.tolist() == plain.tokens.tolist() == encoded.seen_tokens.tolist()
    assert windowed.encode_documents([]).vectors.shape == (0, 32)


def test_questions_are_not_read_in_pieces(tiny: SentenceTransformerModel, tmp_path: Path) -> None:
    """The setting is about chunks: questions have the same vectors, and are kept once for all its values."""
    windowed = variant(tiny, long_chunks="window")
    assert np.array_equal(windowed.encode_queries([LONG]).vectors, tiny.encode_queries([LONG]).vectors)

    CachedModel(tiny, EmbeddingStore(tmp_path)).encode_queries([LONG])
    again = CachedModel(windowed, EmbeddingStore(tmp_path))
    again.encode_queries([LONG])
    assert again.texts_embedded == 0


@pytest.mark.models
@pytest.mark.parametrize("backend", ["openvino", "onnx"])
def test_pieces_and_cuts_are_the_same_on_every_backend(tiny: SentenceTransformerModel, backend: str) -> None:
    """What is read and cut does not depend on what multiplies the matrices."""
    texts = [LONG, "alpha", LONG * 5]
    exact = variant(tiny, long_chunks="window", truncate_dim=8).encode_documents(texts)
    found = variant(tiny, long_chunks="window", truncate_dim=8, backend=backend).encode_documents(texts)

    assert (exact.vectors * found.vectors).sum(axis=1).min() > 0.9999
    assert exact.seen_tokens.tolist() == found.seen_tokens.tolist() == [30, 1, 150]


def test_with_a_window_nothing_is_unseen(tiny: SentenceTransformerModel) -> None:
    """Health figures: a chunk of 30 tokens is cut at 12, 60% unseen; read in pieces, nothing is."""
    documents = (Document("d", LONG.strip()),)
    one = np.array([0])
    chunks = Chunks(documents, one, one, np.array([len(LONG.strip())]), np.array([30]))
    end = documents[0].text
    question = Question("q", "?", (Evidence("d", len(end) - 9, len(end), end[-9:]),))

    cut = health(chunks, tiny.encode_documents([end]), [question])
    whole = health(chunks, variant(tiny, long_chunks="window").encode_documents([end]), [question])

    assert (cut["truncated_chunks"], cut["truncated_tokens"], cut["truncated_evidence"]) == (1, 0.6, 1)
    assert (whole["truncated_chunks"], whole["truncated_tokens"], whole["truncated_evidence"]) == (0, 0, 0)


def test_a_prompt_as_long_as_the_window_leaves_no_room(tiny: SentenceTransformerModel) -> None:
    """Instead of pieces without a text there is a sentence."""
    with pytest.raises(SettingError, match="takes all 14 tokens") as caught:
        variant(tiny, long_chunks="window", document_prompt="alpha " * 14).encode_documents(["beta"])
    assert caught.value.key == "model.long_chunks"


@pytest.mark.parametrize("kept", [False, True])
def test_error_names_the_first_chunk_that_is_too_long(
    tiny: SentenceTransformerModel, tmp_path: Path, kept: bool
) -> None:
    """With its beginning, its size and what fits, also when all vectors were kept before; what fits is embedded."""
    if kept:
        CachedModel(tiny, EmbeddingStore(tmp_path)).encode_documents(["alpha", LONG])
    strict = variant(tiny, long_chunks="error")
    for model in (strict, CachedModel(strict, EmbeddingStore(tmp_path))):
        with pytest.raises(ModelError, match="begins with 'alpha beta gamma") as caught:
            model.encode_documents(["alpha", LONG])
        assert "30 tokens; 12 of them fit into its window of 16. Lower" in str(caught.value)
        assert np.array_equal(
            model.encode_documents(["alpha"]).vectors, tiny.encode_documents(["alpha"]).vectors
        )
        with pytest.raises(ModelError, match=r"whole text .*begins with 'alpha beta gamma"):
            model.encode_queries([LONG])
    truncating = CachedModel(tiny, EmbeddingStore(tmp_path))
    assert truncating.truncated_questions(["alpha", LONG]) == 1
    assert truncating.counts()["texts_cached"] == 0
    with pytest.raises(ModelError, match="of 16, and 1 more is too long"):
        strict.encode_documents(["alpha", LONG, LONG + "x"])


def test_vectors_are_cut_and_made_unit_length(tiny: SentenceTransformerModel) -> None:
    """By hand: the first numbers of the whole vector, divided by their length; for questions too."""
    texts = ["alpha", LONG, ""]
    short = variant(tiny, truncate_dim=8)

    assert np.allclose(
        short.encode_documents(texts).vectors, unit(tiny.encode_documents(texts).vectors[:, :8]), atol=1e-6
    )
    assert np.allclose(
        short.encode_queries(texts).vectors, unit(tiny.encode_queries(texts).vectors[:, :8]), atol=1e-6
    )
    assert short.encode_documents([]).vectors.shape == (0, 8)
    assert short.identity()["dim"] == 8


def test_each_setting_is_another_model_only_where_it_changes_something(
    tiny: SentenceTransformerModel,
) -> None:
    """All are part of the identity; the whole dimension, the default prompts and texts without a limit change nothing."""
    identity = tiny.identity()
    others = [
        {"truncate_dim": 8},
        {"truncate_dim": 16},
        {"long_chunks": "window"},
        {"long_chunks": "error"},
        {"prompts": "none"},
        {"max_tokens": 12},
    ]
    found = [str(variant(tiny, **changes).identity()) for changes in others]

    assert len({str(identity), *found}) == 1 + len(others)
    assert variant(tiny, truncate_dim=32).identity() == identity
    assert (
        variant(tiny, prompts="none").identity()
        == variant(tiny, query_prompt="", document_prompt="").identity()
    )


def test_without_prompts(tiny: SentenceTransformerModel) -> None:
    """prompts=none reads the text alone, on both sides, whatever prompts are given."""
    bare = variant(tiny, prompts="none", query_prompt="query: ")
    plain = variant(tiny, query_prompt="", document_prompt="")

    assert np.array_equal(bare.encode_queries(["alpha"]).vectors, plain.encode_queries(["alpha"]).vectors)
    assert np.array_equal(bare.encode_documents(["alpha"]).vectors, plain.encode_documents(["alpha"]).vectors)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_a_shorter_vector_costs_no_embedding(
    tiny: SentenceTransformerModel, tmp_path: Path, dtype: str
) -> None:
    """Every length comes from the one whole vector that is kept, first run or second, to the bit."""
    texts = ["alpha", LONG, "alpha", "beta"]
    first = CachedModel(variant(tiny, truncate_dim=8), EmbeddingStore(tmp_path, dtype))
    fresh = first.encode_documents(texts)
    assert first.texts_embedded == 3
    for dim in (8, 16, None):
        model = CachedModel(variant(tiny, truncate_dim=dim), EmbeddingStore(tmp_path, dtype))
        encoded = model.encode_documents(texts)
        assert model.texts_embedded == 0
        assert model.missing(texts, "document") == []
        assert encoded.vectors.shape[1] == (dim or 32)
        if dim == 8:
            assert np.array_equal(encoded.vectors, fresh.vectors)
    with first.live():
        assert first.encode_queries(["alpha"]).vectors.shape == (1, 8)


def test_another_store_gets_whole_vectors_too(tiny: SentenceTransformerModel, tmp_path: Path) -> None:
    """What is copied beside a deployed configuration is what any length can be cut from."""
    short = variant(tiny, truncate_dim=8)
    CachedModel(short, EmbeddingStore(tmp_path / "a")).copy(
        ["alpha"], "document", EmbeddingStore(tmp_path / "b")
    )
    again = CachedModel(tiny, EmbeddingStore(tmp_path / "b"))

    assert again.missing(["alpha"], "document") == []
    assert np.array_equal(again.encode_documents(["alpha"]).vectors, tiny.encode_documents(["alpha"]).vectors)


def test_more_than_there_is_is_refused(tiny: SentenceTransformerModel) -> None:
    """A sentence with both numbers, before any weights are loaded."""
    with pytest.raises(
        SettingError, match=r"truncate_dim is 33; the vectors of .* have 32 numbers"
    ) as caught:
        variant(tiny, truncate_dim=33).identity()
    assert caught.value.key == "model.truncate_dim"


@pytest.mark.parametrize(
    ("setting", "value"),
    [("truncate_dim", 0), ("truncate_dim", "8"), ("long_chunks", "average"), ("prompts", "mine")],
)
def test_values_that_are_not_allowed(setting: str, value: object) -> None:
    """Named with their key and what is allowed, by transformers and by static models."""
    for kind, settings in (
        (SentenceTransformerModel, {"name": "a/b"}),
        (StaticModel, {"name": "a/b", "weights": "w", "tokenizer": "t"}),
    ):
        with pytest.raises(SettingError, match="must be") as caught:
            kind(**settings, **{setting: value})  # type: ignore[arg-type]
        assert caught.value.key == f"model.{setting}"


@pytest.fixture
def static_folder(tmp_path: Path) -> Path:
    """A static model as sentence-transformers saves it."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from sentence_transformers import SentenceTransformer
        from sentence_transformers.sentence_transformer.modules import StaticEmbedding
        from tokenizers import Tokenizer, models, pre_tokenizers

        tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0, "alpha": 1, "beta": 2}, unk_token="[UNK]"))
        tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
        matrix = np.array([[0, 0, 0, 1], [3, 4, 0, 0], [0, 4, 3, 0]], np.float32)
        model = SentenceTransformer(modules=[StaticEmbedding(tokenizer, matrix)], device="cpu")
        model.save(str(tmp_path / "static"), create_model_card=False)
    return tmp_path / "static"


def static(name: str, tmp_path: Path, **changes: Any) -> StaticModel:
    folder = "0_StaticEmbedding"
    settings = {"weights": f"{folder}/model.safetensors", "tokenizer": f"{folder}/tokenizer.json"}
    return StaticModel(name=name, cache_dir=tmp_path / "cache", **{**settings, **changes})


def in_folder(saved: Path) -> Path:
    """As the hub has them: the only module in a folder of its own."""
    target = saved / "0_StaticEmbedding"
    if not target.exists():
        target.mkdir()
        for file in ("model.safetensors", "tokenizer.json"):
            shutil.move(saved / file, target / file)
    return saved


def test_a_static_model_from_a_folder_or_the_hub(
    static_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By hand: alpha is (3, 4, 0, 0) / 5; with beta the mean is (1.5, 4, 1.5, 0); from the hub's cache it is the same."""
    from huggingface_hub import constants

    in_folder(static_folder)
    repository = tmp_path / "hub" / "models--tiny--static"
    commit = "0123456789abcdef0123456789abcdef01234567"
    shutil.copytree(static_folder, repository / "snapshots" / commit)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    cached = static("tiny/static", tmp_path, revision=commit)
    mean = np.array([1.5, 4, 1.5, 0])

    for model in (static(str(static_folder), tmp_path), cached):
        rows = model.encode_documents(["alpha", "alpha beta"]).vectors
        assert np.allclose(rows, [[0.6, 0.8, 0, 0], mean / np.linalg.norm(mean)], atol=1e-6)
    assert (cached.identity()["source"], cached.identity()["revision"]) == ("hub", commit)
    assert cached.place() == "hub"
    short = static(
        "tiny/static", tmp_path, revision=commit, truncate_dim=1, long_chunks="error", prompts="none"
    )
    assert short.encode_queries(["alpha"]).vectors.tolist() == [[1.0]]
    assert short.whole().identity() == cached.identity()
    with pytest.raises(ModelError, match=r"other\.safetensors is missing"):
        static("tiny/static", tmp_path, revision=commit, weights="other.safetensors").identity()


def test_a_static_model_has_no_window() -> None:
    """It reads everything: a window for it is a sentence, not a silent nothing."""
    with pytest.raises(SettingError, match="has no window") as caught:
        StaticModel(name="a", weights="w", tokenizer="t", max_tokens=128)  # type: ignore[arg-type]
    assert caught.value.key == "model.max_tokens"
