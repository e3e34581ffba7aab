from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import StoreError
from harness.tracker.mlflow import MlflowTracker
from harness.tracker.mlflow_address import shown, store_uri, with_password

SECRET = "geheim/@x"


@pytest.mark.parametrize(
    "uri", ["garbage", "databricks", "mongodb://x", "http://[bad", "http://h:abc", "http://"]
)
def test_an_invalid_address_is_refused(uri: str) -> None:
    """One sentence that names the address and the kinds that can be used; never a traceback."""
    with pytest.raises(StoreError, match=r"is not a valid address.*sqlite:////.*http://host:port") as caught:
        MlflowTracker(uri=uri).check()
    assert f"'{uri}'" in str(caught.value)
    assert "output folder" not in str(caught.value)


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
    """Only passwords are hidden."""
    for uri in ("sqlite:////x/y@z.db", "postgresql://me@h/db", "http://h:5000", "garbage"):
        assert shown(uri) == uri


def test_a_password_is_found_again_in_each_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files hold ***; each process takes the password from its own settings, or says that it can't."""
    whole = "postgresql://me:geheim@h/db"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", whole)
    assert with_password(shown(whole), None, Path("m")) == whole
    assert with_password("http://h", None, Path("m")) == "http://h"
    monkeypatch.delenv("MLFLOW_TRACKING_URI")
    with pytest.raises(StoreError, match="Set MLFLOW_TRACKING_URI to the same address in every process"):
        with_password(shown(whole), None, Path("m"))


def test_a_path_is_not_an_address(tmp_path: Path) -> None:
    """A folder, a file and an absolute path get the address to write instead."""
    for given in ("file:./mlruns", "file:///tmp/mlruns", "./mlruns", f"{tmp_path}", "./mlflow.db"):
        with pytest.raises(StoreError, match=r"is a path, which MLflow doesn't accept.*sqlite:////"):
            store_uri(given, Path("mlruns"))


def test_a_store_in_memory_is_refused() -> None:
    """Jobs in other processes could not see it."""
    with pytest.raises(StoreError, match="in memory"):
        store_uri("sqlite://", Path("mlruns"))


def test_a_password_is_never_repeated() -> None:
    """It would end up in sweep.json; the message does not hold it either."""
    with pytest.raises(StoreError, match="MLFLOW_TRACKING_PASSWORD") as caught:
        store_uri("https://me:geheim@example.org", Path("mlruns"))
    assert "geheim" not in f"{caught.value} {caught.value.where}"


def test_which_store_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The setting, else the usual variable, else SQLite in the folder; paths are absolute."""
    monkeypatch.chdir(tmp_path)
    assert store_uri(None, Path("mlruns")) == f"sqlite:///{tmp_path}/mlruns/mlflow.db"
    assert store_uri("sqlite:///own.db", Path("mlruns")) == f"sqlite:///{tmp_path}/own.db"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://host:5000/")
    assert store_uri(None, Path("mlruns")) == "http://host:5000"
    assert store_uri(f"sqlite:///{tmp_path}/x.db", Path("mlruns")) == f"sqlite:///{tmp_path}/x.db"
