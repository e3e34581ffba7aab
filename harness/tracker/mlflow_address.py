"""Addresses of tracking stores: which can be used, and how they are shown without a password."""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import urlsplit

from harness.errors import StoreError

WEB = {"http", "https"}
DATABASES = {"postgresql", "mysql", "mssql"}
_KINDS = (
    "Use tracker.uri=sqlite:////absolute/path/mlflow.db, a server's http://host:port, or a database's "
    "postgresql://user@host/name or mysql://user@host/name (its driver has to be installed)."
)
_HIDDEN = "***"


def store_uri(uri: str | None, folder: Path) -> str:
    """The address to use: ``uri``, else ``MLFLOW_TRACKING_URI``, else SQLite in ``folder``.

    The path of a SQLite file becomes absolute. Raises ``StoreError`` for an invalid address, for stores that
    can't work (a folder, in memory), and for a server's address that holds a password.
    """
    given = uri or os.environ.get("MLFLOW_TRACKING_URI") or f"sqlite:///{folder.absolute()}/mlflow.db"
    scheme = given.split(":", 1)[0] if ":" in given else ""
    if scheme == "sqlite":
        return _sqlite(given)
    if scheme == "file" or (not scheme and ("/" in given or Path(given).exists())):
        raise StoreError(
            f"The tracking store {given} is a path, which MLflow doesn't accept. {_KINDS}",
            where=given,
        )
    if kind_of(given) not in WEB | DATABASES:
        raise _invalid(given)
    _check_parts(given)
    return given.rstrip("/")


def kind_of(uri: str) -> str:
    """``http``, ``sqlite``, ``postgresql`` and so on, without a driver's name; empty where there is none."""
    return uri.partition("://")[0].partition("+")[0] if "://" in uri else ""


def sqlite_path(uri: str) -> Path | None:
    """The file of a SQLite store, None for any other store."""
    return Path(uri.removeprefix("sqlite:///")) if uri.startswith("sqlite:///") else None


def shown(uri: str) -> str:
    """The address with ``***`` in place of any password, also in its query and in an invalid address."""
    # Up to the last @: a password that was not encoded may hold one.
    hidden = re.sub(r"(://[^:/@]*):.*@", rf"\1:{_HIDDEN}@", uri)
    return re.sub(r"([?&]\w*password=)[^&]*", rf"\1{_HIDDEN}", hidden, flags=re.IGNORECASE)


def with_password(uri: str, own: str | None, folder: Path) -> str:
    """The whole address of a store, given as ``shown`` gives it.

    The password is taken from this process's own address (``own`` and ``folder`` as in ``store_uri``). Raises
    ``StoreError`` when that is another store.
    """
    if _HIDDEN not in uri:
        return uri
    here = store_uri(own, folder)
    if shown(here) == uri:
        return here
    raise StoreError(
        f"The password of the tracking store {uri} is not known here, as it is never written to a file. "
        "Set MLFLOW_TRACKING_URI to the same address in every process of the sweep.",
        where=uri,
    )


def _sqlite(given: str) -> str:
    path = given.partition("://")[2].removeprefix("/")
    if not path or path == ":memory:":
        raise StoreError(
            f"The tracking store {given} is in memory, where other processes can't see it. {_KINDS}",
            where=given,
        )
    return f"sqlite:///{Path(path).absolute()}"


def _check_parts(given: str) -> None:
    """Raises ``StoreError`` for a broken address, and for a server's address that holds a password."""
    try:
        parts = urlsplit(given)
        host, password, _ = parts.hostname, parts.password, parts.port
    except ValueError as error:
        raise _invalid(given, f" ({error})") from None
    if parts.scheme not in WEB:
        return
    if not host:
        raise _invalid(given, " (it names no host)")
    if password:
        raise StoreError(
            f"The tracking address of {host} holds a password, which would end up in files and logs. "
            "Put it into MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD instead.",
            where=host,
        )


def _invalid(given: str, reason: str = "") -> StoreError:
    return StoreError(
        f"The tracking store '{shown(given)}' is not a valid address{reason}. {_KINDS}", where=shown(given)
    )
