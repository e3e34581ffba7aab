"""When a kept thing was last used: the time of change of one file or folder, at the price of one system call."""

from __future__ import annotations

import errno
import logging
import os
from pathlib import Path

from harness.errors import StoreError

logger = logging.getLogger(__name__)

_READ_ONLY = {errno.EROFS, errno.EACCES, errno.EPERM}


def mark_used(path: Path) -> None:
    """Marks the file or folder as used now, when it exists.

    In a place that may only be read, nothing is marked. Raises ``StoreError`` when the disk refuses otherwise.
    """
    try:
        os.utime(path)
    except FileNotFoundError:
        # Somebody removed it meanwhile: what was read stays right.
        return
    except OSError as error:
        if error.errno not in _READ_ONLY:
            raise StoreError(f"{path} can't be marked as used ({error.strerror}).", where=path) from error
        logger.debug("%s is not marked as used: %s", path, error)


def measure(place: Path) -> tuple[int, float]:
    """Bytes of a file, or of all files below a folder, and when it was last used: seconds since 1970.

    That is the newest time of change, the folder's own included; 0 bytes and 0.0 for what vanished.
    """
    size, used = 0, 0.0
    for path in (place, *place.rglob("*")):
        try:
            stat = path.stat()
        except FileNotFoundError:
            continue
        size += 0 if path.is_dir() else stat.st_size
        used = max(used, stat.st_mtime)
    return size, used
