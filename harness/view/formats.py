"""How metrics, differences, counts and lists are written and explained, wherever they are shown."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from harness.golden import EqualTexts
from harness.metrics.operating_point import OperatingPoint
from harness.verdict import Interval

# So many names are written out; of more, the first ones and how many there are besides.
NAMED = 3
_FORMS = {
    "context_tokens": ",.0f",
    "chunks": ",.0f",
    "truncated": ".1%",
    "query_ms": ",.1f",
    "index_mb": ",.1f",
}
_MEANINGS = {
    r"recall_at_\d+_tokens": "share of the evidence in {n} tokens of returned context",
    r"recall_over_budgets": "share of the evidence that was read, mean over the token budgets",
    r"recall_at_\d+": "share of the evidence's characters inside the first {n} rows",
    r"complete_at_\d+_tokens": "share of questions whose evidence is all inside {n} tokens",
    r"complete_at_\d+": "share of questions whose evidence is all inside the first {n} rows",
    r"truncated_evidence": "share of the evidence beyond the model's maximum sequence length",
    r"mrr": "mean of 1 / rank of the first relevant row",
    r"context_tokens_at_\d+": "mean tokens of context in the first {n} rows",
    r"context_tokens_at_\d+_tokens": "mean tokens that come back within {n} tokens",
    r"ndcg_at_\d+": "discounted gain of relevant rows among the first {n}; 1 is ideal",
    r"precision_at_\d+": "relevant rows among the first {n}, divided by {n}",
}
# Where these differ for questions about whole documents: the rows of their rankings are documents.
_MEANINGS_OF_DOCUMENTS = {
    r"recall_at_\d+": "share of the relevant documents among the first {n}",
    r"complete_at_\d+": "share of questions whose relevant documents are all among the first {n}",
    r"mrr": "mean of 1 / rank of the first relevant document",
    r"context_tokens_at_\d+": "mean tokens of the first {n} documents",
    r"ndcg_at_\d+": "discounted gain of relevant documents among the first {n}; 1 is ideal",
    r"precision_at_\d+": "relevant documents among the first {n}, divided by {n}",
}


def short(metric: str) -> str:
    """A metric's name as a heading: ``recall_at_2000_tokens`` is ``recall@2000t``."""
    at = re.sub(r"_at_(\d+|k)$", r"@\1", re.sub(r"_at_(\d+)_tokens$", r"@\1t", metric))
    return at.replace("_over_budgets", " over budgets")


def returned(point: OperatingPoint) -> str:
    """What comes back of a ranking: ``5 rows``, ``2,000 tokens``."""
    if point.context_budget is None:
        return counted(point.k or 0, "row")
    return counted(point.context_budget, "token")


