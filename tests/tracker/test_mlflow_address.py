from __future__ import annotations

import socket
from pathlib import Path

import pytest
from tracker_processes import free_port

from harness.errors import StoreError
from harness.tracker.mlflow import MlflowTracker
from harness.tracker.mlflow_address import known_again, shown, store_uri
from harness.tracker.mlflow_database import check_database
from harness.tracker.mlflow_links import how_to_look
from harness.tracker.mlflow_probe import closed_port

SECRET = "geheim/@x"


@pytest.mark.parametrize(
    "uri", ["garbage", "databricks", "mongodb://x", "http://[bad", "http://h:abc", "http://"]
)
def test_what_is_no_address_is_said_so(uri: str) -> None:
    """One sentence that names the address and the kinds that can be used; never a traceback."""
    with pytest.raises(
        StoreError, match=r"is no address that can be used.*sqlite:////.*http://host:port"
    ) as caught:
        MlflowTracker(uri=uri).check()
    assert f"'{uri}'" in str(caught.value)
    assert "output folder" not in str(caught.value)


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
    with pytest.raises(StoreError, match="names a database or a driver that is not known"):
        check_database("mysql+foo://h/d", 1.0, "")


def test_a_database_that_does_not_listen(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is found at once, before MLflow tries it for a minute; the password stays hidden."""
    from sqlalchemy.engine import make_url

    dialect = make_url("postgresql://h").get_dialect()
    monkeypatch.setattr(dialect, "import_dbapi", classmethod(lambda _: None))
    with pytest.raises(StoreError, match=r"refused\. Do this\.$") as caught:
        check_database(f"postgresql://me:geheim@127.0.0.1:{free_port()}/db", 1.0, "Do this.")
    assert "geheim" not in f"{caught.value} {caught.value.where}"


def test_an_open_port_is_seen() -> None:
    """Something that accepts is enough."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert closed_port("127.0.0.1", server.getsockname()[1], 2.0) == ""


@pytest.mark.parametrize(
    "uri",
    [
        f"postgresql://me:{SECRET}@h:1/db",
        f"postgresql+psycopg2://me:{SECRET}@h/db?sslmode=off",
        "mysql://h/db?user=me&password=geheim",
        f"http://me:{SECRET}@[bad",
    ],
)
def test_no_password_is_shown(uri: str) -> None:
    """Not even one that was not encoded, stands in the query or in a broken address."""
    assert "geheim" not in shown(uri)
    assert "***" in shown(uri)
    assert shown(shown(uri)) == shown(uri)


def test_an_address_without_password_is_shown_as_it_is() -> None:
    """Nothing is hidden that is no secret."""
    for uri in ("sqlite:////x/y@z.db", "postgresql://me@h/db", "http://h:5000", "garbage"):
        assert shown(uri) == uri


def test_a_password_is_found_again_in_each_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is written down holds ***; each process takes the password from its own settings, or says that it can't."""
    whole = "postgresql://me:geheim@h/db"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", whole)
    assert known_again(shown(whole), None, Path("m")) == whole
    assert known_again("http://h", None, Path("m")) == "http://h"
    monkeypatch.delenv("MLFLOW_TRACKING_URI")
    with pytest.raises(StoreError, match="Set MLFLOW_TRACKING_URI to the same address in every process"):
        known_again(shown(whole), None, Path("m"))


def test_a_database_is_looked_at_through_a_server_of_ones_own(tmp_path: Path) -> None:
    """Its address is none for a browser, and is not printed."""
    command, link = how_to_look("postgresql://me:geheim@h/db", tmp_path / "m", "1", "abc", "mrr")
    assert command.endswith('--backend-store-uri "$MLFLOW_TRACKING_URI"')
    assert link.split()[1].startswith("http://127.0.0.1:5000/#/")


def test_a_path_is_no_address(tmp_path: Path) -> None:
    """A folder, a file and an absolute path get the address to write instead."""
    for given in ("file:./mlruns", f"{tmp_path}", "./mlflow.db"):
        with pytest.raises(StoreError, match=r"is a folder or a file's path.*sqlite:////"):
            store_uri(given, Path("mlruns"))
