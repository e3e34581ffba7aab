"""A small corpus of the tests' own, and the program run as its users run it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

PAGES = {
    "tea.md": "# Tea\n\nGreen tea is steeped for two minutes at 75 degrees.\n\nBlack tea takes four minutes in boiling water.\n",
    "coffee/filter.md": "# Filter coffee\n\nUse 60 grams of ground coffee for each litre.\n\nThe water should be just off the boil.\n",
    "coffee/espresso.md": "# Espresso\n\nAn espresso runs through in 25 to 30 seconds.\n\nRinse the group head after every shot.\n",
    "cocoa.txt": "Cocoa is whisked into a little cold milk first.\n\nThen hot milk is poured over it slowly.\n",
}
QUESTIONS = [
    ("q1", "How hot should water for green tea be?", "tea.md", "two minutes at 75 degrees"),
    ("q2", "How long do I leave black tea?", "tea.md", "four minutes in boiling water"),
    ("q3", "coffee powder per litre", "coffee/filter.md", "60 grams of ground coffee"),
    ("q4", "how many seconds does a shot take", "coffee/espresso.md", "25 to 30 seconds"),
    ("q5", "Do I stir cocoa into hot or cold milk?", "cocoa.txt", "a little cold milk first"),
]


class Workplace(NamedTuple):
    """A folder with documents and questions, where the program keeps its results too."""

    root: Path
    documents: Path
    golden: Path

    def environment(self, **env: str) -> dict[str, str]:
        """An environment of its own: results below ``root``, no hub, no tracking server of the user's."""
        given = {k: v for k, v in os.environ.items() if not k.startswith("MLFLOW_")}
        own = {
            "HARNESS_ROOT": str(self.root),
            "HF_HUB_OFFLINE": "1",
            "OMP_NUM_THREADS": "1",
            "HOME": str(self.root),
        }
        return given | own | env

    def run(self, *words: str, module: str = "harness", **env: str) -> subprocess.CompletedProcess[str]:
        """``python -m MODULE WORDS``, from the folder, with a store of its own."""
        return subprocess.run(
            [sys.executable, "-m", module, *words],
            cwd=self.root,
            env=self.environment(**env),
            capture_output=True,
            text=True,
            check=False,
        )

    def sweep(self, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
        """The main command over this folder's documents; what ``words`` set themselves is left to them."""
        own = (
            "corpus=folder",
            f"corpus.path={self.documents}",
            f"golden.path={self.golden}",
            "model=wordllama",
        )
        given = {word.partition("=")[0] for word in words}
        return self.run(*(word for word in own if word.partition("=")[0] not in given), *words, **env)

    def results(self) -> list[dict]:
        """The ``result.json`` of every cell that was scored here."""
        return [json.loads(file.read_text()) for file in sorted(self.root.glob("outputs/*/*/*/result.json"))]


def write_corpus(folder: Path) -> None:
    """Writes the four pages below ``folder``."""
    for name, text in PAGES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8", newline="")


def write_golden(path: Path) -> None:
    """Writes the five questions with their spans."""
    lines = []
    for question_id, question, doc_id, quote in QUESTIONS:
        start = PAGES[doc_id].index(quote)
        evidence = {"doc_id": doc_id, "start": start, "end": start + len(quote), "quote": quote}
        lines.append(json.dumps({"question_id": question_id, "question": question, "evidence": [evidence]}))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
