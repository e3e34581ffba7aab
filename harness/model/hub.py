"""What sentence-transformers needs of a model on the Hugging Face hub."""

from __future__ import annotations

from pathlib import Path

from harness.files import hub
from harness.files.hub import SETUP_FILES

# Static models keep their weights in the folder of their one module.
_SETUP = (*SETUP_FILES, *(f"*/{file}" for file in SETUP_FILES), "*/model.safetensors")


def cached_snapshot(name: str, revision: str) -> Path | None:
    """The folder of a model that was downloaded before, or None. Asks nobody."""
    folder = hub.cached(name, revision, _SETUP)
    return folder if folder is not None and (folder / "modules.json").is_file() else None


def download(name: str, revision: str) -> Path:
    """Fetches what sentence-transformers needs of a model and gives its folder; safetensors where there are any."""
    return hub.download(name, revision, _SETUP)
