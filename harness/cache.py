"""``python -m harness.cache``: list, check or prune what is cached between sweeps."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from omegaconf import DictConfig

from harness.cli import compose
from harness.cli.command import Words, run_command
from harness.cli.say import say, say_all, wrapped
from harness.errors import SettingError
from harness.store import inspection, upkeep
from harness.view.table import Head, TextTable

_HEADS = [
    Head("embeddings", left=True),
    Head("role", left=True),
    *map(Head, ("window", "texts", "MB", "days idle")),
]


def main(argv: Sequence[str] | None = None) -> int:
    """Lists, checks or prunes; the exit code is 1 for a mistake and when ``verify=true`` finds damage."""
    return run_command("cache", __doc__, argv, _main)


def _main(words: Words) -> int:
    if words.files or words.is_sweep:
        given = (*words.files, "-m")[0]
        allowed = "verify=true, prune=DAYS, only=NAME, cache=DIR"
        raise SettingError(f"unexpected argument '{given}'. Allowed: {allowed}.")
    return _run(compose.composed(words, ["+command=cache", *words.overrides]).config)


def _run(config: DictConfig) -> int:
    cache, only, days = Path(str(config.cache)), str(config.only or ""), config.prune
    _check(days, config.verify)
    everything, others = upkeep.cache_items(cache), upkeep.others(cache)
    items = upkeep.cache_items(cache, only)
    if not everything and not others:
        say(f"nothing is cached in {cache} yet")
        return 0
    if only and not items:
        names = ", ".join(sorted({item.name for item in everything if item.name})) or "none"
        say_all(wrapped(f"no model named '{only}' is cached; models: {names}", ""))
        return 0
    if days is not None:
        gone = upkeep.prune(cache, items, days)
        idle = f"nothing was idle for {days} {'day' if days == 1 else 'days'}"
        _list(
            "removed",
            gone,
            [],
            idle if not gone else f"{inspection.total_megabytes(gone, [])} MB removed",
            cache,
        )
    elif not config.verify:
        rest = [] if only else others
        total = f"{inspection.total_megabytes(items, rest)} MB in all"
        _list(f"cached in {cache}", items, rest, total, cache)
        say("prune=DAYS removes embeddings, rankings and token maps that were idle for DAYS")
    return _verify([item for item in items if item.place.exists()]) if config.verify else 0


def _check(days: object, verify: object) -> None:
    if days is not None and (not isinstance(days, int) or isinstance(days, bool) or days < 0):
        raise SettingError(
            f"prune={days}: give the number of days without use, a whole number; 0 removes everything.",
            key="prune",
        )
    if not isinstance(verify, bool):
        raise SettingError(f"verify={verify}: give true or false.", key="verify")


def _list(
    title: str,
    items: Sequence[upkeep.CacheItem],
    rest: Sequence[tuple[str, int, int]],
    total: str,
    cache: Path,
) -> None:
    if items or rest:
        say_all([title, "", *TextTable(_HEADS, list(inspection.rows(items, rest))).lines(), ""])
    say(f"{total}; {shutil.disk_usage(cache).free / 1e9:,.1f} GB free now")


def _verify(items: Sequence[upkeep.CacheItem]) -> int:
    files, found = inspection.checkable(items), 0
    for damage in inspection.damaged(items):
        found += 1
        say_all(wrapped(f"{damage.file}: {damage.reason}", "damaged  ", "         "))
    if found:
        say(f"{found} of {files} files are damaged; their content is computed again when it is needed")
    else:
        say(f"{files} files checked; all are sound")
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
