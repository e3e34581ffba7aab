"""Embedding with OpenVINO: on a CPU half as fast again as torch in float32, and without importing torch."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from harness.model.backends import UnfitError, batches, cores, first_line
from harness.records import Float32Array, IntArray

MODEL, WEIGHTS = "model.xml", "model.bin"
# Of a batch: four texts of 256 tokens. Several batches run side by side, so bigger ones bring nothing but
# memory.
TOKENS = 1_024
HINTS = {"float32": "f32", "bfloat16": "bf16"}


class OpenVino:
    """OpenVINO as an engine."""

    name = "openvino"
    title = "OpenVINO"
    packages = ("openvino",)
    files = (MODEL, WEIGHTS)

    def convert(self, whole: Any, example: Any, precision: str, folder: Path) -> None:  # noqa: ARG002 - one file serves all
        """Writes the model in float32; see ``Engine``."""
        import torch

        openvino = library()
        try:
            with torch.inference_mode():
                converted = openvino.convert_model(
                    whole, example_input=example, input=[openvino.PartialShape([-1, -1])]
                )
        except Exception as error:
            raise UnfitError(
                f"OpenVINO can't convert it ({type(error).__name__}: {first_line(error)})"
            ) from error
        openvino.save_model(converted, str(folder / MODEL), compress_to_fp16=False)

    def opened(self, folder: Path, precision: str) -> OpenVinoBackend:
        """The backend; see ``Engine``."""
        return OpenVinoBackend(folder, precision)


class OpenVinoBackend:
    """A converted model, read from ``place`` and compiled for this CPU.

    Raises ``UnfitError`` when this CPU has no instructions for ``precision`` or the files can't be compiled.
    """

    name = "openvino"

    def __init__(self, place: Path, precision: str) -> None:
        openvino = library()
        core = openvino.Core()
        able = core.get_property("CPU", "OPTIMIZATION_CAPABILITIES")
        if precision == "bfloat16" and "BF16" not in able:
            raise UnfitError(f"this CPU does not compute in bfloat16 (it can: {', '.join(able)})")
        settings = {
            "INFERENCE_PRECISION_HINT": HINTS[precision],
            "PERFORMANCE_HINT": "THROUGHPUT",
            "INFERENCE_NUM_THREADS": cores(),
        }
        try:
            compiled = core.compile_model(str(place / MODEL), "CPU", settings)
        except RuntimeError as error:
            raise UnfitError(f"OpenVINO can't compile {place / MODEL} ({error})") from error
        self._queue = openvino.AsyncInferQueue(compiled)
        self._dim = int(compiled.output(0).get_partial_shape()[1].get_length())
        self._one_at_a_time = Lock()

    def encode(
        self,
        ids: Sequence[IntArray],
        most: int | None = None,
        prompt_tokens: int = 0,  # noqa: ARG002 - models that need it are not converted
    ) -> Float32Array:
        """float32 (texts, dim); see ``Backend``. A batch holds texts of one length, so nothing is padded."""
        vectors = np.zeros((len(ids), self._dim), dtype=np.float32)

        def keep(request: Any, rows: IntArray) -> None:
            vectors[rows] = request.get_output_tensor(0).data

        with self._one_at_a_time:
            self._queue.set_callback(keep)
            for rows in batches(ids, TOKENS, most, padded=False):
                self._queue.start_async({0: np.stack([ids[row] for row in rows])}, rows)
            self._queue.wait_all()
        return vectors


def library() -> Any:
    """The module ``openvino``, without telemetry."""
    reporter = "openvino_telemetry"
    if "openvino" in sys.modules or reporter in sys.modules:
        return importlib.import_module("openvino")
    sys.modules[reporter] = None  # type: ignore[assignment] # how Python is told that there is no such module
    try:
        return importlib.import_module("openvino")
    finally:
        del sys.modules[reporter]
