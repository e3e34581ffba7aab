"""Whether a folder lies on a disk of this machine alone."""

from __future__ import annotations

import re
from pathlib import Path

# Anything else may be shared with other machines or hand locks on imperfectly.
_LOCAL = {"ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "f2fs", "tmpfs", "overlay"}
_MOUNTS = Path("/proc/self/mountinfo")


def on_local_disk(folder: Path) -> bool:
    """Whether the folder's file system is known to be local; False where the system doesn't tell."""
    try:
        lines = _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return False
    place, kind = folder.resolve(), ""
    longest = 0
    for line in lines:
        # Fields: id, parent, device, root, mount point, options, ... - type, source, options; blanks are \040.
        before, _, after = line.partition(" - ")
        point = re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), before.split()[4])
        # Of two mounts on one point, the later hides the earlier.
        if place.is_relative_to(point) and len(point) >= longest:
            longest, kind = len(point), after.split()[0]
    return kind in _LOCAL
