"""Every option of conf/model keeps the promises of the stage, or says at once why it can't be had."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hydra.utils import instantiate
from omegaconf import OmegaConf

from harness.errors import ModelError
from harness.model import Model

FOLDER = Path(__file__).parents[1] / "conf" / "model"
OPTIONS = sorted(path.stem for path in FOLDER.glob("*.yaml"))
# What the extra `bundled` installs.
BUNDLED = ["minilm", "wordllama"]
TEXTS = [
    "How do I get a refund?",
    "Refunds take five days.",
    "",
    "  ",
    "日本語のテキスト 🙂",
    "refund " * 700,
    "naïve, Zürich!",
]


def compose(option: str, cache: Path, **changes: Any) -> Any:
    top = {"cache": str(cache), "backend": "auto", "precision": "float32"}
    config = OmegaConf.create({"model": OmegaConf.load(FOLDER / f"{option}.yaml"), **top})
    for key, value in {**({"name": "some/model"} if option == "hub" else {}), **changes}.items():
        config.model[key] = value
    return config.model


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One for all: a model is converted for its fastest backend once."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(params=BUNDLED)
def bundled(request: pytest.FixtureRequest, cache: Path) -> Model:
    model: Model = instantiate(compose(request.param, cache))
    return model


@pytest.mark.parametrize("option", OPTIONS)
def test_every_option_is_one_model_with_a_licence(option: str, tmp_path: Path) -> None:
    """It composes, makes an object without touching the disk, keeps what it writes under cache_dir, names a licence."""
    model = instantiate(compose(option, tmp_path / "cache"))

    assert model.name
    assert model.licence
    assert Path(model.cache_dir) == tmp_path / "cache"
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize("option", OPTIONS)
def test_every_option_says_how_it_reads(option: str, tmp_path: Path) -> None:
    """Window, what becomes of long chunks, length of vectors and prompts are keys of every file, so that any can be swept.

    A transformer's file says its prompts, and every file that these tests never load says so.
    """
    config = compose(option, tmp_path)

    assert {"max_tokens", "long_chunks", "truncate_dim", "prompts", "licence"} <= set(config)
    if "batch_size" in config:
        assert {"query_prompt", "document_prompt"} <= set(config)
    assert bool(config.get("untested")) == ("weights_sha256" not in config or option == "hub")


@pytest.mark.models
@pytest.mark.parametrize("option", BUNDLED)
@pytest.mark.parametrize("long_chunks", ["truncate", "window"])
def test_every_axis_keeps_the_promises(option: str, long_chunks: str, cache: Path) -> None:
    """Cut and windowed rows are of unit length and do not depend on their neighbours; a window sees everything."""
    model: Model = instantiate(
        compose(option, cache, truncate_dim=64, long_chunks=long_chunks, prompts="none")
    )
    together = model.encode_documents(TEXTS)

    assert together.vectors.shape == (len(TEXTS), 64) == (len(TEXTS), model.identity()["dim"])
    norms = np.linalg.norm(together.vectors.astype(np.float64), axis=1)
    assert np.abs(norms[together.tokens > 0] - 1).max() < 1e-6
    alone = [model.encode_documents([text]).vectors[0] for text in TEXTS]
    assert (together.vectors * np.array(alone)).sum(axis=1)[together.tokens > 0].min() > 0.99999
    if long_chunks == "window":
        assert together.seen_tokens.tolist() == together.tokens.tolist()
        assert together.seen_chars.tolist() == [len(text) for text in TEXTS]
    whole = model.whole().encode_documents(TEXTS)
    assert np.allclose(model.cut(whole).vectors, together.vectors, atol=1e-4)


def test_making_models_imports_nothing_heavy() -> None:
    """All options together are made without torch, transformers, sentence-transformers or the hub's client."""
    code = f"""
import sys
from hydra.utils import instantiate
from omegaconf import OmegaConf
from pathlib import Path
for path in sorted(Path({str(FOLDER)!r}).glob("*.yaml")):
    top = {{"cache": "cache", "backend": "auto", "precision": "float32"}}
    config = OmegaConf.create({{"model": OmegaConf.load(path), **top}}).model
    config.name = "some/model"
    instantiate(config)
print([m for m in ("torch", "transformers", "sentence_transformers", "openvino", "tokenizers", "huggingface_hub") if m in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("option", sorted(set(OPTIONS) - set(BUNDLED)))
def test_what_is_not_here_says_so(option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a network and with an empty cache each other option is one sentence that names the model and a remedy."""
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    config = compose(option, tmp_path)
    if "packages" in config:
        config.packages = [f"{package}-not-installed" for package in config.packages]

    with pytest.raises(ModelError, match="was not found") as caught:
        instantiate(config).identity()
    assert config.name in str(caught.value)
    assert str(tmp_path / "hub") in str(caught.value)
    assert "pip install" in str(caught.value) or "model=minilm" in str(caught.value)


