"""The saved view of a sweep in MLflow's UI: columns, order, filter and charts.

The format is the UI's own and belongs to the minor version of MLflow that is pinned; it was tried in a browser.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from uuid import NAMESPACE_URL, uuid5

from harness.tracker import SweepSummary
from harness.tracker.mlflow_names import CURVES, MetricNames, curve_name, sections_of

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Run

VIEW_TAG = "mlflow.sharedViewState."
VIEW_CHARS = 20_000
# The UI's name for the section of metrics without a prefix.
_UNPREFIXED = "Model metrics"
_COMPARISON = "Comparison"
# The UI's names for the two columns that are always there.
_NAME, _CREATED = "attributes.`Run Name`", "runDateAndNestInfo"
_LINE = {
    "type": "LINE",
    "xAxisKey": "step",
    "xAxisScaleType": "linear",
    "scaleType": "linear",
    "lineSmoothness": 0,
    "range": {},
    "selectedXAxisMetricKey": "",
    "yAxisKey": "metric",
    "yAxisExpressions": [],
    "useGlobalXaxisKey": False,
    "useGlobalLineSmoothing": True,
    "ignoreOutliers": False,
    "displayPoints": True,
}


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
) -> bool:
    """Puts the view of a sweep onto the experiment; False when it would be longer than a tag may be."""
    logged = list(dict.fromkeys(name for cell in cells for name in cell.data.metrics))
    columns = [
        f"metrics.{names.of(column.partition('.')[2])}" if column.startswith("metrics.") else column
        for column in summary.columns
    ]
    # Only recall: the other curve can't be compared between chunkings, and has its chart among its section.
    curves = [curve_name(CURVES[0])] if curve_name(CURVES[0]) in logged else []
    view = view_json(parent, names.of(names.primary), columns, names.of(summary.cost), logged, curves)
    if len(view) > VIEW_CHARS:
        return False
    client.set_experiment_tag(experiment, VIEW_TAG + view_key(parent), view)
    return True


def view_json(
    parent: str, primary: str, columns: Sequence[str], cost: str, names: Sequence[str], curves: Sequence[str]
) -> str:
    """The view's state: the cells of the sweep, best first, with ``columns``, and charts to compare them.

    ``primary``, ``cost``, ``names`` (all metrics that occur), ``curves`` and the metrics in ``columns`` are MLflow's names.
    ``columns`` are written ``params.model``, ``metrics.mrr``, ``tags.verdict``. At most 20,000 characters, the most that
    an experiment's tag holds.
    """
    selected = [canonical(column) for column in columns]
    order = canonical(f"metrics.{primary}")
    widths = {column: _width(column, sorted_by=column == order) for column in selected}
    state = {
        "searchFilter": f"tags.mlflow.parentRunId = '{parent}'",
        "orderByKey": order,
        "orderByAsc": False,
        "startTime": "ALL",
        "lifecycleFilter": "Active",
        "modelVersionFilter": "All Runs",
        "datasetsFilter": [],
        "selectedColumns": selected,
        # Stated widths let most columns fit into 1440 px.
        "columnOrder": [_NAME, _CREATED, *selected],
        "columnWidths": {_NAME: 180, _CREATED: 142, **widths},
        "runsExpanded": {},
        "runsPinned": [],
        "runsHidden": [],
        "runsVisibilityMap": {},
        "runsHiddenMode": "SHOW_ALL",
        "groupBy": None,
        "groupsExpanded": {},
        "viewMaximized": False,
        "runListHidden": False,
        "isAccordionReordered": True,
        "autoRefreshEnabled": True,
        "useGroupedValuesInCharts": False,
        "hideEmptyCharts": True,
        "compareRunCharts": _charts(parent, primary, cost, curves),
        "compareRunSections": _sections(parent, names),
    }
    return json.dumps(state, ensure_ascii=False, separators=(",", ":"))


def _charts(parent: str, primary: str, cost: str, curves: Sequence[str]) -> list[dict[str, Any]]:
    """Three cards fill the first row at 1440 px. Their titles are the metrics' names, whatever else they are given."""
    charts: list[dict[str, Any]] = [
        {"type": "BAR", "metricKey": primary},
        {
            "type": "SCATTER",
            "xaxis": {"key": cost, "type": "METRIC"},
            "yaxis": {"key": primary, "type": "METRIC"},
        },
    ]
    charts += [_LINE | {"metricKey": curve, "selectedMetricKeys": [curve]} for curve in curves]
    shared = {
        "runsCountToCompare": 100,
        "metricSectionId": _uuid(parent, _COMPARISON),
        "deleted": False,
        "isGenerated": False,
    }
    return [{"uuid": _uuid(parent, f"chart {i}")} | shared | chart for i, chart in enumerate(charts)]


def _sections(parent: str, names: Sequence[str]) -> list[dict[str, Any]]:
    # The UI makes a chart of every metric by itself; only the comparison is open at first.
    shown = [_COMPARISON, _UNPREFIXED, *sections_of(names)]
    return [
        {
            "uuid": _uuid(parent, name),
            "name": name,
            "display": name == _COMPARISON,
            "isReordered": False,
            "deleted": False,
            "isGenerated": name != _COMPARISON,
        }
        for name in shown
    ]


def canonical(column: str) -> str:
    """A column such as ``metrics.mrr`` as the UI writes it, with its name in backticks."""
    kind, _, name = column.partition(".")
    return f"{kind}.`{name}`"


def _width(column: str, *, sorted_by: bool) -> int:
    """Pixels: wide enough for the name in the header and for the arrow of the column that sorts."""
    name = column.partition(".")[2].strip("`")
    return max(84, 30 + round(6.6 * len(name)) + 24 * sorted_by)


def _uuid(parent: str, name: str) -> str:
    return str(uuid5(NAMESPACE_URL, f"{parent}/{name}"))
