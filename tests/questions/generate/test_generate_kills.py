"""``kill -9`` at any moment, then the same command: it asks only for what is missing, and the set is the same."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

from claude_stand_in import ClaudeStandIn, Say, sound, texts_of

from harness.files.journal import Journal
from harness.paths import data_folder

# 100 kills over a longer run: HARNESS_KILLS=100.
KILLS = int(os.environ.get("HARNESS_KILLS", "8"))
QUESTIONS = 40 if KILLS <= 12 else 3 * KILLS
CONCURRENCY = 8


def behave(call):
    """Some passages give no question, some only at the second try: by their text, so that each run is told the same."""
    luck = hashlib.sha256(texts_of(call.body)[0].encode()).digest()[0]
    if luck < 20:
        return Say({"answerable": False, "question": "", "quotes": []})
    if luck < 50 and call.turn == 0:
        return Say(sound(call.body) | {"quotes": ["words that stand nowhere at all"]})
    return None


def words(documents):
    return [
        "corpus=folder",
        f"corpus.path={documents}",
        f"generator.n={QUESTIONS}",
        "yes=true",
        f"generator.concurrency={CONCURRENCY}",
    ]


def answers(documents):
    """Requests with an answer in the ledger; a torn last line is none."""
    return [item["request"] for item in Journal(documents / "golden.ledger.jsonl").items() if "text" in item]


def kill(process_id, server, chance, most):
    """Kills at a random moment: of the start, or while calls are made, after up to ``most`` answers."""
    calls, answers_now = server.total, server.answered
    if most <= 0 or chance.random() < 0.25:
        time.sleep(chance.random() * 0.2)
    else:
        enough = answers_now + chance.randrange(most)
        while (server.total == calls or server.answered < enough) and Path(
            f"/proc/{process_id}/exe"
        ).exists():
            time.sleep(0.002)
        time.sleep(chance.random() * 0.05)
    with suppress(ProcessLookupError):
        os.kill(process_id, signal.SIGKILL)


def settled(server):
    """How many answers were sent, once no call is on its way any more."""
    while True:
        before = server.answered
        time.sleep(0.02)
        if server.at_once == 0 and server.answered == before:
            return before


def documents_at(folder):
    """As much of the sample as holds so many questions: choosing passages is most of a process's life."""
    for name in ["alarms", *(["hardware", "policies", "operations", "console"] if KILLS > 12 else [])]:
        shutil.copytree(
            data_folder() / "handbook" / name, folder / name, ignore=shutil.ignore_patterns("golden.jsonl")
        )
    return folder


class Loop:
    """A process that runs the command in forks of itself."""

    def __init__(self, server):
        clean = {
            k: v
            for k, v in os.environ.items()
            if not k.startswith("ANTHROPIC_") and not k.lower().endswith("_proxy")
        }
        env = clean | server.environment() | {"HOME": "/nonexistent", "OMP_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            [sys.executable, "tests/questions/generate/kill_loop.py"],
            env=env,
            cwd=Path(__file__).parents[3],
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def start(self, documents):
        """Starts the command; gives the process's id."""
        self.process.stdin.write(json.dumps(words(documents)) + "\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def code(self):
        """Waits for the end; gives the exit code."""
        return int(self.process.stdout.readline())


def test_kills_cost_what_was_on_its_way_and_nothing_else(tmp_path):
    """Over many SIGKILLs: answered calls = answers kept + those on their way at a kill; the set is that of a quiet run."""
    with ClaudeStandIn(latency=0.03, behave=behave) as server:
        loop, quiet, killed = (
            Loop(server),
            documents_at(tmp_path / "quiet"),
            documents_at(tmp_path / "killed"),
        )
        loop.start(quiet)
        assert loop.code() == 0
        expected, first = answers(quiet), server.answered
        assert first == len(expected) == len(set(expected))

        chance, lost, kills = random.Random(5), 0, 0
        while kills < KILLS:
            # Few answers a life, so that there is something left to ask at every kill.
            missing = len(expected) - len(answers(killed)) - 3 * CONCURRENCY
            kill(
                loop.start(killed), server, chance, min(missing, CONCURRENCY + 3 * missing // (KILLS - kills))
            )
            if loop.code() != -signal.SIGKILL:
                break
            kills += 1
            now_lost = settled(server) - first - len(answers(killed))
            assert 0 <= now_lost - lost <= CONCURRENCY
            lost = now_lost
        loop.start(killed)
        assert loop.code() == 0
        loop.process.communicate()
        total = settled(server) - first
    report = f"{kills} kills, {total} answers, {len(expected)} needed, {lost} on their way at kills"
    sys.stdout.write(report + "\n")  # seen with -s

    assert kills == KILLS, report
    assert lost, report
    assert Counter(answers(killed)) == Counter(expected)
    assert total == len(expected) + lost, report
    assert (killed / "golden.jsonl").read_bytes() == (quiet / "golden.jsonl").read_bytes()
    ids = [json.loads(line)["question_id"] for line in (killed / "golden.jsonl").read_text().splitlines()]
    assert len(ids) == len(set(ids)) == QUESTIONS
