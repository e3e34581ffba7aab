"""Engines that run converted models on the CPU without torch.

OpenVINO is half as fast again as torch, ONNX Runtime about as fast, and three times as fast in int8.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import Any, ClassVar, TypeAlias

import numpy as np

from harness.model.backends import UnfitError, batches, cores, first_line
from harness.records import Float32Array, IntArray

# Of a batch: four texts of 256 tokens. Several batches run side by side; bigger ones only take memory.
TOKENS = 1_024
os.environ["ORT_DISABLE_TELEMETRY"] = "1"


class ConvertedBackend:
    """A converted model, read from ``folder``; the class is the engine.

    ``name``: as ``backend=`` says it; ``title``: as a sentence says it. ``packages``: what must be installed
    (``extra`` brings it); the names in the package index are those of the modules. ``files``: what
    ``convert`` writes. Raises ``UnfitError`` when this machine can't run the files in ``precision``.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    packages: ClassVar[tuple[str, ...]]
    extra: ClassVar[str]
    files: ClassVar[tuple[str, ...]]
    _dim: int
    _most: int | None = None

    def __init__(self, folder: Path, precision: str) -> None:
        raise NotImplementedError

    @classmethod
    def is_installed(cls) -> bool:
        """True when all of its packages can be imported."""
        return all(importlib.util.find_spec(package) is not None for package in cls.packages)

    @staticmethod
    def convert(whole: Any, example: Any, precision: str, folder: Path) -> None:
        """Writes the files; raises what the library raises.

        ``whole``: a ``torch.nn.Module`` from ids, int64 (texts, tokens), to vectors, float32 (texts, dim).
        """
        raise NotImplementedError

    def encode(
        self,
        ids: Sequence[IntArray],
        most: int | None = None,
        prompt_tokens: int = 0,  # noqa: ARG002 - models that need it are not converted
    ) -> Float32Array:
        """float32 (texts, dim); see ``Backend``. A batch holds texts of one length, so nothing is padded."""
        vectors = np.zeros((len(ids), self._dim), dtype=np.float32)
        self._run(ids, batches(ids, TOKENS, self._most or most, padded=False), vectors)
        return vectors

    def _run(self, ids: Sequence[IntArray], groups: Iterable[IntArray], vectors: Float32Array) -> None:
        """Fills in the rows of ``vectors``, a group of ``ids`` at a time."""
        raise NotImplementedError


Engine: TypeAlias = type[ConvertedBackend]


class OpenVino(ConvertedBackend):
    """OpenVINO: one file in float32 serves all precisions."""

    name = "openvino"
    title = "OpenVINO"
    packages = ("openvino",)
    extra = "fast"
    files = ("model.xml", "model.bin")

    def __init__(self, folder: Path, precision: str) -> None:
        openvino = openvino_library()
        core = openvino.Core()
        able = core.get_property("CPU", "OPTIMIZATION_CAPABILITIES")
        if precision == "bfloat16" and "BF16" not in able:
            raise UnfitError(f"this CPU does not compute in bfloat16 (it can: {', '.join(able)})")
        model, hint = folder / self.files[0], {"float32": "f32", "bfloat16": "bf16"}[precision]
        settings = {"INFERENCE_PRECISION_HINT": hint, "PERFORMANCE_HINT": "THROUGHPUT"}
        try:
            compiled = core.compile_model(str(model), "CPU", settings | {"INFERENCE_NUM_THREADS": cores()})
        except RuntimeError as error:
            raise UnfitError(f"OpenVINO can't compile {model} ({error})") from error
        self._queue = openvino.AsyncInferQueue(compiled)
        self._dim = int(compiled.output(0).get_partial_shape()[1].get_length())
        self._one_at_a_time = Lock()

    @staticmethod
    def convert(whole: Any, example: Any, precision: str, folder: Path) -> None:  # noqa: ARG004 - the same file
        """See ``ConvertedBackend``."""
        import torch

        openvino = openvino_library()
        shape = [openvino.PartialShape([-1, -1])]
        with torch.inference_mode():
            converted = openvino.convert_model(whole, example_input=example, input=shape)
        openvino.save_model(converted, str(folder / OpenVino.files[0]), compress_to_fp16=False)

    def _run(self, ids: Sequence[IntArray], groups: Iterable[IntArray], vectors: Float32Array) -> None:
        def keep(request: Any, rows: IntArray) -> None:
            vectors[rows] = request.get_output_tensor(0).data

        with self._one_at_a_time:
            self._queue.set_callback(keep)
            for rows in groups:
                self._queue.start_async({0: np.stack([ids[row] for row in rows])}, rows)
            self._queue.wait_all()


