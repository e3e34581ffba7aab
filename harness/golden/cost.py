"""``python -m harness.golden.cost``: what the questions cost, by day and model, and what kept answers saved."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.cli import compose
from harness.cli.compose import check_plain_settings
from harness.cli.run import run_command
from harness.cli.say import say_all
from harness.cli.words import Words
from harness.errors import InputError, SettingError
from harness.files.journal import Journal
from harness.questions.generate.about import beside
from harness.questions.generate.summary import dollars

_HEAD = ("day", "model", "calls", "tokens in", "tokens out", "dollars")


@dataclass
class Sums:
    """Answers that were paid for, and their tokens and dollars."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    dollars: float = 0.0

    def add(self, other: Sums) -> None:
        """Adds ``other``'s figures."""
        self.calls += other.calls
        self.tokens_in += other.tokens_in
        self.tokens_out += other.tokens_out
        self.dollars += other.dollars


def main(argv: Sequence[str] | None = None) -> int:
    """Adds up ledgers: those of the named golden sets, ledgers or folders, else the one of ``golden.path``."""
    return run_command("cost", __doc__, argv, _main)


def _main(words: Words) -> int:
    if words.flags:
        raise SettingError(
            f"{words.flags[0]} means nothing here. Words: FILE or DIR, or corpus=folder corpus.path=DIR, or golden.path=FILE."
        )
    ledgers = _ledgers(words)
    say_all(_lines(ledgers, [item for path in ledgers for item in Journal(path).items()]))
    return 0


def _ledgers(words: Words) -> list[Path]:
    given = [Path(word).expanduser() for word in words.files]
    if words.overrides or not given:
        config = compose.composed(words, ["+command=cost", *words.overrides]).config
        check_plain_settings(config)
        given.append(Path(str(config.golden.path)).expanduser())
    found = [path for one in given for path in _ledgers_at(one)]
    return list(dict.fromkeys(found))


def _ledgers_at(given: Path) -> list[Path]:
    """The ledgers in a folder, of a golden set, or the file itself."""
    if given.is_dir():
        found = sorted(given.rglob("*.ledger.jsonl"))
    else:
        own = given if given.name.endswith(".ledger.jsonl") else beside(given, "ledger")
        found = [own] if own.is_file() else []
    if not found:
        raise InputError(
            f"There is no ledger at {given}: no questions were written there by python -m harness.golden.generate.",
            path=given,
        )
    return found


def _lines(ledgers: Sequence[Path], items: Sequence[dict[str, Any]]) -> Iterator[str]:
    groups: defaultdict[tuple[str, str], Sums] = defaultdict(Sums)
    total = Sums()
    for item in items:
        if "text" in item:
            sums = Sums(1, int(item["usage"]["in"]), int(item["usage"]["out"]), float(item["dollars"]))
            model = f"{item['model']}{' (batch)' if item['batch'] else ''}"
            groups[str(item["at"])[:10], model].add(sums)
            total.add(sums)
    yield from (f"ledger  {path}" for path in ledgers)
    yield ""
    yield from _table(
        [*((day, model, sums) for (day, model), sums in sorted(groups.items())), ("all", "", total)]
    )
    lost = [float(item["at_most"]) for item in items if "lost" in item]
    if lost:
        yield ""
        yield f"{len(lost):,} more {'call' if len(lost) == 1 else 'calls'} brought no answer; if they were charged, at most {dollars(sum(lost))}"
    saved = [item for item in items if "saved" in item]
    if saved:
        yield ""
        answers, amount = (
            sum(int(item["answers"]) for item in saved),
            sum(float(item["saved"]) for item in saved),
        )
        yield f"saved   {dollars(amount)}: {answers:,} answers were used again in {len(saved):,} later runs"


def _table(rows: Sequence[tuple[str, str, Sums]]) -> Iterator[str]:
    texts = [
        (day, model, f"{s.calls:,}", f"{s.tokens_in:,}", f"{s.tokens_out:,}", f"{s.dollars:.4f}")
        for day, model, s in rows
    ]
    sizes = [max(len(row[i]) for row in [_HEAD, *texts]) for i in range(len(_HEAD))]
    for row in [_HEAD, *texts]:
        cells = [
            t.ljust(size) if i < 2 else t.rjust(size)
            for i, (t, size) in enumerate(zip(row, sizes, strict=True))
        ]
        yield "  ".join(cells).rstrip()


if __name__ == "__main__":
    sys.exit(main())
