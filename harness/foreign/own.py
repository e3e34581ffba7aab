"""Which retrievers bring chunks of their own."""

from __future__ import annotations

from omegaconf import DictConfig

from harness.components import class_of


def brings_chunks(config: DictConfig) -> bool:
    """Whether the cell's retriever does, so that chunker, model and index do not matter to it. Its settings are not looked at."""
    return bool(getattr(class_of(config, "retriever"), "brings_chunks", False))
