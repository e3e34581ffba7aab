"""No tracker: results are in the output folder only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.tracker import CellRecord, FoundSweep, SweepRecord, SweepSummary


@dataclass(frozen=True)
class NoTracker:
    """Records nothing. Every file of the sweep is in its output folder all the same."""

    def check(self) -> str:
        """Says that nothing is tracked."""
        return "nothing is tracked (tracker=none)"

    def open_sweep(self, sweep: SweepRecord) -> dict[str, Any]:
        """A handle that only says where the files are."""
        return {"tracker": "none", "folder": str(sweep.folder)}

    def record_cell(self, handle: Mapping[str, Any], cell: CellRecord) -> str:  # noqa: ARG002 - protocol
        """The name of the cell, as there is no run id."""
        return cell.name

    def close_sweep(
        self,
        handle: Mapping[str, Any],  # noqa: ARG002 - protocol
        summary: SweepSummary,  # noqa: ARG002 - protocol
    ) -> Sequence[str]:
        """One line that says so."""
        return ["Nothing was tracked (tracker=none)."]

    def abort_sweep(self, handle: Mapping[str, Any], message: str) -> None:
        """Nothing is open, so nothing has to be closed."""

    def find(self, word: str) -> FoundSweep | None:  # noqa: ARG002 - protocol
        """None: only the folders know."""
        return None

    def fetch(self, found: FoundSweep, place: Path) -> None:
        """Nothing is ever found, so nothing can be fetched."""
