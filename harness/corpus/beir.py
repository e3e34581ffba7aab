"""The documents of a data set in the layout of BEIR."""

from __future__ import annotations

from pathlib import Path

from harness.corpus import Loaded
from harness.corpus.gather import wrong_path
from harness.corpus.jsonl import load_documents
from harness.errors import InputError
from harness.text.opening import first_file


class BeirCorpus:
    """``corpus.jsonl`` (``{"_id", "title", "text"}``), or MS MARCO's ``collection.tsv``, in folder ``path``.

    What is embedded or indexed is the title, a blank and the text, as in BEIR; spans refer to the text alone.
    """

    def __init__(self, path: str, name: str | None = None) -> None:
        self.path = Path(path).expanduser()
        self.name = name or self.path.resolve().name

    def load(self) -> Loaded:
        """All documents; see ``harness.corpus``."""
        file = first_file(self.path / "corpus.jsonl", self.path / "collection.tsv")
        if not self.path.is_dir():
            raise wrong_path(self.path, "folder")
        if file is None:
            found = ", ".join(sorted(entry.name for entry in self.path.iterdir())[:8]) or "nothing"
            raise InputError(
                f"There is no corpus.jsonl in {self.path}; found there: {found}. Unpack the data set "
                "and give the folder that holds corpus.jsonl, queries.jsonl and qrels.",
                path=self.path,
            )
        return load_documents(file, embed_titles=True)
