"""A corpus of which everything is known: forty facts, each in two documents in other words, and a judge that knows them."""

from __future__ import annotations

import hashlib
import json
import re

from claude_stand_in import Say

FACTS = 40
_PASSAGE = re.compile(r"<passage (\d+) \w+ from [^\n]*>\n(.*?)\n</passage", re.DOTALL)
_QUESTION = re.compile(r"<question \w+>How long may team (\d+) ")
# What a retriever of somebody's own answers: the first finds the one wording, the second the other.
RETRIEVERS = """
import re

def rows(folder, query, wrong):
    number = int(re.search(r"\\d+", query)[0])
    other = (number + 1) % 40 if number % 40 < wrong else number
    return [{"doc_id": f"{folder}/{other:02}.md"}, {"doc_id": f"noise/{number:02}.md"}]

def first(query, top_k):
    return rows("first", query, 14)[:top_k]

def second(query, top_k):
    return rows("second", query, 4)[:top_k]
"""


def fact(number):
    """The fact in the words of the first document and in those of the second."""
    return (
        f"Members of team {number} keep a borrowed ladder for {number + 3} days.",
        f"For squad {number}, a ladder on loan goes back after {number + 3} days.",
    )


def write(folder, kept):
    """Writes the documents and the labels; the second place of a fact is a label only where ``kept`` says so."""
    lines = []
    for number in range(FACTS):
        one, other = fact(number)
        texts = {"first": f"# Loans\n\n{one}\n", "second": f"# Returns\n\n{other}\n"}
        texts["noise"] = (
            f"# Paint\n\nWall {number} of the workshop was painted green in the spring of its year.\n"
        )
        for name, text in texts.items():
            (folder / name).mkdir(parents=True, exist_ok=True)
            (folder / name / f"{number:02}.md").write_text(text, encoding="utf-8")
        evidence = {"doc_id": f"first/{number:02}.md", "quote": one}
        if kept(number):
            evidence["alternatives"] = [{"doc_id": f"second/{number:02}.md", "quote": other}]
        question = f"How long may team {number} borrow the ladder?"
        lines.append({"question_id": f"q{number:02}", "question": question, "evidence": [evidence]})
    (folder / "golden.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def shown(body):
    """The number of the question, and of each passage its number and text."""
    content = body["messages"][0]["content"]
    return int(_QUESTION.search(content)[1]), [(int(n), text) for n, text in _PASSAGE.findall(content)]


def judge(errors=0.0):
    """A judge that is wrong about this share of all passages, the same ones each time."""

    def behave(call):
        number, passages = shown(call.body)
        said = []
        for at, text in passages:
            quote = next((words for words in fact(number) if words in text), None)
            luck = int(hashlib.sha256(f"{number} {text}".encode()).hexdigest()[:8], 16) / 16**8
            if luck < errors:
                quote = None if quote else text.splitlines()[-1]
            said.append({"passage": at, "states": [{"evidence": 1, "quote": quote}] if quote else []})
        return Say({"passages": said})

    return behave
