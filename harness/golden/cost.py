"""``python -m harness.golden.cost``: the cost of questions by day and model."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.cli.command import Words, run_command
from harness.cli.say import say_all
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
        from harness.cli.values import check_plain_settings

        check_plain_settings(config)
        given.append(Path(str(config.golden.path)).expanduser())
    from harness.files.journal import Journal
    from harness.questions.generate.ledger import ledgers_at

    ledgers = list(dict.fromkeys(found for path in given for found in ledgers_at(path)))
    say_all(_lines(ledgers, [item for path in ledgers for item in Journal(path).items()]))
    return 0


def _lines(ledgers: Sequence[Path], items: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The ledgers' costs by day and model, and calls without an answer."""
    from harness.questions.generate.money import dollars
    from harness.view.formats import counted
    from harness.view.table import Head, TextTable

    groups: defaultdict[tuple[str, str], list[float]] = defaultdict(lambda: [0, 0, 0, 0.0])
    for item in items:
        if "text" in item:
            figures = (1, int(item["usage"]["in"]), int(item["usage"]["out"]), float(item["dollars"]))
            model = f"{item['model']}{' (batch)' if item['batch'] else ''}"
            for key in ((str(item["at"])[:10], model), ("all", "")):
                groups[key] = [a + b for a, b in zip(groups[key], figures, strict=True)]
    yield from (f"ledger  {path}" for path in ledgers)
    yield ""
    total = groups.pop(("all", ""), [0, 0, 0, 0.0])
    rows = [
        (day, model, f"{calls:,}", f"{tokens_in:,}", f"{tokens_out:,}", f"{amount:.4f}")
        for (day, model), (calls, tokens_in, tokens_out, amount) in [
            *sorted(groups.items()),
            (("all", ""), total),
        ]
    ]
    heads = [Head("day", left=True), Head("model", left=True)]
    heads += map(Head, ("calls", "tokens in", "tokens out", "dollars"))
    yield from TextTable(heads, rows, name=1).lines()
    lost = [float(item["at_most"]) for item in items if "lost" in item]
    if lost:
        yield ""
        most = dollars(sum(lost))
        yield f"{counted(len(lost), 'more call')} brought no answer; if they were charged, at most {most}"


if __name__ == "__main__":
    sys.exit(main())
