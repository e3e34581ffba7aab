"""The architecture, held by tests: conf/ mirrors harness/, stages do not know one another, modules stay small."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest
from omegaconf import OmegaConf

TOP = Path(__file__).parents[1]
HARNESS, CONF = TOP / "harness", TOP / "conf"
# Folders of conf/ that hold data or launcher settings and mirror no stage.
NOT_STAGES = {"hydra", "experiment", "command", "prompt"}
# Commands that live with what they make; they compose a configuration and know the stages that they need.
COMMANDS = {HARNESS / "golden" / f"{name}.py" for name in ("generate", "add", "check", "cost")}
# Packages that are no choice of the user's.
NOT_GROUPS = {"store", "view", "verdict", "foreign"}
GROUPS = sorted(p.name for p in CONF.iterdir() if p.is_dir() and p.name not in NOT_STAGES)
OPTIONS = sorted(p for group in GROUPS for p in (CONF / group).glob("*.yaml"))
STAGES = sorted(p.parent.name for p in HARNESS.glob("*/__init__.py"))
MODULES = sorted(HARNESS.rglob("*.py"))


def imports(module: Path) -> set[str]:
    """Every harness module that a file imports, at the top or inside a function."""
    found = set()
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return {name for name in found if name.startswith("harness")}


def test_conf_mirrors_harness():
    """A reader who types model=bge finds conf/model/ and harness/model/."""
    assert set(GROUPS) == set(STAGES) - NOT_GROUPS


@pytest.mark.parametrize("option", OPTIONS, ids=lambda p: f"{p.parent.name}={p.stem}")
def test_an_option_names_one_class_of_its_stage(option):
    """``_target_`` leads to a class in the matching package."""
    module, _, name = str(OmegaConf.load(option)["_target_"]).rpartition(".")

    assert module.startswith(f"harness.{option.parent.name}.")
    assert isinstance(getattr(importlib.import_module(module), name), type)


@pytest.mark.parametrize(
    "module",
    [m for m in MODULES if m.parent.name in GROUPS and m not in COMMANDS],
    ids=lambda m: str(m.relative_to(HARNESS)),
)
def test_a_stage_imports_no_other_stage(module):
    """Data passes through records; stages know neither one another nor the pipeline."""
    stage = module.parent.name
    allowed = {
        "harness.records",
        "harness.errors",
        "harness.tokens",
        "harness.blocks",
        "harness.progress",
        "harness.paths",
        "harness.hub",
        "harness.digest",
        f"harness.{stage}",
    }
    wrong = {
        name for name in imports(module) if not any(name == a or name.startswith(a + ".") for a in allowed)
    }

    assert wrong == set()


@pytest.mark.parametrize("module", MODULES, ids=lambda m: str(m.relative_to(HARNESS)))
def test_modules_stay_readable(module):
    """No module is longer than 250 lines."""
    assert len(module.read_text(encoding="utf-8").splitlines()) <= 250
