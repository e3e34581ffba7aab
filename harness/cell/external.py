"""Which retrievers bring chunks of their own."""

from __future__ import annotations

from omegaconf import DictConfig

from harness.cell.components import class_of


def returns_own_chunks(config: DictConfig) -> bool:
    """Whether the cell's retriever does, so that chunker, model and index do not matter to it. Its settings are not looked at."""
    return bool(getattr(class_of(config, "retriever"), "returns_own_chunks", False))
