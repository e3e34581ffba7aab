"""The words of a command line as a checked configuration; every mistake is answered by a sentence."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException
from omegaconf import DictConfig, open_dict
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError

from harness.cli.command import Words, check_flags, quote
from harness.cli.hydra_errors import closest, explained, known_keys
from harness.errors import SettingError
from harness.paths import conf_folder, register_resolvers

# A decimal with the digits of a rounding error.
_ROUNDED = re.compile(r"-?\d+\.\d{14,}")


def parse(overrides: Sequence[str]) -> list[Override]:
    """The overrides as Hydra reads them. Raises ``SettingError`` for a word that it can't read."""
    parsed = []
    for word in overrides:
        try:
            override = OverridesParser.create().parse_override(word)
            parsed.append(override)
        except HydraException as error:
            key = word.partition("=")[0]
            raise SettingError(
                f"'{word}' can't be read as key=value. A value with blanks, commas, brackets or '=' must be "
                f"quoted twice: \"{key}='...'\".",
                key=key,
            ) from error
        key = override.get_key_element()
        if override.is_add() and not (
            key.lstrip("+").startswith("hydra") or (conf_folder() / key.lstrip("+")).is_dir()
        ):
            raise SettingError(f"unknown setting '{word}'.{closest(key.lstrip('+'), known_keys())}", key=key)
    return parsed


def axes(overrides: Sequence[str]) -> dict[str, list[str]]:
    """Swept setting to its values, in the order of the command line; only those with more than one value."""
    swept = {}
    parsed = parse(overrides)
    for key, n in Counter(override.get_key_element() for override in parsed).items():
        if n > 1:
            raise SettingError(
                f"{key} is given {n} times; give it once, with commas under -m to compare values.", key=key
            )
    for override in parsed:
        if override.is_sweep_override():
            values = [_plain(value) for value in _values(override)]
            _refuse_axis(override.get_key_element(), values)
            if len(values) > 1:
                swept[override.get_key_element()] = values
    return swept


def _refuse_axis(key: str, values: Sequence[str]) -> None:
    """Raises ``SettingError`` for equal cells, and for axes that change how all cells are measured."""
    twice = [value for value, n in Counter(values).items() if n > 1]
    if twice:
        raise SettingError(
            f"{key} has the value {twice[0]} twice; every cell of a sweep must differ.", key=key
        )
    if len(values) > 1 and re.match(
        r"(primary|primary_k|metrics|plan|profile|cache|tokenizer|tracker|experiment)(\.|$)", key
    ):
        raise SettingError(
            f"{key} is the same for a whole sweep; give one value, not {', '.join(values)}.", key=key
        )


def _values(override: Override) -> list[str]:
    """The swept values; 1.4000000000000001, as ranges and NumPy give it, is 1.4."""
    values = map(str, override.sweep_string_iterator())
    return [str(float(f"{float(v):.12g}")) if _ROUNDED.fullmatch(v) else v for v in values]


def _plain(value: str) -> str:
    """A value without the quotes that it needs only on the command line."""
    return value[1:-1].replace("\\'", "'") if len(value) > 1 and value[0] == value[-1] == "'" else value


def combinations(overrides: Sequence[str]) -> list[list[str]]:
    """Every combination of the swept values as a list of overrides, in the order in which Hydra runs them."""
    lists = []
    for override in parse(overrides):
        if override.is_sweep_override():
            key = override.get_key_element()
            lists.append([f"{key}={value}" for value in _values(override)])
        else:
            lists.append([override.input_line or ""])
    return [list(combination) for combination in itertools.product(*lists)]


def refuse_unknown(words: Words) -> None:
    """Raises ``SettingError`` for a setting or option that no combination has, without heavy imports."""
    check_flags(words)
    swept = axes(words.overrides)
    if words.files or (swept and not words.is_sweep) or all(map(_seems_known, words.overrides)):
        return
    errors = []
    for overrides in combinations(words.overrides):
        try:
            composed(words, overrides)
        except SettingError as error:
            errors.append(error)
        else:
            return
    raise errors[0]


def _seems_known(word: str) -> bool:
    """Whether ``conf/`` has the option or the setting; the files are searched as text."""
    key, _, value = word.lstrip("+~").partition("=")
    group, _, rest = key.partition(".")
    folder = conf_folder() / group
    if not rest and folder.is_dir():
        return all((folder / f"{option}.yaml").is_file() for option in value.split(","))
    files = folder.glob("*.yaml") if rest else [conf_folder() / "config.yaml"]
    name = re.compile(rf"^ *{re.escape(key.rpartition('.')[2])}:", re.MULTILINE)
    return any(name.search(file.read_text(encoding="utf-8")) for file in files)


class Composed(NamedTuple):
    """The configuration of one cell, Hydra's settings, the chosen options, the words, and the output folders.

    ``swept``: settings that the configuration itself sweeps over (``hydra.sweeper.params``), as typed.
    """

    config: DictConfig
    hydra: DictConfig
    choices: Mapping[str, str]
    overrides: Sequence[str]
    run_folder: Path
    sweep_folder: Path
    swept: Mapping[str, str]


def composed(words: Words, overrides: Sequence[str]) -> Composed:
    """The configuration of ``overrides`` (one value each).

    Raises ``SettingError`` for an unknown setting or option, a wrong value, a missing folder or a file that
    is not YAML.
    """
    register_resolvers()
    extra = words.flag("--config-dir", "-cd")
    name = words.flag("--config-name", "-cn") or "config"
    folder, other = conf_folder(), None if extra is None else Path(extra).resolve()
    if other is not None and not other.is_dir():
        raise SettingError(f"--config-dir is {extra}, but the folder {other} does not exist.")
    folders = [folder] if other is None else [folder, other]
    if other is not None and (other / f"{name.removesuffix('.yaml')}.yaml").is_file():
        # The configuration itself is looked for in the first folder only.
        folder, other = other, folder
    search = [] if other is None else [f"hydra.searchpath=[{quote('file://' + str(other))}]"]
    GlobalHydra.instance().clear()
    try:
        with initialize_config_dir(str(folder), version_base="1.3"):
            config = compose(name, [*overrides, *search], return_hydra_config=True)
        hydra = config.hydra
        run_folder, sweep_folder = Path(str(hydra.run.dir)), Path(str(hydra.sweep.dir))
        swept = {str(key): str(value) for key, value in (hydra.sweeper.get("params") or {}).items()}
    except (HydraException, OmegaConfBaseException, YAMLError, ValueError) as error:  # Hydra's may be bare
        raise explained(error, overrides, folders) from error
    choices = {str(group): str(option) for group, option in hydra.runtime.choices.items()}
    with open_dict(config):
        del config["hydra"]
    return Composed(config, hydra, choices, list(overrides), run_folder, sweep_folder, swept)


def configured(name: str, words: Words, usage: str) -> DictConfig:
    """The configuration of the command ``name``, which takes settings only (``usage``)."""
    if words.files or words.is_sweep:
        raise SettingError(f"unexpected argument '{(*words.files, '-m')[0]}'. Arguments: {usage}.")
    return composed(words, [f"+command={name}", *words.overrides]).config
