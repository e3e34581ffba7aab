"""A database server as store: its driver and the server are looked at before MLflow touches them.

MLflow tries a database that it can't reach again and again for a minute, and a missing driver ends in a traceback.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from harness.errors import StoreError
from harness.tracker.mlflow_address import shown
from harness.tracker.mlflow_probe import closed_port

if TYPE_CHECKING:
    from sqlalchemy.engine import URL

_PACKAGES = {
    "psycopg": "psycopg[binary]",
    "psycopg2": "psycopg2-binary",
    "MySQLdb": "mysqlclient",
}
_PORTS = {"postgresql": 5432, "mysql": 3306, "mssql": 1433}


def check_database(uri: str, seconds: float, remedy: str) -> None:
    """Raises ``StoreError`` when the driver is missing, nothing listens at the address, or no connection is given.

    ``seconds`` is the most that a host may take to accept; ``remedy`` ends the message.
    """
    from sqlalchemy import create_engine
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError, SQLAlchemyError
    from sqlalchemy.pool import NullPool

    try:
        url = make_url(uri)
        url.get_dialect().import_dbapi()
    except ImportError as error:
        raise _without_driver(uri, error) from None
    except (ArgumentError, ValueError):
        raise StoreError(
            f"The tracking store {shown(uri)} names a database or a driver that is not known. Write postgresql://, mysql:// "
            "or mssql:// and, after a +, a driver if need be.",
            where=shown(uri),
        ) from None
    reason = _unheard(url, seconds)
    try:
        if not reason:
            create_engine(url, poolclass=NullPool).connect().close()
    except SQLAlchemyError as error:
        reason = shown((str(error).strip().splitlines() or [type(error).__name__])[0]).rstrip(".")
    if reason:
        raise StoreError(
            f"The tracking store {shown(uri)} can't be used: {reason}. {remedy}", where=shown(uri)
        )


def _unheard(url: URL, seconds: float) -> str:
    """Why nothing listens at the address; empty when something does, or when it is no network address."""
    port = url.port or _PORTS.get(url.get_backend_name())
    return closed_port(url.host, port, seconds) if url.host and port else ""


def _without_driver(uri: str, error: ImportError) -> StoreError:
    module = error.name or str(error)
    package = _PACKAGES.get(module, module)
    return StoreError(
        f"The tracking store {shown(uri)} needs the Python package {package}, which is not installed. "
        f"Install it: {sys.executable} -m pip install '{package}'",
        where=shown(uri),
    )
