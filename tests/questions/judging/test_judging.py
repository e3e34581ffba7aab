"""``python -m harness.golden.judge``: what nobody labelled is judged, paid for once, and becomes labels."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
import time

import judging_setup
import pytest
from claude_stand_in import ClaudeStandIn, Fail, Say
from workplace import Workplace

from harness.files.journal import Journal

# More over a longer run: HARNESS_KILLS=100.
KILLS = int(os.environ.get("HARNESS_KILLS", "4"))


@pytest.fixture
def place(tmp_path):
    """A sweep of two retrievers; a third of the labels is gone, all of them places that only the second one returns."""
    made = Workplace(tmp_path, tmp_path / "docs", tmp_path / "docs" / "golden.jsonl")
    judging_setup.write(made.documents, lambda number: number >= 27)
    (tmp_path / "mine.py").write_text(judging_setup.RETRIEVERS)
    return made


def swept(place):
    """Scores both retrievers; gives their recall at 1 and, by name, all means."""
    done = place.sweep(
        "-m", "retriever=callable", "retriever.target=mine:first,mine:second", "k=1", "tracker=none",
        "primary=recall_at_1",
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    newest = max(place.root.glob("outputs/*/*/sweep.json")).parent
    results = [json.loads(file.read_text()) for file in sorted(newest.glob("*/result.json"))]
    means = {result["params"]["retriever.target"][5:]: result["metrics"] for result in results}
    return means["first"]["recall_at_1"], means["second"]["recall_at_1"], means


def judged(place, server, *words):
    return place.run(
        "yes=true", "judge.k=2", "tracker=none", *words, module="harness.golden.judge", **server.environment()
    )


def ledger(place):
    return [item for item in Journal(place.documents / "golden.ledger.jsonl").items() if "text" in item]


@pytest.mark.parametrize("errors", [0.0, 0.1])
def test_the_order_of_cells_is_right_again_after_judging(place, errors):
    """The first finds 26 of 40 facts, the second 36. Of 80 places 27 are no labels, all the second's: it seems to find 13."""
    before = swept(place)
    # Labels alone: what the second returns is known less often.
    assert before[2]["second"]["judged_at_1"] < before[2]["first"]["judged_at_1"] - 0.2
    assert before[:2] == pytest.approx((26 / 40, 13 / 40), abs=1e-6)

    with ClaudeStandIn(behave=judging_setup.judge(errors)) as server:
        run = judged(place, server)
        assert run.returncode == 0, run.stdout + run.stderr
        assert server.total == len(ledger(place)) == 40
        again = judged(place, server)
        assert again.returncode == 0, again.stderr
        assert server.total == 40

    first, second, means = swept(place)
    # Ranks beyond the first are judged as well, so that everything that comes back first is known.
    assert means["first"]["judged_at_1"] == means["second"]["judged_at_1"] == 1
    assert second > first + 0.15
    if not errors:
        assert (first, second) == pytest.approx((26 / 40, 36 / 40), abs=1e-6)
        assert "misses     0 of" in run.stdout
    kept = json.loads((place.documents / "golden.judge.json").read_text())
    assert kept["accepted"]
    assert kept["misses"]["low"] <= kept["misses"]["wrong"] / kept["misses"]["of"] <= kept["misses"]["high"]


def test_what_is_announced_is_what_is_paid(place):
    """The number of calls exactly; questions, passages and a price are printed before the first call."""
    swept(place)
    with ClaudeStandIn(behave=judging_setup.judge()) as server:
        done = judged(place, server)

    assert re.search(r"^questions  40 of 40 with quoted evidence", done.stdout, re.MULTILINE)
    assert re.search(r"^calls      40 to claude-haiku-4-5", done.stdout, re.MULTILINE)
    assert re.search(r"^price      about \$0\.\d+", done.stdout, re.MULTILINE)
    assert re.search(r"^spent      \$0\.\d+ in 40 calls", done.stdout, re.MULTILINE)


def test_nothing_is_spent_without_a_yes(place):
    """No terminal and no yes=true: no call, no label."""
    swept(place)
    before = place.golden.read_bytes()
    with ClaudeStandIn(behave=judging_setup.judge()) as server:
        done = judged(place, server, "yes=false")

    assert done.returncode == 1
    assert "Nothing was sent" in done.stderr
    assert (server.total, place.golden.read_bytes()) == (0, before)


