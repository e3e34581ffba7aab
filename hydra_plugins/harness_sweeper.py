"""The sweep as a plugin of Hydra, which looks for plugins in the namespace package ``hydra_plugins`` only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hydra.core.plugins import Plugins
from hydra.core.utils import JobReturn, run_job
from hydra.plugins.sweeper import Sweeper
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig, open_dict


class CellSweeper(Sweeper):
    """Hands the chosen launcher exactly the cells of the task, one job each.

    The task is ``harness.sweep.cell.CellTask``: its cells were checked before Hydra was started, so nothing
    is expanded or validated again.
    """

    def __init__(self, params: DictConfig | None = None) -> None:
        self.params = params  # the axes of an experiment, which are cells by now

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        """Takes what Hydra gives to every sweeper."""
        self._context, self._config = hydra_context, config
        self._task: Any = task_function
        self._launcher = Plugins.instance().instantiate_launcher(
            hydra_context=hydra_context, task_function=task_function, config=config
        )

    def sweep(self, arguments: list[str]) -> list[Sequence[JobReturn]]:  # noqa: ARG002 - the cells are known
        """Runs every cell. An error that ended a job is raised."""
        if str(self._config.hydra.launcher._target_).endswith(".BasicLauncher"):
            jobs: Sequence[JobReturn] = [self._run(number) for number in range(len(self._task.cells))]
        else:
            jobs = self._launcher.launch(
                [list(cell.overrides) for cell in self._task.cells], initial_job_idx=0
            )
        for job in jobs:
            _ = job.return_value
        return [jobs]

    def _run(self, number: int) -> JobReturn:
        """One job in this process, as Hydra's basic launcher runs it.

        The configuration is the one that was composed for the check.
        """
        cell = self._task.cells[number]
        config = cell.config.copy()
        with open_dict(config):
            config.hydra = cell.hydra.copy()
            config.hydra.sweep.dir = self._config.hydra.sweep.dir
            config.hydra.job.id = config.hydra.job.num = number
        return run_job(
            hydra_context=self._context,
            task_function=self._task,
            config=config,
            job_dir_key="hydra.sweep.dir",
            job_subdir_key="hydra.sweep.subdir",
        )
