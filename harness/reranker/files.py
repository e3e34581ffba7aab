"""Where a reranker's files are: a local folder, the hub's cache, the hub; in this order."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any, NamedTuple

from harness.errors import ModelError
from harness.files import hub
from harness.files.digest import file_sha256
from harness.files.hub import SETUP_FILES

_REPOSITORY = re.compile(r"[\w.-]+(/[\w.-]+)?")


class Found(NamedTuple):
    """``folder`` holds the files; ``revision`` is the commit on the hub, None for a local folder."""

    folder: Path
    revision: str | None


def locate(name: str, revision: str) -> Found:
    """The first place that has the model; downloads only when none on this machine has it.

    Raises ``ModelError`` that names every place and what would help; when the hub can't be reached it does so within seconds.
    """
    folder = Path(name).expanduser()
    if (folder / "config.json").is_file():
        return Found(folder, None)
    if not _REPOSITORY.fullmatch(name) or name.startswith("."):
        raise ModelError(
            f"The reranker {name!r} looks like a folder, and no model is there ({folder / 'config.json'} is missing). Give the "
            "folder that holds config.json, or a name on the hub such as cross-encoder/ms-marco-MiniLM-L6-v2.",
            model=name,
        )
    snapshot = hub.cached(name, revision, SETUP_FILES)
    if snapshot is None:
        reason = hub.unreachable()
        if reason:
            raise ModelError(
                f"The reranker {name!r} at revision {revision!r} was not found. Looked at: the hub's cache {hub.cache_folder()} (not "
                f"there); the hub {hub.address()} ({reason}). Either helps: (1) on a machine with a network run "
                f"`hf download {name} --revision {revision}` and copy its cache folder here (HF_HOME names another place); (2) reach "
                "the hub: a proxy (HTTPS_PROXY), a mirror (HF_ENDPOINT), or unset HF_HUB_OFFLINE.",
                model=name,
            )
        snapshot = hub.download(name, revision, SETUP_FILES)
    return Found(snapshot, snapshot.name)


def digests(found: Found, name: str, cache_dir: Path) -> tuple[dict[str, str], str]:
    """The sha256 of each weight file, and one over configuration and tokenizer. Raises ``ModelError`` for an incomplete folder."""
    for pattern in ("*.safetensors", "pytorch_model*.bin"):
        weights = sorted(found.folder.glob(pattern))
        if weights:
            break
    else:
        raise ModelError(
            f"The reranker {name!r} has no weights: neither *.safetensors nor pytorch_model.bin is in {found.folder}. "
            "Delete the folder and download it again.",
            model=name,
        )
    total = hashlib.sha256()
    for file in SETUP_FILES:
        if (found.folder / file).is_file():
            content = hashlib.sha256((found.folder / file).read_bytes()).hexdigest()
            total.update(f"{file}\n{content}\n".encode())
    return {path.name: file_sha256(path, cache_dir) for path in weights}, total.hexdigest()


def refuse_other_kinds(found: Found, name: str) -> None:
    """Raises ``ModelError`` for a model that gives no single score for a pair: an embedding model, a classifier."""
    try:
        config: Any = json.loads((found.folder / "config.json").read_text(encoding="utf-8"))
        kinds, labels = [str(kind) for kind in config.get("architectures") or []], config.get("id2label")
    except (OSError, ValueError, AttributeError) as error:
        raise ModelError(
            f"The reranker {name!r} can't be used: {found.folder / 'config.json'} can't be read ({error}).",
            model=name,
        ) from error
    if not any(kind.endswith("ForSequenceClassification") for kind in kinds):
        raise ModelError(
            f"The model {name!r} is no cross-encoder: its config.json says {', '.join(kinds) or 'nothing'}, and a score for a pair "
            "of texts takes a ...ForSequenceClassification. An embedding model belongs to model=.",
            model=name,
        )
    if isinstance(labels, dict) and len(labels) != 1:
        raise ModelError(
            f"The model {name!r} gives {len(labels)} numbers for a pair of texts; a reranker gives one.",
            model=name,
        )
