"""Measures the performance targets as ratios taken side by side; prints target, figure and verdict.

Machines are noisy and differ, so nothing here is an absolute claim but the start-up times: everything else is
compared with another program that runs alternately with it, or with the arithmetic itself in the same
process.

Usage: bash scripts/bench [CORPUS_FOLDER GOLDEN_FILE] [--only NAME,...] [--quick] [--data BEIR_FOLDER ...]
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
SIZES = "128,256,512"


class Place:
    """A corpus and a folder for results; ``sweep`` runs the program in a process of its own."""

    def __init__(self, corpus: Path, golden: Path, data: list[Path]) -> None:
        self.corpus, self.golden, self.data = corpus, golden, data
        self.words = ("corpus=folder", f"corpus.path={corpus}", f"golden.path={golden}")
        self.root = Path(tempfile.mkdtemp(prefix="bench-"))

    def fresh(self) -> None:
        """Forgets everything but the tracking store, whose creation is no part of a sweep."""
        for name in ("cache", "outputs"):
            shutil.rmtree(self.root / name, ignore_errors=True)

    def forget(self) -> None:
        """Forgets what a sweep computes, but not that a model was converted and tried."""
        for name in ("outputs", "cache/embeddings", "cache/rankings", "cache/tokens"):
            shutil.rmtree(self.root / name, ignore_errors=True)

    def sweep(self, *words: str, own: bool = True) -> float:
        """Seconds of one sweep, over this place's corpus if ``own``.

        Raises ``CalledProcessError`` when it fails.
        """
        of_place = (*self.words, "chunker=tokens") if own else ()
        return run(["-m", "harness", "-m", *of_place, *words], HARNESS_ROOT=str(self.root))

    def results(self) -> list[dict]:
        """``result.json`` of the newest sweep's cells."""
        newest = max(self.root.glob("outputs/*/*"), key=lambda folder: folder.stat().st_mtime_ns)
        return [json.loads(file.read_text()) for file in sorted(newest.glob("*/result.json"))]


def run(words: list[str], check: bool = True, **env: str) -> float:
    """Wall seconds of a Python process."""
    started = time.perf_counter()
    given = (
        {k: v for k, v in os.environ.items() if not k.startswith("MLFLOW_")} | {"HF_HUB_OFFLINE": "1"} | env
    )
    subprocess.run([sys.executable, *words], cwd=TOP, env=given, check=check, capture_output=True)
    return time.perf_counter() - started


ROWS: list[tuple[str, str, str, str]] = []


def row(what: str, target: str, figure: str, good: bool | None) -> None:
    """Prints one line of the table as soon as it is known."""
    verdict = {True: "met", False: "MISSED", None: "-"}[good]
    ROWS.append((what, target, figure, verdict))
    print(f"| {what} | {target} | {figure} | {verdict} |", flush=True)


def startup(_: Place, repeat: int) -> None:
    """How long a user waits for help, or for being told of a mistake."""
    for what, words, check in (("`--help`", ["--help"], True), ("a misspelt setting", ["chunks=1"], False)):
        seconds = statistics.median(run(["-m", "harness", *words], check) for _ in range(repeat + 2))
        row(what, "under 1 s", f"{seconds:.2f} s", seconds < 1)


