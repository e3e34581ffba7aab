"""What a cell is called, and its settings as they are shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

from harness.cell.settings import cut_offs, with_unused
from harness.records import UNUSED

GROUPS = ("corpus", "golden", "chunker", "model", "index", "retriever", "reranker")


def params(
    config: DictConfig,
    choices: Mapping[str, Any],
    overrides: Sequence[str],
    axes: Mapping[str, Sequence[str]],
) -> dict[str, str]:
    """The cell's settings as shown: options of the groups, plain numbers, whatever is swept or set.

    What does not matter to the cell is ``-``.
    """
    shown = {group: str(choices[group]) for group in GROUPS if group in choices}
    shown |= {key: str(config[key]) for key in ("chunk", "overlap", "tokenizer")}
    shown["k"] = ",".join(map(str, cut_offs(config)))
    given = dict(word.partition("=")[::2] for word in overrides)
    for key in [*axes, *given]:
        if key not in shown and not key.startswith(("tracker", "hydra", "+hydra", "cache", "plan")):
            plain = key.lstrip("+")
            shown[plain] = str(choices[plain] if plain in choices else OmegaConf.select(config, plain))
    return with_unused(config, shown)


def cell_name(settings: Mapping[str, str], axes: Mapping[str, Sequence[str]]) -> str:
    """The swept values joined by a middle dot, with the key where a value alone would be unclear.

    Without axes: model and chunk size. What does not matter to the cell is left out; without a model, the
    retriever is named instead.
    """
    keys = list(axes or ("model", "chunk"))
    if settings["model"] == UNUSED and "retriever" not in keys:
        keys = ["retriever", *(key for key in keys if key != "model")]
    parts_of_name = []
    for key in keys:
        value = settings[key]
        if value == UNUSED:
            continue
        plain = key in GROUPS or key == "chunk"
        short = Path(value).name if "/" in value else value
        parts_of_name.append(short if plain else f"{key.rpartition('.')[2]}={short}")
    name = " · ".join(parts_of_name)
    return f"chunk {name}" if name.isdigit() else name