def test_a_judge_that_can_not_be_trusted_changes_nothing(place):
    """It sees evidence nowhere: all known evidence is missed, named with its line, and nothing is accepted."""
    swept(place)
    before = place.golden.read_bytes()

    def blind(call):
        _, passages = judging_setup.shown(call.body)
        return Say({"passages": [{"passage": at, "states": []} for at, _ in passages]})

    with ClaudeStandIn(behave=blind) as server:
        done = judged(place, server)
        assert done.returncode == 1
        assert "accepted   nothing" in done.stdout
        assert place.golden.read_bytes() == before
        assert not json.loads((place.documents / "golden.judge.json").read_text())["accepted"]

        forced = judged(place, server, "judge.min_accuracy=0")
        assert server.total == 40
    assert 'line 1 "q00": the set says that' in forced.stdout
    first = json.loads(place.golden.read_text().splitlines()[0])
    assert first["evidence"] == json.loads(before.splitlines()[0])["evidence"]


def test_copied_words_that_are_not_there_are_refused_and_asked_once_more(place):
    """Forty calls, forty repetitions for the passages that were quoted wrongly, and no third; all known evidence is missed."""
    swept(place)
    before = place.golden.read_bytes()

    def invents(call):
        said = judging_setup.judge()(call).reply
        for entry in said["passages"]:
            for state in entry["states"]:
                state["quote"] = "Ladders may be kept for as long as you like."
        return Say(said)

    with ClaudeStandIn(behave=invents) as server:
        done = judged(place, server)
        assert server.total == 80
        assert judged(place, server).stdout.count("quote_not_found") == 1
        assert server.total == 80
    assert re.search(r"^unjudged   \d+ passages: quote_not_found", done.stdout, re.MULTILINE)
    assert "accepted   nothing: the judge's accuracy is 0.0%" in done.stdout
    assert place.golden.read_bytes() == before


def test_a_budget_stops_before_it_is_passed_and_later_runs_go_on(place):
    """What was judged until then is accepted; the next run pays for the rest alone."""
    swept(place)
    with ClaudeStandIn(behave=judging_setup.judge()) as server:
        small = judged(place, server, "judge.budget_usd=0.05", "judge.concurrency=1")
        assert small.returncode == 1
        assert "judge.budget_usd is 0.05" in small.stderr
        assert 0 < server.total < 40
        assert sum(item["dollars"] for item in ledger(place)) <= 0.05
        assert judged(place, server).returncode == 0
        assert server.total == 40


def test_messages_name_the_settings_of_the_judge(place):
    """An unknown model is a matter of judge.model."""
    swept(place)
    with ClaudeStandIn(behave=lambda call: Fail(404, "not_found_error")) as server:
        done = judged(place, server)

    assert done.returncode == 1
    assert "Check judge.model and judge.base_url" in done.stderr


def test_random_kills_lose_no_paid_answer_and_pay_for_nothing_twice(place):
    """SIGKILL at random moments: every answer that the server sent is in the ledger but those on their way, and none is asked twice."""
    swept(place)
    quiet = place.golden.read_bytes()
    with ClaudeStandIn(latency=0.03, behave=judging_setup.judge()) as server:
        chance, kills = random.Random(3), 0
        while kills < KILLS:
            process = subprocess.Popen(
                [sys.executable, "-m", "harness.golden.judge", "yes=true", "judge.k=2", "tracker=none", "judge.concurrency=4"],
                cwd=place.root, env=place.environment(**server.environment()),
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip
            enough = server.answered + chance.randrange(1, 8)
            while server.answered < enough and process.poll() is None:
                time.sleep(0.002)
            process.kill()
            if process.wait() == 0:
                break
            kills += 1
            kept = [item["request"] for item in ledger(place)]
            assert len(kept) == len(set(kept))
            assert server.total - 4 * kills <= len(kept) <= server.total
            assert place.golden.read_bytes() == quiet
        assert judged(place, server, "judge.concurrency=4").returncode == 0
        kept = [item["request"] for item in ledger(place)]
        assert kills == KILLS
        assert len(kept) == len(set(kept)) == 40
        assert server.total <= 40 + 4 * kills
    assert swept(place)[:2] == pytest.approx((26 / 40, 36 / 40), abs=1e-6)


def test_a_batch_costs_half_and_gives_the_same_labels(place):
    """One batch of forty requests; the labels are those of single calls."""
    swept(place)
    with ClaudeStandIn(behave=judging_setup.judge()) as server:
        done = judged(place, server, "judge.batch=true", "judge.poll=0")
    assert done.returncode == 0, done.stderr
    assert [len(batch["rows"]) for batch in server.batches.values()] == [40]
    assert all(item["batch"] for item in ledger(place))
    assert swept(place)[:2] == pytest.approx((26 / 40, 36 / 40), abs=1e-6)