class Onnx(ConvertedBackend):
    """ONNX Runtime; the package ``onnx`` is needed to write models."""

    name = "onnx"
    title = "ONNX Runtime"
    packages = ("onnxruntime", "onnx")
    extra = "onnx"
    files = ("model.onnx",)

    def __init__(self, folder: Path, precision: str) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        # Texts side by side on one core each beat one text on all of them.
        options.intra_op_num_threads = 1
        options.log_severity_level = 3
        model, providers = folder / self.files[0], ["CPUExecutionProvider"]
        try:
            self._session = onnxruntime.InferenceSession(str(model), options, providers=providers)
        except Exception as error:
            raise UnfitError(f"ONNX Runtime can't read {model} ({first_line(error)})") from error
        self._dim = int(self._session.run(None, {"ids": np.zeros((1, 1), np.int64)})[0].shape[1])
        # The scale of int8 is that of a whole batch: a text must not be rounded by its neighbours.
        self._most = 1 if precision == "int8" else None
        self._threads = ThreadPoolExecutor(cores(), thread_name_prefix="onnx")

    @staticmethod
    def convert(whole: Any, example: Any, precision: str, folder: Path) -> None:
        """Writes the model in float32, or its matrices in int8; see ``ConvertedBackend``."""
        import torch

        model = folder / Onnx.files[0]
        exact = folder / "exact.onnx" if precision == "int8" else model
        with torch.inference_mode():
            torch.onnx.export(
                whole,
                (example,),
                str(exact),
                dynamo=False,  # the newer exporter needs one more package and six times as long
                input_names=["ids"],
                output_names=["vectors"],
                dynamic_axes={"ids": {0: "texts", 1: "tokens"}, "vectors": {0: "texts"}},
                opset_version=17,  # the first version with all operators of these models
            )
        if precision == "int8":
            from onnxruntime.quantization import QuantType, quantize_dynamic

            # A scale per column: one per matrix gives a cosine of 0.90 instead of 0.99. Seven bits: with
            # eight, CPUs without dot products of bytes overflow, and figures would differ between machines.
            kind = QuantType.QInt8
            quantize_dynamic(exact, model, per_channel=True, reduce_range=True, weight_type=kind)
            exact.unlink()

    def _run(self, ids: Sequence[IntArray], groups: Iterable[IntArray], vectors: Float32Array) -> None:
        def run(rows: IntArray) -> None:
            vectors[rows] = self._session.run(None, {"ids": np.stack([ids[row] for row in rows])})[0]

        # Exhausted, so that an error in a thread is raised here.
        list(self._threads.map(run, groups))


# In the order in which they are tried; docs/performance.md compares them.
ENGINES: tuple[Engine, ...] = (OpenVino, Onnx)


def openvino_library() -> Any:
    """The module ``openvino``, without telemetry."""
    reporter = "openvino_telemetry"
    if "openvino" in sys.modules or reporter in sys.modules:
        return importlib.import_module("openvino")
    sys.modules[reporter] = None  # type: ignore[assignment] # how Python is told that there is no such module
    try:
        return importlib.import_module("openvino")
    finally:
        del sys.modules[reporter]
