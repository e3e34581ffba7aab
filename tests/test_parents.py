"""``chunker=parent`` through whole cells: against brute force, against the plain chunkers, and as its users run it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from own_retrievers import answers_of, write_answers
from workplace import Workplace

from harness.cell import pipeline
from harness.cell.build import Shared
from harness.cell.settings import new
from harness.cli import compose
from harness.cli.command import take_apart
from harness.decision import deployment
from harness.decision.baseline import read_production
from harness.index.exact import ExactIndex
from harness.store.reranker_scores import CachedReranker

pytestmark = pytest.mark.models

SAMPLE = Path(__file__).parents[1] / "data" / "handbook"
KS = [1, 2, 5]
BUDGETS = (50, 300)


def sample(root: Path, *, headings: bool) -> Workplace:
    """Thirteen pages of the sample, 30 questions with spans in them, and 10 more about whole pages."""
    pages = sorted([*SAMPLE.glob("policies/*.md"), *SAMPLE.glob("billing/*.md")])
    for page in pages:
        file = root / "documents" / page.relative_to(SAMPLE)
        file.parent.mkdir(parents=True, exist_ok=True)
        text = page.read_text(encoding="utf-8")
        # A line that is no heading any more, of the same length: spans stay.
        plain = re.sub(r"^#+", lambda marks: "§" * len(marks[0]), text, flags=re.MULTILINE)
        file.write_text(text if headings else plain, encoding="utf-8", newline="")
    names = {page.relative_to(SAMPLE).as_posix() for page in pages}
    lines = [json.loads(line) for line in (SAMPLE / "golden.jsonl").read_text(encoding="utf-8").splitlines()]
    lines = [line for line in lines if {place["doc_id"] for place in line["evidence"]} <= names]
    for line in lines[30:40]:
        line["evidence"] = [{"doc_id": place["doc_id"]} for place in line["evidence"]]
    (root / "golden.jsonl").write_text(
        "".join(json.dumps(line) + "\n" for line in lines[:40]), encoding="utf-8"
    )
    return Workplace(root, root / "documents", root / "golden.jsonl")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Pages with headings."""
    return sample(tmp_path_factory.mktemp("parents"), headings=True)


def config(place, *words):
    """The configuration of one cell over these pages."""
    own = [
        *("corpus=folder", f"corpus.path={place.documents}", f"golden.path={place.golden}"),
        *(f"cache={place.root}/cache", "model=wordllama", f"k={KS}", f"metrics.budgets={list(BUDGETS)}"),
    ]
    taken = take_apart([*own, *words])
    return compose.composed(taken, taken.overrides).config


def evaluated(place, *words):
    """The result of one cell."""
    return pipeline.evaluate(Shared().components(config(place, *words)), KS, "recall_at_5")


def inked(text, start, end):
    return {i for i in range(start, end) if not text[i].isspace()}


