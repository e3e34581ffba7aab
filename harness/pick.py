"""``python -m harness.pick``: one configuration to deploy out of a finished sweep, with the reasons."""

from __future__ import annotations

import shlex
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

from harness.cli import compose
from harness.cli.run import run_command
from harness.cli.say import say, say_all, wrapped
from harness.cli.words import Words
from harness.decision import deployment, production
from harness.decision.decide import LIMITS, Decision, checked_order, decide
from harness.decision.holdout import confirm
from harness.errors import SettingError, StoreError
from harness.files.atomic import write_json
from harness.results.finished import FinishedCell
from harness.results.load import finished
from harness.sweep.conclude import cell_verdicts
from harness.tracker import CellVerdict
from harness.view import choice as words

_WORDS = "Words: sweep=ID, metric=NAME, max.context_tokens=N, max.query_ms=MS, baseline=CELL, output=FILE."


def main(argv: Sequence[str] | None = None) -> int:
    """Decides, prints, writes and records; the exit code is 1 for a mistake and when no configuration meets the constraints."""
    return run_command("pick", __doc__, argv, _main)


def _main(words: Words) -> int:
    if words.files or words.is_sweep:
        raise SettingError(f"'{(*words.files, '-m')[0]}' means nothing here. {_WORDS}")
    return _run(compose.composed(words, ["+command=pick", *words.overrides]).config)


def _run(config: DictConfig) -> int:
    limits, order, margin = _limits(config), checked_order(list(config.pick.cost)), _margin(config)
    sweep = finished(config)
    metric = None if config.metric is None else str(config.metric)
    against = None if config.baseline is None else str(config.baseline)
    decision = decide(
        sweep, metric, limits, order, margin, measure=bool(config.pick.measure), against=against
    )
    say_all([_about(decision), "", *words.table(decision), ""])
    for sentence in words.reasons(decision):
        say_all(wrapped(sentence, "", ""))
    path = Path(str(config.output))
    decided = _note_decision(path, decision)
    if decision.choice is None:
        return 1
    if config.confirm.file is not None:
        found = confirm(decision, Path(str(config.confirm.file)))
        say_all(wrapped(words.confirmed(found), "", ""))
    if decision.change == "keep":
        return 0
    files = [*_written(path, decision), decided]
    again = f"python -m harness {shlex.join(['--config-dir', str(path.parent), '--config-name', path.stem])}"
    say_all(["", *words.follow_up([str(file) for file in files], again)])
    if sweep.uri:
        _record(config, decision)
    return 0


def _about(decision: Decision) -> str:
    sweep = decision.sweep
    asked = decision.verdict.questions if decision.verdict else len(sweep.cells[0].questions["question_id"])
    afterwards = " (chosen after seeing the results)" if decision.post_hoc else ""
    return f"{sweep.name}; {decision.metric}{afterwards} over {asked:,} questions decides"


def _limits(config: DictConfig) -> dict[str, float]:
    limits = {}
    for key in LIMITS:
        most = config["max"][key]
        if most is None:
            continue
        if isinstance(most, bool) or not isinstance(most, (int, float)) or most < 0:
            raise SettingError(f"max.{key} is {most}; a number of at least 0 is expected.", key=f"max.{key}")
        limits[key] = float(most)
    return limits


def _margin(config: DictConfig) -> float:
    margin = config.pick.margin
    if isinstance(margin, bool) or not isinstance(margin, (int, float)) or not 0 < margin < 1:
        raise SettingError(
            f"pick.margin is {margin}; it is a share between 0 and 1, such as 0.03.", key="pick.margin"
        )
    return float(margin)


def _written(path: Path, decision: Decision) -> list[Path]:
    """The production file and its scores."""
    numbers, verdict, choice = decision.compared, decision.verdict, decision.choice
    if numbers is None or verdict is None or choice is None:
        return []
    cell = decision.sweep.cell(choice.name)
    row = numbers.outcomes.names.index(cell.name)
    recorded, origin = _recorded(decision, cell), _origin(decision)
    values = numbers.outcomes.values[row]
    return production.write(path, cell, recorded, origin, numbers.question_ids, values)


def _note_decision(path: Path, decision: Decision) -> Path:
    """Writes the decision as JSON beside the production file, also where nothing is taken: no script has to parse English."""
    file = path.with_suffix(".decision.json")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"{path} can't be written ({error.strerror}). Choose another place with output=FILE.", where=path
        ) from error
    write_json(file, as_json(decision))
    return file


