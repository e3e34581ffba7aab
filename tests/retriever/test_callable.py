from __future__ import annotations

import sys

import pytest

from harness.errors import SettingError
from harness.retriever import Answer, Row
from harness.retriever.callable import CallableRetriever

MODULE = """
import numpy as np

calls = []

def search(query, top_k):
    calls.append((query, top_k))
    if query == "bad":
        raise KeyError("no such")
    return [{"id": query, "score": np.float32(0.5), "start": np.int64(1), "end": 3}, {"doc_id": 7, "text": "t"}][:top_k]

def search_batch(queries, top_k):
    calls.append((tuple(queries), top_k))
    return (search(query, top_k) for query in queries)

def too_few(queries, top_k):
    return [[]]

async def later(query, top_k):
    return []

def lazily(query, top_k):
    yield {"text": query}
    raise ValueError("in the middle")

class Shop:
    @staticmethod
    def find(query, top_k):
        return [{"id": "shop"}]

number = 3
"""
WHOLE = Answer((Row("q", None, 1, 3, 0.5), Row("7", "t")))
HALF = Answer((Row("q", None, 1, 3, 0.5),))


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A module of the user's own, in the folder that the command is called in."""
    name = f"mine_{tmp_path.name}"
    (tmp_path / f"{name}.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [p for p in sys.path if p])
    return name


def test_a_function_is_asked_question_by_question(module):
    """Rows are read as they are meant, numbers of NumPy too; one question that raises costs no other."""
    answers = CallableRetriever(f"{module}:search").ask(["q", "bad", "q"], 2)

    assert answers == [WHOLE, Answer(error="KeyError: 'no such'"), WHOLE]
    assert CallableRetriever(f"{module}:search").ask(["q"], 1) == [HALF]
    assert sys.modules[module].calls[:2] == [("q", 2), ("bad", 2)]


def test_a_batch_is_a_list_of_questions(module):
    """So many at a time; a batch that fails is asked again one by one, so that only the bad question is lost."""
    retriever = CallableRetriever(f"{module}:search_batch", batch=2)

    assert retriever.ask(["q", "q", "bad", "q", "q"], 1) == [
        HALF,
        HALF,
        Answer(error="KeyError: 'no such'"),
        HALF,
        HALF,
    ]
    assert [call for call, _ in sys.modules[module].calls if isinstance(call, tuple)] == [
        ("q", "q"), ("bad", "q"), ("bad",), ("q",), ("q",),
    ]  # fmt: skip
    assert (
        CallableRetriever(f"{module}:too_few", batch=2)
        .ask(["q", "r"], 1)[1]
        .error.startswith("gave a list of 1 to 2")
    )


@pytest.mark.filterwarnings("ignore:coroutine")
@pytest.mark.parametrize(
    ("name", "error"),
    [("later", "gave a coroutine; a list of rows"), ("lazily", "ValueError: in the middle")],
)
def test_what_is_no_list_is_named(module, name, error):
    """An answer that can't be read is an error of its question."""
    assert CallableRetriever(f"{module}:{name}").ask(["q"], 5)[0].error.startswith(error)


def test_a_method_is_a_function_too(module):
    """Whatever can be called, by its dotted name."""
    retriever = CallableRetriever(f"{module}:Shop.find")

    assert (retriever.ask(["q"], 5), retriever.name) == ([Answer((Row("shop"),))], f"{module}:Shop.find")
    assert (retriever.uses_model, retriever.uses_chunks) == (False, False)


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("search", "must be package.module:function"),
        ("a b:search", "must be package.module:function"),
        ("nothing_here:search", r"nothing_here:search can't be imported \(ModuleNotFoundError"),
        ("MODULE:serach", "has no attribute 'serach'"),
        ("MODULE:number", "MODULE:number is an int; a function search"),
        ("MODULE:Shop", "MODULE:Shop is a type; a function search"),
    ],
)
def test_wrong_targets_are_refused(module, target, said):
    """Before anything is read, with what to do."""
    with pytest.raises(SettingError, match=said.replace("MODULE", module)) as caught:
        CallableRetriever(target.replace("MODULE", module))
    assert caught.value.key == "retriever.target"


@pytest.mark.parametrize("given", [{"batch": 0}, {"batch": "2"}, {"depth": 0}, {"depth": True}], ids=str)
def test_wrong_numbers_are_refused(module, given):
    """Whole numbers of at least 1."""
    (key,) = given
    with pytest.raises(
        SettingError, match=rf"retriever\.{key} is .* whole number of (rows|questions), at least 1"
    ):
        CallableRetriever(f"{module}:search", **given)
