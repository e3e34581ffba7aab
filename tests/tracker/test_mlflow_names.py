from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tracker_records import cell_record

from harness.tracker.mlflow_names import (
    LONGEST,
    MOST_METRICS,
    SECTIONS,
    MetricNames,
    sections_of,
    shortened,
    shown_k,
)

TOKENS = MetricNames("recall_at_2000_tokens", 5)
AT_K = MetricNames("recall_at_5", 5)


@pytest.mark.parametrize(
    "names", [TOKENS, AT_K, MetricNames("mrr", 10), MetricNames("complete_at_4000_tokens", 5)]
)
def test_few_metrics_have_no_prefix(names: MetricNames, tmp_path: Path) -> None:
    """A cell of 70 metrics shows at most 12 without a prefix; names fit on cards; all sections are known."""
    renamed = names.renamed(dict(cell_record(tmp_path).metrics))
    assert len([name for name in renamed if "/" not in name]) <= 12
    assert set(sections_of(renamed)) <= set(SECTIONS)
    assert all(len(part) <= LONGEST for name in renamed for part in name.split("/"))
    assert all(len(name.split("/")[0]) <= 10 for name in renamed if "/" in name)


@pytest.mark.parametrize("cuts", [[1, 3, 5, 10], range(1, 41)])
def test_at_most_60_metrics_however_many_cuts(cuts: list[int]) -> None:
    """Of every family the one at the shown cut, then budgets and costs; six places are kept for what is added.

    Twelve families at 40 cuts are 480 metrics. Of mixed sets, those of whole documents give way first.
    """
    families = [
        "recall",
        "ndcg",
        "precision",
        "complete",
        "coverage_dcg",
        "char_recall",
        "char_precision",
        "iou",
        "hit",
        "map",
        "mrr",
    ]
    at_k = [f"{family}_at_{k}" for family in families for k in cuts]
    budgets = [
        f"{family}_at_{n}_tokens" for family in ("recall", "complete") for n in (500, 1000, 2000, 4000)
    ]
    costs = ["chunks", "query_ms_p95", "embed_seconds", "search_seconds", "diagnosis_found", "index_mb"]
    flat = [*at_k, *(f"document_{name}" for name in [*at_k, *budgets]), *budgets, *costs, *"abcdefghijklmnop"]
    names = TOKENS.renamed(dict.fromkeys(flat, 0.5))

    assert len(names) == MOST_METRICS == 60 - 6
    assert {"recall_at_2000_tokens", "recall_at_5", "at_k/iou_at_5", "time/search_seconds"} <= set(names)
    assert {"budget/complete_4000_tokens", "diagnosis/found", "at_k/p"} <= set(names)
    assert not [name for name in names if re.search(r"_at_(?!5$)\d+$", name)]


def test_the_primary_metric_comes_first(tmp_path: Path) -> None:
    """The compare page shows the metric that was logged first."""
    metrics = dict(reversed(cell_record(tmp_path).metrics.items()))
    assert next(iter(TOKENS.renamed(metrics))) == "recall_at_2000_tokens"
    assert next(iter(AT_K.renamed(metrics))) == "recall_at_5"
    assert list(TOKENS.renamed(metrics))[:7] == [
        "recall_at_2000_tokens",
        "ci95_lo",
        "ci95_hi",
        "recall_at_5",
        "ndcg_at_5",
        "precision_at_5",
        "mrr",
    ]


@pytest.mark.parametrize(
    ("flat", "shown"),
    [
        ("recall_at_2000_tokens", "recall_at_2000_tokens"),
        ("recall_at_2000_tokens_lo", "ci95_lo"),
        ("recall_at_5", "recall_at_5"),
        ("recall_at_10", "at_k/recall_at_10"),
        ("complete_at_2000_tokens", "budget/complete_2000_tokens"),
        ("recall_at_500_tokens", "budget/recall_500_tokens"),
        ("recall_over_budgets", "budget/recall_over_budgets"),
        ("texts_cached", "health/texts_cached"),
        ("recall_at_10_hi", "ci/recall_at_10_hi"),
        ("context_tokens_at_5", "context_tokens"),
        ("context_tokens_at_10", "at_k/context_tokens_at_10"),
        ("precision_omega", "at_k/precision_omega"),
        ("truncated_tokens", "health/truncated_tokens"),
        ("documents", "health/documents"),
        ("index_mb", "health/index_mb"),
        ("document_recall_at_5", "at_k/document_recall_at_5"),
        ("diagnosis_found", "diagnosis/found"),
        ("search_seconds", "time/search_seconds"),
        ("query_ms_p50", "time/query_ms_p50"),
        ("embed_tokens_per_s", "time/embed_tokens_per_s"),
        ("own/score", "own/score"),
        ("recall@7", "at_k/recall_7"),
    ],
)
def test_each_kind_of_metric_has_its_place(flat: str, shown: str) -> None:
    """Every flat name has the one place that a reader would look for it in."""
    assert TOKENS.of(flat) == shown


@given(
    st.dictionaries(
        st.from_regex(r"[a-z@é ]{1,9}(_at_[0-9]{1,4})?(_tokens)?(_lo)?", fullmatch=True), st.floats(0, 1)
    )
)
@settings(derandomize=True)
def test_no_metric_is_lost(metrics: dict[str, float]) -> None:
    """Names that would be shortened to the same one stay apart, and MLflow accepts every name."""
    metrics = {name: value for name, value in metrics.items() if not re.search(r"_at_\d+$", name)}
    sane = {re.sub(r"[^\w\-.:/ ]", "_", name, flags=re.ASCII) for name in metrics}
    renamed = TOKENS.renamed(metrics)
    assert len(renamed) >= min(MOST_METRICS, len(sane) - ("context_tokens" in sane))
    assert all(re.fullmatch(r"[\w\-.:/ ]+", name, flags=re.ASCII) for name in renamed)


@pytest.mark.parametrize(
    ("primary", "params", "k"),
    [
        ("recall_at_10", {"primary_k": "5"}, 10),
        ("recall_at_2000_tokens", {"primary_k": "3"}, 3),
        ("mrr", {}, 5),
    ],
)
def test_the_shown_cut(primary: str, params: dict[str, str], k: int) -> None:
    """The columns are those of the primary metric's k, else of primary_k, else of 5."""
    assert shown_k(primary, params) == k


def test_a_short_name_is_left_alone() -> None:
    """Names are only shortened where they would be cut."""
    assert shortened("char_precision_at_100") == "char_precision_at_100"