class BruteForce:
    """One question at a time, by definition: every chunk scored, every parent at its best chunk, sets of characters."""

    def __init__(self, settings):
        made = Shared().components(settings)
        self.chunks, self.inputs = made.chunks, made.inputs
        self.parents = self.chunks.returned
        spans = zip(
            self.chunks.doc.tolist(), self.chunks.start.tolist(), self.chunks.end.tolist(), strict=True
        )
        self.parent_of = [self._parent(*span) for span in spans]
        self.made = made
        retriever = new(settings, "retriever")
        retriever.build(self.chunks, made.model, ExactIndex())
        self.retriever, self.is_dense = retriever, settings.retriever["_target_"].endswith("DenseRetriever")

    def _parent(self, doc, start, end):
        (found,) = [
            i
            for i in range(len(self.parents))
            if self.parents.doc[i] == doc and self.parents.start[i] <= start and end <= self.parents.end[i]
        ]
        return found

    def chunk_scores(self, question):
        """Row to score; a row that never comes back is left out."""
        if self.is_dense:
            rows = np.arange(len(self.chunks))
            vectors = self.made.model.encode_documents(list(self.chunks.embed_texts(rows))).vectors
            query = self.made.model.encode_queries([question]).vectors[0]
            return dict(enumerate((vectors.astype(np.float64) @ query.astype(np.float64)).tolist()))
        ranking = self.retriever.search([question], len(self.chunks))
        return {
            row: score
            for row, score in zip(ranking.rows[0].tolist(), ranking.scores[0].tolist(), strict=True)
            if row >= 0
        }

    def best(self, question, owner):
        """Owner (a parent or a document) to the score of its best chunk."""
        best: dict[int, float] = {}
        for row, score in self.chunk_scores(question).items():
            best[owner[row]] = max(score, best.get(owner[row], -np.inf))
        return best

    def metrics(self, question, rows):
        """Recall, cost and budgets of the parents ``rows``, best first."""
        index = {document.doc_id: i for i, document in enumerate(self.inputs.documents)}
        spans = [
            (int(self.parents.doc[r]), int(self.parents.start[r]), int(self.parents.end[r])) for r in rows
        ]
        costs = [self.inputs.tokens[doc].count(start, end) for doc, start, end in spans]

        def recall(read):
            shares = []
            for evidence in question.evidence:
                of_places = []
                for one in evidence.places:
                    text, doc = self.inputs.documents[index[one.doc_id]].text, index[one.doc_id]
                    wanted = inked(text, one.start, one.end)
                    seen = {i for d, start, end in read if d == doc for i in inked(text, start, end)}
                    of_places.append(len(wanted & seen) / len(wanted))
                shares.append(max(of_places))
            return sum(shares) / len(shares)

        values = {f"recall_at_{k}": recall(spans[:k]) for k in KS}
        values |= {f"context_tokens_at_{k}": sum(costs[:k]) for k in KS}
        for budget in BUDGETS:
            read, left = [], budget
            for (doc, start, end), cost in zip(spans, costs, strict=True):
                cut = end if cost <= left else min(self.inputs.tokens[doc].cut(start, left), end)
                read += [(doc, start, cut)] if left else []
                left -= min(cost, left)
            values[f"recall_at_{budget}_tokens"] = recall(read)
        return values


@pytest.mark.parametrize("words", [(), ("context=heading_path",), ("overlap=8",)], ids=str)
@pytest.mark.parametrize("retriever", ["dense", "bm25", "hybrid", "random"])
def test_a_cell_is_what_brute_force_says(place, retriever, words):
    """Parents in the order of their best chunk, documents in that of theirs, and metrics, cost and budgets of what is handed over."""
    settings = config(
        place, "chunker=parent", "chunk=24", "chunker.parent=96", f"retriever={retriever}", *words
    )
    made = Shared().components(settings)
    result = pipeline.evaluate(made, KS, "recall_at_5")
    brute = BruteForce(settings)

    assert len(brute.parents) < len(brute.chunks)
    assert result.chunks is made.chunks.returned
    assert {kind: len(asked) for kind, asked in result.questions.items()} == {"span": 30, "document": 10}
    for kind, owner in (("span", brute.parent_of), ("document", made.chunks.doc.tolist())):
        for i, question in enumerate(result.questions[kind]):
            best = brute.best(question.text, owner)
            rows = result.rankings[kind].rows[i]
            rows = rows[rows >= 0].tolist()
            scores = [best[row] for row in rows]
            assert len(set(rows)) == len(rows) == min(len(best), result.rankings[kind].depth)
            # Two that differ by rounding alone may change places.
            assert scores == pytest.approx(sorted(best.values(), reverse=True)[: len(rows)], abs=1e-6)
            assert result.rankings[kind].scores[i][: len(rows)].tolist() == pytest.approx(scores, abs=1e-6)
            if kind == "span":
                for name, value in brute.metrics(question, rows).items():
                    assert result.scores["span"].values[name][i] == pytest.approx(value), name


@pytest.mark.parametrize("retriever", ["dense", "bm25", "hybrid", "random"])
@pytest.mark.parametrize("headings", [True, False])
def test_as_big_as_its_parent_it_scores_as_the_plain_chunker(tmp_path, headings, retriever):
    """Where every chunk is its own parent, rankings and scores are those of ``markdown``, or of ``recursive`` without headings."""
    place = sample(tmp_path, headings=headings)
    words = ("chunk=64", f"retriever={retriever}", "context=title")
    plain = evaluated(place, f"chunker={'markdown' if headings else 'recursive'}", *words)
    parent = evaluated(place, "chunker=parent", "chunker.parent=64", *words)

    assert parent.metrics() == plain.metrics()
    for kind, ranking in plain.rankings.items():
        assert np.array_equal(parent.rankings[kind].rows, ranking.rows)
        assert parent.scores[kind].cause == plain.scores[kind].cause
    sizes = {name: parent.health[name] for name in parent.health if name.startswith("parent")}
    assert {name: value for name, value in parent.health.items() if name not in sizes} == plain.health
    assert sizes == {
        f"parent_{name}": plain.health[name] for name in ("chunks", "chunk_tokens_mean", "chunk_tokens_p95")
    }


