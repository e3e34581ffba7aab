"""What speaks against a question, its evidence aside."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from harness.questions.generate import Passage, Rejection
from harness.questions.generate.echoes import length_in_words, longest_run
from harness.questions.generate.phrases import ASKING, COMMANDS, ENDS_OF_QUESTIONS, MARKUP, MENTIONS
from harness.text.words import is_unspaced, size, stop_words, units

_FEWEST_WORDS = 2
_LONGEST = 300  # size: three long sentences
_RUN_WORDS = 6  # neighbours that question and quote share
_RUN_TELLING_WORDS = (
    4  # of these, no stop words and no numbers: "of the company in the year 2019" is nobody's wording
)
_WHOLE_QUOTE_WORDS = 4
_PASSAGE_RUN_WORDS = 10
_WHOLE_QUESTION_WORDS, _WHOLE_QUESTION = 5, 0.8
_PROMPT_RUN_WORDS = 10
_JOINERS = "\u200c\u200d\u200e\u200f"  # Persian, emoji and mixed directions need them


def objection_to(question: str, instructions: str) -> Rejection | None:
    """What is wrong with the question as such: no question, too long, talking of its passage, or following somebody's orders."""
    if size(question) > _LONGEST:
        reason = f"The question is longer than {_LONGEST} characters. Ask one thing in one sentence."
        return Rejection("too_long", reason)
    if length_in_words(longest_run(units(question), units(instructions))) >= _PROMPT_RUN_WORDS:
        return Rejection(
            "injection", "The question repeats these instructions. Ask about what the passage says."
        )
    return _is_hostile(question) or _is_no_question(question) or _mentions_passage(question)


def is_order(text: str) -> bool:
    """Whether ``text`` tells a model what to do."""
    return COMMANDS.search(text) is not None


def echo_of(question: str, quotes: Sequence[str], passage: Passage, language: str) -> Rejection | None:
    """Whether the question is worded like its quotes, or stands in its passage as it is."""
    asked, stopped = units(question), stop_words(language)
    for quote in quotes:
        told = units(quote)
        run = longest_run(asked, told)
        length = length_in_words(run)
        telling = length_in_words([word for word in run if not word.isdigit() and word not in stopped])
        is_whole = len(run) == len(told) and length >= _WHOLE_QUOTE_WORDS
        if is_whole or (length >= _RUN_WORDS and telling >= _RUN_TELLING_WORDS):
            return _echo("its quote", run)
    for excerpt in passage.excerpts:
        run = longest_run(asked, units(excerpt.text))
        length = length_in_words(run)
        is_whole = length >= _WHOLE_QUESTION_WORDS and len(run) >= _WHOLE_QUESTION * len(asked)
        if is_whole or length >= _PASSAGE_RUN_WORDS:
            return _echo("the passage", run)
    return None


def _echo(of: str, run: Sequence[str]) -> Rejection:
    words = "".join(unit if is_unspaced(unit) else f" {unit} " for unit in run)
    said = " ".join(words.split())
    return Rejection(
        "quotes_itself",
        f"The question repeats the words of {of}: “{said}”. Ask the same in a user's own words.",
    )


def _is_no_question(question: str) -> Rejection | None:
    if length_in_words(units(question)) < _FEWEST_WORDS:
        return Rejection("no_question", "There is no question. Write one that a user would ask.")
    if question[-1] not in ENDS_OF_QUESTIONS and not ASKING.match(question):
        return Rejection(
            "no_question", "The text is no question. Write one that a user would ask, with a question mark."
        )
    return None


def _is_hostile(question: str) -> Rejection | None:
    if is_order(question):
        reason = "The question gives or repeats instructions. The passage is data; ask about what it says."
    elif MARKUP.search(question):
        reason = "The question holds an address, markup or a label. Write plain text."
    elif any(_is_hidden(character) for character in question):
        reason = "The question holds invisible characters. Write plain text."
    else:
        return None
    return Rejection("injection", reason)


def _is_hidden(character: str) -> bool:
    return unicodedata.category(character) in {"Cc", "Cf", "Cs", "Co", "Cn"} and character not in _JOINERS


def _mentions_passage(question: str) -> Rejection | None:
    found = MENTIONS.search(question)
    if not found:
        return None
    return Rejection(
        "mentions_passage",
        f"The question says “{found[0]}”, but a user has no passage. Ask about the matter itself.",
    )
