"""Whether results stay what they were: data sets, backends beside torch, recorded figures.

A data set is a folder in BEIR's layout (corpus.jsonl, queries.jsonl, qrels); a document is one chunk. Its
figures are kept in recorded.json beside this file under the digest of its documents, so that a set is known
wherever it lies; one that is not there is added.
"""

from __future__ import annotations

import json
from pathlib import Path

from bench import installed, row

RECORDED = Path(__file__).with_name("recorded.json")
BOUND = 1e-4
# Of each set, what published tables give; every metric takes part in comparing backends.
SHOWN = ("ndcg_at_10", "recall_at_5", "mrr_at_10")


def equality(place, _repeat):
    """One cell per data set and backend: minilm, whole documents, float32."""
    backends = ["torch", *(name for name in ("openvino", "onnx") if installed(name))]
    for folder in place.data:
        found = {}
        for backend in backends:
            place.fresh()  # embeddings are kept by model, whatever computed them
            place.sweep(
                "corpus=beir", f"corpus.path={folder}", "golden=beir", f"golden.path={folder}",
                "chunker=whole", "model=minilm", f"backend={backend}", "k=[5,10,100]",
                "tracker=none", own=False,
            )  # fmt: skip
            (found[backend],) = place.results()
        _compare_backends(folder, found)
        _compare_recorded(folder, found[backends[-1]])


def _compare_backends(folder, found):
    reference = found["torch"]["metrics"]
    for backend, result in found.items():
        if backend != "torch":
            worst = largest_difference(result["metrics"], reference)
            row(
                f"{_name(folder)}: largest difference of a metric, {backend} v. torch",
                f"{BOUND:g}",
                f"{worst:.1e}",
                worst <= BOUND,
            )


def _compare_recorded(folder, result):
    recorded = json.loads(RECORDED.read_text()) if RECORDED.exists() else {}
    key = result["corpus_digest"][:32]
    figures = {name: round(result["metrics"][name], 6) for name in SHOWN}
    if key not in recorded:
        recorded[key] = {"set": _name(folder), **figures}
        RECORDED.write_text(json.dumps(recorded, indent=1) + "\n")
    for name in SHOWN:
        before, now = recorded[key][name], figures[name]
        row(f"{_name(folder)}: {name}", f"{before:.5f}", f"{now:.5f}", abs(now - before) <= BOUND)


def largest_difference(these, those):
    """Over all metrics of a cell but the number of returned tokens; two nan are equal."""
    return max(
        abs(these[name] - those[name])
        for name in those
        if not name.startswith("context_tokens") and those[name] == those[name]
    )


def _name(folder):
    return "/".join(folder.parts[-3:])
