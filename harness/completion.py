"""TAB in a shell: the words that may come next, and the scripts that make bash, zsh and fish ask for them.

Hydra's completion serves programs that are one file or one script, and knows neither commas nor what the line holds already. Its flag is kept
(``-sc install=bash``) and answered here; what a configuration holds is still composed by Hydra.
"""

from __future__ import annotations

import itertools
import os
import pkgutil
import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from harness import command
from harness.command import Composed, Words
from harness.errors import SettingError
from harness.paths import conf_folder
from harness.shells import SCRIPTS

# What a shell is told by the exit code: choose among the lines; or do what you would without this program.
ANSWERED, NOT_MINE = 0, 1

_TAKE_FILES = {"add", "cost", "gate", "verify"}
_ALLOWED = {
    "context": "harness.context:CONTEXTS",
    "backend": "harness.model.running:BACKENDS",
    "precision": "harness.model.running:PRECISIONS",
    "model.long_chunks": "harness.model.axes:LONG_CHUNKS",
    "model.prompts": "harness.model.axes:PROMPTS",
    "index.element": "harness.index.sqlite_vec:ELEMENTS",
    "retriever.fusion": "harness.retriever.hybrid:FUSIONS",
    "retriever.method": "harness.retriever.bm25:METHODS",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Prints the script for ``install=SHELL``, or for ``query=SHELL`` what may end the line in ``COMP_LINE``, one word a line.

    A query never complains: whatever is wrong, the shell goes on as it would without an answer.
    """
    given = dict(word.split("=", 1) for word in (sys.argv[1:] if argv is None else argv) if "=" in word)
    if "query" in given:
        try:
            found = suggestions(os.environ["COMP_LINE"])
        except Exception:  # noqa: BLE001 - a half-typed line may be wrong in any way, and a prompt is no place to say so
            return NOT_MINE
        sys.stdout.write("\n".join(found or []))
        return NOT_MINE if found is None else ANSWERED
    if given.get("install") in SCRIPTS:
        sys.stdout.write(SCRIPTS[given["install"]].replace("PYTHON", shlex.quote(sys.executable)))
        return 0
    sys.stderr.write(f"error: -sc takes install=SHELL, with {', '.join(SCRIPTS)} for SHELL.\n")
    return 1


def suggestions(line: str) -> list[str] | None:
    """All words that may stand where the last word of ``line`` stands, sorted; None where a shell knows better, such as for files.

    A word is offered only where the program takes it: no setting twice, no value twice after a comma.
    """
    word = re.split(r"\s", line)[-1]
    before = [os.path.expandvars(re.sub("^~/", "$HOME/", w)) for w in shlex.split(line.removesuffix(word))]
    if before[1:] == ["-m"] and word.startswith("harness"):
        return [module for module in _modules() if module.startswith(word)]
    module, rest = _called(before)
    if module not in _modules() or re.search(r"[\"'\\`$]", word) or {*rest[-1:]} & command.FLAGS_WITH_VALUE:
        return None
    name = module.rpartition(".")[2] if "." in module else ""
    if word.startswith("-"):
        flags = command.FLAGS - ({"-m", "--multirun"} if name else set())
        return sorted(flag for flag in flags if flag.startswith(word))
    words = command.take_apart(rest)
    key, sign, value = word.partition("=")
    if sign:
        return _values(words, name, key, value)
    files = _files(word) if name in _TAKE_FILES else []
    found = sorted({*_keys(words, name, word), *files})
    return found if found or not name else None


def _modules() -> list[str]:
    """The sweep and all commands, as they stand behind ``python -m``."""
    names = sorted(file.stem for file in (conf_folder() / "command").glob("*.yaml"))
    here = Path(__file__).parent
    own = [f"harness.{name}" for name in names if (here / f"{name}.py").is_file()]
    golden = [f"harness.golden.{name}" for name in names if (here / "golden" / f"{name}.py").is_file()]
    return ["harness", *own, *golden]


def _called(words: Sequence[str]) -> tuple[str, list[str]]:
    """The module that a line runs, and the words behind it; no module when it runs something else."""
    name = Path(words[0]).name
    if name == "harness":
        return name, list(words[1:])
    if name.startswith("python") and "-m" in words[:-1]:
        place = words.index("-m") + 1
        return words[place], list(words[place + 1 :])
    for i, word in enumerate(words[:2]):
        if Path(word).parts[-2:] == ("scripts", "sweep"):
            return "harness", list(words[i + 1 :])
    return "", []


def _keys(words: Words, name: str, word: str) -> Iterator[str]:
    """``GROUP=``, ``GROUP.``, ``KEY=`` that begin with ``word`` and are not given yet."""
    given = {override.partition("=")[0].lstrip("+") for override in words.overrides}
    base = word[: word.rfind(".") + 1]
    for composed in _composed(words, name, base.partition(".")[0]):
        settings = _part(composed, base[:-1])
        keys = [f"{base}{key}{'.' if _inner(value) else '='}" for key, value in _inner(settings).items()]
        if not base:
            keys += [f"{group}=" for group in _groups(composed)]
            keys += ["+experiment="] if word.startswith("+") else []
        yield from (key for key in keys if key.startswith(word) and key.strip("+=") not in given)


def _values(words: Words, name: str, key: str, typed: str) -> list[str] | None:
    """``KEY=`` with everything that may stand behind it; behind a comma, what does not stand before it."""
    setting = key.removeprefix("+")
    before, comma, last = typed.rpartition(",")
    options: Sequence[str] = ()
    if command.TEXT_KEY.search(setting):
        return None
    if setting in _ALLOWED:
        options = pkgutil.resolve_name(_ALLOWED[setting])
    else:
        for composed in _composed(words, name, setting.partition(".")[0]):
            options = options or _options(words, composed, setting)
    values = [f"{before}{comma}{option}" for option in options if option.startswith(last)]
    if comma:
        values = [value for value in values if not name and _is_axis(f"{setting}={value}")]
    return [f"{key}={value}" for value in values]


def _options(words: Words, composed: Composed, setting: str) -> list[str]:
    """The options of a group, with those in the user's own folder; of a switch both values; else the value that holds now."""
    if setting in _groups(composed):
        folders = [conf_folder(), Path(words.flag("--config-dir", "-cd") or conf_folder())]
        return sorted({file.stem for folder in folders for file in (folder / setting).glob("*.yaml")})
    value = _part(composed, setting)
    if isinstance(value, bool):
        return ["true", "false"]
    return [str(value)] if re.fullmatch(r"[\w.-]+", str(value)) and value is not None else []


def _composed(words: Words, name: str, group: str) -> Iterator[Composed]:
    """The configuration with the groups that were chosen, once for each option that is swept of ``group``.

    Other settings on the line change no keys; a wrong one, or a wrong option, must not take the answer away.
    """
    own = [f"+command={name}"] if name else []
    plain = command.composed(words, own)
    chosen = []
    for override in words.overrides:
        key = override.partition("=")[0]
        if key in _groups(plain):
            options = [one for (one,) in command.combinations([override])]
            chosen.append(options if key == group else options[:1])
    found = [plain]
    for overrides in itertools.product(*chosen) if chosen else ():
        with suppress(SettingError):
            found.append(command.composed(words, [*own, *overrides]))
    yield from found[1:] or found


def _groups(composed: Composed) -> set[str]:
    return {group for group in composed.choices if "/" not in group} - {"command"}


def _part(composed: Composed, key: str) -> Any:
    """What stands under ``key``, nothing resolved; None where nothing does."""
    part = OmegaConf.to_container(composed.config, resolve=False)
    for name in filter(None, key.split(".")):
        part = _inner(part).get(name)
    return part


def _inner(value: Any) -> dict[Any, Any]:
    """The settings below a setting: none of a plain value, nor the class that it stands for."""
    return {k: v for k, v in value.items() if k != "_target_"} if isinstance(value, dict) else {}


def _is_axis(word: str) -> bool:
    """True when a sweep over these values would be started."""
    try:
        return bool(command.axes([word]))
    except SettingError:
        return False


def _files(word: str) -> list[str]:
    """Files and folders that begin with ``word`` and need no quotes in a shell."""
    folder, slash, start = word.rpartition("/")
    found = [file for file in Path(f"{folder}{slash}").iterdir() if file.name.startswith(start)]
    shown = [f"{folder}{slash}{file.name}{'/' if file.is_dir() else ''}" for file in found]
    return [file for file in shown if re.fullmatch(r"[\w./@%+-]+", file)]
