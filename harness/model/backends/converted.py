"""Converted models, cached under ``cache_dir/ENGINE``: they embed without torch."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import Any

from harness.files.atomic import replacing_folder
from harness.files.model_files import file_sha256, sha256
from harness.model.backends import BackendRequest, LoadedModel, UnfitError, first_line
from harness.model.backends.engines import Engine

TOKENIZER, NOTE = "tokenizer.json", "note.json"
_SCHEME = 2
_CONVERTERS = ("torch", "transformers", "sentence-transformers")


def versions(engine: Engine) -> Mapping[str, str]:
    """The version of everything that takes part in a conversion."""
    return {package: metadata.version(package) for package in (*engine.packages, *_CONVERTERS)}


def folder(wanted: BackendRequest, engine: Engine) -> Path:
    """The converted model's folder, named by the model's files and the libraries' versions."""
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


def opened(place: Path, engine: Engine, precision: str) -> LoadedModel:
    """The backend with its tokenizer; imports neither torch nor transformers."""
    from tokenizers import Tokenizer

    return LoadedModel(engine(place, precision), Tokenizer.from_file(str(place / TOKENIZER)))


def convert(model: Any, tokenizer: Any, engine: Engine, wanted: BackendRequest) -> None:
    """Converts a ``SentenceTransformer`` in float32 and caches it, complete or not at all.

    Raises ``UnfitError`` when it can't be converted or written.
    """
    if any(getattr(module, "include_prompt", True) is False for module in model):
        raise UnfitError("its pooling leaves the prompt out, which is not converted")
    place = folder(wanted, engine)
    try:
        with replacing_folder(place, lambda: sound(place, engine, wanted.cache_dir)) as aside:
            with _silent():
                engine.convert(*_whole(model), wanted.precision, aside)
            (aside / TOKENIZER).write_text(tokenizer.to_str(), encoding="utf-8")
            files = {file: sha256(aside / file) for file in (*engine.files, TOKENIZER)}
            note = {"name": wanted.name, "versions": versions(engine), "files": files}
            (aside / NOTE).write_text(json.dumps(note, indent=1), encoding="utf-8")
    except OSError as error:
        raise UnfitError(f"the converted model could not be written to {place} ({error})") from error
    except Exception as error:
        reason = f"{type(error).__name__}: {first_line(error)}"
        raise UnfitError(f"{engine.title} can't convert it ({reason})") from error


@contextmanager
def _silent() -> Iterator[None]:
    """Without what the converters log: how well it went is measured afterwards."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(before)


def _whole(model: Any) -> tuple[Any, Any]:
    """The model as one module, and an example of what it takes."""
    import torch

    class PooledModel(torch.nn.Module):
        """Ids of texts of one length to vectors: without padding, every token is pooled."""

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
    return PooledModel().eval(), torch.arange(10).reshape(2, 5)
