"""Errors of Hydra as sentences: what was given, what is allowed, what to do."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from omegaconf import DictConfig, OmegaConf
from yaml import MarkedYAMLError

from harness.errors import SettingError
from harness.paths import conf_folder


def explained(error: Exception, overrides: Sequence[str], folders: Sequence[Path]) -> SettingError:
    """The error of Hydra as a sentence. ``folders`` hold the groups: the program's, and the user's if any."""
    if isinstance(error, MarkedYAMLError) and error.problem_mark:
        mark = error.problem_mark
        return SettingError(f"{mark.name}, line {mark.line + 1}, is not valid YAML: {error.problem}.")
    return _hydras(str(error), overrides, folders)


def _hydras(text: str, overrides: Sequence[str], folders: Sequence[Path]) -> SettingError:
    if found := re.search(r"Could not override '([^']+)'", text):
        key = found[1]
        return SettingError(f"unknown setting '{key}'.{_hint(key, overrides)}", key=key)
    if found := re.search(r"Could not find 'hydra/(launcher|sweeper)/([^'/]+)'", text):
        return SettingError(
            f"hydra/{found[1]}={found[2]} is not installed: pip install hydra-{found[2]}-{found[1]}.",
            key=f"hydra/{found[1]}",
        )
    if found := re.search(r"Could not find '([^']+)/([^'/]+)'", text):
        group, option = found[1], found[2]
        known = sorted({p.stem for folder in folders for p in (folder / group).glob("*.yaml")})
        return SettingError(
            f"unknown option '{group}={option}'.{closest(option, known)} Options of {group}: "
            f"{', '.join(known)}.",
            key=group,
        )
    if found := re.search(r"Could not (?:load|find) '([^']+)'", text):
        return SettingError(
            f"unknown configuration '{found[1]}'; the folders searched are {' and '.join(map(str, folders))}."
        )
    if found := re.search(r"must be a string or a list. Got (\w+)", text):
        word = next((w for w in overrides if (conf_folder() / w.partition("=")[0]).is_dir()), "")
        return SettingError(f"'{word}': a group takes the name of an option, not a number.")
    return SettingError(
        re.sub(r"\s+", " ", text.replace("Set the environment variable HYDRA_FULL_ERROR=1", "")).strip()
    )


def closest(word: str, known: Iterable[str]) -> str:
    """`` Did you mean ...?`` with the one or two known words nearest to ``word``, or nothing."""
    close = difflib.get_close_matches(word, list(known), 2, cutoff=0.6)
    return f" Did you mean {' or '.join(close)}?" if close else ""


def _hint(key: str, overrides: Sequence[str]) -> str:
    """What may have been meant by an unknown setting; a command's own settings come first."""
    command = next((word.partition("=")[2] for word in overrides if word.startswith("+command=")), "")
    own = _command_keys(command)
    known = [*own, *known_keys()]
    group = key.partition(".")[0]
    if key in known and "." in key:
        owners = [
            p.stem
            for p in sorted((conf_folder() / group).glob("*.yaml"))
            if key.partition(".")[2] in OmegaConf.load(p)
        ]
        return (
            f" The chosen {group} has none; {', '.join(owners)} {'has' if len(owners) == 1 else 'have'} it."
        )
    if "." in key and not closest(key, known):
        inner = [k for k in known if k.startswith(group + ".")]
        return f" Settings of {group}: {', '.join(inner) or 'none'}."
    if near := closest(key, own) or closest(key, known):
        return near
    if own:
        module = f"golden.{command}" if command in {"add", "check", "generate"} else command
        names = ", ".join(own)
        return f" Settings of {module}: {names}. Further ones: python -m harness --help"
    names = ", ".join(k for k in known if "." not in k)
    return f" Settings: {names}; those of an option are written GROUP.KEY."


def known_keys() -> list[str]:
    """All settings of the default configuration and of every option."""
    folder = conf_folder()
    keys = {str(k) for k in OmegaConf.load(folder / "config.yaml") if str(k) not in {"defaults", "hydra"}}
    for file in (
        set(folder.glob("*/*.yaml")) - set(folder.glob("command/*")) - set(folder.glob("experiment/*"))
    ):
        loaded = OmegaConf.load(file)
        if isinstance(loaded, DictConfig):
            keys |= {f"{file.parent.name}.{k!s}" for k in loaded if k not in {"defaults", "_target_"}}
        keys.add(file.parent.name)
    return sorted({*keys, "experiment"})


def _command_keys(command: str) -> list[str]:
    """The settings of a command other than the sweep; none for the sweep, which has no name."""
    settings = (
        OmegaConf.to_container(OmegaConf.load(conf_folder() / f"command/{command}.yaml")) if command else {}
    )
    keys = []
    for key, value in settings.items() if isinstance(settings, dict) else ():
        if isinstance(value, dict):
            keys += [f"{key!s}.{inner!s}" for inner in value]
        elif key != "defaults":
            keys.append(str(key))
    return keys
