from __future__ import annotations

import logging
from pathlib import Path

import pytest
from mlflow.exceptions import MlflowException
from tracker_processes import free_port
from tracker_records import cell_record, sweep_record

from harness.errors import StoreError
from harness.tracker.mlflow import MlflowTracker
from harness.tracker.mlflow_store import check_database, connect, connected, store_errors


def test_a_closed_port_is_named(tmp_path: Path) -> None:
    """A server that is not running is found before anything else, with what to do."""
    address = f"http://127.0.0.1:{free_port()}"
    with pytest.raises(
        StoreError, match=r"No tracking server answers at http://127.*refused.*tracker\.uri"
    ) as caught:
        MlflowTracker(uri=address).open_sweep(sweep_record(tmp_path))
    assert caught.value.where == address


@pytest.mark.parametrize(
    ("uri", "package"), [("postgresql", "psycopg[binary]"), ("mysql", "mysqlclient"), ("mssql", "pyodbc")]
)
def test_a_missing_driver_is_named_with_its_package(
    uri: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The package and how to install it are said, the password is not."""
    from sqlalchemy.engine import make_url

    module = package.replace("[binary]", "").replace("mysqlclient", "MySQLdb")

    def missing(_: type) -> None:
        raise ModuleNotFoundError(f"No module named '{module}'", name=module)

    monkeypatch.setattr(make_url(f"{uri}://h").get_dialect(), "import_dbapi", classmethod(missing))
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"{uri}://me:geheim@127.0.0.1:1/db")
    with pytest.raises(StoreError) as caught:
        MlflowTracker().check()
    assert f"needs the Python package {package}, which is not installed" in str(caught.value)
    assert f"-m pip install '{package}'" in str(caught.value)
    assert "geheim" not in f"{caught.value} {caught.value.where}"


def test_an_unknown_driver() -> None:
    """What stands behind the + is named as the fault."""
    with pytest.raises(StoreError, match=r"can't be used: Can't load plugin: sqlalchemy.dialects:mysql.foo"):
        check_database("mysql+foo://h/d", "")


def test_a_database_that_does_not_listen(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is found at once, before MLflow tries it for a minute; the password stays hidden."""
    from sqlalchemy.engine import make_url

    dialect = make_url("postgresql://h").get_dialect()
    monkeypatch.setattr(dialect, "import_dbapi", classmethod(lambda _: None))
    with pytest.raises(StoreError, match=r"refused\. Do this\.$") as caught:
        check_database(f"postgresql://me:geheim@127.0.0.1:{free_port()}/db", "Do this.")
    assert "geheim" not in f"{caught.value} {caught.value.where}"


def test_a_deleted_experiment(tmp_path: Path) -> None:
    """Its name and the way back are named."""
    uri = f"sqlite:///{tmp_path}/mlflow.db"
    client = connect(uri)
    number = client.create_experiment("mine", artifact_location=tmp_path.as_uri())
    client.delete_experiment(number)
    with pytest.raises(StoreError, match=f"experiment 'mine' was deleted.*--experiment-id {number}"):
        MlflowTracker(folder=tmp_path, experiment="mine").open_sweep(sweep_record(tmp_path))


def test_mlflow_itself_stays_quiet(tmp_path: Path) -> None:
    """Only errors of MLflow and its migrations reach the log."""
    connect(f"sqlite:///{tmp_path}/mlflow.db")
    assert not logging.getLogger("mlflow").isEnabledFor(logging.WARNING)
    assert not logging.getLogger("alembic").isEnabledFor(logging.WARNING)


def test_a_client_is_made_once(tmp_path: Path) -> None:
    """Cells of one process share the client that opened the sweep."""
    uri = f"sqlite:///{tmp_path}/mlflow.db"
    client = connect(uri)
    assert connected(uri) is client
    assert connected(f"sqlite:///{tmp_path}/other.db") is not client


def test_the_remedy_depends_on_how_far_the_sweep_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the first cell nothing lies in the output folder; afterwards everything does."""
    tracker = MlflowTracker(folder=tmp_path / "m")
    handle = tracker.open_sweep(sweep_record(tmp_path))

    def broken(*_: object, **__: object) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("mlflow.MlflowClient.create_run", broken)
    with pytest.raises(StoreError, match="Nothing has run yet") as opening:
        tracker.open_sweep(sweep_record(tmp_path))
    assert "output folder" not in str(opening.value)
    with pytest.raises(StoreError, match="All results are in the output folder"):
        tracker.record_cell(handle, cell_record(tmp_path / "0"))
    tracker.abort_sweep(handle, "")


def test_a_store_of_another_version_names_the_command_that_upgrades_it() -> None:
    """MLflow's own message does not say where the store is."""
    uri = "sqlite:////s/mlflow.db"
    with pytest.raises(StoreError, match=f"copy it, then run 'mlflow db upgrade {uri}'"), store_errors(uri):
        raise MlflowException("Detected out-of-date database schema (found version abc)")
