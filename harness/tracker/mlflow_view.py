"""The saved view of a sweep in MLflow's UI (columns, order, filter, charts), and the addresses that open it.

The view's format is the UI's own and belongs to the pinned minor version of MLflow; it was tested in a
browser. What is the same in every view stands in ``mlflow_view.json``. Every address asks for the machine
learning side of the UI: without that it opens on an empty page about traces.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import NAMESPACE_URL, uuid5

from harness.tracker import SweepSummary
from harness.tracker.mlflow_names import CURVES, MetricNames, curve_name, sections_of

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Run

VIEW_TAG = "mlflow.sharedViewState."
# A view is a tag of at most 20,000 characters.
_MOST_COLUMNS = 60
# The UI's name for the section of metrics without a prefix.
_UNPREFIXED = "Model metrics"
_COMPARISON = "Comparison"
# The UI's names for the two columns that are always there.
_NAME, _CREATED = "attributes.`Run Name`", "runDateAndNestInfo"


def view_key(parent: str) -> str:
    """The name of the view of one sweep in addresses; the same every time."""
    return f"sweep-{parent[:12]}"


def save_view(
    client: MlflowClient,
    experiment: str,
    parent: str,
    names: MetricNames,
    summary: SweepSummary,
    cells: Sequence[Run],
) -> None:
    """Puts the view of a sweep onto the experiment, with its first 60 columns."""
    logged = list(dict.fromkeys(name for cell in cells for name in cell.data.metrics))
    columns = [
        f"metrics.{names.of(column.partition('.')[2])}" if column.startswith("metrics.") else column
        for column in summary.columns[:_MOST_COLUMNS]
    ]
    # Only recall: the other curve can't be compared between chunkings, and has its chart among its section.
    curves = [curve_name(CURVES[0])] if curve_name(CURVES[0]) in logged else []
    view = view_json(parent, names.of(names.primary), columns, names.of(summary.cost), logged, curves)
    client.set_experiment_tag(experiment, VIEW_TAG + view_key(parent), view)


def view_json(
    parent: str, primary: str, columns: Sequence[str], cost: str, names: Sequence[str], curves: Sequence[str]
) -> str:
    """The view's state: the cells of the sweep, best first, with ``columns``, and charts to compare them.

    ``primary``, ``cost``, ``names`` (all metrics that occur), ``curves`` and the metrics in ``columns`` are
    MLflow's names. ``columns`` are written ``params.model``, ``metrics.mrr``, ``tags.verdict``.
    """
    selected = [_canonical(column) for column in columns]
    order = _canonical(f"metrics.{primary}")
    widths = {column: _width(column, sorted_by=column == order) for column in selected}
    state = {
        **_fixed()["view"],
        "searchFilter": _children_of(parent),
        "orderByKey": order,
        "selectedColumns": selected,
        # Beside the UI's open assistant 1440 px have room for the score, its limits, the verdict and a cost:
        # of the time, which can't be moved or hidden, only the mark of the run's state is shown.
        "columnOrder": [_NAME, _CREATED, *selected],
        "columnWidths": {_NAME: 220, _CREATED: 48, **widths},
        "compareRunCharts": _charts(parent, primary, cost, curves),
        "compareRunSections": _sections(parent, names),
    }
    return json.dumps(state, ensure_ascii=False, separators=(",", ":"))


def view_links(base: str, experiment: str, key: str) -> dict[str, str]:
    """Addresses of the leaderboard and of the charts, by the names under which they are printed."""
    table = f"{_page(base, experiment)}&viewStateShareKey={key}"
    return {"Leaderboard": table, "Charts": f"{table}&compareRunsMode=CHART"}


def run_link(base: str, experiment: str, run: str) -> str:
    """The address of one run's page."""
    return _page(base, experiment, f"/{run}")


def with_links(note: str, experiment: str, parent: str) -> str:
    """The description of a sweep with its view's addresses, relative to the UI, as second paragraph."""
    links = view_links("", experiment, view_key(parent))
    line = " · ".join(f"[{name}]({link.removeprefix('/')})" for name, link in links.items())
    first, _, rest = note.partition("\n\n")
    return "\n\n".join(part for part in (first.strip(), line, rest) if part)


def _page(base: str, experiment: str, run: str = "") -> str:
    return f"{base}/#/experiments/{experiment}/runs{run}?workflowType=machine_learning"


def _children_of(parent: str) -> str:
    return f"tags.mlflow.parentRunId = '{parent}'"


@cache
def _fixed() -> Mapping[str, Mapping[str, Any]]:
    content: dict[str, dict[str, Any]] = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
    return content


def _charts(parent: str, primary: str, cost: str, curves: Sequence[str]) -> list[dict[str, Any]]:
    """Three cards fill the first row at 1440 px. The UI titles them with the metrics' names."""
    charts: list[dict[str, Any]] = [
        {"type": "BAR", "metricKey": primary},
        {
            "type": "SCATTER",
            "xaxis": {"key": cost, "type": "METRIC"},
            "yaxis": {"key": primary, "type": "METRIC"},
        },
    ]
    charts += [{**_fixed()["line"], "metricKey": curve, "selectedMetricKeys": [curve]} for curve in curves]
    section = _uuid(parent, _COMPARISON)
    return [
        {**_fixed()["chart"], "uuid": _uuid(parent, f"chart {i}"), "metricSectionId": section, **chart}
        for i, chart in enumerate(charts)
    ]


def _sections(parent: str, names: Sequence[str]) -> list[dict[str, Any]]:
    # The UI makes a chart of every metric by itself; only the comparison is open at first.
    return [
        {
            **_fixed()["section"],
            "uuid": _uuid(parent, name),
            "name": name,
            "display": name == _COMPARISON,
            "isGenerated": name != _COMPARISON,
        }
        for name in (_COMPARISON, _UNPREFIXED, *sections_of(names))
    ]


def _canonical(column: str) -> str:
    """A column such as ``metrics.mrr`` as the UI writes it, with its name in backticks."""
    kind, _, name = column.partition(".")
    return f"{kind}.`{name}`"


def _width(column: str, *, sorted_by: bool) -> int:
    """Pixels: enough for the name in the header, the arrow of the column that sorts, "not ruled out"."""
    kind, _, name = column.partition(".")
    return max(112 if kind == "tags" else 84, 30 + round(6.6 * len(name.strip("`"))) + 24 * sorted_by)


def _uuid(parent: str, name: str) -> str:
    return str(uuid5(NAMESPACE_URL, f"{parent}/{name}"))
