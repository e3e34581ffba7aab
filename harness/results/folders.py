"""Sweeps as folders below ``outputs/``: the one that a word means, without asking any tracker."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Any

from harness.errors import SettingError, StoreError
from harness.files.atomic import read_json
from harness.paths import root
from harness.results.sweeps import SWEEP


def folder_meant(word: str) -> Path | None:
    """The folder of a sweep, if ``word`` is a path to it or to a cell in it: from here, or from ``outputs/``; else None."""
    for place in (Path(word), outputs() / word):
        for folder in (place, place.parent):
            if word.strip("./") and place.is_dir() and (folder / SWEEP).is_file():
                return folder.resolve()
    if "/" in word and Path(word).is_absolute():
        raise SettingError(
            f"sweep={word}: there is no {SWEEP} in that folder, so it is no sweep's.", key="sweep"
        )
    return None


def recorded_in(word: str) -> Path:
    """The folder of the newest sweep that has ended (``latest``), or of the one called ``word``.

    Raises ``StoreError`` when there is none, ``SettingError`` for an unknown name.
    """
    sweeps = {file.parent: read_json(file) for file in sorted(outputs().glob(f"*/*/{SWEEP}"), reverse=True)}
    if not sweeps:
        raise StoreError(
            f"There is no sweep in {outputs()} yet. Run one first: python -m harness -m model=minilm,wordllama chunk=256,512",
            where=outputs(),
        )
    if word == "latest":
        ended = [folder for folder, about in sweeps.items() if about.get("ended")]
        return ended[0] if ended else next(iter(sweeps))
    named = [folder for folder, about in sweeps.items() if about["name"] == word]
    if len(named) == 1:
        return named[0]
    raise _unclear(word, sweeps, named)


def outputs() -> Path:
    """Where the folders of sweeps are."""
    return root() / "outputs"


def _unclear(word: str, sweeps: dict[Path, dict[str, Any]], named: list[Path]) -> SettingError:
    if named:
        some = ", ".join(str(folder.relative_to(outputs())) for folder in named[:5])
        return SettingError(
            f"sweep={word}: there are {len(named)} sweeps of that name: {some}. Give the folder.", key="sweep"
        )
    names = {str(about["name"]): folder for folder, about in sweeps.items()}
    close = difflib.get_close_matches(word, names, 1)
    near = close[0] if close else next(iter(names))
    return SettingError(
        f"sweep={word}: no sweep of that name in {outputs()}. {'The nearest' if close else 'The newest'} is '{near}' "
        f"({names[near].relative_to(outputs())}).",
        key="sweep",
    )