def counted(count: int, noun: str, plural: str = "") -> str:
    """``1 question``, ``1,234 questions``; ``plural`` where the noun takes more than an s."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def equal_texts(found: EqualTexts | None) -> str:
    """That equal texts elsewhere count as well; empty where there are none."""
    said = []
    if found and found.labels:
        places = counted(found.places, "place counts", "places count")
        said.append(
            f"{counted(found.labels, 'label has', 'labels have')} equal texts elsewhere: {places} as well"
        )
    if found and found.joined:
        repeats = counted(found.joined, "label repeats", "labels repeat")
        said.append(f"{repeats} the text of another label of the question; both count as one")
    return "; ".join(said)


def points(difference: float, *, sign: bool = False) -> str:
    """A difference of scores in points, hundredths of the scale: ``9.2 points``."""
    text = f"{100 * difference:+.1f}" if sign else f"{abs(100 * difference):.1f}"
    return text.replace("-", "−") + (" point" if text.lstrip("+-") == "1.0" else " points")


def limits(interval: Interval, *, scale: float = 1.0, digits: int = 3) -> str:
    """``0.718 to 0.803``; empty where there is no interval."""
    if interval.lo is None or interval.hi is None:
        return ""
    return " to ".join(
        f"{scale * value:.{digits}f}".replace("-", "−") for value in (interval.lo, interval.hi)
    )


def point_limits(interval: Interval) -> str:
    """``−3.1 to 25.0``, the limits of a difference in points; empty where there is no interval."""
    return limits(interval, scale=100, digits=1)


def in_brackets(text: str, before: str = "") -> str:
    """`` (text)`` with a blank before it; empty for an empty text."""
    return f" ({before}{text})" if text else ""


def listed(names: Sequence[str], most: int = NAMED) -> str:
    """``a, b and c``; of more than ``most`` the first ones, and how many more."""
    if len(names) > most + 1:
        return ", ".join(names[:most]) + f" and {len(names) - most} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]])) if names else "none"


def rounded(count: int) -> int:
    """An estimated number of questions to two leading digits: more are not known."""
    return round(count, 2 - len(str(count))) if count >= 100 else count


class MetricColumn(NamedTuple):
    """A metric as a column: its flat name, heading, and whether it may decide between different chunkings."""

    metric: str
    heading: str
    comparable: bool = True

    @property
    def title(self) -> str:
        """The heading, with an asterisk where different chunkings can't be compared by it."""
        return self.heading if self.comparable else self.heading + "*"


def columns(primary: str, k: int, *, same_chunks: bool) -> list[MetricColumn]:
    """A sweep's columns, the most important first.

    Row metrics decide only between cells with the same chunks.
    """
    chosen = [
        MetricColumn(primary, short(primary)),
        MetricColumn(f"recall_at_{k}", f"recall@{k}"),
        MetricColumn("truncated_evidence", "truncated"),
        MetricColumn("mrr", "mrr", same_chunks),
        MetricColumn(f"context_tokens_at_{k}", f"tokens@{k}"),
        MetricColumn(f"ndcg_at_{k}", f"ndcg@{k}", same_chunks),
        MetricColumn(f"precision_at_{k}", f"prec@{k}", same_chunks),
    ]
    return list({column.metric: column for column in chosen}.values())


def figure(metric: str, value: float, unknown: str = "–") -> str:
    """A metric's or a cost's value as it is written; ``unknown`` where there is none.

    A latency that a sweep noted in passing has two digits.
    """
    if not math.isfinite(value):
        return unknown
    if metric.startswith("query_ms_p"):
        return f"{float(f'{value:.2g}'):,g}"
    for start, form in _FORMS.items():
        if metric.startswith(start):
            return format(value, form)
    return f"{value:.3f}"


def meaning(metric: str, *, of_documents: bool = False) -> str:
    """What a metric says, in a line; ``of_documents``: all questions are about whole documents."""
    name = metric.removeprefix("document_")
    number = re.search(r"\d+", name)
    meanings = _MEANINGS | (_MEANINGS_OF_DOCUMENTS if of_documents or name != metric else {})
    known = (text for pattern, text in meanings.items() if re.fullmatch(pattern, name))
    return next(known, "see docs/metrics.md").format(n=number[0] if number else "")


def legend(
    shown: Sequence[MetricColumn], questions: Collection[str], *, has_limits: bool = False
) -> dict[str, str]:
    """Each column's title and what it means; then those of limits and of the asterisk, where they occur.

    ``questions``: their kinds, ``span``, ``document`` or both.
    """
    of_documents = "document" in questions and "span" not in questions
    explained = {column.title: meaning(column.metric, of_documents=of_documents) for column in shown}
    if has_limits:
        explained["(.123–.456)"] = "95% limits, for more such questions about these documents"
    if any(not column.comparable for column in shown):
        explained["*"] = "comparable only between cells with the same chunks; not decisive"
    return explained


def cell_text(text: object) -> str:
    """Text that can't end a cell or a line of a table in Markdown."""
    return " ".join(str(text).replace("|", "\\|").split())
