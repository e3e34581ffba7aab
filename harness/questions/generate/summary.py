"""What writing questions will cost and came to, and the sums of ledgers, in lines for a terminal."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.questions.generate.ledger import Ledger
from harness.questions.generate.money import Estimate, Price
from harness.questions.generate.settings import GeneratorSettings
from harness.questions.generate.writing import Writing
from harness.view.formats import counted
from harness.view.table import Head, TextTable

_KINDS = {
    "not_answerable": "the passage answers no question that a user would ask",
    "refused": "the model refused",
    "no_json": "the answer was not a JSON object",
    "cut_off": "the answer was longer than generator.max_tokens",
}


def plan(estimate: Estimate, price: Price, settings: GeneratorSettings) -> Iterator[str]:
    """Calls, tokens and dollars before the first call."""
    how = "one batch, answered within a day" if settings.batch else "one by one"
    yield (
        f"calls      {estimate.calls:,} to {settings.model}, {how}; rejected answers are asked for once more"
    )
    yield f"tokens     about {estimate.tokens_in:,} in and {estimate.tokens_out:,} out"
    since = "as given" if price.date == "given" else f"as of {price.date}"
    half = ", half for a batch" if settings.batch else ""
    yield (
        f"price      about {dollars(estimate.dollars)} (${price.dollars_in:g} and ${price.dollars_out:g} "
        f"per million tokens, {since}{half})"
    )
    if settings.budget_usd is not None:
        limit = dollars(settings.budget_usd)
        yield f"budget     {limit} for this set in all; no call is made that could exceed it"


def dollars(amount: float) -> str:
    """Dollars, with as many digits as say something."""
    return f"${amount:,.2f}" if amount >= 1 or amount == 0 else f"${amount:.4f}"


def outcome(
    writing: Writing, ledger: Ledger, saved: tuple[int, float], settings: GeneratorSettings, golden: Path
) -> Iterator[str]:
    """What came of a run: questions, rejections by kind, overlap with the quotes, and dollars."""
    yield f"questions  {writing.written:,} written now, {writing.questions:,} of this kind in {golden}"
    if writing.is_exhausted:
        yield f"           below generator.n={settings.n:,}: the documents have no more suitable passages"
    yield from _rejected(writing.rejected, is_exhausted=writing.is_exhausted)
    if accepted := writing.accepted:
        mean = sum(question.overlap for question in accepted) / len(accepted)
        marked = sum(question.is_overlapping for question in accepted)
        limit = f"{marked:,} above {settings.max_overlap:g}, marked"
        yield f"overlap    {mean:.3f} on average with the quotes; {limit}"
    answers, amount = saved
    yield (
        f"spent      {dollars(ledger.dollars_now)} in {counted(ledger.calls_now, 'call')}; "
        f"{dollars(amount)} saved by {counted(answers, 'cached answer')}"
    )


def _rejected(kinds: Mapping[str, int], *, is_exhausted: bool) -> Iterator[str]:
    """Passages that gave no question, by kind."""
    if not kinds:
        return
    replaced = "" if is_exhausted else ", replaced by others"
    yield f"rejected   {counted(sum(kinds.values()), 'passage')}{replaced}"
    for kind, count in sorted(kinds.items(), key=lambda pair: (-pair[1], pair[0])):
        yield f"           {count:,} {kind}{': ' + _KINDS[kind] if kind in _KINDS else ''}"


def following(corpus_words: Sequence[str], golden: Path | None) -> str:
    """The next command to type."""
    words = [*corpus_words, *([] if golden is None else [f"golden.path={golden}"])]
    return f"next       python -m harness -m {shlex.join(words)} model=minilm,wordllama chunk=256,512"


def cost_lines(ledgers: Sequence[Path], items: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The ledgers' costs by day and model, calls without an answer, and what cached answers saved."""
    groups: defaultdict[tuple[str, str], list[float]] = defaultdict(lambda: [0, 0, 0, 0.0])
    for item in items:
        if "text" in item:
            figures = (1, int(item["usage"]["in"]), int(item["usage"]["out"]), float(item["dollars"]))
            model = f"{item['model']}{' (batch)' if item['batch'] else ''}"
            for key in ((str(item["at"])[:10], model), ("all", "")):
                groups[key] = [a + b for a, b in zip(groups[key], figures, strict=True)]
    yield from (f"ledger  {path}" for path in ledgers)
    yield ""
    total = groups.pop(("all", ""), [0, 0, 0, 0.0])
    rows = [
        (day, model, f"{calls:,}", f"{tokens_in:,}", f"{tokens_out:,}", f"{amount:.4f}")
        for (day, model), (calls, tokens_in, tokens_out, amount) in [
            *sorted(groups.items()),
            (("all", ""), total),
        ]
    ]
    heads = [Head("day", left=True), Head("model", left=True)]
    heads += map(Head, ("calls", "tokens in", "tokens out", "dollars"))
    yield from TextTable(heads, rows, name=1).lines()
    lost = [float(item["at_most"]) for item in items if "lost" in item]
    if lost:
        yield ""
        yield f"{counted(len(lost), 'more call')} brought no answer; if they were charged, at most {dollars(sum(lost))}"
    saved = [item for item in items if "saved" in item]
    if saved:
        yield ""
        answers, amount = sum(int(i["answers"]) for i in saved), sum(float(i["saved"]) for i in saved)
        yield f"saved   {dollars(amount)}: {answers:,} answers were used again in {len(saved):,} later runs"
