"""One way to show progress: a bar with rate and remaining time, only on a terminal, only after a second."""

from __future__ import annotations

from typing import Any

from tqdm import tqdm


def bar(description: str, total: int | None, unit: str) -> Any:
    """A progress bar to be used as a context manager; call ``update(n)`` on it.

    It writes to standard error, appears only when the work takes longer than a second, and stays silent when
    standard error is not a terminal. ``unit`` is a plural noun, shown as ``chunks/s``.
    """
    return tqdm(
        desc=description,
        total=total,
        unit=f" {unit}",
        delay=1.0,
        disable=None,
        leave=False,
        dynamic_ncols=True,
    )
