"""A model's files on this machine: where they are and what they hold, for embedding models and rerankers."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from harness.errors import ModelError, SettingError
from harness.files import hub
from harness.files.atomic import write_bytes

_REPOSITORY = re.compile(r"[\w.-]+(/[\w.-]+)?")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_DEVICE = re.compile(r"auto|cpu|mps|cuda(:\d+)?")
logger = logging.getLogger(__name__)

# A file written this recently may be written again within the clock's resolution without a visible trace.
_SETTLED_NS = 2_000_000_000


def check_name_and_device(group: str, name: str, device: str) -> None:
    """Raises ``SettingError`` for an empty ``GROUP.name`` or an unknown ``GROUP.device``."""
    if not name or not str(name).strip():
        raise SettingError(
            f"{group}.name is empty; it must be a name on the hub (org/name) or a folder.",
            key=f"{group}.name",
        )
    if not _DEVICE.fullmatch(str(device)):
        raise SettingError(
            f"{group}.device is {device}; it must be auto, cpu, mps, cuda or cuda:N.", key=f"{group}.device"
        )


def file_sha256(path: Path, cache_dir: Path) -> str:
    """Hexadecimal sha256 of the file's bytes.

    It is remembered under ``cache_dir/file_hashes`` by path, size and the times of change; a file of 400 MB
    costs a second once. A folder that can't be written costs that second every time and nothing else. Raises
    ``OSError`` when the file can't be read.
    """
    path = path.resolve()
    stat = path.stat()
    stamp = [str(path), stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns]
    note = cache_dir / "file_hashes" / f"{hashlib.sha256(os.fsencode(path)).hexdigest()[:32]}.json"
    known = _remembered(note, stamp)
    if known is not None:
        return known
    found = sha256(path)
    if time.time_ns() - max(stat.st_mtime_ns, stat.st_ctime_ns) > _SETTLED_NS:
        _remember(note, stamp, found)
    return found


def sha256(path: Path) -> str:
    """Hexadecimal sha256 of the file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _remembered(note: Path, stamp: list[object]) -> str | None:
    try:
        entry = json.loads(note.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return str(entry["sha256"]) if isinstance(entry, dict) and entry.get("stamp") == stamp else None


def _remember(note: Path, stamp: list[object], found: str) -> None:
    try:
        write_bytes(note, json.dumps({"stamp": stamp, "sha256": found}).encode())
    except OSError as error:
        logger.debug("The hash of %s could not be remembered in %s: %s", stamp[0], note, error)


class ModelFiles(NamedTuple):
    """``source``: folder, package or hub. ``revision``: the commit on the hub, if there is one."""

    folder: Path
    source: str
    revision: str | None

    def origin(self, name: str) -> dict[str, str | None]:
        """What stands in a model's identity: a local folder is named without its path."""
        shown = self.folder.resolve().name if self.source == "folder" else name
        return {"name": shown, "source": self.source, "revision": self.revision}


class ModelKind(NamedTuple):
    """What is looked for: an embedding model or a reranker.

    ``kind``: how messages call it. ``marker``: the file that every such folder has. ``patterns``: the files
    that are downloaded beside the weights. ``example``: a name on the hub.
    """

    kind: str
    marker: str
    patterns: Sequence[str]
    example: str

    def find(
        self, name: str, revision: str, packaged: Callable[[], Path | None] = lambda: None
    ) -> ModelFiles | None:
        """The first that has it of: the local folder ``name``, ``packaged``, the hub's cache; else None.

        Asks no network. Raises ``ModelError`` for a name that can only be a folder and does not exist.
        """
        folder = Path(name).expanduser()
        if (folder / self.marker).is_file():
            return ModelFiles(folder, "folder", None)
        if not _REPOSITORY.fullmatch(name) or name.startswith("."):
            raise ModelError(
                f"The {self.kind} {name!r} looks like a folder, but {folder / self.marker} is missing. Give "
                f"the folder that holds {self.marker}, or a name on the hub such as {self.example}.",
                model=name,
            )
        package = packaged()
        if package is not None:
            return ModelFiles(package, "package", revision if _COMMIT.fullmatch(revision) else None)
        snapshot = hub.cached(name, revision, self.patterns)
        is_whole = snapshot is not None and (snapshot / self.marker).is_file()
        return ModelFiles(snapshot, "hub", snapshot.name) if snapshot is not None and is_whole else None

    def fetch(self, name: str, revision: str, packages: Sequence[str] = ()) -> ModelFiles:
        """Downloads the model from the hub. ``packages``: named in the error as another way to get it.

        Raises ``ModelError`` within seconds when the hub can't be reached.
        """
        reason = hub.unreachable()
        if reason:
            raise self._not_found(name, revision, packages, reason)
        snapshot = hub.download(name, revision, self.patterns)
        return ModelFiles(snapshot, "hub", snapshot.name)

    def _not_found(self, name: str, revision: str, packages: Sequence[str], reason: str) -> ModelError:
        looked = [f"the packages {', '.join(packages)} (not all installed)"] if packages else []
        looked += [f"the hub's cache {hub.cache_folder()} (not there)", f"the hub {hub.address()} ({reason})"]
        remedies = [f"pip install {' '.join(packages)}"] if packages else []
        if self.kind == "model" and not packages:
            remedies = ["choose a model that is a package (model=minilm, model=wordllama)"]
        remedies += [
            f"run `hf download {name} --revision {revision}` elsewhere and copy its cache folder (HF_HOME)",
            "reach the hub: a proxy (HTTPS_PROXY), a mirror (HF_ENDPOINT), or unset HF_HUB_OFFLINE",
        ]
        numbered = "; ".join(f"({i}) {remedy}" for i, remedy in enumerate(remedies, start=1))
        return ModelError(
            f"The {self.kind} {name!r} at revision {revision!r} was not found. Looked at: "
            f"{'; '.join(looked)}. Any of these helps: {numbered}.",
            model=name,
        )


def weight_files(folder: Path, places: Iterable[Path], kind: str, name: str) -> tuple[Path, ...]:
    """The weight files in ``places``, sorted; ``folder`` must hold some of them. Raises ``ModelError``."""
    for pattern in ("*.safetensors", "pytorch_model*.bin"):
        if any(folder.glob(pattern)):
            return tuple(sorted(path for place in set(places) for path in place.glob(pattern)))
    raise ModelError(
        f"The {kind} {name!r} has no weights: neither *.safetensors nor pytorch_model.bin is in {folder}. "
        "Delete the folder and download it again.",
        model=name,
    )


def setup_digest(folder: Path, files: Iterable[Path]) -> str:
    """sha256 over ``files`` of ``folder``, in this order; missing ones are skipped."""
    total = hashlib.sha256()
    for path in files:
        if path.is_file():
            total.update(f"{path.relative_to(folder).as_posix()}\n{sha256(path)}\n".encode())
    return total.hexdigest()
