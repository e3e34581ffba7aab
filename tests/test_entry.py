"""What all commands do the same: help, an unknown flag, a clean stop."""

from __future__ import annotations

import importlib

import pytest
from omegaconf import OmegaConf

from harness.cli.run import run_command
from harness.paths import conf_folder

COMMANDS = sorted(path.stem for path in (conf_folder() / "command").glob("*.yaml"))
GOLDEN = {"add", "check", "cost", "generate"}


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
    """One line, exit code 1."""
    assert module(name).main(["--pleas"]) == 1
    assert "--pleas" in capsys.readouterr().err


def test_ctrl_c_is_a_clean_stop(capsys):
    """The command's own sentence and exit code 130, without a traceback."""

    def interrupted(_words):
        raise KeyboardInterrupt

    assert run_command("pick", "", [], interrupted, "Stopped; all is kept.") == 130
    assert capsys.readouterr().err == "Stopped; all is kept.\n"
