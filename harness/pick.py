"""``python -m harness.pick``: one configuration to deploy out of a finished sweep, with the reasons.

Exit codes: 0 a production file was written, 1 nothing meets the constraints, 3 what runs today stays, 4 an
error. docs/exit-codes.md has what to do after each.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from harness.cli.command import ERROR, Words, run_command
from harness.cli.say import say, say_all, wrapped
from harness.errors import SettingError, number, optional_share, switch

if TYPE_CHECKING:
    from harness.decision.decide import Decision, Selection

_USAGE = (
    "sweep=ID, metric=NAME, max.context_tokens=N, max.query_ms=MS, pick.deploy=k, baseline=CELL, output=FILE"
)
WRITTEN, NONE_MEETS, NOTHING_TO_CHANGE = 0, 1, 3


def main(argv: Sequence[str] | None = None) -> int:
    """Decides, prints, writes and records; gives the exit code."""
    return run_command("pick", __doc__, argv, _main, mistake=ERROR)


def _main(words: Words) -> int:
    from harness.cli.compose import configured

    config = configured("pick", words, _USAGE)
    from harness.decision import production
    from harness.decision.decide import LIMITS, checked_order, decide
    from harness.decision.holdout import confirm
    from harness.results.load import finished
    from harness.view import choice as view
    from harness.view.reasons import reasons
    from harness.view.recorded import confirmed

    most, order = config["max"], checked_order(list(config.pick.cost))
    limits = {key: number(most[key], f"max.{key}") for key in LIMITS if most[key] is not None}
    margin = optional_share(config.pick.margin, "pick.margin", zero=False, one=False)
    measure = switch(config.pick.measure, "pick.measure")
    metric, against = (None if word is None else str(word) for word in (config.metric, config.baseline))
    if config.pick.deploy not in {None, "k", "budget"}:
        raise SettingError(
            f"pick.deploy is {config.pick.deploy}; it must be null, k or budget.", key="pick.deploy"
        )
    decision = decide(
        finished(config),
        metric,
        limits,
        order,
        margin,
        measure=measure,
        against=against,
        deploy=config.pick.deploy,
    )
    say_all([view.headline(decision), "", *view.table(decision), ""])
    say_all(line for sentence in reasons(decision) for line in wrapped(sentence, ""))
    path = Path(str(config.output))
    decided = production.write_decision(path, decision)
    selection = decision.selection
    if selection is None or decision.change == "keep":
        unused = [] if config.confirm.file is None else ["The held-out questions were not used."]
        say_all([*unused, "", f"{'Wrote':<10} {decided}"])
        return NONE_MEETS if selection is None else NOTHING_TO_CHANGE
    if config.confirm.file is not None:
        say_all(wrapped(confirmed(confirm(decision, selection, Path(str(config.confirm.file)))), ""))
    say_all(["", *view.follow_up([*production.write(path, decision, selection), decided])])
    if decision.sweep.uri:
        _record(decision, selection, config.pick.register)
    return WRITTEN


def _record(decision: Decision, selection: Selection, name: str | None) -> None:
    """Verdicts, choice and registered model into MLflow; cells that miss a constraint are infeasible."""
    from harness.decision.deployment import register
    from harness.sweep.conclude import cell_verdicts
    from harness.tracker import CellVerdict
    from harness.tracker.mlflow_runs import record_pick, record_verdicts

    sweep = decision.sweep
    run_ids = {cell.name: cell.run_id for cell in sweep.cells}
    metrics = {name: own.decides for name, own in decision.points.items()}
    verdicts = cell_verdicts(selection.verdict, metrics, run_ids)
    verdicts += [
        CellVerdict(run_ids[name], "infeasible") for name in decision.misses.of_cell if run_ids[name]
    ]
    record_verdicts(sweep.uri, verdicts, sweep.primary, sweep.k)
    cell = sweep.cell(selection.choice.name)
    record_pick(sweep.uri, sweep.experiment_id, sweep.run_id, cell.run_id, cell.name)
    if name:
        own = decision.points[cell.name]
        about = {"sweep": sweep.name, "cell": cell.name, "metric": own.recorded}
        about |= {"score": f"{cell.metric(own.recorded):.4f}"}
        about |= {key: str(value) for key, value in own.point.settings().items()}
        version = register(sweep.uri, cell, own.point, str(name), about)
        say(f'{"Registered":<10} mlflow.pyfunc.load_model("models:/{name}@champion") (version {version})')


if __name__ == "__main__":
    sys.exit(main())
