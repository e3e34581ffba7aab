"""A second, slow implementation of every metric: Python sets of characters, one question at a time.

Shares no code with the product beyond the records; also the random cases that both are run on.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from random import Random

import numpy as np

from harness.records import Chunks, Document, Evidence, Question, Ranking
from harness.text.tokens import TokenMap

LETTERS = "abc \n\u3000"


@dataclass
class Case:
    chunks: Chunks
    maps: list[TokenMap]
    questions: list[Question]
    full: list[list[int]]
    depth: int
    ks: list[int]
    budgets: list[int]
    kind: str

    @property
    def ranking(self) -> Ranking:
        rows = np.full((len(self.questions), self.depth), -1, dtype=np.int64)
        for i, row in enumerate(self.full):
            top = row[: self.depth]
            rows[i, : len(top)] = top
        return Ranking(rows, np.where(rows < 0, -np.inf, -np.arange(self.depth)).astype(np.float32))

    def first_ranks(self, relevant) -> np.ndarray:
        ranks = [
            min((self.full[i].index(row) + 1 for row in rows if row in self.full[i]), default=0)
            for i, rows in enumerate(relevant)
        ]
        return np.array(ranks, dtype=np.int64)


def random_case(rng: Random, kind: str = "span", *, nested: bool = True, overlapping: bool = True) -> Case:
    """A small corpus with white space of all kinds, chunks, labels and rankings."""
    documents = [
        Document(f"d{i}", "".join(rng.choices(LETTERS, k=rng.randint(0, 40))))
        for i in range(rng.randint(1, 4))
    ]
    maps = [_map(rng, document.text) for document in documents]
    spans = [
        (d, s, e)
        for d, document in enumerate(documents)
        for s, e in _chunk_spans(rng, len(document.text), nested=nested, overlapping=overlapping)
    ]
    columns = np.array(spans, dtype=np.int64).reshape(-1, 3)
    tokens = np.array([maps[d].count(s, e) + (rng.random() < 0.1) for d, s, e in spans], dtype=np.int64)
    chunks = Chunks(documents, columns[:, 0].copy(), columns[:, 1].copy(), columns[:, 2].copy(), tokens)
    questions = [
        Question(f"q{i}", "?", tuple(_evidence(rng, documents, kind) for _ in range(rng.randint(0, 3))))
        for i in range(rng.randint(1, 4))
    ]
    with_rows = sorted(set(columns[:, 0].tolist()))
    rows = with_rows if kind == "document" else list(range(len(spans)))
    full = [rng.sample(rows, rng.choice([len(rows), rng.randint(0, len(rows))])) for _ in questions]
    depth = rng.randint(1, max(1, len(rows)))
    ks = sorted(rng.sample(range(1, 12), 3))
    budgets = sorted(rng.sample(range(1, 30), 3))
    return Case(chunks, maps, questions, full, depth, ks, budgets, kind)


def _map(rng: Random, text: str) -> TokenMap:
    starts = sorted(rng.sample(range(len(text)), rng.randint(0, len(text))))
    return TokenMap(np.array(starts, dtype=np.int64), len(text))


def _chunk_spans(rng: Random, length: int, *, nested: bool, overlapping: bool) -> list[tuple[int, int]]:
    if length < 1:
        return []
    if not overlapping:
        borders = sorted({0, length, *(rng.randint(0, length) for _ in range(6))})
        return list(pairwise(borders))
    drawn = {tuple(sorted(rng.sample(range(length + 1), 2))) for _ in range(rng.randint(0, 10))}
    spans = sorted(drawn)
    if nested:
        return spans
    kept: list[tuple[int, int]] = []
    for start, end in spans:
        if not kept or end >= kept[-1][1]:
            kept.append((start, end))
    return kept


def _evidence(rng: Random, documents: list[Document], kind: str) -> Evidence:
    grade = rng.choice([-1, 0, 1, 1, 1, 2, 3])
    alternatives = tuple(_place(rng, documents, kind) for _ in range(rng.choice([0, 0, 1, 2])))
    own = _place(rng, documents, kind)
    return Evidence(own.doc_id, own.start, own.end, grade=grade, alternatives=alternatives)


def _place(rng: Random, documents: list[Document], kind: str) -> Evidence:
    document = rng.choice(documents)
    if rng.random() < 0.05:
        return Evidence("gone") if kind == "document" else Evidence("gone", 3, 9)
    if kind == "document" or rng.random() < 0.1 or not document.text:
        return Evidence(document.doc_id)
    start, end = sorted(rng.sample(range(len(document.text) + 1), 2))
    return Evidence(document.doc_id, start, end)


def fitting_ks(case: Case) -> list[int]:
    """The ks asked for, and for each budget the largest k whose rows cost at most so much on average."""
    costs = [Reference(case, i).costs() for i in range(len(case.questions))]
    found = set(case.ks)
    for budget in case.budgets:
        fit = [k for k in range(1, case.depth + 1) if sum(sum(c[:k]) for c in costs) <= budget * len(costs)]
        found.add(max(fit, default=1))
    return sorted(found)


class Reference:
    """The metrics of one question of a case, by definition."""

    def __init__(self, case: Case, index: int, min_overlap: float = 0.5, complete_at: float = 0.9) -> None:
        self.case, self.min_overlap, self.complete_at = case, min_overlap, complete_at
        self.evidence = [e for e in case.questions[index].evidence if e.grade > 0]
        self.full = case.full[index]
        self.rows = self.full[: case.depth]
        self.index = {document.doc_id: d for d, document in enumerate(case.chunks.documents)}

    def text(self, doc_id: str) -> str:
        return self.case.chunks.documents[self.index[doc_id]].text if doc_id in self.index else ""

    def nonblank(self, doc_id: str, start: int, end: int) -> set[tuple[str, int]]:
        text = self.text(doc_id)
        return {(doc_id, i) for i in range(start, end) if i >= len(text) or not text[i].isspace()}

    def span(self, row: int) -> tuple[str, int, int]:
        chunks = self.case.chunks
        return (
            chunks.documents[chunks.doc[row]].doc_id,
            int(chunks.start[row]),
            int(chunks.end[row]),
        )

    def place(self, place: Evidence) -> tuple[str, int, int]:
        if place.start is None:
            return place.doc_id, 0, len(self.text(place.doc_id))
        return place.doc_id, place.start, place.end

    def covered(self, evidence: Evidence, read: list[tuple[str, int, int]]) -> float:
        best = 0.0
        for place in evidence.places:
            if place.start is None:
                wanted = self.nonblank(*self.place(place))
                share = float(any(self.nonblank(*span) & wanted for span in read))
            else:
                wanted = self.nonblank(*self.place(place))
                seen = set().union(*(self.nonblank(*span) for span in read)) if read else set()
                share = len(wanted & seen) / max(len(wanted), 1)
            best = max(best, share)
        return best

    def shares(self, read: list[tuple[str, int, int]]) -> list[float]:
        return [self.covered(evidence, read) for evidence in self.evidence]

    def recall(self, read: list[tuple[str, int, int]]) -> float:
        return sum(self.shares(read)) / max(len(self.evidence), 1)

    def complete(self, read: list[tuple[str, int, int]]) -> float:
        shares = self.shares(read)
        return float(bool(shares) and min(shares) >= self.complete_at - 1e-9)

    def top(self, k: int) -> list[tuple[str, int, int]]:
        return [self.span(row) for row in self.rows[:k]]

    def costs(self) -> list[int]:
        costs, seen = [], set()
        for row in self.rows:
            doc_id, start, end = self.span(row)
            characters = {(doc_id, i) for i in range(start, end)}
            costs.append(0 if characters <= seen else int(self.case.chunks.tokens[row]))
            seen |= characters
        return costs

    def within(self, budget: int) -> list[tuple[str, int, int]]:
        read, left = [], budget
        for row, cost in zip(self.rows, self.costs(), strict=True):
            doc_id, start, end = self.span(row)
            if cost > left:
                if left > 0:
                    cut = self.case.maps[self.index[doc_id]].cut(start, left)
                    read.append((doc_id, start, min(cut, end)))
                break
            read.append((doc_id, start, end))
            left -= cost
        return read

    def grade(self, row: int) -> int:
        if self.case.kind == "document":
            doc_id = self.case.chunks.documents[row].doc_id
            return max(
                (e.grade for e in self.evidence for place in e.places if place.doc_id == doc_id), default=0
            )
        chunk = self.nonblank(*self.span(row))
        best = 0
        for evidence in self.evidence:
            for place in evidence.places:
                wanted = self.nonblank(*self.place(place))
                shared = len(chunk & wanted)
                if shared and shared >= self.min_overlap * min(len(chunk), len(wanted)) - 1e-9:
                    best = max(best, evidence.grade)
        return best

    def grades(self) -> dict[int, int]:
        """The grade of every relevant row, in the ranking or not; a document that is not there counts too."""
        if self.case.kind == "document":
            grades = {}
            for e in self.evidence:
                for place in e.places:
                    row = self.index.get(place.doc_id, -1)
                    grades[row] = max(grades.get(row, 0), e.grade)
            return grades
        grades = {row: self.grade(row) for row in range(len(self.case.chunks))}
        return {row: grade for row, grade in grades.items() if grade > 0}

    def relevant_to(self, row: int, place: Evidence) -> bool:
        """Whether a row, in the ranking or not, is relevant to one place; missing documents are row -1."""
        if self.case.kind == "document":
            return self.index.get(place.doc_id, -1) == row
        chunk, wanted = self.nonblank(*self.span(row)), self.nonblank(*self.place(place))
        shared = len(chunk & wanted)
        return shared > 0 and shared >= self.min_overlap * min(len(chunk), len(wanted)) - 1e-9

    def gaining(self) -> dict[int, int]:
        """The rows that gain, with their grades.

        Rows that are relevant to the same pieces of evidence are copies of one another: of them gain as many
        as one place of such evidence has at least, those that stand highest.
        """
        grades = self.grades()
        classes: dict[frozenset[int], list[int]] = {}
        for row in grades:
            to = {i for i, e in enumerate(self.evidence) if any(self.relevant_to(row, p) for p in e.places)}
            classes.setdefault(frozenset(to), []).append(row)
        gaining = {}
        for pieces, rows in classes.items():
            places = [place for i in pieces for place in self.evidence[i].places]
            counts = [sum(self.relevant_to(row, place) for row in rows) for place in places]
            ranked = sorted(rows, key=lambda r: self.rows.index(r) if r in self.rows else len(self.rows))
            gaining |= {row: grades[row] for row in ranked[: min(filter(None, counts))]}
        return gaining

    def row_metrics(self) -> dict[str, float]:
        grades, gaining = self.grades(), self.gaining()
        found = [grades.get(row, 0) for row in self.rows]
        first = next((i for i, row in enumerate(self.full, 1) if grades.get(row, 0) > 0), None)
        values = {"mrr": 1 / first if first else 0.0}
        for budget in self.case.budgets if self.case.kind == "span" else ():
            read = found[: len(self.within(budget))]
            values[f"judged_at_{budget}_tokens"] = sum(g > 0 for g in read) / len(read) if read else 1.0
        for k in self.case.ks:
            top = found[:k]
            hits = [g > 0 for g in top]
            ideal = sorted(gaining.values(), reverse=True)[:k]
            best = sum(g / math.log2(i + 1) for i, g in enumerate(ideal, 1))
            gain = sum(gaining.get(row, 0) / math.log2(i + 1) for i, row in enumerate(self.rows[:k], 1))
            precisions = sum(
                sum(hits[:i]) / i for i, row in enumerate(self.rows[:k], 1) if gaining.get(row, 0)
            )
            values |= {
                f"precision_at_{k}": sum(hits) / k,
                f"judged_at_{k}": sum(hits) / len(hits) if hits else 1.0,
                f"hit_at_{k}": float(any(hits)),
                f"mrr_at_{k}": 1 / first if first and first <= k else 0.0,
                f"ndcg_at_{k}": gain / best if best else 0.0,
                f"map_at_{k}": precisions / max(len(gaining), 1),
            }
        return values

    def span_metrics(self) -> dict[str, float]:
        case, values = self.case, {}
        for k in fitting_ks(case):
            values[f"recall_at_{k}"] = self.recall(self.top(k))
            values[f"complete_at_{k}"] = self.complete(self.top(k))
            values[f"context_tokens_at_{k}"] = float(sum(self.costs()[:k]))
        for k in case.ks:
            values[f"coverage_dcg_at_{k}"] = sum(
                (self.recall(self.top(i)) - self.recall(self.top(i - 1))) / math.log2(i + 1)
                for i in range(1, min(k, len(self.rows)) + 1)
            )
        for budget in case.budgets:
            values[f"context_tokens_at_{budget}_tokens"] = float(min(sum(self.costs()), budget))
            values[f"recall_at_{budget}_tokens"] = self.recall(self.within(budget))
            values[f"complete_at_{budget}_tokens"] = self.complete(self.within(budget))
        over = [values[f"recall_at_{budget}_tokens"] for budget in case.budgets]
        values["recall_over_budgets"] = sum(over) / len(over)
        return values | self.character_metrics()

    def character_metrics(self) -> dict[str, float]:
        def characters(span: tuple[str, int, int]) -> set[tuple[str, int]]:
            return {(span[0], i) for i in range(span[1], span[2])}

        def first(span: tuple[str, int, int]) -> float:
            ranks = (i for i, row in enumerate(self.rows) if characters(span) & characters(self.span(row)))
            return next(ranks, math.inf)

        values = {}
        for k in self.case.ks:
            read = set().union(*(characters(span) for span in self.top(k))) if self.top(k) else set()
            gold = set()
            for e in self.evidence:
                spans = [characters(self.place(place)) for place in e.places]
                shares = [len(span & read) / max(len(span), 1) for span in spans]
                firsts = [first(self.place(place)) for place in e.places]
                order = range(len(spans))
                gold |= spans[min(order, key=lambda i: (-shares[i], -len(spans[i]), firsts[i]))]
            total = sum(end - start for _, start, end in self.top(k))
            found = len(gold & read)
            values[f"char_recall_at_{k}"] = found / max(len(gold), 1)
            values[f"char_precision_at_{k}"] = found / max(total, 1)
            values[f"iou_at_{k}"] = found / max(total + len(gold) - found, 1)
        touching = set()
        spans = [self.place(place) for e in self.evidence for place in e.places]
        gold = set().union(*map(characters, spans))
        for row in range(len(self.case.chunks)):
            doc_id, start, end = self.span(row)
            if any(d == doc_id and s < e and start <= e and end >= s for d, s, e in spans):
                touching |= characters((doc_id, start, end))
        values["precision_omega"] = len(gold & touching) / max(len(gold | touching), 1)
        return values
