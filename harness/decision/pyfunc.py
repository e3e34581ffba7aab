"""The registered model: MLflow runs this file with the folder of a configuration as artifact."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mlflow
from pydantic import BaseModel

from harness.decision import deployment


class ReturnedChunk(BaseModel):
    """A returned chunk (with chunker=parent: its parent); offsets are characters, half open."""

    doc_id: str
    start: int
    end: int
    text: str
    score: float


class Champion(mlflow.pyfunc.PythonModel):  # type: ignore[misc,name-defined]  # exported at run time only
    """Answers questions with ranked chunks."""

    def load_context(self, context: Any) -> None:
        """Loads documents and vectors; the model's weights are loaded with the first question."""
        self._deployed = deployment.load(Path(context.artifacts["deployment"]))

    def predict(  # the signature is MLflow's
        self,
        context: Any,  # noqa: ARG002 - everything was loaded
        model_input: list[str],
        params: dict[str, str] | None = None,  # noqa: ARG002 - there are none
    ) -> list[list[ReturnedChunk]]:
        """The best chunks of each question, best first."""
        return self._deployed.answer(model_input)  # type: ignore[return-value]  # plain values, as MLflow expects


mlflow.models.set_model(Champion())
