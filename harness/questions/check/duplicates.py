"""Questions that ask the same."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from math import ceil

from harness.questions.check import Examined, Finding, Look, counted, shortened
from harness.text.words import words

_ALIKE = 0.8  # Jaccard similarity of the distinct words: one word in ten changed leaves 0.82


def duplicates(examined: Examined) -> Look:
    """Groups of questions with nearly the same words. Two that differ in a number ask about different things."""
    bags = [frozenset(words(question.text)) for question in examined.questions]
    leader = list(range(len(bags)))
    for one, other in _pairs(bags):
        if _numbers(bags[one]) == _numbers(bags[other]):
            leader[_first(leader, other)] = _first(leader, one)
    groups: dict[int, list[int]] = defaultdict(list)
    for i in range(len(bags)):
        groups[_first(leader, i)].append(i)
    alike = [sorted(group) for group in groups.values() if len(group) > 1]
    if not alike:
        return Look("alike", "no two questions")
    questions = examined.questions
    finding = Finding(
        "near-duplicates",
        "note",
        examined.ids([i for group in alike for i in group]),
        f"{counted(len(alike), 'group', 'groups')} of questions with nearly the same words: what they ask counts double, or one of them lacks the other's evidence.",
        "Delete the lines that say nothing new; give evidence that answers both to both, as alternatives.",
        tuple(
            " ~ ".join(f"{questions[i].question_id} “{shortened(questions[i].text)}”" for i in group)
            for group in alike
        ),
    )
    return Look(
        "alike", f"{sum(map(len, alike)):,} questions in {counted(len(alike), 'group', 'groups')}", (finding,)
    )


def _first(leader: list[int], i: int) -> int:
    while leader[i] != i:
        i = leader[i]
    return i


def _numbers(bag: frozenset[str]) -> frozenset[str]:
    return frozenset(word for word in bag if any(char.isdigit() for char in word))


def _pairs(bags: Sequence[frozenset[str]]) -> Iterator[tuple[int, int]]:
    """Pairs of positions whose sets are alike, the smaller first.

    Two sets that are alike share one of the rarest words of each (the prefix filter: Chaudhuri, Ganti & Kaushik 2006), so few are compared.
    """
    frequency = Counter(word for bag in bags for word in bag)
    having: dict[str, list[int]] = defaultdict(list)
    for i, bag in enumerate(bags):
        rarest = sorted(bag, key=lambda word: (frequency[word], word))
        prefix = rarest[: len(bag) - ceil(_ALIKE * len(bag)) + 1]
        for other in sorted({other for word in prefix for other in having[word]}):
            shared = len(bag & bags[other])
            if shared >= _ALIKE * (len(bag) + len(bags[other]) - shared):
                yield other, i
        for word in prefix:
            having[word].append(i)
