"""What writing questions says in a terminal: what it will cost, and what came of it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from harness.questions.generate import Accepted
from harness.questions.generate.money import Estimate, Price

KINDS = {
    "not_answerable": "nothing that anybody would ask for",
    "refused": "the model refused",
    "no_json": "the answer was no JSON object",
    "cut_off": "the answer was longer than generator.max_tokens",
}


def plan(estimate: Estimate, price: Price, model: str, *, batch: bool, budget: float | None) -> Iterator[str]:
    """Calls, tokens and dollars before the first call."""
    how = "one batch, answered within a day" if batch else "one by one"
    yield f"calls      {estimate.calls:,} to {model}, {how}; rejected answers are asked for once more"
    yield f"tokens     about {estimate.tokens_in:,} in and {estimate.tokens_out:,} out"
    since = "as given" if price.date == "given" else f"as of {price.date}"
    yield (
        f"price      about {dollars(estimate.dollars)} (${price.dollars_in:g} and ${price.dollars_out:g} per million tokens, {since}"
        f"{', half for a batch' if batch else ''})"
    )
    if budget is not None:
        yield f"budget     {dollars(budget)} for this set in all; no call is made that could exceed it"


def dollars(amount: float) -> str:
    """Dollars, with as many digits as say something."""
    return f"${amount:,.2f}" if amount >= 1 or amount == 0 else f"${amount:.4f}"


def asking(rejected: int, spent: float) -> str:
    """Beside the bar."""
    return f"{rejected} rejected, {dollars(spent)}"


def questions(written: int, now: int, golden: Path) -> str:
    """How many there are."""
    return f"questions  {written:,} written now, {now:,} of this kind in {golden}"


def rejected(kinds: Mapping[str, int], *, is_exhausted: bool) -> Iterator[str]:
    """Passages that gave no question, by kind."""
    if not kinds:
        return
    total = sum(kinds.values())
    yield f"rejected   {total:,} {'passage' if total == 1 else 'passages'}{'' if is_exhausted else ', replaced by others'}"
    for kind, count in sorted(kinds.items(), key=lambda pair: (-pair[1], pair[0])):
        yield f"           {count:,} {kind}{': ' + KINDS[kind] if kind in KINDS else ''}"


def overlap(accepted: Sequence[Accepted], limit: float) -> Iterator[str]:
    """How much the questions share with their quotes."""
    if not accepted:
        return
    mean = sum(question.overlap for question in accepted) / len(accepted)
    marked = sum(question.is_overlapping for question in accepted)
    yield f"overlap    {mean:.3f} on average with the quotes; {marked:,} above {limit:g}, kept and marked"


def money(calls: int, spent: float, answers: int, saved: float) -> str:
    """What was spent, and what was not."""
    return (
        f"spent      {dollars(spent)} in {calls:,} {'call' if calls == 1 else 'calls'}; "
        f"{dollars(saved)} saved by {answers:,} kept {'answer' if answers == 1 else 'answers'}"
    )


def following(corpus_words: Sequence[str], golden: Path | None) -> str:
    """The next command to type."""
    words = [*corpus_words, *([] if golden is None else [f"golden.path={golden}"])]
    return f"next       python -m harness -m {shlex.join(words)} model=minilm,wordllama chunk=256,512"
