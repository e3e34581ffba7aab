"""Embedding with ONNX Runtime: on a CPU about as fast as torch; three times as fast in int8."""

from __future__ import annotations

import importlib
import logging
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from harness.model.backends import UnfitError, batches, cores, first_line
from harness.records import Float32Array, IntArray

MODEL = "model.onnx"
# Of a batch: four texts of 256 tokens, as many batches side by side as there are cores.
TOKENS = 1_024
# The format's version from which on all operators of these models exist.
_OPSET = 17


class Onnx:
    """ONNX Runtime as an engine; the package ``onnx`` is needed to write models."""

    name = "onnx"
    title = "ONNX Runtime"
    packages = ("onnxruntime", "onnx")
    files = (MODEL,)

    def convert(self, whole: Any, example: Any, precision: str, folder: Path) -> None:
        """Writes the model in float32, or its matrices in int8; see ``Engine``."""
        import torch

        exact = folder / f"exact.{MODEL}" if precision == "int8" else folder / MODEL
        try:
            with torch.inference_mode(), _silent():
                torch.onnx.export(
                    whole,
                    (example,),
                    str(exact),
                    dynamo=False,  # the newer exporter needs one more package and six times as long
                    input_names=["ids"],
                    output_names=["vectors"],
                    dynamic_axes={"ids": {0: "texts", 1: "tokens"}, "vectors": {0: "texts"}},
                    opset_version=_OPSET,
                )
                if precision == "int8":
                    _quantise(exact, folder / MODEL)
                    exact.unlink()
        except OSError:
            raise
        except Exception as error:
            raise UnfitError(
                f"it can't be converted to ONNX ({type(error).__name__}: {first_line(error)})"
            ) from error

    def opened(self, folder: Path, precision: str) -> OnnxBackend:
        """The backend; see ``Engine``."""
        return OnnxBackend(folder, precision)


class OnnxBackend:
    """A converted model, read from ``place``. Raises ``UnfitError`` when it can't be."""

    name = "onnx"

    def __init__(self, place: Path, precision: str) -> None:
        onnxruntime = library()
        options = onnxruntime.SessionOptions()
        # Texts side by side on one core each beat one text on all of them.
        options.intra_op_num_threads = 1
        options.log_severity_level = 3
        try:
            self._session = onnxruntime.InferenceSession(
                str(place / MODEL), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:
            raise UnfitError(f"ONNX Runtime can't read {place / MODEL} ({first_line(error)})") from error
        self._dim = int(self._session.run(None, {"ids": np.zeros((1, 1), np.int64)})[0].shape[1])
        # The scale of int8 is that of a whole batch: a text must not be rounded by its neighbours.
        self._most = 1 if precision == "int8" else None
        self._threads = ThreadPoolExecutor(cores(), thread_name_prefix="onnx")

    def encode(
        self,
        ids: Sequence[IntArray],
        most: int | None = None,
        prompt_tokens: int = 0,  # noqa: ARG002 - models that need it are not converted
    ) -> Float32Array:
        """float32 (texts, dim); see ``Backend``. A batch holds texts of one length, so nothing is padded."""
        vectors = np.zeros((len(ids), self._dim), dtype=np.float32)

        def run(rows: IntArray) -> None:
            vectors[rows] = self._session.run(None, {"ids": np.stack([ids[row] for row in rows])})[0]

        # Exhausted, so that an error in a thread is raised here.
        list(self._threads.map(run, batches(ids, TOKENS, self._most or most, padded=False)))
        return vectors


def library() -> Any:
    """The module ``onnxruntime``, without telemetry."""
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    return importlib.import_module("onnxruntime")


def _quantise(exact: Path, into: Path) -> None:
    library()
    from onnxruntime.quantization import QuantType, quantize_dynamic

    # A scale per column: one per matrix gives a cosine of 0.90 instead of 0.99. Seven bits: with eight, CPUs
    # without dot products of bytes overflow, and figures would differ between machines.
    quantize_dynamic(exact, into, per_channel=True, reduce_range=True, weight_type=QuantType.QInt8)


@contextmanager
def _silent() -> Iterator[None]:
    """Without what the converters log: how well it went is measured afterwards."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(before)
