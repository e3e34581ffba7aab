from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from harness.errors import ModelError, SettingError
from harness.model.sentence_transformer import SentenceTransformerModel

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def tiny(hub_cache: Path, tmp_path: Path) -> SentenceTransformerModel:
    return SentenceTransformerModel(
        name="tiny/bert", cache_dir=tmp_path / "cache", device="cpu", batch_size=4
    )


def variant(base: SentenceTransformerModel, **changes: object) -> SentenceTransformerModel:
    return replace(base, **changes)  # type: ignore[arg-type]


def random_texts(seed: int, count: int) -> list[str]:
    rng = random.Random(seed)
    words = ["alpha", "Betas", "gammaing", "x7", "the", ".", "日本", "naïve", "zzz,", "\n", "  ", "!"]
    return [" ".join(rng.choices(words, k=rng.randint(0, 30))) for _ in range(count)]


def test_identity_says_all_that_changes_a_vector(tiny: SentenceTransformerModel) -> None:
    """The resolved commit, hash of the weights, the model's own prompts, its window and dim; as plain JSON."""
    identity = tiny.identity()

    assert identity == json.loads(json.dumps(identity))
    assert identity["name"] == "tiny/bert"
    assert identity["revision"] == COMMIT
    assert set(identity["weights"]) == {"model.safetensors"}
    assert len(identity["weights"]["model.safetensors"]) == 64
    assert (identity["query_prompt"], identity["document_prompt"]) == ("query: ", "passage: ")
    assert (identity["window"], identity["dim"], identity["precision"], identity["normalise"]) == (
        16,
        32,
        "float32",
        True,
    )


def test_identity_does_not_depend_on_the_place(
    tiny: SentenceTransformerModel, tiny_folder: Path, tmp_path: Path
) -> None:
    """Two copies of a folder are one model; a changed tokenizer or changed weights are another."""
    first, second = (tmp_path / place / "same" for place in "ab")
    for copy in (first, second):
        shutil.copytree(tiny_folder, copy)

    def identity(folder: Path) -> object:
        return variant(tiny, name=str(folder)).identity()

    assert identity(first) == identity(second)
    weights = second / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"\x01")
    assert identity(first) != identity(second)
    shutil.copy(first / "model.safetensors", weights)
    assert identity(first) == identity(second)
    (second / "tokenizer.json").write_text((first / "tokenizer.json").read_text().replace("alpha", "alphx"))
    assert identity(first) != identity(second)


def test_prompts_are_the_given_ones_or_the_models_own(tiny: SentenceTransformerModel) -> None:
    """An empty prompt is no prompt, even for a model that has its own; a given one stands before the text."""
    plain = variant(tiny, query_prompt="", document_prompt="")
    by_hand = plain.encode_documents(["query: alpha", "passage: alpha", "alpha"]).vectors

    assert np.allclose(tiny.encode_queries(["alpha"]).vectors, by_hand[0], atol=1e-6)
    assert np.allclose(tiny.encode_documents(["alpha"]).vectors, by_hand[1], atol=1e-6)
    assert np.allclose(plain.encode_queries(["alpha"]).vectors, by_hand[2], atol=1e-6)
    assert not np.allclose(by_hand[0], by_hand[1], atol=1e-2)


def test_rows_are_the_librarys_own_to_rounding(tiny: SentenceTransformerModel) -> None:
    """Each row is what sentence-transformers gives for the text alone, of unit length, in the order of the texts."""
    from sentence_transformers import SentenceTransformer

    texts = random_texts(1, 40)
    encoded = tiny.encode_documents(texts)
    library = SentenceTransformer(str(tiny._found.folder), device="cpu")
    alone = np.vstack([library.encode([text], prompt="passage: ", show_progress_bar=False) for text in texts])

    assert encoded.vectors.dtype == np.float32
    assert np.abs(np.linalg.norm(encoded.vectors.astype(np.float64), axis=1) - 1).max() < 1e-6
    assert (encoded.vectors * alone).sum(axis=1).min() > 0.99999


