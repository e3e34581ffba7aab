"""Where a sweep comes from: the version of the program, and the git commit of the folder that the user stands in."""

from __future__ import annotations

import subprocess
from pathlib import Path

from harness import __version__

_SECONDS = 5.0


def provenance(folder: Path) -> dict[str, str]:
    """``version``, and where ``folder`` lies in a git checkout ``git_commit`` and ``git_dirty`` (``true`` or ``false``).

    Without git, outside of a checkout, or before the first commit only the version is known.
    """
    found = {"version": __version__}
    commit = _git(folder, "rev-parse", "HEAD")
    changes = _git(folder, "status", "--porcelain", "--untracked-files=no")
    if commit and changes is not None:
        found |= {"git_commit": commit, "git_dirty": str(bool(changes)).lower()}
    return found


def _git(folder: Path, *words: str) -> str | None:
    """What git answers, or None where it can't."""
    try:
        done = subprocess.run(  # noqa: S603 - fixed words, no shell
            ["git", *words],  # noqa: S607 - whichever git the user has
            cwd=folder,
            capture_output=True,
            text=True,
            check=True,
            timeout=_SECONDS,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
