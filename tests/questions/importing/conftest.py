"""What tests of the import need."""

from __future__ import annotations

import pytest
from workplace import Workplace


@pytest.fixture
def here(workplace: Workplace, monkeypatch: pytest.MonkeyPatch) -> Workplace:
    """The workplace without a golden set, its folder the current one."""
    workplace.golden.unlink()
    monkeypatch.chdir(workplace.root)
    monkeypatch.setenv("HARNESS_ROOT", str(workplace.root))
    return workplace
