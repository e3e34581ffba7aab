"""``python -m harness.cache``: list, check or prune what is cached between sweeps."""

from __future__ import annotations

import shutil
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from harness.cli.command import Words, run_command
from harness.cli.say import say, say_all, wrapped
from harness.errors import switch, whole

if TYPE_CHECKING:
    from harness.store.upkeep import CacheItem

_USAGE = "verify=true, prune=DAYS, only=NAME, cache=DIR"


def main(argv: Sequence[str] | None = None) -> int:
    """Lists, checks or prunes; the exit code is 1 for a mistake and when ``verify=true`` finds damage."""
    return run_command("cache", __doc__, argv, _main)


def _main(words: Words) -> int:
    from harness.cli.compose import configured

    config = configured("cache", words, _USAGE)
    from harness.store import upkeep

    cache, only, verify = Path(str(config.cache)), str(config.only or ""), switch(config.verify, "verify")
    days = None if config.prune is None else whole(config.prune, "prune", of="days")
    everything, others = upkeep.cache_items(cache), upkeep.others(cache)
    items = [item for item in everything if only.casefold() in item.name.casefold()]
    if not everything and not others:
        say(f"nothing is cached in {cache} yet")
    elif only and not items:
        names = ", ".join(sorted({item.name for item in everything if item.name})) or "none"
        say_all(wrapped(f"no model named '{only}' is cached; models: {names}", ""))
    elif days is not None:
        gone = upkeep.prune(cache, items, days)
        idle = f"nothing was idle for {days} {'day' if days == 1 else 'days'}"
        _list(cache, "removed", gone, [], f"{_megabytes(gone)} MB removed" if gone else idle)
    elif not verify:
        rest = [] if only else others
        _list(cache, f"cached in {cache}", items, rest, f"{_megabytes([*items, *rest])} MB in all")
        say("prune=DAYS removes embeddings, rankings and token maps that were idle for DAYS")
    return _verify([item for item in items if item.place.exists()]) if verify and items else 0


def _list(cache: Path, title: str, items: Sequence[CacheItem], rest: Sequence[CacheItem], total: str) -> None:
    from harness.view.table import Head, TextTable

    heads = [Head("embeddings", left=True), Head("role", left=True)]
    heads += map(Head, ("window", "texts", "MB", "days idle"))
    if items or rest:
        say_all([title, "", *TextTable(heads, list(_rows(items, rest))).lines(), ""])
    say(f"{total}; {shutil.disk_usage(cache).free / 1e9:,.1f} GB free now")


def _rows(items: Sequence[CacheItem], rest: Sequence[CacheItem]) -> Iterator[tuple[str, ...]]:
    """Name, role, window, number, MB and days idle of each space of embeddings and each other kind."""
    alike = Counter(item[4:7] for item in items)
    for item in items:
        if item.kind == "embeddings":
            # Models that differ in weights or prompts only are told apart by their folders.
            name = f"{item.name} {item.place.name[:6]}" if alike[item[4:7]] > 1 else item.name
            window = "-" if item.window is None else str(item.window)
            yield name, item.role, window, f"{item.texts:,}", _megabytes([item]), str(int(item.idle))
    for kind, label in (("rankings", "rankings"), ("tokens", "token maps")):
        if some := [item for item in items if item.kind == kind]:
            days = sorted({int(min(item.idle for item in some)), int(max(item.idle for item in some))})
            yield label, "", "", f"{len(some):,}", _megabytes(some), "-".join(map(str, days))
    for folder in rest:
        yield folder.name, "", "", f"{folder.texts:,}", _megabytes([folder]), ""


def _megabytes(parts: Sequence[CacheItem]) -> str:
    return f"{sum(part.size for part in parts) / 1e6:,.1f}"


def _verify(items: Sequence[CacheItem]) -> int:
    from harness.store import upkeep
    from harness.view.formats import counted

    files, found = upkeep.checkable(items), 0
    for file, reason in upkeep.damaged(files):
        found += 1
        say_all(wrapped(f"{file}: {reason}", "damaged  ", "         "))
    total = counted(len(files), "file")
    if found:
        say(f"Damaged: {found} of {total}; their content is computed again when it is needed")
    else:
        say(f"{total} checked, none is damaged")
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
