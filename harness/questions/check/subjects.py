"""Questions that can't be understood without the passage at hand."""

from __future__ import annotations

import re

from harness.questions.check import Examined, Finding, Look, counted, shortened

# What stands for a subject, among it words of somebody who is looking at a passage.
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
        "a about above according after all also always am an and any are as ask at be because been before being best better between both but by can cause "
        "causes change changes come comes contain contains cost costs could describe did do does doing done each else example exactly explain following "
        "for from get gets give given gives go goes good had happen happened happens has have help how i if in include includes into is just kind "
        "know like long look made main make makes many me mean means mentioned might more most much must my need needed needs new no not of often ok on one "
        "only or other our out please possible provided purpose really reason reasons return returns role said same say says see set should show so some "
        "start still stop such take takes tell than the then there thing things time to too type us use used uses very want was way we well were "
        "what when where which while who whom whose why will with without work works would yes you your",
    )
)
_LATIN = re.compile(r"[a-z][a-z']*|\d\S*")


def subjects(examined: Examined) -> Look:
    """English questions without a subject of their own: "What does it return?", "What does this section describe?".

    A question counts when a pronoun (or "the passage", "the author") stands in it and no other word names anything.
    """
    found = [i for i, question in enumerate(examined.questions) if is_without_subject(question.text)]
    if not found:
        return Look("subjects", "every question can be understood alone")
    finding = Finding(
        "no subject",
        "note",
        examined.ids(found),
        f"{counted(len(found), 'question does', 'questions do')} not say what {'it is' if len(found) == 1 else 'they are'} about: "
        "no retriever can know, so they only add noise.",
        "Name the thing that is asked about, or delete the lines.",
        tuple(
            f"{examined.questions[i].question_id}: {shortened(examined.questions[i].text, 100)}"
            for i in found
        ),
    )
    return Look("subjects", f"{counted(len(found), 'question', 'questions')} without one", (finding,))


def is_without_subject(question: str) -> bool:
    """Whether an English question can be understood only with the passage at hand; False for other scripts."""
    lower = question.lower()
    words = _LATIN.findall(lower)
    if not words or any(char.isalpha() and not char.isascii() for char in lower):
        return False
    plain = [word.removesuffix("'s").replace("'", "") for word in words]
    naming = [word for word in plain if word not in _EMPTY and word not in _STANDS_FOR]
    return not naming and any(word in _STANDS_FOR for word in plain)
