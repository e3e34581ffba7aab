"""Models that come as Python packages: one package holding the folder, or several holding the parts of a zip file."""

from __future__ import annotations

import re
import shutil
import uuid
import zipfile
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

from harness.errors import ModelError

_PART = re.compile(r"\.zip\.\d+$")


def packaged_file(package: str, file: str) -> Path | None:
    """A file of an installed package by the end of its path, or None. The package is not imported."""
    try:
        files = metadata.files(package) or []
    except metadata.PackageNotFoundError:
        return None
    for entry in files:
        if entry.as_posix().endswith(file):
            path = Path(str(entry.locate()))
            return path if path.is_file() else None
    return None


def packaged_model(packages: Sequence[str], model: str, cache_dir: Path) -> Path | None:
    """The folder of a model that the packages hold together, or None when one of them isn't installed.

    Several packages are the numbered parts of one zip file: they are joined and unpacked once, under
    ``cache_dir/models``, beside its final name, and then renamed; of two processes that do it at once one wins and
    both use its folder. Raises ``ModelError`` when the parts make no model.
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
    try:
        files = metadata.files(package) or []
    except metadata.PackageNotFoundError:
        return None
    return next((Path(str(file.locate())) for file in files if _PART.search(file.name)), None)


def _unpack(parts: list[Path], target: Path, model: str) -> Path:
    aside = target.parent / f".{uuid.uuid4().hex}.part"
    try:
        aside.mkdir(parents=True)
        joined = aside / "joined.zip"
        with joined.open("wb") as whole:
            for part in parts:
                with part.open("rb") as piece:
                    shutil.copyfileobj(piece, whole, 1 << 20)
        with zipfile.ZipFile(joined) as archive:
            archive.extractall(aside / "unpacked")
        inside = next((aside / "unpacked").rglob("modules.json")).parent
        _put(inside, target)
    except (OSError, zipfile.BadZipFile, StopIteration) as error:
        raise ModelError(
            f"The model {model!r} could not be unpacked from its {len(parts)} packages into {target} "
            f"({str(error) or 'it holds no modules.json'}). Free 1 GB there or choose another folder with cache=, "
            "and install the packages again if the zip file is damaged.",
            model=model,
        ) from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return target


def _put(inside: Path, target: Path) -> None:
    try:
        inside.rename(target)
    except OSError:
        # Another process was faster: its folder is complete, because it was renamed too.
        if not (target / "modules.json").is_file():
            raise
