"""What all commands but the sweep do the same: words apart, help, mistakes as one line, a clean stop."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence

from harness.cli.say import complain, prepare, say_all
from harness.cli.words import SETTING, Words, check_flags, take_apart
from harness.errors import HarnessError
from harness.paths import conf_folder

MISTAKE, STOPPED = 1, 130


def run_command(
    name: str,
    about: str | None,
    argv: Sequence[str] | None,
    task: Callable[[Words], int],
    stopped: str = "Stopped.",
    setting: re.Pattern[str] = SETTING,
) -> int:
    """Hands the words to ``task`` and gives its exit code; 1 for a mistake, which is said in a line, 130 after Ctrl-C, when ``stopped`` is said.

    ``setting``: how a word begins that is a setting. ``--help`` prints ``about`` and the settings of ``conf/command/NAME.yaml``.
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


def _help(name: str, about: str) -> list[str]:
    settings = (conf_folder() / "command" / f"{name}.yaml").read_text(encoding="utf-8").splitlines()
    shown = [line for line in settings if not line.startswith("#")]
    head = ["", "Its settings, KEY=VALUE, beside those of the sweep (python -m harness --help):"]
    return [about.strip().replace("``", ""), *(head if shown else []), *shown]
