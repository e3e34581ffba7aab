"""The words of a command line: split into flags, files and settings, and run as a command.

All commands take the same ``key=value`` words. The sweep passes them to Hydra; the other commands compose in
``harness.cli.compose``, because Hydra refuses a word such as a file name.
"""

from __future__ import annotations

import itertools
import re
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from harness.cli.say import complain, prepare, say_all
from harness.errors import HarnessError, SettingError
from harness.paths import conf_folder

MISTAKE, ERROR, STOPPED = 1, 4, 130
"""Exit codes after an error (``ERROR`` where 1 is an answer of the command), and after Ctrl-C."""
# Values of these keys are paths, addresses or ids: always text.
TEXT_KEY = re.compile(
    r"(^|\.)(path|file|folder|uri|url|chunks|qrels|rejected|name|revision|output|sweep|baseline|cache|tokenizer|dir|only)$"
    r"|^tracker\.experiment$"
)

# A key holds no blank: "minilm · k=5" is the name of a cell.
SETTING = re.compile(r"[^\s=]*=")


class Words(NamedTuple):
    """A command line taken apart.

    ``flags``: Hydra's own (``-m``, ``--config-name`` and its value, ...). ``files``: words that are existing
    files or hold no ``=``. ``overrides``: the ``key=value`` words, quoted where Hydra would misread them.
    """

    flags: tuple[str, ...]
    files: tuple[str, ...]
    overrides: tuple[str, ...]

    @property
    def is_sweep(self) -> bool:
        """True when ``-m`` or ``--multirun`` was given, wherever it stood."""
        return "-m" in self.flags or "--multirun" in self.flags

    def flag(self, *names: str) -> str | None:
        """The value of a flag that takes one, such as ``--config-name``."""
        for name in names:
            for i, word in enumerate(self.flags):
                if word == name:
                    return self.flags[i + 1] if i + 1 < len(self.flags) else None
                if word.startswith(name + "="):
                    return word.partition("=")[2]
        return None


FLAGS_WITH_VALUE = {
    "--config-path", "-cp", "--config-name", "-cn", "--config-dir", "-cd", "--package", "-p", "--cfg", "-c",
    "--experimental-rerun",
}  # fmt: skip
FLAGS = FLAGS_WITH_VALUE | {
    "-m", "--multirun", "--help", "-h", "--hydra-help", "--version", "--info", "-i", "--shell-completion",
    "-sc", "--resolve", "--run", "-r",
}  # fmt: skip


def check_flags(words: Words) -> None:
    """Raises ``SettingError`` for a flag that does not exist, before anything is opened or recorded."""
    values = {value for flag, value in itertools.pairwise(words.flags) if flag in FLAGS_WITH_VALUE}
    for flag in words.flags:
        if flag.partition("=")[0] not in FLAGS and flag not in values:
            from harness.cli.hydra_errors import closest

            setting = flag.lstrip("-")
            hint = f" A setting has no dash: {setting}." if "=" in setting else ""
            raise SettingError(
                f"unknown flag '{flag}'.{hint or closest(flag, FLAGS)} See python -m harness --help."
            )


def take_apart(argv: Sequence[str], setting: re.Pattern[str] = SETTING) -> Words:
    """Sorts the words of a command line; ``setting``: how an override begins."""
    flags: list[str] = []
    files: list[str] = []
    overrides: list[str] = []
    words = iter(argv)
    for word in words:
        if word.startswith("-"):
            flags.append(word)
            if word in FLAGS_WITH_VALUE:
                flags.extend(itertools.islice(words, 1))
        elif word.startswith("~") or (setting.match(word) and not Path(word).is_file()):
            overrides.append(word)
        else:
            files.append(word)
    is_sweep = "-m" in flags or "--multirun" in flags
    return Words(tuple(flags), tuple(files), tuple(_quoted(word, is_sweep=is_sweep) for word in overrides))


def _quoted(word: str, *, is_sweep: bool) -> str:
    """The word as Hydra must see it: text values in quotes, a sweep over ``k`` as one list."""
    key, _, value = word.partition("=")
    if key == "k" and re.fullmatch(r"\s*\d+\s*(,\s*\d+\s*)+", value):
        # Every k is read off one ranking: two values of k are one cell with a list, never two cells.
        return f"k=[{value}]"
    if (
        not TEXT_KEY.search(key)
        or key.startswith("hydra.")
        or not value
        or value in {"null", "???"}
        or value[0] in "'\""
    ):
        return word
    parts = value.split(",") if is_sweep and not Path(value).exists() else [value]
    return f"{key}={','.join(quote(part) for part in parts)}"


def quote(text: str) -> str:
    """``text`` in single quotes, by the rules of Hydra's grammar."""
    # Backslashes count as escapes only before a quote, the closing one included.
    escaped = re.sub(r"(\\*)'", lambda m: m[1] * 2 + r"\'", text)
    tail = len(escaped) - len(escaped.rstrip("\\"))
    return "'" + escaped + "\\" * tail + "'"


def unquoted(text: str) -> str:
    """``text`` without the quotes that it needs only on the command line; see ``quote``."""
    if len(text) < 2 or text[0] != text[-1] or text[0] not in "'\"":
        return text
    return re.sub(r"(\\+)(?=['\"]|$)", lambda m: m[1][: len(m[1]) // 2], text[1:-1])


def run_command(
    name: str,
    about: str | None,
    argv: Sequence[str] | None,
    task: Callable[[Words], int],
    stopped: str = "Stopped.",
    setting: re.Pattern[str] = SETTING,
    mistake: int = MISTAKE,
    failed: Callable[[Words, str], None] | None = None,
) -> int:
    """Runs ``task`` with the words and gives its exit code; ``mistake`` after an error, 130 after Ctrl-C.

    ``stopped`` is printed after Ctrl-C. ``setting``: how a word begins that is a setting. ``failed`` is told
    of an error where there is an ``output=``. ``--help`` prints ``about`` and the settings of
    ``conf/command/NAME.yaml``. A fault of the program itself keeps its stack trace, and is an error too.
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
        said = str(error)
        complain(f"error: {said}")
    except KeyboardInterrupt:
        complain(stopped)
        return STOPPED
    except Exception as error:  # noqa: BLE001 - Python's own exit code is 1, which may be an answer
        complain(traceback.format_exc())
        said = f"The program failed: {type(error).__name__}: {error}"
    if failed is not None and any(word.startswith("output=") for word in words.overrides):
        try:
            failed(words, said)
        except HarnessError as error:
            complain(f"error: {error}")
    return mistake


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


def _help(name: str, about: str) -> list[str]:
    settings = (conf_folder() / "command" / f"{name}.yaml").read_text(encoding="utf-8").splitlines()
    own = [line for line in settings if not line.startswith("#")]
    head = ["", "Settings, KEY=VALUE, beside those of the sweep (python -m harness --help):"]
    return [about.strip().replace("``", ""), *(head if own else []), *own]
