"""No tracker: the files in the output folder are all there is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.tracker import CellRecord, Found, SweepRecord, SweepSummary


@dataclass(frozen=True)
class NoTracker:
    """Records nothing. Every file of the sweep lies in its output folder all the same."""

    def check(self) -> str:
        """Nowhere."""
        return "nothing is tracked (tracker=none)"

    def open_sweep(self, sweep: SweepRecord) -> dict[str, Any]:
        """A handle that only says where the files are."""
        return {"tracker": "none", "folder": str(sweep.folder)}

    def record_cell(self, handle: Mapping[str, Any], cell: CellRecord) -> str:  # noqa: ARG002 - the contract's
        """The name of the cell, as there is no run id."""
        return cell.name

    def close_sweep(
        self,
        handle: Mapping[str, Any],  # noqa: ARG002 - the contract's
        sweep: SweepRecord,  # noqa: ARG002 - the contract's
        summary: SweepSummary,  # noqa: ARG002 - the contract's
    ) -> Sequence[str]:
        """One line that says so."""
        return ["Nothing was tracked (tracker=none)."]

    def abort_sweep(self, handle: Mapping[str, Any], message: str) -> None:
        """Nothing is open, so nothing has to be closed."""

    def find(self, word: str) -> Found | None:  # noqa: ARG002 - the contract's
        """None: only the folders know."""
        return None

    def fetch(self, found: Found, place: Path) -> None:
        """Nothing is ever found, so nothing can be fetched."""
