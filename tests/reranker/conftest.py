"""A tiny cross-encoder with random weights: in a folder, and in a hub's cache with the hub switched off."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tiny_cross_encoder import COMMIT, REPOSITORY, make


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("tiny_cross_encoder"))


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
