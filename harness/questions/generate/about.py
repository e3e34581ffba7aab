"""What a generated set was made from, in a file beside it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from harness.files.atomic import writing
from harness.questions.generate.prompt import Prompt

_RECIPE = ("model", "prompt", "seed", "corpus")


def beside(golden: Path, what: str) -> Path:
    """The file of a golden set's that holds ``what``: ``golden.jsonl`` has its ledger in ``golden.ledger.jsonl``."""
    suffix = ".json" if what == "about" else ".jsonl"
    return golden.with_name(f"{golden.stem}.{what}{suffix}")


def write_about(golden: Path, prompt: Prompt, made: Mapping[str, Any]) -> None:
    """Puts ``made`` (``model``, ``prompt``, ``seed``, ``corpus`` and counts) in place of the entry with the same recipe, or beside the others.

    The words of every prompt are kept under its digest. Written aside and renamed. Raises ``StoreError`` when the disk refuses.
    """
    path = beside(golden, "about")
    about: dict[str, Any] = {"made": [], "prompts": {}}
    with suppress(OSError, ValueError):  # none yet, or damaged: it only describes
        found = json.loads(path.read_text(encoding="utf-8"))
        about = {"made": list(found["made"]), "prompts": dict(found["prompts"])}
    recipe = [made[key] for key in _RECIPE]
    about["made"] = [entry for entry in about["made"] if [entry.get(key) for key in _RECIPE] != recipe]
    about["made"].append(dict(made))
    about["prompts"][prompt.digest] = {"system": prompt.system, **prompt.templates}
    with writing(path, remedy="The questions are saved.") as file:
        file.write((json.dumps(about, indent=1, ensure_ascii=False) + "\n").encode())
