"""A tiny BERT with random weights, saved as sentence-transformers does, in a folder and in a hub's cache."""

from __future__ import annotations

import shutil
import string
import warnings
from pathlib import Path

import pytest

COMMIT = "0123456789abcdef0123456789abcdef01234567"
REPOSITORY = "tiny/bert"
WINDOW = 16
WORDS = ["alpha", "beta", "gamma", "delta", "query", "passage", ":", "the", "##ing", "##s", ".", ","]


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tiny")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import torch
        from sentence_transformers import SentenceTransformer
        from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer
        from transformers import BertConfig, BertModel, BertTokenizer

        torch.manual_seed(0)
        letters = string.ascii_lowercase + string.digits
        vocabulary = [
            "[PAD]",
            "[UNK]",
            "[CLS]",
            "[SEP]",
            "[MASK]",
            *WORDS,
            *letters,
            *(f"##{x}" for x in letters),
        ]
        (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
        config = BertConfig(
            vocab_size=len(vocabulary), hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64,
            max_position_embeddings=64, initializer_range=0.5,
        )  # fmt: skip
        BertModel(config).eval().save_pretrained(folder / "bert")
        BertTokenizer(vocab=str(folder / "vocab.txt"), model_max_length=WINDOW).save_pretrained(
            folder / "bert"
        )
        transformer = Transformer(str(folder / "bert"))
        model = SentenceTransformer(
            modules=[transformer, Pooling(32), Normalize()],
            prompts={"query": "query: ", "document": "passage: "},
            device="cpu",
        )
        model.save(str(folder / "model"), create_model_card=False)
    return folder / "model"


@pytest.fixture
def hub_cache(tiny_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The model in a hub's cache, with the hub switched off."""
    from huggingface_hub import constants

    repository = tmp_path / "hub" / f"models--{REPOSITORY.replace('/', '--')}"
    shutil.copytree(tiny_folder, repository / "snapshots" / COMMIT)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(COMMIT, encoding="utf-8")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    return tmp_path / "hub"
