"""The environment of a sweep: version and git commit, and what works on this machine."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from collections.abc import Callable, Iterator
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from omegaconf import DictConfig

from harness import __version__
from harness.cell.build import Shared
from harness.cell.settings import new
from harness.cli import compose
from harness.cli.command import take_apart
from harness.errors import HarnessError, StoreError
from harness.files.atomic import write_json
from harness.files.hub import unreachable
from harness.paths import conf_folder, root
from harness.view.formats import counted

_SECONDS = 5.0


def provenance(folder: Path) -> dict[str, str]:
    """``version``; in a git checkout also ``git_commit`` and ``git_dirty`` (``true`` or ``false``).

    Without git, outside of a checkout, or before the first commit only the version is known.
    """
    found = {"version": __version__}
    commit = _git(folder, "rev-parse", "HEAD")
    changes = _git(folder, "status", "--porcelain", "--untracked-files=no")
    if commit and changes is not None:
        found |= {"git_commit": commit, "git_dirty": str(bool(changes)).lower()}
    return found


def _git(folder: Path, *words: str) -> str | None:
    """What git answers, or None where it can't."""
    try:
        done = subprocess.run(  # noqa: S603 - fixed words, no shell
            ["git", *words],  # noqa: S607 - whichever git the user has
            cwd=folder,
            capture_output=True,
            text=True,
            check=True,
            timeout=_SECONDS,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


LIBRARIES = ("torch", "sentence-transformers", "transformers", "mlflow", "hydra-core", "numpy")
LAUNCHERS = {
    "joblib (many cores)": "hydra_plugins.hydra_joblib_launcher",
    "submitit (Slurm)": "hydra_plugins.hydra_submitit_launcher",
    "ray (a cluster)": "hydra_plugins.hydra_ray_launcher",
}

_NEVER = " (*: never loaded by this project's tests)"


def report(config: DictConfig) -> Iterator[tuple[bool | None, str, str]]:
    """Lines as (works, label, text); None for information, and for what need not work."""
    yield True, "python", f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    yield None, "libraries", ", ".join(f"{name} {metadata.version(name)}" for name in LIBRARIES)
    yield None, "cores", f"{_cores()} usable of {os.cpu_count()}"
    free = shutil.disk_usage(root()).free / 1e9
    yield free > 1, "disk", f"{free:.0f} GB free at {root()}"
    yield _outcome("documents", lambda: _inputs(config))
    yield _outcome("tracking", lambda: str(new(config, "tracker").check()))
    yield _outcome("cache", lambda: _writable(Path(str(config.cache))))
    reason = unreachable()
    yield None, "hub", f"can't be reached: {reason}" if reason else "answers"
    yield from _models(str(config.model.name))
    installed = [text for text, plugin in LAUNCHERS.items() if find_spec(plugin)]
    yield None, "launchers", ", ".join(["one process", *installed])


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _outcome(label: str, check: Callable[[], str]) -> tuple[bool, str, str]:
    """The text of the check, or its error."""
    try:
        return True, label, check()
    except HarnessError as error:
        return False, label, str(error)
    except OSError as error:
        return False, label, f"{error.filename}: {error.strerror}. HARNESS_ROOT=DIR chooses another place."


def _inputs(config: DictConfig) -> str:
    inputs = Shared().inputs(config)
    states = ", ".join(f"{n} {state}" for state, n in inputs.labels.states.items() if n)
    count = counted(len(inputs.labels.questions), "question")
    return f"{len(inputs.documents)} in {config.corpus.path}; {count}; labels: {states}"


def check_writable(folder: Path) -> None:
    """Finds out whether a folder could be made and written, without leaving one behind that was not there."""
    there = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        reason = "can't be written" if there.is_dir() else "is not a folder"
        raise StoreError(
            f"Results can't be written to {folder}: {there} {reason}. Choose another folder: "
            "HARNESS_ROOT=DIR for everything, "
            "cache=DIR for the embeddings.",
            where=folder,
        )


def _writable(folder: Path) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    trial = folder / "doctor.json"
    write_json(trial, {})
    trial.unlink()
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6
    return f"{folder} is writable and holds {size:,.0f} MB"


def _models(default: str) -> Iterator[tuple[bool | None, str, str]]:
    """Every model of conf/model/ without a required setting; the default one must be installed."""
    words = take_apart([])
    missing = []
    for file in sorted((conf_folder() / "model").glob("*.yaml")):
        config = compose.composed(words, [f"model={file.stem}"]).config
        if "???" in str(config.model):
            continue
        mark = "*" if config.model.get("untested") else ""
        name = f"{file.stem}{mark}"
        try:
            model = Shared().model(config)
            place = model.place()
            if place is None:
                missing.append(name)
            else:
                hashes = ", ".join(digest[:12] for digest in model.identity()["weights"].values())
                yield True, name, f"{place}; weights sha256 {hashes}{_NEVER if mark else ''}"
        except HarnessError as error:
            yield (False if str(config.model.name) == default else None), file.stem, str(error)
    if missing:
        told = f"{', '.join(missing)}; they come from the hub when they are first used"
        yield None, "not here", f"{told}{_NEVER}" if "*" in told else told
