"""What was decided, onto the runs of a finished sweep: verdicts, intervals, the choice, and the registered model."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from harness.tracker import Judged
from harness.tracker.mlflow_links import run_link
from harness.tracker.mlflow_names import MetricNames
from harness.tracker.mlflow_payload import log, metrics, tags
from harness.tracker.mlflow_store import connected, store_errors

if TYPE_CHECKING:
    from collections.abc import Iterator

ALIAS = "champion"
_NOTE = "mlflow.note.content"
_PICKED = "**Pick:** "


def record_verdicts(uri: str, judged: Sequence[Judged], primary: str, k: int) -> None:
    """Notes verdict and interval on every cell; ``primary`` and ``k`` are the sweep's. Raises ``StoreError``."""
    client, names = connected(uri), MetricNames(primary, k)
    now = int(1000 * time.time())
    with store_errors(uri):
        for cell in judged:
            limits = metrics(names.renamed(cell.limits), {}, now)
            log(client, cell.run_id, limits, [], tags({"verdict": cell.verdict}, ""))


def record_pick(uri: str, experiment: str, parent: str, run_id: str, name: str) -> None:
    """Notes on the sweep's run what was picked, in its description's second paragraph. Raises ``StoreError``."""
    client = connected(uri)
    with store_errors(uri):
        note = client.get_run(parent).data.tags.get(_NOTE, "")
        paragraphs = [part for part in note.split("\n\n") if not part.startswith(_PICKED)]
        picked = f"{_PICKED}[{name}]({run_link('', experiment, run_id).removeprefix('/')})"
        text = "\n\n".join([*paragraphs[:1], picked, *paragraphs[1:]])
        log(client, parent, [], [], tags({"pick": name, "pick_run_id": run_id}, text))


def register(uri: str, run_id: str, name: str, code: Path, deployment: Path, question: str) -> int:
    """Makes the folder ``deployment`` a registered model of the run with the alias ``champion``; gives its version.

    ``code`` is the file that MLflow loads the model from, ``question`` the input example. Raises ``StoreError``.
    """
    with store_errors(uri), _quiet(), _at(uri):
        import mlflow

        with mlflow.start_run(run_id=run_id, log_system_metrics=False):
            logged = mlflow.pyfunc.log_model(
                name=ALIAS,
                python_model=str(code),
                artifacts={"deployment": str(deployment)},
                input_example=[question],
                pip_requirements=["retrieval-harness", f"mlflow=={mlflow.__version__}"],
            )
        client = connected(uri)
        if not client.search_registered_models(f"name = '{name}'"):
            client.create_registered_model(name)
        made = client.create_model_version(name, logged.model_uri, run_id, model_id=logged.model_id)
        client.set_registered_model_alias(name, ALIAS, str(made.version))
        return int(made.version)


@contextmanager
def _at(uri: str) -> Iterator[None]:
    """MLflow's own functions speak to ``uri`` while the block runs; they know no other way than one address for the whole process."""
    import mlflow

    before = os.environ.get("MLFLOW_TRACKING_URI")
    mlflow.set_tracking_uri(uri)
    try:
        yield
    finally:
        mlflow.set_tracking_uri("")
        os.environ.pop("MLFLOW_TRACKING_URI", None)
        if before is not None:
            os.environ["MLFLOW_TRACKING_URI"] = before


@contextmanager
def _quiet() -> Iterator[None]:
    """Without MLflow's own lines and bars: what it did is said by the caller."""
    import logging

    before = logging.getLogger("mlflow").level
    os.environ.setdefault("MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR", "false")
    logging.getLogger("mlflow").setLevel(logging.ERROR)
    try:
        yield
    finally:
        logging.getLogger("mlflow").setLevel(before)
