"""What tests of several parts need."""

from __future__ import annotations

import logging
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from workplace import Workplace, write_corpus, write_golden

# A shell starts what runs in its background deaf to Ctrl-C, and so would be every program that a test interrupts.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def workplace(tmp_path: Path) -> Workplace:
    """An empty place with four pages and five questions."""
    documents, golden = tmp_path / "documents", tmp_path / "golden.jsonl"
    write_corpus(documents)
    write_golden(golden)
    return Workplace(tmp_path, documents, golden)


@pytest.fixture(autouse=True)
def _loggers_as_they_were() -> Iterator[None]:
    """A command that is run within a test speaks to the terminal by a handler of its own; the next test may listen again."""
    logger = logging.getLogger("harness")
    before = logger.handlers, logger.propagate, logger.level
    yield
    logger.handlers, logger.propagate = before[0], before[1]
    logger.setLevel(before[2])