@pytest.mark.parametrize(
    "prompt",
    [
        "",
        "passage: ",
        "alpha beta gamma delta alpha beta gamma delta alpha beta gamma delta alpha beta gamma : ",
    ],
)
def test_counts_are_those_of_a_brute_force_tokenisation(tiny: SentenceTransformerModel, prompt: str) -> None:
    """Tokens, seen tokens and seen characters agree with the ids the model really gets; the prompt eats the window."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(str(tiny._found.folder))
    texts = random_texts(2, 60)
    encoded = variant(tiny, document_prompt=prompt).encode_documents(texts)

    for i, text in enumerate(texts):
        every = tokenizer(prompt + text, add_special_tokens=False, return_offsets_mapping=True)[
            "offset_mapping"
        ]
        fed = tokenizer(prompt + text, truncation=True, max_length=16, return_offsets_mapping=True)[
            "offset_mapping"
        ]
        read = [end - len(prompt) for _, end in fed if end > len(prompt)]
        own = sum(end > len(prompt) for _, end in every)
        assert encoded.tokens[i] == own
        assert encoded.seen_tokens[i] == len(read)
        assert encoded.seen_chars[i] == (
            len(text) if len(read) == own and len(every) <= 14 else max(read, default=0)
        )


def test_what_lies_beyond_the_window_changes_nothing(tiny: SentenceTransformerModel) -> None:
    """The text cut at seen_chars has the same vector: what is counted as unseen was not seen."""
    text = "alpha beta gammas deltaing the " * 4
    encoded = tiny.encode_documents([text])
    head = text[: encoded.seen_chars[0]]

    assert encoded.seen_tokens[0] < encoded.tokens[0]
    assert np.allclose(tiny.encode_documents([head]).vectors, encoded.vectors, atol=1e-6)


def test_what_is_read_has_one_key(tiny: SentenceTransformerModel) -> None:
    """Cut-off passages have the same key exactly when their vectors are the same; what is read to its end has none."""
    rng = random.Random(3)
    begins = [
        " ".join(rng.choices(["alpha", "Betas", "naïve", "日本"], k=rng.randint(2, 14))) for _ in range(20)
    ]
    texts = [f"{begin} {' '.join(rng.choices(['x7', 'the'], k=rng.randint(0, 20)))}" for begin in begins * 4]
    keys, seen = tiny.readings(texts)
    encoded = tiny.encode_documents(texts)

    assert [not key for key in keys] == (encoded.seen_tokens == encoded.tokens).tolist()
    assert all(np.array_equal(a, b) for a, b in zip(seen[1:], encoded[1:], strict=True))
    cut = [i for i, key in enumerate(keys) if key]
    similar = encoded.vectors @ encoded.vectors.T > 1 - 1e-6
    assert len({keys[i] for i in cut}) < len(cut)
    assert all((keys[i] == keys[j]) == similar[i, j] for i in cut for j in cut)
    assert not any(variant(tiny, long_chunks="window").readings(texts)[0])


def test_max_tokens_is_the_window(tiny: SentenceTransformerModel) -> None:
    """A smaller window reads less; a bigger one is allowed as far as the model has positions."""
    text = "alpha " * 100

    # Two special tokens and "passage", ":" are read before the text.
    assert variant(tiny, max_tokens=10).encode_documents([text]).seen_tokens.tolist() == [6]
    assert variant(tiny, max_tokens=64).encode_documents([text]).seen_tokens.tolist() == [60]
    mixed = "alpha beta gammas deltaing x7 , the " * 20
    rows = []
    for window in (10, 16, 64):
        model = variant(tiny, max_tokens=window)
        encoded = model.encode_documents([mixed])
        head = variant(tiny, max_tokens=64).encode_documents([mixed[: encoded.seen_chars[0]]])
        assert np.allclose(head.vectors, encoded.vectors, atol=1e-6)
        rows.append(encoded.vectors[0])
    assert max(float(rows[0] @ rows[1]), float(rows[1] @ rows[2])) < 0.999
    with pytest.raises(SettingError, match="positions for 64 tokens") as caught:
        variant(tiny, max_tokens=65).identity()
    assert caught.value.key == "model.max_tokens"


def test_a_very_long_text_is_read_as_its_beginning(tiny: SentenceTransformerModel) -> None:
    """A text of hundreds of thousands of tokens is counted to the end, and its vector is that of its beginning."""
    text = "alphas beta " * 40_000
    encoded = tiny.encode_documents([text, text[:600]])

    assert encoded.tokens[0] == 120_000  # alpha ##s beta
    assert np.array_equal(encoded.seen_chars, [encoded.seen_chars[1]] * 2)
    assert np.allclose(encoded.vectors[0], encoded.vectors[1], atol=1e-6)


def test_no_text_and_empty_texts(tiny: SentenceTransformerModel) -> None:
    """No text gives no row, of the right width; an empty or blank text gives a row; half a surrogate pair is no crash."""
    none = tiny.encode_documents([])
    assert none.vectors.shape == (0, 32)
    assert none.tokens.shape == (0,)

    encoded = tiny.encode_documents(["", "  \n", "\ud800 alpha"])
    assert np.allclose(np.linalg.norm(encoded.vectors, axis=1), 1)
    assert encoded.tokens.tolist() == [0, 0, 1]
    assert encoded.seen_chars.tolist() == [0, 3, 7]


def test_one_loaded_model_serves_several_cells(tiny: SentenceTransformerModel) -> None:
    """Two model objects with the same files share the weights in memory, whatever their windows are."""
    again = variant(tiny, batch_size=2, query_prompt="")

    assert again._embedder.backend is tiny._embedder.backend
    assert variant(tiny, max_tokens=12)._embedder.backend is tiny._embedder.backend


def test_other_weights_than_pinned_are_refused(tiny: SentenceTransformerModel) -> None:
    """The message names the file, both hashes, and what to do."""
    with pytest.raises(ModelError, match="are not the pinned ones") as caught:
        variant(tiny, weights_sha256="ab" * 32).identity()

    assert "ab" * 32 in str(caught.value)
    assert "model.safetensors" in str(caught.value)
    assert caught.value.model == "tiny/bert"
    pinned = tiny.identity()["weights"]["model.safetensors"]
    assert variant(tiny, weights_sha256=pinned).identity() == tiny.identity()


def test_replaced_weights_are_noticed_even_with_the_old_date(
    tiny: SentenceTransformerModel, tiny_folder: Path, tmp_path: Path
) -> None:
    """Same path, size and date of change, other bytes: the remembered hash is not used."""
    import os

    folder = tmp_path / "mine"
    shutil.copytree(tiny_folder, folder)
    before = variant(tiny, name=str(folder)).identity()
    weights = folder / "model.safetensors"
    date = weights.stat().st_mtime_ns
    weights.write_bytes(weights.read_bytes()[:-1] + b"\x01")
    os.utime(weights, ns=(date, date))

    assert variant(tiny, name=str(folder)).identity() != before


def test_code_of_a_models_own_never_runs(
    tiny: SentenceTransformerModel, tiny_folder: Path, tmp_path: Path
) -> None:
    """A folder whose modules.json names a foreign module is refused before anything is imported."""
    folder = tmp_path / "foreign"
    shutil.copytree(tiny_folder, folder)
    modules = (folder / "modules.json").read_text()
    (folder / "modules.json").write_text(modules.replace('"sentence_transformers.', '"evil_package.', 1))

    with pytest.raises(ModelError, match=r"code of its own \(evil_package\."):
        variant(tiny, name=str(folder)).identity()


@pytest.mark.parametrize(
    ("name", "words"),
    [("modules.json", "is missing"), ("config.json", "is missing"), ("model.safetensors", "has no weights")],
)
def test_an_incomplete_folder_says_what_is_missing(
    tiny: SentenceTransformerModel, tiny_folder: Path, tmp_path: Path, name: str, words: str
) -> None:
    """The message names the missing file."""
    folder = tmp_path / "torn"
    shutil.copytree(tiny_folder, folder)
    (folder / name).unlink()

    with pytest.raises(ModelError, match=words) as caught:
        variant(tiny, name=str(folder)).identity()
    assert str(folder) in str(caught.value)


def test_torn_weights_are_one_sentence(
    tiny: SentenceTransformerModel, tiny_folder: Path, tmp_path: Path
) -> None:
    """Weights cut short fail when they are loaded, with the folder and what to do."""
    folder = tmp_path / "short"
    shutil.copytree(tiny_folder, folder)
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])

    with pytest.raises(ModelError, match="could not be loaded on cpu") as caught:
        variant(tiny, name=str(folder)).encode_documents(["alpha"])
    assert str(folder) in str(caught.value)


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("name", ""),
        ("batch_size", 0),
        ("batch_size", "8"),
        ("max_tokens", 2),
        ("device", "tpu"),
        ("device", "cuda:x"),
    ],
)
def test_settings_are_checked_before_anything_is_loaded(setting: str, value: object) -> None:
    """A value that is not allowed is named with its key and what is allowed."""
    with pytest.raises(SettingError, match="must be") as caught:
        SentenceTransformerModel(**{"name": "a/b", setting: value})  # type: ignore[arg-type]
    assert caught.value.key == f"model.{setting}"


def test_a_device_that_is_not_there(tiny: SentenceTransformerModel) -> None:
    """Asking for a missing device says which there are, instead of using another one."""
    import torch

    missing = "mps" if not torch.backends.mps.is_available() else "cuda"
    with pytest.raises(ModelError, match=r"^model\.device is .*does not have it\. It has: .*cpu"):
        variant(tiny, device=missing).encode_documents(["alpha"])


def test_loading_says_nothing(tiny_folder: Path, tmp_path: Path) -> None:
    """No progress bar, warning or log line of the libraries reaches the terminal, and warnings as errors don't fail."""
    code = (
        "from harness.model.sentence_transformer import SentenceTransformerModel as M\n"
        f"m = M(name={str(tiny_folder)!r}, cache_dir={str(tmp_path)!r}, device='cpu')\n"
        "m.encode_documents(['alpha ' * 99])\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True
    )

    assert (done.stdout, done.stderr) == ("", "")
