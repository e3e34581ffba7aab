"""What tests of several parts need."""

from __future__ import annotations

from pathlib import Path

import pytest
from workplace import Workplace, write_corpus, write_golden


@pytest.fixture
def workplace(tmp_path: Path) -> Workplace:
    """An empty place with four pages and five questions."""
    documents, golden = tmp_path / "documents", tmp_path / "golden.jsonl"
    write_corpus(documents)
    write_golden(golden)
    return Workplace(tmp_path, documents, golden)
