"""An external retriever that is called as a Python function."""

from __future__ import annotations

import pkgutil
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from harness.errors import SettingError, whole
from harness.retriever import Answer
from harness.retriever.external.answers import ask_all, said
from harness.retriever.external.rows import a

_TARGET = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")


class CallableRetriever:
    """Calls ``target`` (``package.module:function``) with a question and a number of rows.

    The function ``search(query, top_k)`` gives a list of rows, best first, as ``read_row`` takes them. Raises
    ``SettingError`` for what can't be imported or called.

    - ``batch``: above 1 the function takes so many questions as a list and gives a list of such lists.
    - ``depth``: rows asked for at most, None for as many as the metrics need.
    """

    uses_chunks = False
    uses_model = False
    uses_index = False

    def __init__(self, target: str, batch: int = 1, depth: int | None = None) -> None:
        self.name = str(target)
        self.depth = None if depth is None else whole(depth, "retriever.depth", 1, of="rows")
        self._batch = whole(batch, "retriever.batch", 1, of="questions")
        self._function = _imported(self.name)

    def ask(self, questions: Sequence[str], top_k: int) -> list[Answer]:
        """One answer for each question.

        Questions are asked one after the other: the function may not be safe for threads.
        """

        def call(some: Sequence[str], rows: int) -> object:
            return self._function(some[0] if self._batch == 1 else list(some), rows)

        return ask_all(call, questions, self._batch, top_k)


def _imported(target: str) -> Callable[[Any, int], object]:
    if not _TARGET.fullmatch(target):
        raise SettingError(
            f"retriever.target is {target!r}; it must be package.module:function, for instance "
            "retriever.target=shop.search:search.",
            key="retriever.target",
        )
    here = str(Path.cwd())
    if not {"", here} & set(sys.path):  # an installed command does not look where it is called
        sys.path.insert(0, here)
    try:
        found: Any = pkgutil.resolve_name(target)
    except Exception as error:  # importing runs the user's code, which may raise anything
        raise SettingError(
            f"retriever.target: {target} can't be imported ({said(error)}). "
            f"Python looks in {here}, in PYTHONPATH and among the installed packages.",
            key="retriever.target",
        ) from error
    if not callable(found) or isinstance(found, type):
        raise SettingError(
            f"retriever.target: {target} is {a(found)}; a function search(query, top_k) is expected.",
            key="retriever.target",
        )
    function: Callable[[Any, int], object] = found
    return function