def cold(place: Place, repeat: int) -> None:
    """A sweep of two models and two sizes against the plain script, and a larger one."""
    from equality import largest_difference

    backends = [("torch", "float32", 1.0)]
    if installed("openvino"):
        backends += [("openvino", "float32", 1.5), ("openvino", "bfloat16", 2.4)]
    taken: dict[tuple, list[float]] = {}
    words = ["model=minilm,wordllama", "chunk=256,512"]
    for key in backends:
        place.sweep(*words, *precise(*key), "plan=true")  # a model is converted and tried once per machine
    metrics = {}
    for _ in range(max(1, repeat - 1)):
        plain = [
            str(TOP / "scripts/benchmarks/plain.py"),
            str(place.corpus),
            str(place.golden),
            "minilm,wordllama",
            "256,512",
        ]
        taken.setdefault(("plain",), []).append(run(plain))
        for key in backends:
            place.forget()
            taken.setdefault(key, []).append(place.sweep(*words, *precise(*key)))
            metrics[key] = place.results()
    base = statistics.median(taken[("plain",)])
    for key in backends:
        backend, precision, target = key
        ratio = base / statistics.median(taken[key])
        row(
            f"cold sweep v. plain script, {backend} {precision}",
            f"{target}x",
            f"{ratio:.2f}x",
            ratio >= target,
        )
    for key in backends[1:]:
        worst = max(
            largest_difference(a["metrics"], b["metrics"])
            for a, b in zip(metrics[key], metrics[backends[0]], strict=True)
        )
        bound = 1e-4 if key[1] == "float32" else 2e-3
        row(
            f"largest difference of a metric, {key[0]} {key[1]} v. torch",
            f"{bound:g}",
            f"{worst:.1e}",
            worst <= bound,
        )
    # The newest sweep was in bfloat16; what is measured again must be what is kept.
    place.sweep(*words, *precise("auto", "float32", 0))
    warm(place, words, base, repeat)
    larger(place)


def precise(backend: str, precision: str, _target: float) -> list[str]:
    """The words that choose a backend and a precision for minilm; wordllama has neither."""
    return [f"backend={backend}", f"precision={precision}"]


def warm(place: Place, words: list[str], base: float, repeat: int) -> None:
    """The same sweep again, cells recomputed from what is kept."""
    seconds = statistics.median(
        place.sweep(*words, *precise("auto", "float32", 0)) for _ in range(repeat + 1)
    )
    row(
        "the same sweep again v. plain script",
        "20x",
        f"{base / seconds:.0f}x ({seconds:.1f} s)",
        base / seconds >= 20,
    )


def larger(place: Place) -> None:
    """Two models and three sizes: everything but embedding, as a share of the wall time."""
    place.forget()
    wall = place.sweep("model=minilm,wordllama", f"chunk={SIZES}")
    embed = sum(result["timing"]["embed_seconds"] for result in place.results())
    share = 1 - embed / wall
    row(
        "everything but embedding, cold 2 x 3 sweep", "under 10%", f"{share:.1%} of {wall:.0f} s", share < 0.1
    )


def installed(backend: str) -> bool:
    """Whether the backend can be used here."""
    import importlib.util

    return importlib.util.find_spec({"onnx": "onnxruntime"}.get(backend, backend)) is not None


def main() -> None:
    """Runs the named measurements, or all."""
    parser = argparse.ArgumentParser()
    parser.add_argument("corpus", nargs="?", default=TOP / "data/handbook", type=Path)
    parser.add_argument("golden", nargs="?", default=TOP / "data/handbook/golden.jsonl", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--data", nargs="+", default=[], type=Path, metavar="FOLDER")
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    from arithmetic import chunking, metrics, search, sgemm
    from counting import counted
    from equality import equality
    from peers import peers
    from tracking import tracking

    everything = {
        "startup": startup,
        "counted": counted,
        "chunking": chunking,
        "metrics": metrics,
        "search": search,
        "tracking": tracking,
        "sgemm": sgemm,
        "cold": cold,
        "equality": equality,
        "peers": peers,
    }
    # Only when it is asked for: it installs 5 GB of other tools once, and takes another seven minutes.
    everyday = [name for name in everything if name != "peers"]
    chosen = args.only.split(",") if args.only else everyday
    place = Place(args.corpus.resolve(), args.golden.resolve(), [folder.resolve() for folder in args.data])
    print("| what | target | measured | verdict |\n|---|---|---|---|")
    try:
        for name in chosen:
            everything[name](place, 1 if args.quick else 3)
    finally:
        shutil.rmtree(place.root)


if __name__ == "__main__":
    main()
