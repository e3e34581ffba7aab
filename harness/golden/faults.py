"""All that is wrong with a file, in one message."""

from __future__ import annotations

from pathlib import Path

from harness.errors import InputError

_SHOWN = 5


class Faults:
    """Faults of the file ``path``, each with its line (from 1)."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._found: list[tuple[int, str]] = []

    def add(self, line: int, message: str) -> None:
        """Records a fault; ``message`` is a sentence or two."""
        self._found.append((line, message))

    def raise_if_any(self) -> None:
        """Raises ``InputError`` with the first five faults; its ``line`` is that of the first."""
        if not self._found:
            return
        found = sorted(self._found)
        line, message = found[0]
        if len(found) == 1:
            raise InputError(f"{self.path}:{line}: {message}", path=self.path, line=line)
        more = f"\n  and {len(found) - _SHOWN:,} more" if len(found) > _SHOWN else ""
        shown = "".join(f"\n  line {line}: {message}" for line, message in found[:_SHOWN])
        raise InputError(f"{self.path}: {len(found):,} faults:{shown}{more}", path=self.path, line=line)
