"""The measures as the default option names them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from hydra.utils import instantiate
from omegaconf import OmegaConf

CONF = Path(__file__).parents[2] / "conf"


@cache
def built_in_measures() -> dict:
    return instantiate(OmegaConf.load(CONF / "metrics" / "default.yaml").measures, _convert_="all")
