"""How much of its evidence a question repeats."""

from __future__ import annotations

from statistics import fmean

from harness.questions.check import Examined, Finding, Look, counted
from harness.text.words import overlap

# A question of ten words that shares eight with its evidence is a quotation with a question mark.
_QUOTED = 0.8
_SOME, _MANY = 0.02, 0.1  # of all questions: so many move a score by points, so many decide a comparison


def wording_overlap(examined: Examined, language: str = "english") -> Look:
    """Mean overlap of the questions with their evidence, and those that all but quote it.

    Questions about whole documents, and those whose evidence is gone, have none.
    """
    plain, stemmed, quoted = [], [], []
    for i, units in enumerate(examined.units):
        quotes = [unit.evidence.quote for unit in units if unit.evidence and unit.evidence.quote]
        if not quotes:
            continue
        share = overlap(examined.questions[i].text, quotes, language)
        plain.append(share.plain)
        stemmed.append(share.stemmed)
        if share.plain >= _QUOTED:
            quoted.append(i)
    if not plain:
        return Look("overlap", "not known: no question has a quote")
    fact = (
        f"{fmean(plain):.3f} of a question's words stand in its evidence, {fmean(stemmed):.3f} of its stems; "
        f"{counted(len(quoted), 'question shares', 'questions share')} {_QUOTED:.0%} or more"
    )
    if len(quoted) <= _SOME * len(plain):
        return Look("overlap", fact)
    is_many = len(quoted) > _MANY * len(plain)
    finding = Finding(
        "quoting",
        "serious" if is_many else "note",
        examined.ids(quoted),
        f"{counted(len(quoted), 'question uses', 'questions use')} {_QUOTED:.0%} or more of "
        f"{'its' if len(quoted) == 1 else 'their'} words from the evidence: any search by words finds it.",
        "Keep real users' questions as they are. Reword those that were written from the documents, or read results for the others apart.",
    )
    return Look("overlap", fact, (finding,))
