"""The registered model: MLflow loads this file as code, with the folder of a deployed configuration as its artifact."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mlflow
from pydantic import BaseModel

from harness.decision import deployment


class Hit(BaseModel):
    """One chunk that came back (with chunker=parent, the parent of one that was found): its document, its span there (character offsets, half open), its text and its score."""

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
        context: Any,  # noqa: ARG002 - all that is needed was loaded
        model_input: list[str],
        params: dict[str, str] | None = None,  # noqa: ARG002 - there are none
    ) -> list[list[Hit]]:
        """The best chunks of each question, best first."""
        return self._deployed.answer(model_input)  # type: ignore[return-value]  # MLflow wants plain values, and the schema from the type


mlflow.models.set_model(Champion())
