"""A user's retriever in a sweep: served from another process, or as a function, it scores as the built-in one on the same chunks."""

from __future__ import annotations

import json

import own_retrievers
import pytest
from pyarrow import parquet

FUNCTION = """
import json
from pathlib import Path

ANSWERS = json.loads(Path("answers.json").read_text())

def search(query, top_k):
    return ANSWERS[query][:top_k]

def search_batch(queries, top_k):
    return [search(query, top_k) for query in queries]
"""
# A property of all chunks, which only the built-in retriever knows.
UNKNOWN = {"precision_omega"}


@pytest.fixture
def known(workplace):
    """A place where ``dense`` was searched, with its answers in ``answers.json`` and in a function."""
    done = workplace.sweep("retriever=dense", "chunk=16", "tracker=none")
    assert done.returncode == 0, done.stderr
    (workplace.root / "answers.json").write_text(json.dumps(own_retrievers.answers_of(workplace)))
    (workplace.root / "mine.py").write_text(FUNCTION)
    return workplace


@pytest.mark.models
def test_it_scores_as_the_built_in_one_on_the_same_chunks(known):
    """Every metric of every question is equal, to the last bit: over HTTP from another process, as a function, and both in batches."""
    with own_retrievers.served(known.root / "answers.json") as url:
        http = ("retriever=http", f"retriever.url={url}", "tracker=none")
        function = ("retriever=callable", "tracker=none")
        for words in (
            http,
            (*http, "retriever.batch=2"),
            (*function, "retriever.target=mine:search"),
            (*function, "retriever.target=mine:search_batch", "retriever.batch=3"),
        ):
            done = known.sweep(*words)
            assert done.returncode == 0, done.stdout + done.stderr
            assert "\n! wordllama" not in done.stdout

    built_in, *own = [table(file) for file in sorted(known.root.glob("outputs/*/*/0/questions.parquet"))]
    assert len(own) == 4
    for columns in own:
        assert columns.keys() == built_in.keys()
        assert [name for name in columns if columns[name] != built_in[name]] == sorted(UNKNOWN)
    first, *others = known.results()
    for result in others:
        assert result["health"]["rows"] == 5 * first["health"]["chunks"]
        assert "chunks" not in result["health"]
        assert result["model"] == {}


def table(file):
    """The columns of questions.parquet as lists that compare equal."""
    columns = parquet.read_table(file).to_pydict()
    return {name: list(map(repr, values)) for name, values in columns.items()}


@pytest.mark.models
def test_whole_documents_come_from_ids(workplace):
    """A question about a whole document is scored on the ids alone."""
    lines = [
        {"question_id": f"q{i}", "question": doc, "evidence": [{"doc_id": doc}]}
        for i, doc in enumerate(["tea.md", "cocoa.txt"])
    ]
    workplace.golden.write_text("\n".join(map(json.dumps, lines)))
    (workplace.root / "mine.py").write_text(
        "def search(query, top_k):\n    return [{'id': 'tea.md'}, {'id': 'tea.md', 'text': 'kept otherwise'}, {'id': 'cocoa.txt'}]\n"
    )
    done = workplace.sweep("retriever=callable", "retriever.target=mine:search", "tracker=none")
    assert done.returncode == 0, done.stderr
    (result,) = workplace.results()

    assert result["metrics"]["mrr"] == 0.75
    assert result["health"]["unmapped_rows"] == 0


@pytest.mark.models
def test_all_that_is_wrong_is_named_under_the_table(workplace):
    """Duplicates, unknown ids, too few rows, NaN, wrong types, and one question that raises: counted, and the others are scored."""
    (workplace.root / "mine.py").write_text(
        "def search(query, top_k):\n"
        "    if 'cocoa' in query: raise RuntimeError('no cocoa')\n"
        "    return [{'id': 'tea.md', 'score': float('nan')}, {'id': 'tea.md'}, {'id': '?', 'text': 'nowhere'}, 3]\n"
    )
    done = workplace.sweep("retriever=callable", "retriever.target=mine:search", "tracker=none", "k=3,5")
    assert done.returncode == 0, done.stderr
    (result,) = workplace.results()
    said = " ".join(done.stdout.split())

    assert {key: n for key, n in result["health"].items() if key in result["remarks"] or key == "rows"} == {
        "rows": 16,
        "unmapped_rows": 8,
        "duplicate_rows": 4,
        "malformed_rows": 4,
        "bad_scores": 4,
        "failed_questions": 1,
        "short_answers": 4,
    }
    assert (
        "1 of 5 questions got no answer, counted as not found (for instance q5, RuntimeError: no cocoa)"
        in said
    )
    assert "8 of 16 rows matched no document" in said
    assert result["metrics"]["hit_at_3"] == 0.4


@pytest.mark.models
def test_a_retriever_that_answers_nothing_fails_its_cell(workplace):
    """The others go on; the sentence says why. An own option stands beside the built-in ones."""
    (workplace.root / "mine.py").write_text(
        "def search(query, top_k):\n    raise ValueError('down for repair')\n"
    )
    (workplace.root / "own/retriever").mkdir(parents=True)
    (workplace.root / "own/retriever/mine.yaml").write_text("defaults: [callable]\ntarget: mine:search\n")
    done = workplace.sweep("-m", "--config-dir", "own", "retriever=bm25,mine", "tracker=none")
    said = " ".join(done.stdout.split())

    assert done.returncode == 1
    assert "mine:search answered no question (5 asked). The first: ValueError: down for repair." in said
    assert "recall@2000t" in said
    assert len(workplace.results()) == 1


@pytest.mark.models
@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("[]", "mine:search returned no row for any question (5 asked). Is its index filled? The first question was: "),
        ("[{'passages': query}] * 3", "15 of 15 rows that mine:search returned match no document. For instance: {'passages': 'How"),
    ],
)  # fmt: skip
def test_what_is_no_measurement_fails_its_cell(workplace, answer, said):
    """An empty index, and rows of another shape or of other documents; the other cells are scored."""
    (workplace.root / "mine.py").write_text(f"def search(query, top_k):\n    return {answer}\n")
    (workplace.root / "own/retriever").mkdir(parents=True)
    (workplace.root / "own/retriever/mine.yaml").write_text("defaults: [callable]\ntarget: mine:search\n")
    done = workplace.sweep("-m", "--config-dir", "own", "retriever=bm25,mine", "tracker=none")

    assert done.returncode == 1
    assert said in " ".join(done.stdout.split())
    assert len(workplace.results()) == 1


def test_the_plan_asks_nobody(workplace):
    """What a sweep would do is found without a single call."""
    (workplace.root / "mine.py").write_text("def search(query, top_k):\n    open('called', 'w')\n")
    done = workplace.sweep("retriever=callable", "retriever.target=mine:search", "plan=true")

    assert done.returncode == 0, done.stderr
    assert "returns its own chunks" in " ".join(done.stdout.split())
    assert not (workplace.root / "called").exists()
