"""Models converted for OpenVINO, kept under ``cache_dir/openvino``: what it takes to embed without torch."""

from __future__ import annotations

import hashlib
import importlib
import json
import shutil
import sys
import uuid
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from harness.model.backends import UnfitError, Wanted
from harness.model.digest import file_sha256

MODEL, WEIGHTS, TOKENIZER, NOTE = "model.xml", "model.bin", "tokenizer.json", "note.json"
_SCHEME = 1
_CONVERTERS = ("openvino", "torch", "transformers", "sentence-transformers")


def library() -> Any:
    """The module ``openvino``, kept from telling its makers that it was imported."""
    reporter = "openvino_telemetry"
    if "openvino" in sys.modules or reporter in sys.modules:
        return importlib.import_module("openvino")
    sys.modules[reporter] = None  # type: ignore[assignment] # how Python is told that there is no such module
    try:
        return importlib.import_module("openvino")
    finally:
        del sys.modules[reporter]


def versions() -> Mapping[str, str]:
    """The version of everything that takes part in a conversion."""
    return {package: metadata.version(package) for package in _CONVERTERS}


def folder(wanted: Wanted) -> Path:
    """Where the converted model is kept; its name stands for the model's files and the libraries' versions."""
    key = json.dumps([_SCHEME, wanted.digest, versions()], sort_keys=True)
    return Path(wanted.cache_dir) / "openvino" / hashlib.sha256(key.encode()).hexdigest()[:32]


def sound(place: Path, cache_dir: str) -> bool:
    """True when all files are there and hold what was written."""
    try:
        files = json.loads((place / NOTE).read_text(encoding="utf-8"))["files"]
        return {MODEL, WEIGHTS, TOKENIZER} == set(files) and all(
            file_sha256(place / file, Path(cache_dir)) == digest for file, digest in files.items()
        )
    except (OSError, ValueError, KeyError, TypeError):
        return False


def convert(model: Any, tokenizer: Any, place: Path, name: str) -> None:
    """Converts a ``SentenceTransformer`` in float32 and keeps it, complete or not at all.

    Raises ``UnfitError`` when it can't be converted or kept.
    """
    if any(getattr(module, "include_prompt", True) is False for module in model):
        raise UnfitError("its pooling leaves the prompt out, which is not converted")
    converted = _traced(model)
    aside = place.with_name(f".{uuid.uuid4().hex}.part")
    try:
        aside.mkdir(parents=True)
        library().save_model(converted, str(aside / MODEL), compress_to_fp16=False)
        (aside / TOKENIZER).write_text(tokenizer.to_str(), encoding="utf-8")
        files = {file: _sha256(aside / file) for file in (MODEL, WEIGHTS, TOKENIZER)}
        note = {"name": name, "versions": versions(), "files": files}
        (aside / NOTE).write_text(json.dumps(note, indent=1), encoding="utf-8")
        _put(aside, place)
    except (OSError, RuntimeError) as error:
        raise UnfitError(f"the converted model could not be kept in {place} ({error})") from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _traced(model: Any) -> Any:
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

    openvino = library()
    # Two texts of five tokens: a size of one would be taken for a constant.
    example = torch.arange(10).reshape(2, 5)
    try:
        with torch.inference_mode():
            return openvino.convert_model(
                Whole().eval(), example_input=example, input=[openvino.PartialShape([-1, -1])]
            )
    except Exception as error:
        raise UnfitError(
            f"OpenVINO can't convert it ({type(error).__name__}: {_first_line(error)})"
        ) from error


def _first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), "no message")


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
