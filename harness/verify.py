"""``python -m harness.verify production.yaml url=...``: whether the live retriever does what the picked configuration does.

Exit codes: 0 in parity, 1 not (or a mistake in the command), 2 not comparable.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

from harness.cell import pipeline
from harness.cell.build import Shared
from harness.cell.inactive import uses
from harness.cell.settings import cut_offs
from harness.cli import compose
from harness.cli.run import run_command
from harness.cli.say import say_all, wrapped
from harness.cli.values import plain_settings_hold
from harness.cli.words import Words
from harness.decision import production
from harness.decision.production import Production
from harness.decision.rank_agreement import Parity, parity
from harness.errors import SettingError
from harness.results.cells import SCHEMA
from harness.results.clusters import about_questions
from harness.view import notes
from harness.view import recorded as words

PARITY, NOT_IN_PARITY, NOT_COMPARABLE = 0, 1, 2
_USAGE = "python -m harness.verify production.yaml url=http://127.0.0.1:8000/search (or target=package.module:function)"
# A shorter word for each option, and the setting that it is.
_SHORT = {"url": ("http", "retriever.url"), "target": ("callable", "retriever.target")}


class _NotComparableError(Exception):
    """What was recorded and what would be asked now are two different things."""


def main(argv: Sequence[str] | None = None) -> int:
    """Asks both, compares, says what follows; gives the exit code."""
    return run_command("verify", __doc__, argv, _main)


def _main(words: Words) -> int:
    if len(words.files) != 1 or words.is_sweep:
        raise SettingError(f"One production file is expected: {_USAGE}")
    return _run(Path(words.files[0]), words)


def _run(path: Path, given: Words) -> int:
    live, others = _sorted_out(given.overrides)
    recorded = production.read(path, ["+command=verify", *others])
    config = recorded.composed.config
    min_equal, margin = _share(config, "min_equal"), _share(config, "margin")
    k = int(recorded.recorded["k"]) if config.verify.k is None else config.verify.k
    if k not in cut_offs(config):
        raise SettingError(
            f"verify.k is {k}; it must be one of k ({', '.join(map(str, cut_offs(config)))}).",
            key="verify.k",
        )
    plain_settings_hold(config)
    try:
        found, wrong = _compared(recorded, _with_retriever(config, live), k, margin)
    except _NotComparableError as error:
        say_all(wrapped(f"Not comparable: {error}", "", ""))
        return NOT_COMPARABLE
    in_parity = found.share("in_order") >= min_equal or found.change.outcome == "no worse"
    said = words.parity_sentences(found, in_parity=in_parity, min_equal=min_equal, margin=margin)
    said += words.moved(found, float(recorded.recorded["score"]))
    say_all([line for sentence in said for line in wrapped(sentence, "", "")])
    say_all(words.parity_table(found))
    if wrong:
        say_all(["", *wrapped(wrong, "! ", "  ")])
    return PARITY if in_parity else NOT_IN_PARITY


def _sorted_out(overrides: Sequence[str]) -> tuple[list[str], list[str]]:
    """The words that describe the live retriever, written out, and all others, which are the recorded configuration's."""
    live, others = [], []
    for word in overrides:
        name, _, value = word.partition("=")
        if name in _SHORT:
            option, setting = _SHORT[name]
            live += [f"retriever={option}", f"{setting}={value}"]
        elif name == "retriever" or name.startswith("retriever."):
            live.append(word)
        else:
            others.append(word)
    if not live:
        raise SettingError(f"Which retriever is live? {_USAGE}", key="retriever")
    return live, others


def _with_retriever(config: DictConfig, words_of_live: Sequence[str]) -> DictConfig:
    """The recorded configuration with the live retriever in the place of its own."""
    live = compose.composed(Words((), (), ()), words_of_live).config.retriever
    made = config.copy()
    made.retriever = live
    if uses(made, "chunker"):
        raise SettingError(
            f"A live retriever is expected, and this is one that would be built here. {_USAGE}",
            key="retriever",
        )
    plain_settings_hold(made)
    return made


def _compared(recorded: Production, live: DictConfig, k: int, margin: float) -> tuple[Parity, str | None]:
    """The comparison, and what was wrong with the live retriever's answers."""
    config, primary = recorded.composed.config, str(recorded.recorded["primary"])
    _refuse(recorded, config)
    shared = Shared()
    one = shared.components(config)
    asked = {question.question_id for question in one.inputs.labels.questions}
    missing = [question_id for question_id in recorded.scores if question_id not in asked]
    if missing:
        raise _NotComparableError(
            f"{len(missing):,} of the {len(recorded.scores):,} recorded questions are not asked here (for instance {missing[0]}). The golden set "
            f"that the configuration was picked with is needed; this is {config.golden.path}."
        )
    ks = cut_offs(config)
    other = pipeline.evaluate(
        shared.components(live), ks, primary
    )  # the live one first: whoever is not there is found out at once
    reference = pipeline.evaluate(one, ks, primary)
    about = about_questions(one.inputs)
    clusters = {question_id: about[question_id].cluster for question_id in recorded.scores}
    content: dict[str, Any] = {
        "health": other.health,
        "remarks": other.remarks,
        "questions": {kind: len(questions) for kind, questions in other.questions.items()},
    }
    return parity(reference, other, primary, k, clusters, margin), notes.own_chunks("live", content)


def _refuse(recorded: Production, config: DictConfig) -> None:
    if recorded.provenance["schema"] != SCHEMA:
        raise _NotComparableError(
            f"the configuration was recorded by version {recorded.provenance['schema']} of the metrics, this is version {SCHEMA}. Pick again."
        )
    if not uses(config, "chunker"):
        raise _NotComparableError(
            "the recorded configuration is a live retriever itself, so its answers can't be made again. python -m harness.gate compares it "
            "with the scores that were recorded."
        )


def _share(config: DictConfig, key: str) -> float:
    value = OmegaConf.select(config, f"verify.{key}")
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise SettingError(
            f"verify.{key} is {value}; it is a share from 0 to 1, such as 0.03.", key=f"verify.{key}"
        )
    return float(value)


if __name__ == "__main__":
    sys.exit(main())