@pytest.mark.parametrize("option", sorted(set(OPTIONS) - {*BUNDLED, "hub"}))
def test_options_from_the_hub_are_pinned_to_a_commit(option: str, tmp_path: Path) -> None:
    """A branch moves; a published figure must not."""
    revision = compose(option, tmp_path).revision

    assert len(revision) == 40
    assert int(revision, 16)


@pytest.mark.models
def test_rows_are_unit_float32_and_counted(bundled: Model) -> None:
    """One unit float32 row a text (zeros where a static model finds no token), int64 counts inside their bounds."""
    encoded = bundled.encode_documents(TEXTS)
    norms = np.linalg.norm(encoded.vectors.astype(np.float64), axis=1)

    assert encoded.vectors.dtype == np.float32
    assert encoded.vectors.shape == (len(TEXTS), bundled.identity()["dim"])
    assert all(column.dtype == np.int64 and column.shape == (len(TEXTS),) for column in encoded[1:])
    assert np.abs(norms[encoded.tokens > 0] - 1).max() < 1e-6
    assert (encoded.seen_tokens <= encoded.tokens).all()
    assert (encoded.seen_chars <= [len(text) for text in TEXTS]).all()
    whole = encoded.seen_tokens == encoded.tokens
    assert (encoded.seen_chars[whole] == np.array([len(text) for text in TEXTS])[whole]).all()


@pytest.mark.models
def test_a_row_does_not_depend_on_its_neighbours(bundled: Model) -> None:
    """One by one and all together agree to cosine 0.99999, for passages and for questions."""
    for encode in (bundled.encode_documents, bundled.encode_queries):
        together = encode(TEXTS)
        for i, text in enumerate(TEXTS):
            alone = encode([text])
            if alone.tokens[0]:
                assert float(alone.vectors[0] @ together.vectors[i]) > 0.99999
            assert all(column[0] == all_of[i] for column, all_of in zip(alone[1:], together[1:], strict=True))


@pytest.mark.models
def test_identity_is_json_and_stays(bundled: Model) -> None:
    """The same words each time, with the keys that everything else relies on."""
    first = json.dumps(bundled.identity(), sort_keys=True)
    bundled.encode_documents(["x"])

    assert json.dumps(bundled.identity(), sort_keys=True) == first
    assert set(bundled.identity()) >= {
        "name",
        "source",
        "revision",
        "weights",
        "query_prompt",
        "document_prompt",
        "window",
        "dim",
    }


@pytest.mark.models
def test_related_texts_are_closer_than_unrelated_ones(bundled: Model) -> None:
    """The weights are really used: an answer lies nearer to its question than another text does."""
    question = bundled.encode_queries(["How long does a refund take?"]).vectors
    near, far = bundled.encode_documents(["Refunds take five days.", "The cat sat on the roof."]).vectors

    assert float(question[0] @ near) > float(question[0] @ far) + 0.2


@pytest.mark.models
def test_minilm_reads_256_tokens_with_its_two_special_ones(cache: Path) -> None:
    """254 tokens of a text are seen, no more; what comes after changes nothing."""
    minilm = instantiate(compose("minilm", cache))
    encoded = minilm.encode_documents(["word " * 400, "word " * 254, "word " * 253])

    assert minilm.identity()["window"] == 256
    assert encoded.tokens.tolist() == [400, 254, 253]
    assert encoded.seen_tokens.tolist() == [254, 254, 253]
    assert encoded.seen_chars.tolist() == [254 * 5 - 1, 254 * 5, 253 * 5]
    assert float(encoded.vectors[0] @ encoded.vectors[1]) > 0.99999


@pytest.mark.models
def test_the_pinned_hash_guards_the_bundled_weights(tmp_path: Path) -> None:
    """A bundled model with another pinned hash is refused."""
    with pytest.raises(ModelError, match="not the pinned ones"):
        instantiate(compose("minilm", tmp_path, weights_sha256="0" * 64)).identity()


@pytest.mark.models
def test_the_identity_of_a_bundled_model_needs_no_torch(tmp_path: Path) -> None:
    """Finding and hashing weights imports neither torch nor sentence-transformers."""
    code = f"""
import sys
from hydra.utils import instantiate
from omegaconf import OmegaConf
for option in {BUNDLED!r}:
    top = {{"cache": {str(tmp_path)!r}, "backend": "auto", "precision": "float32"}}
    instantiate(OmegaConf.create({{"model": OmegaConf.load({str(FOLDER)!r} + "/" + option + ".yaml"), **top}}).model).identity()
print([m for m in ("torch", "transformers", "sentence_transformers") if m in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"
