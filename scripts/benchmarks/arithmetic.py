"""Parts of a cell against the arithmetic that they can't do without, in one process."""

from __future__ import annotations

import statistics
import time
from pathlib import Path

import numpy as np
from bench import row


def seconds(work, repeat):
    """The median wall seconds of ``work``."""
    taken = []
    for _ in range(repeat):
        started = time.perf_counter()
        work()
        taken.append(time.perf_counter() - started)
    return statistics.median(taken)


def unit_vectors(rng):
    vectors = np.empty((1_000_000, 384), np.float32)
    for first in range(0, len(vectors), 50_000):
        block = rng.standard_normal((50_000, 384), np.float32)
        vectors[first : first + 50_000] = block / np.linalg.norm(block, axis=1, keepdims=True)
    return vectors


def search(_place, repeat):
    """1,000 questions x 1,000,000 chunks x 384 against the matrix product alone; memory above the vectors."""
    import threading

    from harness.index.exact import ExactIndex

    rng = np.random.default_rng(0)
    vectors = unit_vectors(rng)
    queries = vectors[::1000] + 0.1 * rng.standard_normal((1000, 384), np.float32)
    index = ExactIndex()
    index.build(vectors, np.arange(len(vectors)))

    def product():
        for first in range(0, len(vectors), 20_000):
            queries @ vectors[first : first + 20_000].T

    peak, stop = [resident_mb()], threading.Event()
    before = peak[0]

    def watch():
        while not stop.wait(0.05):
            peak[0] = max(peak[0], resident_mb())

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    base, taken = [], {10: [], 1000: []}
    for _ in range(repeat):
        base.append(seconds(product, 1))
        for depth, values in taken.items():
            values.append(seconds(lambda depth=depth: index.search(queries, depth), 1))
    stop.set()
    watcher.join()
    for depth, values in taken.items():
        ratio = statistics.median(values) / statistics.median(base)
        row(
            f"exact search 1,000 x 1,000,000 x 384, depth {depth}, v. product",
            "1.5x",
            f"{ratio:.2f}x",
            ratio <= 1.5,
        )
    row(
        "its memory above the vectors",
        "2 GiB",
        f"{(peak[0] - before) / 1024:.2f} GiB",
        peak[0] - before < 2048,
    )


def resident_mb():
    """Resident memory of this process in MiB (Linux)."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0.0


def metrics(_place, repeat):
    """All metrics of 10,000 questions at depth 1,000."""
    from harness.cell.settings import new
    from harness.cli import compose
    from harness.cli.command import take_apart
    from harness.records import Chunks, Document, Evidence, Question, Ranking
    from harness.text.tokens import TokenMap

    words = take_apart([])
    suite = new(compose.composed(words, []).config, "metrics")
    rng = np.random.default_rng(0)
    documents = [Document(f"d{i:04d}", "word " * 10_000) for i in range(100)]
    maps = [TokenMap(np.arange(0, 50_000, 5), 50_000)] * 100
    doc = np.repeat(np.arange(100), 500)
    start = np.tile(np.arange(500) * 100, 100)
    chunks = Chunks(documents, doc, start, start + 100, np.full(50_000, 20))
    questions = []
    for i in range(10_000):
        at = int(rng.integers(0, 49_000))
        doc_id = f"d{rng.integers(100):04d}"
        questions.append(Question(f"q{i}", "?", (Evidence(doc_id, at, at + 150, None),)))
    rows = rng.integers(0, 50_000, (10_000, 1000))
    ranking = Ranking(rows, np.sort(rng.random((10_000, 1000), np.float32))[:, ::-1])

    def score():
        matches = suite.match("span", questions, chunks)
        suite.score(
            matches,
            questions,
            ranking,
            matches.first_rank(ranking),
            chunks,
            maps,
            [1, 3, 5, 10, 100, 1000],
            None,
            "recall_at_5",
        )

    taken = seconds(score, repeat)
    row("all metrics, 10,000 questions x depth 1,000", "5 s", f"{taken:.1f} s", taken < 5)


def chunking(place, repeat):
    """Token maps and chunks of the corpus against the fast tokenizer's own time, on all cores."""
    from tokenizers import Tokenizer as Fast

    from harness.cell.build import Shared
    from harness.cell.settings import new
    from harness.chunker import columns
    from harness.cli import compose
    from harness.cli.command import take_apart
    from harness.text.tokenizer import find_tokenizer_file, load_tokenizer

    words = take_apart(["corpus=folder", f"corpus.path={place.corpus}", f"golden.path={place.golden}"])
    documents = Shared().inputs(compose.composed(words, words.overrides).config).documents
    texts = [document.text for document in documents]
    fast = Fast.from_file(str(find_tokenizer_file("bert")))
    fast.no_truncation()
    fast.no_padding()
    ours = load_tokenizer("bert")
    base, taken = [], {"tokens": [], "recursive": []}
    for _ in range(repeat + 2):
        base.append(seconds(lambda: fast.encode_batch(texts, add_special_tokens=False), 1))
        for name, values in taken.items():
            chunker = new(compose.composed(take_apart([]), [f"chunker={name}"]).config, "chunker")
            values.append(
                seconds(lambda chunker=chunker: columns.cut(documents, ours.map(texts), chunker), 1)
            )
    for name, bound in (("tokens", 1.3), ("recursive", 2.0)):
        ratio = statistics.median(taken[name]) / statistics.median(base)
        row(f"chunking `{name}` v. tokenizing alone", f"{bound}x", f"{ratio:.2f}x", ratio <= bound)


def sgemm(place, repeat):
    """MiniLM on 256-token texts: arithmetic per second against the rate of a matrix product."""
    from bench import installed

    from harness.cell.build import Shared
    from harness.cli import compose
    from harness.cli.command import take_apart

    side = 2048
    a = np.random.default_rng(0).standard_normal((side, side), np.float32)
    words = take_apart(
        ["corpus=folder", f"corpus.path={place.corpus}", f"golden.path={place.golden}",
         "chunker=tokens", "chunk=254",
         f"cache={place.root}/cache", *(["model.backend=openvino"] if installed("openvino") else [])]
    )  # fmt: skip
    config = compose.composed(words, words.overrides).config
    chunks = Shared().chunks(config)
    texts = [chunks.text(row) for row in range(len(chunks)) if chunks.tokens[row] == 254][:128]
    model = Shared().model(config)
    model.encode_anew(texts[:8])
    rates, embeds = [], []
    for _ in range(repeat):
        rates.append(2 * side**3 / seconds(lambda: a @ a, 5))
        embeds.append(seconds(lambda: model.encode_anew(texts), 1))
    # Per token and layer 2 x (4 x 384 x 384 + 2 x 384 x 1536) for the projections, 4 x n x 384 for the
    # attention; 6 layers.
    tokens = 256
    work = len(texts) * 6 * tokens * (2 * (4 * 384**2 + 2 * 384 * 1536) + 4 * tokens * 384)
    share = work / statistics.median(embeds) / statistics.median(rates)
    row(
        f"MiniLM float32 v. sgemm ({statistics.median(rates) / 1e9:.0f} GFLOP/s)",
        "85%",
        f"{share:.0%}",
        share >= 0.85,
    )
