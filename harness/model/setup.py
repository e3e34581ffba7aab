"""The configuration in a sentence-transformers folder, read without loading any weights."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from harness.errors import ModelError
from harness.files.hub import SETUP_FILES
from harness.files.model_files import setup_digest, weight_files

_OWN_PACKAGE = "sentence_transformers."
# These count positions from the padding token's, so two of them hold no token.
_OFFSET_POSITIONS = frozenset({"mpnet", "roberta", "xlm-roberta", "camembert"})


class ModelSetup(NamedTuple):
    """The configuration of a model folder.

    ``window``: maximum sequence length in tokens, special ones included, None without a limit. ``positions``:
    the most it could be set to. ``dim``: numbers in a vector. ``prompts``: the model's own, by name.
    ``digest``: sha256 over all configuration files. ``weights``: its weight files, sorted.
    """

    window: int | None
    positions: int | None
    dim: int
    prompts: Mapping[str, str]
    digest: str
    weights: tuple[Path, ...]

    def prompt(self, given: str | None, *names: str) -> str:
        """``given``, or the model's own prompt by the first of ``names`` that it has."""
        if given is not None:
            return str(given)
        return next((self.prompts[name] for name in names if self.prompts.get(name)), "")


def read_setup(folder: Path, model: str) -> ModelSetup:
    """Reads the folder. Raises ``ModelError`` when it is not a complete sentence-transformers model."""
    modules = _json(folder / "modules.json", model)
    if not isinstance(modules, list) or not all(isinstance(module, dict) for module in modules):
        raise ModelError(
            f"The model {model!r} can't be used: {folder / 'modules.json'} is not a list of modules.",
            model=model,
        )
    others = [
        str(module.get("type")) for module in modules if not str(module.get("type")).startswith(_OWN_PACKAGE)
    ]
    if others:
        raise ModelError(
            f"The model {model!r} needs code of its own ({', '.join(others)}), which is never run. "
            "Choose a model made of sentence-transformers' own modules.",
            model=model,
        )
    folders = [folder / str(module.get("path", "")) for module in modules]
    config = _json(folder / "config.json", model)
    own = _optional(folder / "config_sentence_transformers.json", model).get("prompts") or {}
    positions = _positions(config)
    return ModelSetup(
        window=_window(folder, positions, model),
        positions=positions,
        dim=_dim(folders, config, model),
        prompts={str(key): str(value) for key, value in own.items()},
        digest=setup_digest(
            folder, sorted({place / name for place in (folder, *folders) for name in SETUP_FILES})
        ),
        weights=weight_files(folder, (folder, *folders), "model", model),
    )


def matrix_dim(path: Path, model: str) -> int:
    """Numbers in a vector of a static model, by the header of its weights. Raises ``ModelError``."""
    from safetensors import safe_open

    with safe_open(path, "np") as file:
        shapes = [file.get_slice(name).get_shape() for name in file.keys()]  # noqa: SIM118 - it is no mapping
    if len(shapes) != 1 or len(shapes[0]) != 2:
        raise ModelError(
            f"The model {model!r} can't be used: {path} does not hold exactly one matrix.", model=model
        )
    return int(shapes[0][1])


def _json(path: Path, model: str) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ModelError(
            f"The model {model!r} can't be used: {path} is missing, so {path.parent} is not a complete "
            "sentence-transformers model. Save the model with sentence-transformers, or delete the folder "
            "and download it again.",
            model=model,
        ) from None
    except (OSError, ValueError) as error:
        raise ModelError(
            f"The model {model!r} can't be used: {path} can't be read ({error}).", model=model
        ) from error


def _optional(path: Path, model: str) -> dict[str, Any]:
    value = _json(path, model) if path.exists() else {}
    return value if isinstance(value, dict) else {}


def _positions(config: Mapping[str, Any]) -> int | None:
    positions = config.get("max_position_embeddings")
    if not isinstance(positions, int) or positions <= 0:
        return None
    return positions - 2 if config.get("model_type") in _OFFSET_POSITIONS else positions


def _window(folder: Path, positions: int | None, model: str) -> int | None:
    own = _optional(folder / "sentence_bert_config.json", model).get("max_seq_length")
    if own is None:
        own = _optional(folder / "tokenizer_config.json", model).get("model_max_length")
    # Tokenizers write "no limit" as 10^30.
    limits = [limit for limit in (own, positions) if isinstance(limit, int) and 0 < limit < 10**9]
    return min(limits) if limits else None


def _dim(folders: list[Path], config: Mapping[str, Any], model: str) -> int:
    dim = config.get("hidden_size")
    for folder in folders[1:]:
        part = _optional(folder / "config.json", model)
        width = part.get("embedding_dimension", part.get("word_embedding_dimension"))
        if width is not None:
            mode = part.get("pooling_mode")
            flags = sum(1 for key, value in part.items() if key.startswith("pooling_mode_") and value)
            dim = width * (len(mode) if isinstance(mode, list) else max(flags, 1))
        dim = part.get("out_features", dim)
    if not isinstance(dim, int):
        raise ModelError(
            f"The model {model!r} can't be used: its configuration does not say how wide its vectors are.",
            model=model,
        )
    return dim
