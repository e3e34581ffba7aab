"""A folder in the layout of BEIR: ``queries.jsonl``, and judgements in ``qrels/<split>.tsv`` or ``qrels.tsv``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from harness.errors import InputError
from harness.golden.lines import read_text
from harness.questions.importing import Given, trec


def read(folder: Path, split: str) -> Given:
    """The queries of the split. Raises ``InputError`` where the folder does not hold both files."""
    queries = folder / "queries.jsonl"
    places = (folder / "qrels" / f"{split}.tsv", folder / "qrels.tsv")
    qrels = next((place for place in places if place.is_file()), None)
    if not queries.is_file() or qrels is None:
        splits = ", ".join(sorted(file.stem for file in (folder / "qrels").glob("*.tsv")))
        has = f" There are judgements for split={splits}." if splits else ""
        raise InputError(
            f"{folder} is no folder in BEIR's layout: queries.jsonl and qrels/{split}.tsv (or qrels.tsv) are expected.{has}",
            path=folder,
        )
    given = trec.read(queries, read_text(queries), qrels)
    return replace(given, recognised=f"BEIR, judged in {qrels.relative_to(folder).as_posix()}")
