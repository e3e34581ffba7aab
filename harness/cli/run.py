"""What all commands except the sweep share: help, configuration, errors as one line, exit codes."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from harness.cli.say import complain, prepare, say_all
from harness.cli.words import SETTING, Words, check_flags, take_apart
from harness.errors import HarnessError, SettingError
from harness.paths import conf_folder

if TYPE_CHECKING:
    from omegaconf import DictConfig

MISTAKE, STOPPED = 1, 130


def run_command(
    name: str,
    about: str | None,
    argv: Sequence[str] | None,
    task: Callable[[Words], int],
    stopped: str = "Stopped.",
    setting: re.Pattern[str] = SETTING,
) -> int:
    """Runs ``task`` with the words and gives its exit code; 1 after an error, 130 after Ctrl-C.

    ``stopped`` is printed after Ctrl-C. ``setting``: how a word begins that is a setting. ``--help`` prints
    ``about`` and the settings of ``conf/command/NAME.yaml``.
    """
    words = take_apart(sys.argv[1:] if argv is None else argv, setting)
    prepare()
    try:
        if {"-h", "--help"} & set(words.flags):
            say_all(_help(name, about or ""))
            return 0
        check_flags(words)
        return task(words)
    except HarnessError as error:
        complain(f"error: {error}")
        return MISTAKE
    except KeyboardInterrupt:
        complain(stopped)
        return STOPPED


def sweep_help(words: Words) -> str:
    """The help of the sweep, from ``conf/config.yaml``; the same text as Hydra's, without reading options."""
    from omegaconf import OmegaConf

    extra = words.flag("--config-dir", "-cd")
    options: dict[str, set[str]] = {}
    for folder in (conf_folder(), *([] if extra is None else [Path(extra)])):
        for file in folder.glob("*/*.yaml"):
            options.setdefault(file.parent.name, set()).add(file.stem)
    groups = "".join(f"{group}: {', '.join(sorted(options[group]))}\n" for group in sorted(options))
    template = OmegaConf.load(conf_folder() / "config.yaml").hydra.help.template
    return str(template).replace("$APP_CONFIG_GROUPS", groups)


def configured(name: str, words: Words, usage: str) -> DictConfig:
    """The configuration of the command ``name``, which takes settings only (``usage``)."""
    if words.files or words.is_sweep:
        raise SettingError(f"unexpected argument '{(*words.files, '-m')[0]}'. Arguments: {usage}.")
    from harness.cli import compose

    return compose.composed(words, [f"+command={name}", *words.overrides]).config


def _help(name: str, about: str) -> list[str]:
    settings = (conf_folder() / "command" / f"{name}.yaml").read_text(encoding="utf-8").splitlines()
    own = [line for line in settings if not line.startswith("#")]
    head = ["", "Settings, KEY=VALUE, beside those of the sweep (python -m harness --help):"]
    return [about.strip().replace("``", ""), *(head if own else []), *own]
