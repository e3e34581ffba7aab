"""What all commands do the same: help, an unknown flag, a clean stop."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest
from omegaconf import OmegaConf

from harness.cli.command import run_command
from harness.paths import conf_folder

COMMANDS = sorted(path.stem for path in (conf_folder() / "command").glob("*.yaml"))
GOLDEN = ["add", "check", "cost", "generate", "judge"]
# Their exit code 1 is an answer, so an error is 4.
ANSWERING = {"gate", "verify", "pick", "check"}


def module(name: str):
    return importlib.import_module(f"harness.golden.{name}" if name in GOLDEN else f"harness.{name}")


@pytest.mark.parametrize("name", COMMANDS)
def test_help_says_what_a_command_is_for_and_names_every_setting(name, capsys):
    """--help runs nothing and ends well."""
    assert module(name).main(["--help"]) == 0
    said = capsys.readouterr().out

    assert said.startswith(f"python -m harness.{'golden.' if name in GOLDEN else ''}{name}")
    settings = set(OmegaConf.load(conf_folder() / "command" / f"{name}.yaml")) - {"defaults"}
    assert all(f"{setting}" in said for setting in settings)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_flag_that_does_not_exist_is_no_reason_to_start(name, capsys):
    """One line, exit code 1; 4 where 1 is an outcome."""
    assert module(name).main(["--pleas"]) == (4 if name in ANSWERING else 1)
    assert "--pleas" in capsys.readouterr().err


def test_ctrl_c_is_a_clean_stop(capsys):
    """The command's own sentence and exit code 130, without a traceback."""

    def interrupted(_words):
        raise KeyboardInterrupt

    assert run_command("pick", "", [], interrupted, "Stopped; all is kept.") == 130
    assert capsys.readouterr().err == "Stopped; all is kept.\n"


HEAVY = (
    *("numpy", "scipy", "torch", "mlflow", "pyarrow", "rich", "jinja2"),
    *("harness.model", "harness.records", "harness.cell.pipeline", "harness.view"),
)
COUNTED = f"""
import runpy, sys
try:
    runpy.run_module(sys.argv.pop(1), run_name="__main__", alter_sys=True)
except SystemExit as end:
    print(end.code, *(name for name in {HEAVY} if name in sys.modules), file=sys.stderr)
"""


LIGHT = [
    "",
    ".cache",
    ".compare",
    ".doctor",
    ".gate",
    ".pick",
    ".report",
    ".verify",
    *(f".golden.{name}" for name in GOLDEN),
]


@pytest.mark.parametrize("command", LIGHT)
@pytest.mark.parametrize("word", ["--help", "chunks=3"])
def test_help_and_misspelt_settings_are_answered_without_heavy_imports(command, word, tmp_path):
    """Neither libraries nor stages are imported before the words of a command line are known to hold."""
    code = 0 if word == "--help" else 4 if command.rpartition(".")[2] in ANSWERING else 1
    done = subprocess.run(
        [sys.executable, "-c", COUNTED, f"harness{command}", word],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )

    assert done.stderr.splitlines()[-1] == str(code), done.stderr
