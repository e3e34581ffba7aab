"""The architecture, held by tests: every module stands on a floor, imports go down, conf/ mirrors the stages, modules stay small."""

from __future__ import annotations

import ast
import importlib
import re
import sys
import tomllib
from graphlib import TopologicalSorter
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from omegaconf import OmegaConf

TOP = Path(__file__).parents[1]
HARNESS, CONF = TOP / "harness", TOP / "conf"
STAGES = {"corpus", "golden", "chunker", "model", "index", "retriever", "reranker", "metrics", "tracker"}
# From the ground up. A module imports from its own room or from a lower floor.
FLOORS = [
    "base",  # nouns, errors, paths, progress: what everything else may use
    "files",
    "text",
    "stages",  # the groups of conf/; no stage imports another
    "store",
    "verdict",
    "cli",
    "cell",
    "results",
    "decision",
    "view",
    "questions",
    "sweep",
    "commands",  # what a user types
]
BASE = {"__init__", "errors", "paths", "progress", "records"}
# Commands whose names are public stand beside the stage that reads what they make.
GOLDEN_COMMANDS = {"golden.add", "golden.check", "golden.cost", "golden.generate", "golden.judge"}
# Folders of conf/ that hold data or launcher settings and mirror no stage.
NOT_STAGES = {"hydra", "experiment", "command", "prompt"}
OPTIONS = sorted(p for group in STAGES for p in (CONF / group).glob("*.yaml"))
MODULES = {
    ".".join(p.relative_to(HARNESS).with_suffix("").parts).removesuffix(".__init__"): p
    for p in sorted(HARNESS.rglob("*.py"))
}


def room(module: str) -> str:
    """The folder that a module stands in; ``base`` or ``commands`` for those at the top."""
    first, _, rest = module.partition(".")
    if module in GOLDEN_COMMANDS or not (rest or (HARNESS / first).is_dir() or first in BASE):
        return "commands"
    return "base" if first in BASE else first


def floor(module: str) -> int:
    """The floor's number; ``ValueError`` for a room that is not in the list."""
    return FLOORS.index("stages" if room(module) in STAGES else room(module))


def imports(module: str) -> set[str]:
    """Every harness module that a file imports, at the top or inside a function."""
    found = set()
    for node in ast.walk(ast.parse(MODULES[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "harness":
            names = [f"{node.module}.{alias.name}".removeprefix("harness.") for alias in node.names]
            base = node.module.removeprefix("harness").lstrip(".") or "__init__"
            found |= {name if name in MODULES else base for name in names}
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
            found |= {name.removeprefix("harness.") for name in names if name.startswith("harness.")}
    return found


@pytest.mark.parametrize("module", MODULES)
def test_imports_go_to_the_same_room_or_a_lower_floor(module):
    """Nothing imports upward, and no stage imports another stage."""
    here = room(module)
    wrong = {name for name in imports(module) if room(name) != here and floor(name) >= floor(module)}

    assert wrong == set()


def test_no_folder_takes_part_in_a_cycle():
    """Rooms can be read one after another."""
    rooms: dict[str, set[str]] = {}
    for module in MODULES:
        rooms.setdefault(room(module), set()).update(
            {room(name) for name in imports(module)} - {room(module)}
        )

    assert list(TopologicalSorter(rooms).static_order())


def test_no_module_takes_part_in_a_cycle():
    """Neither at import time nor through imports inside functions; a package's front may name types of its own modules."""
    modules = {
        module: {name for name in imports(module) if name != module}
        for module, path in MODULES.items()
        if path.name != "__init__.py"
    }

    assert list(TopologicalSorter(modules).static_order())


def test_few_modules_stand_at_the_top():
    """A file at the top is something a user types, or a noun that everything shares."""
    top = {p.stem for p in HARNESS.glob("*.py")}

    assert len(top) <= 16
    assert top - BASE == {"__main__", "cache", "compare", "doctor", "gate", "pick", "report", "verify"}


def test_every_imported_package_is_declared():
    """What only comes along with another package may be gone with its next release."""
    project = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [name for names in project["optional-dependencies"].values() for name in names]
    declared = {normal(re.split(r"[<>=\[ ]", name)[0]) for name in [*project["dependencies"], *extras]}
    used = set()
    for path in [*MODULES.values(), *(TOP / "hydra_plugins").glob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                used |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                used.add(node.module.split(".")[0])
    distributions = packages_distributions()
    others = used - sys.stdlib_module_names - {"harness", "hydra_plugins"}
    undeclared = {
        name for name in others if not declared & {normal(d) for d in distributions.get(name, [name])}
    }

    assert undeclared == set()


def normal(name: str) -> str:
    """A distribution's name as pip compares names."""
    return re.sub(r"[-_.]+", "-", name).lower()


def test_conf_mirrors_harness():
    """A reader who types model=bge finds conf/model/ and harness/model/."""
    assert {p.name for p in CONF.iterdir() if p.is_dir()} - NOT_STAGES == STAGES


@pytest.mark.parametrize("option", OPTIONS, ids=lambda p: f"{p.parent.name}={p.stem}")
def test_an_option_names_one_class_of_its_stage(option):
    """``_target_`` leads to a class in the matching package."""
    module, _, name = str(OmegaConf.load(option)["_target_"]).rpartition(".")

    assert module.startswith(f"harness.{option.parent.name}.")
    assert isinstance(getattr(importlib.import_module(module), name), type)


@pytest.mark.parametrize("module", MODULES)
def test_modules_stay_readable(module):
    """No module is longer than 200 lines."""
    assert len(MODULES[module].read_text(encoding="utf-8").splitlines()) <= 200
