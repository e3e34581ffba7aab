"""How many threads a process may use, and on what CPU."""

from __future__ import annotations

import os
import platform
import re
from functools import lru_cache
from pathlib import Path

_QUOTA = Path("/sys/fs/cgroup/cpu.max")
_CPUS = Path("/proc/cpuinfo")


def cores() -> int:
    """Cores this process may really use: its affinity, its container's quota, and ``OMP_NUM_THREADS``; at least 1.

    Launchers that run jobs side by side set ``OMP_NUM_THREADS`` or the affinity for each of them.
    """
    affine = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    limits = [affine, _quota(), _asked()]
    return max(min(limit for limit in limits if limit is not None), 1)


@lru_cache(maxsize=1)
def cpu_name() -> str:
    """What the CPU is called: its model where the system tells, else its architecture."""
    try:
        told = re.search(r"^model name\s*:\s*(.+)$", _CPUS.read_text(encoding="utf-8"), re.MULTILINE)
    except (OSError, ValueError):
        told = None
    return told[1] if told else platform.processor() or platform.machine()


def _quota() -> int | None:
    try:
        limit, period = _QUOTA.read_text(encoding="ascii").split()
        return -(-int(limit) // int(period))
    except (OSError, ValueError):
        return None  # no quota reads "max"


def _asked() -> int | None:
    asked = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]
    return int(asked) if asked.isdigit() and int(asked) else None
