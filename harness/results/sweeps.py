"""The sweeps in ``outputs/``: which one is meant, and all that there are."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from harness.cli.hydra_errors import closest
from harness.errors import SettingError, StoreError
from harness.files.atomic import read_json
from harness.paths import root
from harness.results.finished import collected

SWEEP = "sweep.json"


def folder_meant(word: str) -> Path | None:
    """The folder of a sweep if ``word`` is a path to it or to a cell, from here or from ``outputs/``."""
    for place in (Path(word), outputs() / word):
        for folder in (place, place.parent):
            if word.strip("./") and place.is_dir() and (folder / SWEEP).is_file():
                return folder.resolve()
    if "/" in word and Path(word).is_absolute():
        raise SettingError(f"sweep={word}: the folder has no {SWEEP}, so it is not a sweep.", key="sweep")
    return None


def recorded_in(word: str) -> Path:
    """The folder of the newest sweep that ended with a result (``latest``), or of the one called ``word``.

    Raises ``StoreError`` when there is none, ``SettingError`` for an unknown name.
    """
    sweeps = _sweeps()
    if not sweeps:
        raise StoreError(
            f"There is no sweep in {outputs()} yet. Run one first: "
            "python -m harness -m model=minilm,wordllama chunk=256,512",
            where=outputs(),
        )
    if word == "latest":
        return next((f for f, about in sweeps.items() if _has_result(f, about)), next(iter(sweeps)))
    named = [folder for folder, about in sweeps.items() if about["name"] == word]
    if len(named) == 1:
        return named[0]
    raise _unclear(word, sweeps, named)


def untracked_after(folder: Path) -> Path | None:
    """The newest sweep here that ended with a result, if it is later than ``folder`` and was not tracked."""
    if outputs().resolve() not in folder.resolve().parents:
        return None
    for newest, about in _sweeps().items():
        if _has_result(newest, about):
            is_later = newest.resolve().parts > folder.resolve().parts
            return newest if is_later and "run_id" not in about["tracker"] else None
    return None


class SweepLine(NamedTuple):
    """A sweep in a list: name, folder, whether it has ended, its cells, the deciding metric and the best."""

    name: str
    folder: Path
    is_ended: bool
    finished: int
    cells: int
    primary: str
    best: tuple[str, float] | None


def sweep_lines() -> list[SweepLine]:
    """All sweeps in ``outputs/``, the newest first; ``best`` is the first cell of its leaderboard."""
    lines = []
    for folder, about in _sweeps().items():
        primary, cells = about["primary"], len(about["cells"])
        contents = collected(folder, (), primary, about["k"]).contents
        best = (contents[0]["name"], float(contents[0]["metrics"][primary])) if contents else None
        ended = bool(about.get("ended"))
        lines.append(SweepLine(about["name"], folder, ended, len(contents), cells, primary, best))
    return lines


def _sweeps() -> dict[Path, dict[str, Any]]:
    """The folder of every sweep with its ``sweep.json``, the newest first."""
    files = sorted(outputs().glob(f"*/*/{SWEEP}"), reverse=True)
    return {file.parent: read_json(file) for file in files}


def _has_result(folder: Path, about: Mapping[str, Any]) -> bool:
    return bool(about.get("ended")) and any(folder.glob("*/result.json"))


def outputs() -> Path:
    """Where the folders of sweeps are."""
    return root() / "outputs"


def _unclear(word: str, sweeps: dict[Path, dict[str, Any]], named: list[Path]) -> SettingError:
    if named:
        some = ", ".join(str(folder.relative_to(outputs())) for folder in named[:5])
        return SettingError(
            f"sweep={word}: {len(named)} sweeps have that name: {some}. Give the folder.", key="sweep"
        )
    names = [str(about["name"]) for about in sweeps.values()]
    hint = closest(word, names) or f" The newest is '{names[0]}'."
    return SettingError(f"sweep={word}: {outputs()} has no sweep of that name.{hint}", key="sweep")
