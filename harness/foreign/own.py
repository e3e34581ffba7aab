"""Which retrievers bring chunks of their own."""

from __future__ import annotations

from hydra.utils import get_class
from omegaconf import DictConfig


def brings_chunks(config: DictConfig) -> bool:
    """Whether the cell's retriever does, so that chunker, model and index do not matter to it. Its settings are not looked at."""
    return bool(getattr(get_class(str(config.retriever["_target_"])), "brings_chunks", False))
