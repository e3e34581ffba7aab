"""The folder of a sweep: ``sweep.json``, and a folder for each cell."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from harness.files.atomic import read_json

SWEEP = "sweep.json"


class Collected(NamedTuple):
    """Finished cells, best first, and failed ones with ``name`` and ``error``; ``folders``: name of a finished cell to its folder."""

    contents: list[dict[str, Any]]
    failures: list[dict[str, Any]]
    folders: dict[str, Path]


def collected(folder: Path, names: Sequence[str], primary: str, cost: str) -> Collected:
    """The cells below ``folder``, best first (equal scores by ``cost``, then name); failures in the order of ``names``.

    A cell that left no file (its process was killed) counts as failed.
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
    # Among equals the one that hands over less comes first, as in the verdict.
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