@pytest.mark.parametrize("index", ["hnsw", "int8", "binary", "sqlite_vec"])
def test_every_index_finds_parents(place, index):
    """What the index misses is told in parents, of those that exact search finds; with room for all chunks there is nothing to miss."""
    words = ("chunker=parent", "chunk=24", "chunker.parent=96")
    room = {"hnsw": "ef", "sqlite_vec": ""}.get(index, "candidates")
    given = (f"index.{room}=2000",) if room else ()
    exact, found = evaluated(place, *words), evaluated(place, *words, f"index={index}", *given)

    assert found.health["index_recall"] == 1
    assert found.metrics() == pytest.approx(exact.metrics())
    if room:
        few = evaluated(place, *words, f"index={index}", f"index.{room}=1")
        pairs = [
            (set(ours.tolist()), set(theirs.tolist()))
            for kind, ranking in exact.rankings.items()
            for ours, theirs in zip(few.rankings[kind].rows[:, :5], ranking.rows[:, :5], strict=True)
        ]
        share = sum(len(ours & theirs) for ours, theirs in pairs) / sum(len(theirs) for _, theirs in pairs)
        assert few.health["index_recall"] == pytest.approx(share)
        assert 0.1 < share < 0.3  # a vector has one parent, or a few where their texts are equal


class Noting:
    """A reranker that prefers short texts and notes what it read."""

    def __init__(self, depth):
        self.depth, self.read = depth, []

    def identity(self):
        return {"name": "noting"}

    def scores(self, question, texts):
        self.read += texts
        return np.array([-len(text) for text in texts], np.float32)


def test_a_reranker_reads_the_chunks(place):
    """Of the first 20 chunks the shortest brings its parent first, and so on; parents without one of them stay below as they stood."""
    settings = config(place, "chunker=parent", "chunk=24", "chunker.parent=96", "context=title")
    plain, reranker = pipeline.evaluate(Shared().components(settings), KS, "recall_at_5"), Noting(20)
    made = replace(Shared().components(settings), reranker=CachedReranker(reranker, None))
    result, brute = pipeline.evaluate(made, KS, "recall_at_5"), BruteForce(settings)

    assert set(reranker.read) <= set(brute.chunks.embed_texts(np.arange(len(brute.chunks))))
    for i, question in enumerate(result.questions["span"]):
        scores = brute.chunk_scores(question.text)
        read = sorted(scores, key=lambda row: -scores[row])[:20]
        ordered = sorted(read, key=lambda row: (len(brute.chunks.embed_text(row)), read.index(row)))
        first = list(dict.fromkeys(brute.parent_of[row] for row in ordered))
        below = [row for row in plain.rankings["span"].rows[i].tolist() if row not in first]
        rows = result.rankings["span"].rows[i].tolist()
        assert rows == (first + below)[: len(rows)]


def test_with_a_reranker_the_index_answers_for_the_chunks_that_are_read(place):
    """Of the first 20 chunks by exact search, the share that the index finds: the reranker would have read the others too."""
    settings = config(
        place, "chunker=parent", "chunk=24", "chunker.parent=96", "index=int8", "index.candidates=7"
    )
    made = replace(Shared().components(settings), reranker=CachedReranker(Noting(20), None))
    result = pipeline.evaluate(made, KS, "recall_at_5")
    texts = [question.text for asked in result.questions.values() for question in asked]
    ours, theirs = (found.search(texts, 20).rows for found in (made.first_stage, made.exact))

    found = sum(len(set(a.tolist()) & set(b.tolist()) - {-1}) for a, b in zip(ours, theirs, strict=True))
    assert result.health["index_recall"] == found / (20 * 40)
    assert 0.3 < result.health["index_recall"] < 0.5


