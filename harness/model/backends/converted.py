"""Converted models, kept under ``cache_dir/ENGINE``: what it takes to embed without torch."""

from __future__ import annotations

import hashlib
import json
import shutil
import uuid
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from harness.files.digest import file_sha256
from harness.model.backends import Engine, Loaded, UnfitError, Wanted

TOKENIZER, NOTE = "tokenizer.json", "note.json"
_SCHEME = 2
_CONVERTERS = ("torch", "transformers", "sentence-transformers")


def versions(engine: Engine) -> Mapping[str, str]:
    """The version of everything that takes part in a conversion."""
    return {package: metadata.version(package) for package in (*engine.packages, *_CONVERTERS)}


def folder(wanted: Wanted, engine: Engine) -> Path:
    """Where the converted model is kept; its name stands for the model's files and the libraries' versions."""
    # Only int8 is another file; other precisions are asked of the engine when it opens one.
    stored = "int8" if wanted.precision == "int8" else "float32"
    key = json.dumps([_SCHEME, wanted.digest, stored, versions(engine)], sort_keys=True)
    return Path(wanted.cache_dir) / engine.name / hashlib.sha256(key.encode()).hexdigest()[:32]


def sound(place: Path, engine: Engine, cache_dir: str) -> bool:
    """True when all files are there and hold what was written."""
    try:
        files = json.loads((place / NOTE).read_text(encoding="utf-8"))["files"]
        return {*engine.files, TOKENIZER} == set(files) and all(
            file_sha256(place / file, Path(cache_dir)) == digest for file, digest in files.items()
        )
    except (OSError, ValueError, KeyError, TypeError):
        return False


def opened(place: Path, engine: Engine, precision: str) -> Loaded:
    """The backend with its tokenizer; imports neither torch nor transformers."""
    from tokenizers import Tokenizer

    return Loaded(engine.opened(place, precision), Tokenizer.from_file(str(place / TOKENIZER)))


def convert(model: Any, tokenizer: Any, engine: Engine, wanted: Wanted) -> None:
    """Converts a ``SentenceTransformer`` in float32 and keeps it, complete or not at all.

    Raises ``UnfitError`` when it can't be converted or kept.
    """
    if any(getattr(module, "include_prompt", True) is False for module in model):
        raise UnfitError("its pooling leaves the prompt out, which is not converted")
    place = folder(wanted, engine)
    aside = place.with_name(f".{uuid.uuid4().hex}.part")
    try:
        aside.mkdir(parents=True)
        engine.convert(*_whole(model), wanted.precision, aside)
        (aside / TOKENIZER).write_text(tokenizer.to_str(), encoding="utf-8")
        files = {file: _sha256(aside / file) for file in (*engine.files, TOKENIZER)}
        note = {"name": wanted.name, "versions": versions(engine), "files": files}
        (aside / NOTE).write_text(json.dumps(note, indent=1), encoding="utf-8")
        _put(aside, place)
    except (OSError, RuntimeError) as error:
        raise UnfitError(f"the converted model could not be kept in {place} ({error})") from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _whole(model: Any) -> tuple[Any, Any]:
    """The model as one module, and an example of what it takes."""
    import torch

    class Whole(torch.nn.Module):
        """Ids of texts of one length to vectors: without padding no mask is needed, and every token is pooled."""

        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, ids: Any) -> Any:
            first, *others = self.model
            hidden = first.auto_model(input_ids=ids, return_dict=True).last_hidden_state
            features = {"input_ids": ids, "token_embeddings": hidden, "attention_mask": torch.ones_like(ids)}
            for module in others:
                features = module(features)
            return features["sentence_embedding"]

    # Two texts of five tokens: a size of one would be taken for a constant.
    return Whole().eval(), torch.arange(10).reshape(2, 5)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _put(aside: Path, place: Path) -> None:
    if place.exists():
        damaged = place.with_name(f".{uuid.uuid4().hex}.old")
        place.rename(damaged)
        shutil.rmtree(damaged, ignore_errors=True)
    try:
        aside.rename(place)
    except OSError:
        # Another process was faster: its folder is complete, because it was renamed too.
        if not (place / NOTE).is_file():
            raise
