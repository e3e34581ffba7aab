"""Where a model's files are: a local folder, installed packages, the hub's cache, the hub; in this order."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from harness.errors import ModelError
from harness.files import hub
from harness.model.hub import cached_snapshot, download
from harness.model.wheels import packaged_model

_REPOSITORY = re.compile(r"[\w.-]+(/[\w.-]+)?")
_COMMIT = re.compile(r"[0-9a-f]{40}")


class Found(NamedTuple):
    """Where a model was found.

    ``folder`` holds its files; ``source`` is ``folder``, ``package`` or ``hub``; ``revision`` is the commit on the
    hub where there is one.
    """

    folder: Path
    source: str
    revision: str | None


def locate(name: str, revision: str, packages: Sequence[str], cache_dir: Path) -> Found:
    """The first place that has the model; downloads only when no place on this machine has it.

    Raises ``ModelError`` that names every place that was looked at and what would help; when the hub can't be
    reached it does so within seconds.
    """
    found = locate_here(name, revision, packages, cache_dir)
    if found is not None:
        return found
    reason = hub.unreachable()
    if reason:
        raise _not_found(name, revision, packages, reason)
    snapshot = download(name, revision)
    return Found(snapshot, "hub", snapshot.name)


def locate_here(name: str, revision: str, packages: Sequence[str], cache_dir: Path) -> Found | None:
    """The first place on this machine that has the model, or None; asks no network.

    Raises ``ModelError`` for a name that can only be a folder and is none.
    """
    folder = Path(name).expanduser()
    if (folder / "modules.json").is_file():
        return Found(folder, "folder", None)
    if not _REPOSITORY.fullmatch(name) or name.startswith("."):
        raise ModelError(
            f"The model {name!r} looks like a folder, and no sentence-transformers model is there ({folder / 'modules.json'} "
            "is missing). Give the folder that holds modules.json, or a name on the hub such as BAAI/bge-small-en-v1.5.",
            model=name,
        )
    if packages:
        packaged = packaged_model(packages, name, cache_dir)
        if packaged is not None:
            return Found(packaged, "package", revision if _COMMIT.fullmatch(revision) else None)
    snapshot = cached_snapshot(name, revision)
    return None if snapshot is None else Found(snapshot, "hub", snapshot.name)


def _not_found(name: str, revision: str, packages: Sequence[str], reason: str) -> ModelError:
    looked = [f"the packages {', '.join(packages)} (not all installed)"] if packages else []
    looked += [f"the hub's cache {hub.cache_folder()} (not there)", f"the hub {hub.address()} ({reason})"]
    install = (
        f"pip install {' '.join(packages)}"
        if packages
        else "choose a model that is a package (model=minilm, model=wordllama)"
    )
    return ModelError(
        f"The model {name!r} at revision {revision!r} was not found. Looked at: {'; '.join(looked)}. Any of these helps: "
        f"(1) {install}; (2) on a machine with a network run `hf download {name} --revision {revision}` and copy its cache "
        f"folder here (HF_HOME names another place); (3) reach the hub: a proxy (HTTPS_PROXY), a mirror (HF_ENDPOINT), "
        "or unset HF_HUB_OFFLINE.",
        model=name,
    )