def test_what_is_kept_is_what_depends_on_it(place, tmp_path):
    """A parent's size is part of a ranking; equal texts are embedded once, whoever cut them; the same cell again does nothing."""

    def spent(*words):
        result = evaluated(place, f"cache={tmp_path}", "chunk=64", *words)
        return result, result.timing["texts_embedded"]

    _, plain = spent("chunker=markdown")
    same, none = spent("chunker=parent", "chunker.parent=64")
    larger, new = spent("chunker=parent", "chunker.parent=512")
    largest, _ = spent("chunker=parent", "chunker.parent=2000")
    again, nothing = spent("chunker=parent", "chunker.parent=512")

    assert plain > len(same.questions["span"])
    assert none == nothing == 0
    assert new < plain // 10
    assert len(same.chunks) > len(larger.chunks) > len(largest.chunks)
    assert np.array_equal(again.rankings["span"].rows, larger.rankings["span"].rows)
    assert again.metrics() == larger.metrics()


def test_a_parent_below_its_chunks_is_refused(place):
    """Before anything is read, with what to do."""
    done = place.run("chunker=parent", "chunk=512", "chunker.parent=256", "tracker=none")
    assert done.returncode == 1
    assert "chunker.parent is 256; it must be at least chunk=512" in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_a_sweep_as_it_is_typed(tmp_path):
    """Plain chunkers run once each; a parent below its chunks is skipped; a fixed number of tokens decides, and parents cost theirs."""
    place = sample(tmp_path, headings=True)
    done = place.sweep(
        "-m", "chunker=parent,recursive", "chunk=32,160", "chunker.parent=128,512", "tracker=none"
    )
    results = {result["name"]: result for result in place.results()}

    assert done.returncode == 0, done.stderr
    assert "1 skipped, as the values don't go together: chunker.parent is 128" in " ".join(
        done.stdout.split()
    )
    assert set(results) == {
        *("parent · 32 · parent=128", "parent · 32 · parent=512", "parent · 160 · parent=512"),
        *("recursive · 32", "recursive · 160"),
    }
    assert {result["primary"] for result in results.values()} == {"recall_at_2000_tokens"}
    small, large = (results[f"parent · 32 · parent={size}"] for size in (128, 512))
    assert small["metrics"]["context_tokens_at_5"] < large["metrics"]["context_tokens_at_5"]
    assert small["health"]["parent_chunks"] > large["health"]["parent_chunks"]
    assert "parent_chunks" not in results["recursive · 32"]["health"]
    assert small["params"]["chunker.parent"] == "128"


LIVE = """
import json
from pathlib import Path

def search(query, top_k):
    return [{"text": row["text"]} for row in json.loads(Path("answers.json").read_text())[query][:top_k]]
"""


def test_what_is_deployed_hands_over_parents(tmp_path, monkeypatch):
    """The picked configuration names the parent's size; its retriever answers with parents; a live one that does so is in parity."""
    monkeypatch.setenv("HARNESS_ROOT", str(tmp_path))
    place = sample(tmp_path, headings=True)
    place.golden.write_text(
        "".join(place.golden.read_text().splitlines(keepends=True)[:30])
    )  # those with spans
    words = ("chunker=parent", "chunk=32", "chunker.parent=128", "retriever=hybrid", "context=heading_path")
    done = place.sweep(*words, "tracker=none")
    assert done.returncode == 0, done.stdout + done.stderr
    (sweep,) = place.root.glob("outputs/*/*")
    done = place.run(f"sweep={sweep}", "pick.measure=false", "pick.register=null", module="harness.pick")
    assert done.returncode == 0, done.stdout + done.stderr
    recorded = read_production(place.root / "production.yaml")
    assert recorded.composed.config.chunker.parent == 128

    deployment.save(recorded.composed.config, tmp_path / "deployed")
    deployed = deployment.load(tmp_path / "deployed")
    answers = answers_of(place)
    for question, hits in zip(answers, deployed.answer(list(answers)), strict=True):
        assert len(hits) == 5
        for hit, row in zip(hits, answers[question], strict=False):
            text = (place.documents / hit["doc_id"]).read_text(encoding="utf-8")
            assert text[hit["start"] : hit["end"]] == hit["text"] == row["text"]
    assert max(len(hit["text"]) for hits in deployed.answer(list(answers)) for hit in hits) > 400

    write_answers(tmp_path / "answers.json", answers)
    (tmp_path / "live.py").write_text(LIVE)
    done = place.run("production.yaml", "target=live:search", "retriever.depth=10", module="harness.verify")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "30 of 30 questions (100.0%) get the same 5 rows in the same order" in " ".join(
        done.stdout.split()
    )
