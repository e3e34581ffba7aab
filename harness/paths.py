"""Where things are: the configuration, the sample, and the folder that results go into."""

from __future__ import annotations

import os
from pathlib import Path

from omegaconf import OmegaConf

_PACKAGE = Path(__file__).resolve().parent


def conf_folder() -> Path:
    """``conf/``: inside an installed package, else at the top of the checkout."""
    shipped = _PACKAGE / "conf"
    return shipped if shipped.is_dir() else _PACKAGE.parent / "conf"


def data_folder() -> Path:
    """``data/``, which holds the sample: inside an installed package, else at the top of the checkout."""
    shipped = _PACKAGE / "data"
    return shipped if shipped.is_dir() else _PACKAGE.parent / "data"


def root() -> Path:
    """The folder of ``mlruns/``, ``outputs/`` and ``cache/``.

    ``HARNESS_ROOT`` when it is set, else the checkout that the code runs from, else the current folder.
    """
    if os.environ.get("HARNESS_ROOT"):
        return Path(os.environ["HARNESS_ROOT"]).resolve()
    checkout = _PACKAGE.parent
    return checkout if (checkout / "pyproject.toml").is_file() else Path.cwd()


def register_resolvers() -> None:
    """Makes ``${root:}`` and ``${data:}`` known to OmegaConf; may be called any number of times."""
    OmegaConf.register_new_resolver("root", lambda: str(root()), replace=True)
    OmegaConf.register_new_resolver("data", lambda: str(data_folder()), replace=True)
