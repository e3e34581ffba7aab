"""``python -m harness.cache``: what is kept between sweeps, whether it is sound, and room for something else."""

from __future__ import annotations

import shutil
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from omegaconf import DictConfig

from harness.cli import compose
from harness.cli.run import run_command
from harness.cli.say import say, say_all, wrapped
from harness.cli.words import Words
from harness.errors import SettingError
from harness.store import checking, upkeep
from harness.store.upkeep import Kept
from harness.view.table import Head, TextTable

LABELS = {upkeep.RANKINGS: "rankings", upkeep.TOKENS: "token maps"}
_HEADS = [
    Head("embeddings", left=True),
    Head("role", left=True),
    *map(Head, ("window", "texts", "MB", "days idle")),
]


def main(argv: Sequence[str] | None = None) -> int:
    """Lists, checks or prunes; the exit code is 1 for a wrong word and when ``verify=true`` finds damage."""
    return run_command("cache", __doc__, argv, _main)


def _main(words: Words) -> int:
    if words.files or words.is_sweep:
        raise SettingError(
            f"'{(*words.files, '-m')[0]}' means nothing here. Words: verify=true, prune=DAYS, only=NAME, cache=DIR."
        )
    return _run(compose.composed(words, ["+command=cache", *words.overrides]).config)


def _run(config: DictConfig) -> int:
    cache, only = Path(str(config.cache)), "" if config.only is None else str(config.only)
    days, verify = _days(config.prune), _verify(config.verify)
    everything = upkeep.kept(cache)
    others = upkeep.others(cache)
    if not everything and not others:
        say(f"nothing is kept in {cache} yet")
        return 0
    items = upkeep.kept(cache, only)
    if only and not items:
        names = ", ".join(sorted({item.name for item in everything if item.name})) or "none"
        say_all(wrapped(f"nothing is kept of a model named '{only}'; models: {names}", ""))
        return 0
    if days is not None:
        say_all(_pruned(cache, upkeep.prune(cache, items, days), days))
    if verify:
        return _checked([item for item in items if item.place.exists()])
    if days is None:
        say_all(_listed(cache, items, [] if only else others))
    return 0


def _days(given: object) -> int | None:
    if given is None or (isinstance(given, int) and not isinstance(given, bool) and given >= 0):
        return given
    raise SettingError(
        f"prune={given}: give the number of days without use, a whole number; 0 removes everything.",
        key="prune",
    )


def _verify(given: object) -> bool:
    if isinstance(given, bool):
        return given
    raise SettingError(f"verify={given}: give true or false.", key="verify")


def _listed(cache: Path, items: Sequence[Kept], others: Sequence[tuple[str, int, int]]) -> Iterator[str]:
    yield f"kept in {cache}"
    yield ""
    yield from _table(items, others)
    total = sum(item.size for item in items) + sum(size for _, _, size in others)
    yield ""
    yield f"{_mb(total)} MB in all; {_free(cache)}"
    yield "prune=DAYS removes embeddings, rankings and token maps that were idle for DAYS"


def _pruned(cache: Path, gone: Sequence[Kept], days: int) -> Iterator[str]:
    if gone:
        yield "removed"
        yield ""
        yield from _table(gone, [])
        yield ""
        yield f"{_mb(sum(item.size for item in gone))} MB removed; {_free(cache)}"
    else:
        yield f"nothing was idle for {days} {'day' if days == 1 else 'days'}; {_free(cache)}"


def _table(items: Sequence[Kept], others: Sequence[tuple[str, int, int]]) -> list[str]:
    """Embeddings line by line, everything else summed up."""
    rows = [_row(item, name) for item, name in _named(items)]
    rest = [_sum(label, [item for item in items if item.kind == kind]) for kind, label in LABELS.items()]
    rest += [(label, "", "", f"{number:,}", _mb(size), "") for label, number, size in others]
    return TextTable(_HEADS, [*rows, *(row for row in rest if row is not None)]).lines()


def _named(items: Sequence[Kept]) -> Iterator[tuple[Kept, str]]:
    """Embeddings with their names; those that look alike (other weights, prompts) with part of their folder's name."""
    shown = [item for item in items if item.kind == upkeep.EMBEDDINGS]
    alike = Counter((item.name, item.role, item.window) for item in shown)
    for item in shown:
        several = alike[item.name, item.role, item.window] > 1
        yield item, f"{item.name} {item.place.name[:6]}" if several else item.name


def _row(item: Kept, name: str) -> tuple[str, ...]:
    window = "-" if item.window is None else str(item.window)
    return name, item.role, window, f"{item.texts:,}", _mb(item.size), str(int(item.idle))


def _sum(label: str, items: Sequence[Kept]) -> tuple[str, ...] | None:
    if not items:
        return None
    days = sorted({int(min(item.idle for item in items)), int(max(item.idle for item in items))})
    return label, "", "", f"{len(items):,}", _mb(sum(item.size for item in items)), "-".join(map(str, days))


def _checked(items: Sequence[Kept]) -> int:
    files, found = checking.checkable(items), 0
    for damage in checking.damaged(items):
        found += 1
        say_all(wrapped(f"{damage.file}: {damage.reason}", "damaged  ", "         "))
    if not found:
        say(f"{files} files checked; all are sound")
        return 0
    say(f"{found} of {files} files are damaged; what they held is computed again when it is needed")
    return 1


def _mb(size: int) -> str:
    return f"{size / 1e6:,.1f}"


def _free(cache: Path) -> str:
    return f"{shutil.disk_usage(cache).free / 1e9:,.1f} GB free now"


if __name__ == "__main__":
    sys.exit(main())
