"""``plan=true``: what a sweep would do, and how long embedding and reranking would take, without doing it."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

from omegaconf import DictConfig

from harness.cell.build import Shared
from harness.cell.settings import uses
from harness.cli.compose import Composed
from harness.cli.say import wrapped
from harness.errors import HarnessError
from harness.records import Chunks
from harness.results.cells import about_questions
from harness.results.earlier import measured_effect
from harness.sweep.check import Sweep
from harness.verdict.clusters import cluster_ids
from harness.view.formats import counted
from harness.view.sample_size import detectable
from harness.view.table import Head, TextTable

# Chunks that are embedded to measure a model's rate. They go into the store, so the sweep does not embed them
# again.
SAMPLE = 16


def plan(sweep: Sweep, shared: Shared) -> list[str]:
    """One line per cell, then the sum and the primary metric.

    A line gives the chunks, how many are cached, and the estimated embedding time. Where a cell has a
    reranker, it also gives the pairs to score and their time: an upper bound, because which pairs are cached
    is known only after the search.
    """
    # Texts that an earlier cell will have embedded are not counted again.
    pending: dict[str, set[str]] = {}
    rates: dict[str, float | HarnessError] = {}
    works = [_work(cell, shared, pending, rates) for cell in sweep.cells]
    pairs = [_pairs(cell, shared, work[0]) for cell, work in zip(sweep.cells, works, strict=True)]
    reranking = _reranking(sweep, shared, pairs) if any(pairs) else []
    rows = []
    for i, (name, (chunks, cached, work)) in enumerate(zip(sweep.names(), works, strict=True)):
        second = [f"{pairs[i]:,}", _said(reranking[i])] if reranking else []
        rows.append([name, f"{chunks:,}", f"{cached:,}", _said(work), *second])
    heads = [
        Head("cell", left=True),
        Head("chunks"),
        Head("cached"),
        Head("embedding", left=True, wraps=True),
    ]
    if reranking:
        heads += [Head("pairs"), Head("reranking", left=True, wraps=True)]
    total = sum(work for *_, work in works if not isinstance(work, str))
    about = f"{counted(len(works), 'cell')}, about {duration(total)} of embedding{_total(reranking)}"
    return [
        "",
        *TextTable(heads, rows).lines(),
        "",
        f"{about} with the rates measured now.",
        *wrapped(_power(sweep), ""),
        f"{sweep.primary} would decide. Nothing was run; leave out plan=true to start.",
    ]


def _said(work: float | str) -> str:
    return work if isinstance(work, str) else duration(work)


def _total(reranking: Sequence[float | str]) -> str:
    """The sum in words, or that it is not known because a reranker can't be used; empty without any."""
    known = [seconds for seconds in reranking if not isinstance(seconds, str)]
    if len(known) < len(reranking):
        return " and an unknown time of reranking"
    return f" and at most {duration(sum(known))} of reranking" if known else ""


def _pairs(cell: Composed, shared: Shared, chunks: int) -> int:
    """How many pairs of a question and a chunk the cell's reranker reads; 0 without one."""
    depth = shared.reranker(cell.config).depth
    if uses(cell.config, "chunker"):
        depth = min(depth, chunks)
    return depth * len(shared.inputs(cell.config).labels.questions)


def _reranking(sweep: Sweep, shared: Shared, pairs: Sequence[int]) -> list[float | str]:
    """The seconds of each cell's reranking at the rate of one question, or why it can't be used."""
    rates: dict[str, float | HarnessError] = {}
    found: list[float | str] = []
    for cell, count in zip(sweep.cells, pairs, strict=True):
        key = str(cell.config.reranker)
        if count and key not in rates:
            rates[key] = _seconds_per_pair(cell, shared)
        rate = rates[key] if count else 0.0
        found.append(str(rate) if isinstance(rate, HarnessError) else count * rate)
    return found


def _seconds_per_pair(cell: Composed, shared: Shared) -> float | HarnessError:
    """What a reranker takes for a text on this machine, by one question, or why it can't be used."""
    chunks, question = shared.chunks(cell.config), shared.inputs(cell.config).labels.questions[0]
    texts = [chunks.embed_text(row) for row in range(min(SAMPLE, len(chunks)))]
    try:
        reranker = shared.reranker(cell.config)
        reranker.identity()
        reranker.live(question.text, texts[:1])  # loading the weights is not part of the rate
        started = time.perf_counter()
        reranker.live(question.text, texts)
        return (time.perf_counter() - started) / len(set(texts))
    except HarnessError as error:
        return error


def _power(sweep: Sweep) -> str:
    """What so many questions can show, by an earlier sweep on them where there is one."""
    given = sweep.inputs[0]
    clusters = cluster_ids([one.cluster for one in about_questions(given).values()])
    return detectable(clusters, measured_effect(given.labels.digest, sweep.primary), sweep.primary)[0]


def duration(seconds: float) -> str:
    """Seconds as people say them: ``8 s``, ``3 min``, ``2.5 h``."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _work(
    cell: Composed, shared: Shared, pending: dict[str, set[str]], rates: dict[str, float | HarnessError]
) -> tuple[int, int, float | str]:
    """Chunks, how many are cached, and the estimated seconds of embedding, or why there are none.

    What an earlier cell will have embedded is not counted.
    """
    config = cell.config
    if not uses(config, "chunker"):
        return 0, 0, "none: the retriever returns its own chunks"
    try:
        chunks = shared.chunks(config)
    except HarnessError as error:
        return 0, 0, str(error)
    if not uses(config, "model"):
        return len(chunks), 0, "none: no model reads anything here"
    key = str(config.model)
    if key not in rates:
        rates[key] = _rate(shared, config, chunks)
    rate = rates[key]
    texts = {chunks.embed_text(row): int(chunks.tokens[row]) for row in range(len(chunks))}
    if isinstance(rate, HarnessError):
        return len(texts), 0, str(rate)
    seen = pending.setdefault(key, set())
    missing = shared.model(config).missing(list(texts), "document")
    tokens = sum(texts[text] for text in missing if text not in seen)
    seen.update(missing)
    return len(texts), len(texts) - len(missing), tokens / rate


def _rate(shared: Shared, config: DictConfig, chunks: Chunks) -> float | HarnessError:
    """Tokens per second of a cell's model on this machine, or why it can't be used.

    What is embedded to find out goes into the store, so the sweep does not do it again. Infinite when nothing
    is missing, or all of the sample begins, as far as the model reads, like what is cached.
    """
    try:
        model = shared.model(config)
        missing = model.missing([chunks.embed_text(row) for row in range(len(chunks))], "document")
        if not missing:
            return math.inf
        sample = sorted(missing, key=len)[len(missing) // 2 :][:SAMPLE]
        model.encode_anew(sample[:1])  # loading the weights is not part of the rate
        before = model.counts()
        model.encode_documents(sample)
        after = model.counts()
        tokens = after["embed_tokens"] - before["embed_tokens"]
        return tokens / (after["embed_seconds"] - before["embed_seconds"]) if tokens else math.inf
    except HarnessError as error:
        return error
