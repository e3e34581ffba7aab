"""``python -m harness.golden.cost``: the cost of questions by day and model."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from harness.cli.run import run_command
from harness.cli.say import say_all
from harness.cli.words import Words
from harness.errors import SettingError

_USAGE = "python -m harness.golden.cost FILE or DIR, or corpus=folder corpus.path=DIR, or golden.path=FILE"


def main(argv: Sequence[str] | None = None) -> int:
    """Adds up the ledgers of the named golden sets or folders, otherwise that of ``golden.path``."""
    return run_command("cost", __doc__, argv, _main)


def _main(words: Words) -> int:
    if words.flags:
        raise SettingError(f"unexpected argument '{words.flags[0]}'. Usage: {_USAGE}.")
    given = [Path(word).expanduser() for word in words.files]
    if words.overrides or not given:
        from harness.cli import compose

        config = compose.composed(words, ["+command=cost", *words.overrides]).config
        compose.check_plain_settings(config)
        given.append(Path(str(config.golden.path)).expanduser())
    from harness.files.journal import Journal
    from harness.questions.generate.ledger import ledgers_at
    from harness.questions.generate.summary import cost_lines

    ledgers = list(dict.fromkeys(found for path in given for found in ledgers_at(path)))
    say_all(cost_lines(ledgers, [item for path in ledgers for item in Journal(path).items()]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
