from __future__ import annotations

import json
import shutil
import subprocess
import sys

import numpy as np
import pytest
from tiny_cross_encoder import COMMIT, REPOSITORY, make

from harness.errors import ModelError, SettingError
from harness.reranker.cross_encoder import CrossEncoderReranker

TEXTS = ["red fox", "a long owl " * 3, "", "hen", "red fox"]


def test_scores_are_those_of_the_model_itself(tiny_folder, tmp_path):
    """Every pair scores as transformers alone says, one pair at a time, whatever the batch; nothing is squashed."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    reranker = CrossEncoderReranker(name=str(tiny_folder), batch_size=2, cache_dir=tmp_path)
    scores = reranker.scores("what is a fox?", TEXTS)
    tokenizer = AutoTokenizer.from_pretrained(tiny_folder)
    model = AutoModelForSequenceClassification.from_pretrained(tiny_folder).eval()
    with torch.no_grad():
        plain = [
            model(**tokenizer([("what is a fox?", text)], return_tensors="pt", truncation=True)).logits.item()
            for text in TEXTS
        ]

    assert scores.dtype == np.float32
    assert scores == pytest.approx(plain, abs=1e-5)
    assert np.ptp(scores) > 0.01
    assert reranker.scores("q", []).shape == (0,)


def test_the_identity_is_the_files_and_not_the_place(hub_cache, tiny_folder, tmp_path):
    """From the hub's cache, switched off: the commit and hashes are known; in a folder the same hashes; other weights, others."""
    cached = CrossEncoderReranker(name=REPOSITORY, cache_dir=tmp_path).identity()
    folder = CrossEncoderReranker(name=str(tiny_folder), cache_dir=tmp_path).identity()

    assert (cached["revision"], cached["source"], cached["name"]) == (COMMIT, "hub", REPOSITORY)
    assert (folder["revision"], folder["source"]) == (None, "folder")
    assert set(cached["weights"]) == {"model.safetensors"}
    assert (cached["weights"], cached["setup"]) == (folder["weights"], folder["setup"])
    other = shutil.copytree(tiny_folder, tmp_path / "other")
    weights = other / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"x")
    changed = CrossEncoderReranker(name=str(other), cache_dir=tmp_path).identity()
    assert changed["weights"] != folder["weights"]


def test_a_model_that_is_not_there_is_said(hub_cache, tmp_path):
    """Offline, a missing reranker is one sentence with every place and remedy; a wrong folder is another."""
    with pytest.raises(ModelError) as said:
        CrossEncoderReranker(name="some/reranker", cache_dir=tmp_path).identity()
    assert all(
        part in str(said.value)
        for part in ("some/reranker", str(hub_cache), "HF_HUB_OFFLINE", "hf download some/reranker")
    )
    with pytest.raises(ModelError, match=r"looks like a folder.*config\.json"):
        CrossEncoderReranker(name="./nowhere/at/all", cache_dir=tmp_path).identity()


def test_nothing_heavy_is_imported_for_an_identity(tiny_folder, tmp_path):
    """Settings and identity are checked before torch is loaded."""
    code = (
        "import sys; from harness.reranker.cross_encoder import CrossEncoderReranker as C;"
        f"C(name={str(tiny_folder)!r}, cache_dir={str(tmp_path)!r}).identity();"
        "print([m for m in ('torch', 'sentence_transformers', 'transformers') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_other_kinds_of_models_are_refused(tmp_path, tiny_folder):
    """An embedding model, a classifier and a folder without weights are named for what they are, before anything is loaded."""
    three = make(tmp_path, labels=3)
    with pytest.raises(ModelError, match="gives 3 numbers for a pair"):
        CrossEncoderReranker(name=str(three), cache_dir=tmp_path).identity()
    config = json.loads((three / "config.json").read_text(encoding="utf-8"))
    (three / "config.json").write_text(
        json.dumps(config | {"architectures": ["BertModel"]}), encoding="utf-8"
    )
    with pytest.raises(ModelError, match=r"is not a cross-encoder: its config\.json says BertModel"):
        CrossEncoderReranker(name=str(three), cache_dir=tmp_path).identity()
    bare = shutil.copytree(tiny_folder, tmp_path / "bare")
    (bare / "model.safetensors").unlink()
    with pytest.raises(ModelError, match="has no weights"):
        CrossEncoderReranker(name=str(bare), cache_dir=tmp_path).identity()


def test_what_can_not_be_loaded_is_one_sentence(tiny_folder, tmp_path):
    """Damaged weights and a device that is not there are ModelErrors that name the folder."""
    broken = shutil.copytree(tiny_folder, tmp_path / "broken")
    (broken / "model.safetensors").write_bytes(b"nonsense")
    with pytest.raises(ModelError, match="could not be loaded"):
        CrossEncoderReranker(name=str(broken), cache_dir=tmp_path).scores("q", ["t"])


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        ({"name": " "}, "name"),
        ({"depth": 0}, "depth"),
        ({"depth": 2.5}, "depth"),
        ({"batch_size": True}, "batch_size"),
        ({"max_tokens": 3}, "max_tokens"),
        ({"device": "tpu"}, "device"),
    ],
)
def test_wrong_settings_are_named(settings, key):
    """A setting out of range is refused with its key before anything is looked for."""
    with pytest.raises(SettingError, match=f"reranker.{key} is") as said:
        CrossEncoderReranker(**{"name": "a/b", **settings})
    assert said.value.key == f"reranker.{key}"


def test_a_lone_surrogate_is_read(tiny_folder, tmp_path):
    """Broken text scores like any other."""
    reranker = CrossEncoderReranker(name=str(tiny_folder), cache_dir=tmp_path)
    assert np.isfinite(reranker.scores("q \ud800", ["\udfff a"])).all()


def test_pairs_beyond_the_window_are_counted(tiny_folder, tmp_path):
    """Question and text share the window: a short pair fits, one of hundreds of words does not."""
    reranker = CrossEncoderReranker(name=str(tiny_folder), max_tokens=16, cache_dir=tmp_path)

    assert reranker.truncated("fox?", ["hen", "a long owl " * 100, ""]) == 1
    assert reranker.truncated("fox?", []) == 0
