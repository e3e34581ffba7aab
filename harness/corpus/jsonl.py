"""A JSONL file of documents."""

from __future__ import annotations

from pathlib import Path

from harness.corpus import Loaded
from harness.corpus.gather import Notes, gather
from harness.corpus.json_lines import read_documents
from harness.errors import InputError


class JsonlCorpus:
    """Every object of the file ``path``: an id (``_id``, ``id`` or ``doc_id``), a text (``text``, ``content`` or ``page_content``).

    ``title`` and ``metadata`` may stand beside them. When no object has an id, its position, counted from 0, is the
    id.
    """

    def __init__(self, path: str, name: str | None = None) -> None:
        self.path = Path(path).expanduser()
        self.name = name or self.path.stem

    def load(self) -> Loaded:
        """All documents; see ``harness.corpus``."""
        if not self.path.is_file():
            raise InputError(_no_file(self.path), path=self.path)
        notes = Notes()
        documents = read_documents(self.path, notes, prefix=lambda _: "")
        return gather(documents, notes, source=self.path, looked_for="JSON objects with a text, one a line")


def _no_file(path: Path) -> str:
    if path.is_dir():
        return (
            f"corpus.path is {path}, which is a folder; corpus=jsonl reads one file. Give the file, or use corpus=folder "
            "for a folder of texts or corpus=beir for a folder with corpus.jsonl."
        )
    return f"corpus.path is {path}, and there is no such file (looked from {Path.cwd()}). Check the spelling."
