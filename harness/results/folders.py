"""Sweeps as folders below ``outputs/``: ``sweep.json``, and a folder for each cell."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from harness.errors import SettingError, StoreError
from harness.files.atomic import read_json
from harness.paths import root

SWEEP = "sweep.json"


class Collected(NamedTuple):
    """Finished cells, best first; failed cells with their error; the folder of each finished cell."""

    contents: list[dict[str, Any]]
    failures: list[dict[str, Any]]
    folders: dict[str, Path]


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
    """The folder of the newest sweep that has ended (``latest``), or of the one called ``word``.

    Raises ``StoreError`` when there is none, ``SettingError`` for an unknown name.
    """
    sweeps = {file.parent: read_json(file) for file in sorted(outputs().glob(f"*/*/{SWEEP}"), reverse=True)}
    if not sweeps:
        raise StoreError(
            f"There is no sweep in {outputs()} yet. Run one first: "
            "python -m harness -m model=minilm,wordllama chunk=256,512",
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
            f"sweep={word}: {len(named)} sweeps have that name: {some}. Give the folder.", key="sweep"
        )
    names = {str(about["name"]): folder for folder, about in sweeps.items()}
    close = difflib.get_close_matches(word, names, 1)
    near = close[0] if close else next(iter(names))
    return SettingError(
        f"sweep={word}: {outputs()} has no sweep of that name. {'The nearest' if close else 'The newest'} is "
        f"'{near}' ({names[near].relative_to(outputs())}).",
        key="sweep",
    )


def collected(folder: Path, names: Sequence[str], primary: str, cost: str) -> Collected:
    """The cells below ``folder``, best first; failures in the order of ``names``.

    Equal scores are ordered by ``cost``, then by name. A cell without a file (its process was killed)
    counts as failed.
    """
    files = {file: _finished(file) for file in folder.glob("*/result.json")}
    contents = list(files.values())
    failures = [read_json(file) for file in folder.glob("*/failure.json")]
    seen = {content["name"] for content in [*contents, *failures]}
    failures += [
        {"name": name, "error": "It left no result: its process ended."} for name in names if name not in seen
    ]
    failures += [
        {"name": found["name"], "error": f"scored, but not tracked: {found['error']}"}
        for found in map(read_json, folder.glob("*/untracked.json"))
    ]
    failures.sort(
        key=lambda failure: names.index(failure["name"]) if failure["name"] in names else len(names)
    )
    # Cells with equal means are ordered by cost, as in the verdict.
    contents.sort(
        key=lambda content: (
            -round(content["metrics"][primary], 12),
            content["metrics"].get(cost, 0.0),
            content["name"],
        )
    )
    return Collected(contents, failures, {content["name"]: file.parent for file, content in files.items()})


def _finished(file: Path) -> dict[str, Any]:
    """A finished cell, with the seconds that tracking it took where it was tracked."""
    content = read_json(file)
    run = file.with_name("run.json")
    if run.is_file():
        content["timing"]["track_seconds"] = read_json(run)["track_seconds"]
    return content
