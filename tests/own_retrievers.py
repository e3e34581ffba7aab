"""Retrievers of a user's own, for tests: functions to be named as targets, and a server for them in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from workplace import Workplace

# What ``recorded`` answers; set by the test that uses it.
ANSWERS: dict[str, list[dict]] = {}

SERVER = """
import json, sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

answers = json.loads(Path(sys.argv[1]).read_text())

class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if "queries" in asked:
            found = [answers[query][: asked["top_k"]] for query in asked["queries"]]
        else:
            found = answers[asked["query"]][: asked["top_k"]]
        body = json.dumps(found).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass

server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
"""


def recorded(query: str, top_k: int) -> list[dict]:
    """What is in ``ANSWERS``."""
    return ANSWERS[query][:top_k]


@contextmanager
def served(file: Path) -> Iterator[str]:
    """The address of a server, in a process of its own, for the answers in a JSON file (question to rows)."""
    process = subprocess.Popen([sys.executable, "-c", SERVER, str(file)], stdout=subprocess.PIPE, text=True)
    try:
        port = process.stdout.readline().strip()
        yield f"http://127.0.0.1:{port}/search"
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


def rows_of(chunks, ranking) -> list[list[dict]]:
    """A ranking of chunks as a service would give it."""
    return [
        [
            {
                "id": chunks.documents[chunks.doc[row]].doc_id,
                "start": int(chunks.start[row]),
                "end": int(chunks.end[row]),
                "text": chunks.text(row),
                "score": float(np.float64(score)),
            }
            for row, score in zip(rows.tolist(), scores.tolist(), strict=True)
            if row >= 0
        ]
        for rows, scores in zip(*ranking, strict=True)
    ]


def write_answers(file: Path, answers: dict[str, list[dict]]) -> None:
    """Writes what ``served`` reads."""
    file.write_text(json.dumps(answers), encoding="utf-8")


def answers_of(place: Workplace) -> dict[str, list[dict]]:
    """What the cells of a place ranked for questions with spans, as a service would give it: question to rows."""
    lines = map(json.loads, place.golden.read_text(encoding="utf-8").splitlines())
    questions = {line["question_id"]: line["question"] for line in lines}
    answers = {}
    for file in place.root.glob("outputs/*/*/*/rankings.npz"):
        with np.load(file) as kept:
            columns = [kept[f"span_{name}"] for name in ("question_ids", "doc", "start", "end", "score")]
            names = kept["doc_ids"].tolist()
        for question_id, *rows in zip(*columns, strict=True):
            answers[questions[str(question_id)]] = [
                _row(place, names[doc], int(start), int(end), float(score))
                for doc, start, end, score in zip(*rows, strict=True)
                if doc >= 0
            ]
    return answers


def _row(place: Workplace, doc_id: str, start: int, end: int, score: float) -> dict:
    text = (place.documents / doc_id).read_text(encoding="utf-8")[start:end]
    return {"id": doc_id, "start": start, "end": end, "text": text, "score": score}
