"""Finds an embedding model: in a local folder, installed packages, the hub's cache, or on the hub."""

from __future__ import annotations

import re
import shutil
import tempfile
import zipfile
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

from harness.errors import ModelError
from harness.files.atomic import replacing_folder
from harness.files.hub import SETUP_FILES
from harness.files.model_files import ModelFiles, ModelKind

# Static models have their weights in the folder of their one module.
_FILES = (*SETUP_FILES, *(f"*/{file}" for file in SETUP_FILES), "*/model.safetensors")
_KIND = ModelKind("model", "modules.json", _FILES, "BAAI/bge-small-en-v1.5")
_PART = re.compile(r"\.zip\.\d+$")


def locate(name: str, revision: str, packages: Sequence[str], cache_dir: Path) -> ModelFiles:
    """The first place that has the model; downloads it when no place on this machine has it.

    Raises ``ModelError`` that names every place and what would help, within seconds when the hub can't be
    reached.
    """
    found = locate_here(name, revision, packages, cache_dir)
    return _KIND.fetch(name, revision, packages) if found is None else found


def locate_here(name: str, revision: str, packages: Sequence[str], cache_dir: Path) -> ModelFiles | None:
    """The first place on this machine that has the model, or None; asks no network.

    Raises ``ModelError`` for a name that can only be a folder and does not exist.
    """
    return _KIND.find(name, revision, lambda: packaged_model(packages, name, cache_dir) if packages else None)


def check_pinned(weights: Path, found: str, pinned: str | None, model: str) -> None:
    """Raises ``ModelError`` when ``found``, the sha256 of the weights, is not the pinned one."""
    if pinned is not None and found != pinned:
        raise ModelError(
            f"The weights of the model {model!r} are not the pinned ones: {weights} has sha256 {found}, "
            f"expected {pinned} (model.weights_sha256). Delete the files and get them again, or set "
            "model.weights_sha256=null to use what is there.",
            model=model,
        )


def packaged_file(package: str, file: str) -> Path | None:
    """A file of an installed package by the end of its path, or None. The package is not imported."""
    entries = _entries(package)
    path = next((Path(str(entry.locate())) for entry in entries if entry.as_posix().endswith(file)), None)
    return path if path is not None and path.is_file() else None


def packaged_model(packages: Sequence[str], model: str, cache_dir: Path) -> Path | None:
    """The folder of a model that the packages hold together, or None when one of them isn't installed.

    Several packages are the numbered parts of one zip file: they are joined and unpacked once, under
    ``cache_dir/models``, beside its final name, and then renamed; of two processes that do it at once one
    wins and both use its folder. Raises ``ModelError`` when the parts make no model.
    """
    if len(packages) == 1:
        modules = packaged_file(packages[0], "modules.json")
        return None if modules is None else modules.parent
    parts = [_part(package) for package in packages]
    found = [part for part in parts if part is not None]
    if not parts or len(found) < len(parts):
        return None
    found.sort(key=lambda part: part.suffix)
    stem = _PART.sub("", found[0].name)
    version = metadata.version(packages[0])
    target = cache_dir / "models" / f"{stem}-{version}"
    return target if (target / "modules.json").is_file() else _unpack(found, target, model)


def _part(package: str) -> Path | None:
    return next((Path(str(file.locate())) for file in _entries(package) if _PART.search(file.name)), None)


def _entries(package: str) -> Sequence[metadata.PackagePath]:
    """The files of an installed package; none when it is not installed."""
    try:
        return metadata.files(package) or []
    except metadata.PackageNotFoundError:
        return []


def _unpack(parts: list[Path], target: Path, model: str) -> Path:
    try:
        with (
            replacing_folder(target, (target / "modules.json").is_file) as aside,
            tempfile.TemporaryFile(dir=target.parent) as joined,
        ):
            for part in parts:
                with part.open("rb") as piece:
                    shutil.copyfileobj(piece, joined, 1 << 20)
            with zipfile.ZipFile(joined) as archive:
                _extract(archive, aside)
    except (OSError, zipfile.BadZipFile) as error:
        raise ModelError(
            f"The model {model!r} could not be unpacked from its {len(parts)} packages into {target} "
            f"({error}). Free 1 GB there or choose another folder with cache=, "
            "and install the packages again if the zip file is damaged.",
            model=model,
        ) from error
    return target


def _extract(archive: zipfile.ZipFile, into: Path) -> None:
    """Extracts the folder of the archive that holds ``modules.json``."""
    names = [name for name in archive.namelist() if name.rpartition("/")[2] == "modules.json"]
    if not names:
        raise zipfile.BadZipFile("it holds no modules.json")
    inside = min(names, key=len).removesuffix("modules.json")
    for member in archive.infolist():
        if member.filename.startswith(inside) and member.filename != inside:
            member.filename = member.filename.removeprefix(inside)
            archive.extract(member, into)
