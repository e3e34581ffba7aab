"""How the questions are worded: repeated, without a subject, copied from the evidence, easy for BM25."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean
from typing import NamedTuple

import numpy as np

from harness.questions.check import CheckedSet, CheckResult, Finding, shortened
from harness.questions.near_copies import similar_pairs
from harness.records import FloatArray
from harness.text.words import overlap, words
from harness.view.formats import counted

_ALIKE = 0.8  # Jaccard similarity of the distinct words: one word in ten changed leaves 0.82
# What stands for a subject, with the words of somebody who is looking at a passage.
_STANDS_FOR = frozenset(
    re.findall(
        r"\w+",
        "it its they them their theirs he him his she her hers this that these those "
        "passage excerpt paragraph section snippet text document article author",
    )
)
# Words that ask, bind or judge, but name nothing.
_EMPTY = frozenset(
    re.findall(
        r"\w+",
        "a about above according after all also always am an and any are as ask at be because been before "
        "being best better between both but by can cause causes change changes come comes contain "
        "contains cost costs could describe did do does doing done each else example exactly explain "
        "following for from get gets give given gives go goes good had happen happened happens has have "
        "help how i if in include includes into is just kind know like long look made main make makes "
        "many me mean means mentioned might more most much must my need needed needs new no not of often "
        "ok on one only or other our out please possible provided purpose really reason reasons return "
        "returns role said same say says see set should show so some start still stop such take takes "
        "tell than the then there thing things time to too type us use used uses very want was way we "
        "well were what when where which while who whom whose why will with without work works would yes "
        "you your",
    )
)
_LATIN = re.compile(r"[a-z][a-z']*|\d\S*")
# A question of ten words that shares eight with its evidence is a quotation with a question mark.
_QUOTED = 0.8
_SOME, _MANY = 0.02, 0.1  # of all questions: so many move a score by points, so many decide a comparison
_LEAST_ROOM = 0.1  # with less than ten points left, cells differ by a few questions each
_FEWEST_CHUNKS = 50  # of fewer, any retriever finds a good part in five rows


def duplicates(checked: CheckedSet) -> CheckResult:
    """Groups of questions with nearly the same words.

    Two that differ in a number ask about different things.
    """
    bags = [set(words(question.text)) for question in checked.questions]
    codes: dict[str, int] = {}
    sets = [np.array(sorted(codes.setdefault(word, len(codes)) for word in bag), np.uint64) for bag in bags]
    leader = list(range(len(bags)))
    for one, other in similar_pairs(sets, _ALIKE):
        if _numbers(bags[one]) == _numbers(bags[other]):
            leader[_first(leader, other)] = _first(leader, one)
    groups: dict[int, list[int]] = defaultdict(list)
    for i in range(len(bags)):
        groups[_first(leader, i)].append(i)
    alike = [sorted(group) for group in groups.values() if len(group) > 1]
    if not alike:
        return CheckResult("alike", "no two questions")
    questions = checked.questions
    shown = counted(len(alike), "group")
    finding = Finding(
        "near-duplicates",
        "note",
        checked.ids([i for group in alike for i in group]),
        f"{shown} of questions with nearly the same words: each group counts as several questions, "
        "or one of them lacks the other's evidence.",
        "Delete the lines that add nothing; give both the evidence that answers both, as alternatives.",
        tuple(
            " ~ ".join(f"{questions[i].question_id} “{shortened(questions[i].text)}”" for i in group)
            for group in alike
        ),
    )
    return CheckResult("alike", f"{sum(map(len, alike)):,} questions in {shown}", (finding,))


def _first(leader: list[int], i: int) -> int:
    while leader[i] != i:
        i = leader[i]
    return i


def _numbers(bag: set[str]) -> set[str]:
    return {word for word in bag if any(char.isdigit() for char in word)}


def subjects(checked: CheckedSet) -> CheckResult:
    """English questions without a subject of their own, such as "What does it return?"."""
    found = [i for i, question in enumerate(checked.questions) if is_without_subject(question.text)]
    if not found:
        return CheckResult("subjects", "every question can be understood alone")
    questions = checked.questions
    finding = Finding(
        "no subject",
        "note",
        checked.ids(found),
        f"{counted(len(found), 'question does', 'questions do')} not say what "
        f"{'it is' if len(found) == 1 else 'they are'} about: no retriever can know, so they only add noise.",
        "Name the subject, or delete the lines.",
        tuple(f"{questions[i].question_id}: {shortened(questions[i].text, 100)}" for i in found),
    )
    return CheckResult("subjects", f"{counted(len(found), 'question')} without one", (finding,))


def is_without_subject(question: str) -> bool:
    """Whether an English question can be understood only beside its passage; False for other scripts.

    That is so when a pronoun (or "the passage", "the author") stands in it and no other word names anything.
    """
    lower = question.lower()
    found = _LATIN.findall(lower)
    if not found or any(char.isalpha() and not char.isascii() for char in lower):
        return False
    plain = [word.removesuffix("'s").replace("'", "") for word in found]
    naming = [word for word in plain if word not in _EMPTY and word not in _STANDS_FOR]
    return not naming and any(word in _STANDS_FOR for word in plain)


def wording_overlap(checked: CheckedSet, language: str = "english") -> CheckResult:
    """Mean overlap of the questions with their evidence, and those that almost quote it.

    Questions about whole documents, and those whose evidence is gone, have none.
    """
    plain, stemmed, quoted = [], [], []
    for i, units in enumerate(checked.units):
        quotes = [unit.evidence.quote for unit in units if unit.evidence and unit.evidence.quote]
        if not quotes:
            continue
        share = overlap(checked.questions[i].text, quotes, language)
        plain.append(share.plain)
        stemmed.append(share.stemmed)
        if share.plain >= _QUOTED:
            quoted.append(i)
    if not plain:
        return CheckResult("overlap", "not known: no question has a quote")
    fact = (
        f"{fmean(plain):.3f} of a question's words stand in its evidence, {fmean(stemmed):.3f} of its stems; "
        f"{counted(len(quoted), 'question shares', 'questions share')} {_QUOTED:.0%} or more"
    )
    if len(quoted) <= _SOME * len(plain):
        return CheckResult("overlap", fact)
    finding = Finding(
        "quoting",
        "serious" if len(quoted) > _MANY * len(plain) else "note",
        checked.ids(quoted),
        f"{counted(len(quoted), 'question takes', 'questions take')} {_QUOTED:.0%} or more of "
        f"{'its' if len(quoted) == 1 else 'their'} words from the evidence: lexical search finds it easily.",
        "Leave the questions of real users as they are. Reword those that were written from the documents, "
        "or read the results for the others apart.",
    )
    return CheckResult("overlap", fact, (finding,))


class LexicalRecall(NamedTuple):
    """Recall of BM25 per question: in the first five chunks (or documents), and within 2,000 tokens.

    float64 (questions,); ``in_tokens`` is empty where all questions are about whole documents. ``chunks``:
    how many chunks were searched.
    """

    question_ids: Sequence[str]
    in_five: FloatArray
    in_tokens: FloatArray
    chunks: int


def lexical_recall(found: LexicalRecall, minimum_detectable_effect: float | None) -> CheckResult:
    """BM25's recall, and an alarm when it leaves less room than ``minimum_detectable_effect``."""
    five = float(np.mean(found.in_five))
    fact = f"BM25 finds {five:.3f} of the evidence in 5 rows"
    if len(found.in_tokens):
        fact += f", {float(np.mean(found.in_tokens)):.3f} in 2,000 tokens"
    room, least = 1 - five, max(_LEAST_ROOM, minimum_detectable_effect or 0.0)
    if room >= least or found.chunks < _FEWEST_CHUNKS:
        return CheckResult("BM25", fact)
    finding = Finding(
        "leak alarm",
        "serious",
        tuple(q for q, value in zip(found.question_ids, found.in_five.tolist(), strict=True) if value >= 0.9),
        f"BM25 finds {five:.0%} of the evidence in 5 rows. That leaves {100 * room:.1f} points "
        f"to better models; a difference of {100 * least:.0f} would be found in 80% of sweeps.",
        "Add questions in users' own words; those that BM25 finds are named here.",
    )
    return CheckResult("BM25", fact, (finding,))
