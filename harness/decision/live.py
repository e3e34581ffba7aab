"""A live retriever in the place of the recorded one."""

from __future__ import annotations

from collections.abc import Sequence

from omegaconf import DictConfig

from harness.cell.settings import uses
from harness.cli import compose
from harness.cli.command import Words
from harness.cli.values import check_plain_settings
from harness.errors import SettingError

# A short name for each live option, and the setting that it stands for.
_SHORT = {"url": ("http", "retriever.url"), "target": ("callable", "retriever.target")}


def split_live(overrides: Sequence[str]) -> tuple[list[str], list[str]]:
    """The words of the live retriever, written out, and the words of the recorded configuration."""
    live: list[str] = []
    others: list[str] = []
    for word in overrides:
        name, _, value = word.partition("=")
        if name in _SHORT:
            option, setting = _SHORT[name]
            live += [f"retriever={option}", f"{setting}={value}"]
        else:
            (live if name.split(".")[0] == "retriever" else others).append(word)
    return live, others


def with_live(config: DictConfig, words: Sequence[str]) -> DictConfig:
    """The recorded configuration with the live retriever in the place of its own."""
    live = config.copy()
    live.retriever = compose.composed(Words((), (), ()), words).config.retriever
    if uses(live, "chunker"):
        raise SettingError(f"{words[0]} is not a live retriever; give url= or target=.", key="retriever")
    check_plain_settings(live)
    return live