def as_json(decision: Decision) -> dict[str, Any]:
    """The decision in plain values: verdict, choice and what was chosen on instead, costs, constraints and who misses them."""
    verdict, choice = decision.verdict, decision.choice
    return {
        "sweep": decision.sweep.name,
        "run_id": decision.sweep.run_id,
        "metric": decision.metric,
        "post_hoc": decision.post_hoc,
        **(verdict.to_json() if verdict else {"decided": False, "winner": None}),
        "choice": None
        if choice is None
        else {
            "name": choice.name,
            "chosen_on": choice.reason,
            "best_observed": choice.best,
            "saves": choice.saved if choice.reason == "cheaper" else None,
            "questions_needed_for_cheaper": choice.required_sample_size,
        },
        "limits": dict(decision.limits),
        "misses": {name: dict(over) for name, over in decision.misses.of_cell.items()},
        "nearest": decision.misses.nearest,
        "costs": {name: dict(values) for name, values in decision.costs.items()},
        "baseline": None if decision.baseline is None else decision.baseline.name,
        "change": decision.change,
        "to_baseline": {
            name: [difference.value, difference.lo, difference.hi]
            for name, difference in decision.to_baseline.items()
        },
        "latency": "measured for this decision" if decision.is_measured else "noted during the sweep",
    }


def _recorded(decision: Decision, cell: FinishedCell) -> dict[str, Any]:
    verdict, numbers = decision.verdict, decision.compared
    standing = next(s for s in verdict.standings if s.name == cell.name) if verdict else None
    metric = numbers.metrics[cell.name] if numbers else decision.metric
    interval = None if standing is None else [standing.mean.lo, standing.mean.hi]
    return {
        "primary": metric,
        "k": decision.k[cell.name],
        "score": cell.metric(metric),
        "interval_95": interval,
        "verdict": None if standing is None else standing.status,
        "questions": verdict.questions if verdict else 0,
        "costs": dict(decision.costs[cell.name]),
        "metrics": dict(cell.content["metrics"]),
        "health": dict(cell.content["health"]),
    }


def _origin(decision: Decision) -> dict[str, Any]:
    sweep = decision.sweep
    return {
        "sweep": sweep.name,
        "sweep_run_id": sweep.run_id,
        "cell": decision.choice.name if decision.choice else None,
        "picked": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _record(config: DictConfig, decision: Decision) -> None:
    """Verdicts, choice and registered model into MLflow."""
    from harness.tracker.mlflow_runs import record_pick, record_verdicts

    sweep, choice = decision.sweep, decision.choice
    if choice is None:
        return
    record_verdicts(sweep.uri, judged(decision), sweep.primary, sweep.k)
    cell = sweep.cell(choice.name)
    record_pick(sweep.uri, sweep.experiment_id, sweep.run_id, cell.run_id, cell.name)
    name = config.pick.register
    if name:
        version = _registered(sweep.uri, cell, decision.k[cell.name], str(name))
        load = f'mlflow.pyfunc.load_model("models:/{name}@champion")'
        say(f"{'Registered':<10} {load} (version {version})")


def judged(decision: Decision) -> list[CellVerdict]:
    """What is noted on each cell's run; cells that miss a constraint are infeasible, whatever their score."""
    run_ids = {cell.name: cell.run_id for cell in decision.sweep.cells}
    noted = cell_verdicts(decision.verdict, decision.metric, run_ids) if decision.verdict else []
    return noted + [
        CellVerdict(run_ids[name], "infeasible") for name in decision.misses.of_cell if run_ids[name]
    ]


def _registered(uri: str, cell: FinishedCell, k: int, name: str) -> int:
    from harness.tracker.mlflow_artifacts import register

    question = str(cell.questions["question"][0]) if "question" in cell.questions else "What is this about?"
    with tempfile.TemporaryDirectory(prefix="harness-") as scratch:
        folder = Path(scratch) / "deployment"
        deployment.save(OmegaConf.create({**cell.content["config"], "primary_k": k}), folder)
        return register(
            uri, cell.run_id, name, Path(deployment.__file__).with_name("pyfunc.py"), folder, question
        )


if __name__ == "__main__":
    sys.exit(main())
