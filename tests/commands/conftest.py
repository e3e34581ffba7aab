"""What tests of several commands need."""

from __future__ import annotations

import pytest
from workplace import Workplace


@pytest.fixture(scope="module")
def picked(tmp_path_factory):
    """A sweep over the sample with a model that is not the default, and what was picked from it."""
    root = tmp_path_factory.mktemp("picked")
    place = Workplace(root, root / "documents", root / "golden.jsonl")
    swept = place.run("-m", "model=wordllama", "chunk=128,512")
    assert swept.returncode == 0, swept.stderr
    run = place.run("pick.measure=false", module="harness.pick")
    assert run.returncode == 0, run.stderr
    return place, run.stdout
