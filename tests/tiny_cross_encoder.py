"""Makes a tiny BERT that scores pairs, with random weights, as a hub's repository holds it."""

from __future__ import annotations

import string
import warnings
from pathlib import Path

COMMIT = "89abcdef0123456789abcdef0123456789abcdef"
REPOSITORY = "tiny/cross"


def make(folder: Path, labels: int = 1) -> Path:
    """The model's folder, in ``folder``; ``labels``: numbers for each pair."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import torch
        from transformers import BertConfig, BertForSequenceClassification, BertTokenizer

        torch.manual_seed(1)
        letters = string.ascii_lowercase + string.digits
        words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{x}" for x in letters)]
        (folder / "vocab.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
        config = BertConfig(
            vocab_size=len(words), hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64,
            max_position_embeddings=128, initializer_range=0.5, num_labels=labels,
        )  # fmt: skip
        BertForSequenceClassification(config).eval().save_pretrained(folder / "model")
        BertTokenizer(vocab=str(folder / "vocab.txt"), model_max_length=64).save_pretrained(folder / "model")
    return folder / "model"
