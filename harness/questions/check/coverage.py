"""What a comparison on this set can show: number of questions, lengths and coverage of documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import median

import numpy as np

from harness.questions.check import CheckedSet, CheckResult, Finding
from harness.text.spans import find_spans
from harness.view.formats import counted

_ENOUGH = 0.1  # a difference of ten points is about what changing the model brings
_ALMOST_ALL = 0.9  # of the documents
_FEW_CHUNKS = 10
_MOST_ASKED = 0.2  # of all questions about one document: its kind of text decides
_FEWEST_DOCUMENTS = 10  # with fewer, some document must have many questions
_FEWEST_ASKED = 0.5  # of the documents (or, where there are fewer questions than documents, of the questions)
_FEWEST_WORDS = 4  # a shorter question may stand anywhere
_SOME = 0.02  # of all questions: so many move a score by points
_LONG_HALF = 0.25  # of the questions, about the long documents that hold half of the text


def power(sentence: str, minimum_detectable_effect: float | None) -> CheckResult:
    """What so many questions can show, in a ``sentence`` and a number; None: too little."""
    fact = sentence.removeprefix("With ").removesuffix(".")
    if minimum_detectable_effect is None:
        advice = "Ask about at least ten different documents or parts of long ones; start with 150 questions."
        return CheckResult("questions", fact, (Finding("too few", "serious", (), sentence, advice),))
    if minimum_detectable_effect <= _ENOUGH:
        return CheckResult("questions", fact)
    advice = "Add questions: four times as many show half the difference."
    return CheckResult("questions", fact, (Finding("few questions", "note", (), sentence, advice),))


def sizes(tokens: Sequence[int], chunk_sizes: Sequence[int], chunks: int) -> CheckResult:
    """Lengths of the documents in ``tokens``, and whether the ``chunk_sizes`` cut them differently.

    ``chunks``: how many chunks there are at the first of these sizes.
    """
    longest = max(tokens, default=0)
    fact = (
        f"{counted(len(tokens), 'document')}, {median(tokens):,.0f} tokens (median), "
        f"the longest {longest:,}; {counted(chunks, 'chunk')} of {chunk_sizes[0]:,}"
    )
    return CheckResult("documents", fact, _size_problem(tokens, chunk_sizes, longest, chunks))


def _size_problem(
    tokens: Sequence[int], chunk_sizes: Sequence[int], longest: int, chunks: int
) -> tuple[Finding, ...]:
    whole = sum(length <= min(chunk_sizes) for length in tokens)
    fitting = [size for size in chunk_sizes if size >= longest]
    if whole == len(tokens):
        shown = ", ".join(f"{size:,}" for size in chunk_sizes)
        sentence = (
            f"Every document is one chunk (the longest has {longest:,} tokens; chunk={shown}): "
            "all chunkers and sizes give the same result here."
        )
        advice = "Remove chunk and chunker from the sweep, or compare sizes below the documents'."
        return (Finding("short documents", "serious", (), sentence, advice),)
    if len(fitting) > 1:
        given = " and ".join(map(str, fitting))
        sentence = f"chunk={given} cut nothing: the longest document has {longest:,} tokens."
        return (Finding("equal sizes", "note", (), sentence, f"Keep one of them, chunk={min(fitting)}."),)
    if whole >= _ALMOST_ALL * len(tokens):
        sentence = (
            f"{whole:,} of {counted(len(tokens), 'document')}: one chunk at every compared size "
            f"(chunk={min(chunk_sizes)} or more): chunkers differ only on the rest."
        )
        advice = "Compare smaller chunks too, and expect little difference."
        return (Finding("short documents", "note", (), sentence, advice),)
    if chunks <= _FEW_CHUNKS:
        sentence = (
            f"There are {counted(chunks, 'chunk')} in all: "
            "five rows return half of everything, whatever the model."
        )
        advice = "Measure on more documents, or compare at k=1."
        return (Finding("few chunks", "serious", (), sentence, advice),)
    return ()


def coverage(checked: CheckedSet) -> CheckResult:
    """The share of documents with questions, the most asked, and whether long documents have their share."""
    questions_of: dict[str, list[int]] = {}
    for i, units in enumerate(checked.units):
        for doc_id in sorted({unit.evidence.doc_id for unit in units if unit.evidence}):
            questions_of.setdefault(doc_id, []).append(i)
    if not questions_of:
        return CheckResult("coverage", "not known: no evidence was found")
    documents, total = len(checked.documents), len(checked.questions)
    most = max(questions_of, key=lambda doc_id: len(questions_of[doc_id]))
    number = len(questions_of[most])
    fact = (
        f"{len(questions_of):,} of {counted(documents, 'document')} asked about; "
        f"the most, {number:,} of {total:,}, are about {most}"
    )
    found = []
    if documents >= _FEWEST_DOCUMENTS and number > _MOST_ASKED * total:
        sentence = f"{number / total:.0%} of the questions are about {most}: what suits this document wins."
        advice = "Ask about the other documents too, as often as users do."
        found.append(Finding("one document", "note", checked.ids(questions_of[most]), sentence, advice))
    found += _unasked(checked, questions_of)
    found += _lengths(checked, questions_of)
    return CheckResult("coverage", fact, tuple(found))


def verbatim(checked: CheckedSet) -> CheckResult:
    """Questions that stand word for word in a document: it answers a search for them, whatever it says.

    Questions of fewer than four words may stand anywhere and are left out.
    """
    texts = [question.text for question in checked.questions]
    long = {text for text in texts if len(text.split()) >= _FEWEST_WORDS}
    spans = find_spans(long, checked.documents, 1)
    found = [i for i, text in enumerate(texts) if spans.get(text)]
    if not found:
        return CheckResult("verbatim", "no question stands in a document")
    holding = Counter(checked.documents[spans[texts[i]][0].document].doc_id for i in found)
    most, count = holding.most_common(1)[0]
    few = len(found) <= _SOME * len(texts)
    finding = Finding(
        "verbatim",
        "note" if few else "serious",
        checked.ids(found),
        f"{counted(len(found), 'question stands', 'questions stand')} word for word in a document, "
        f"{count:,} of them in {most}: every search finds that document.",
        f"If it is a list of questions and no document, leave it out: corpus.exclude=[{most}].",
        tuple(f"{doc_id}: {counted(number, 'question')}" for doc_id, number in holding.most_common()),
    )
    where = most if len(holding) == 1 else counted(len(holding), "document")
    return CheckResult("verbatim", f"{counted(len(found), 'question')} in {where}", (finding,))


def _unasked(checked: CheckedSet, questions_of: Mapping[str, Sequence[int]]) -> list[Finding]:
    documents = checked.documents
    if len(questions_of) >= _FEWEST_ASKED * min(len(documents), len(checked.questions)):
        return []
    unasked = tuple(document.doc_id for document in documents if document.doc_id not in questions_of)
    sentence = (
        f"Without a question are {len(unasked):,} of {counted(len(documents), 'document')}: only distractors."
    )
    advice = "Ask about more of them, unless users never do."
    return [Finding("unasked documents", "note", (), sentence, advice, unasked)]


def _lengths(checked: CheckedSet, questions_of: Mapping[str, Sequence[int]]) -> list[Finding]:
    """The longest documents hold half of the text; about half of the questions should be about them."""
    lengths = np.array([len(document.text) for document in checked.documents])
    if len(lengths) < _FEWEST_DOCUMENTS:
        return []
    order = np.argsort(-lengths, kind="stable")
    many = int(np.searchsorted(np.cumsum(lengths[order]), lengths.sum() / 2)) + 1
    long = [checked.documents[i].doc_id for i in order[:many].tolist()]
    about = {i for doc_id in long for i in questions_of.get(doc_id, [])}
    share = len(about) / len(checked.questions)
    if share >= _LONG_HALF:
        return []
    holders = "The longest document holds" if many == 1 else f"The {many:,} longest documents hold"
    sentence = (
        f"{holders} half of the text, but only {share:.0%} of the questions are about "
        f"{'it' if many == 1 else 'them'}: chunk sizes matter most there."
    )
    advice = "Ask more about the long documents."
    return [Finding("long documents", "note", checked.ids(sorted(about)), sentence, advice, tuple(long))]
