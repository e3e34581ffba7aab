from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from scipy import stats

TOP = Path(__file__).parents[2]
SWEEPS = 200


def run(script, *words):
    """The script in ``scripts/simulations`` as ``scripts/simulate`` starts it."""
    paths = os.pathsep.join(str(TOP / folder) for folder in (".", "tests/verdict", "scripts/simulations"))
    return subprocess.run(
        [sys.executable, TOP / "scripts/simulations" / script, *words],
        env=os.environ | {"PYTHONPATH": paths, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_random_tables_break_no_promise():
    """The short form of ``scripts/simulate fuzz``, with tables of its own."""
    done = run("fuzz.py", "--seed", "1", "--count", "500")

    assert done.returncode == 0, done.stdout + done.stderr
    assert "500 tables, 0 faults" in done.stdout


def test_a_winner_leaves_no_cell_beside_it():
    """A table of the long form in which the joint limits alone put the best cell above 0."""
    done = run("fuzz.py", "--seed", "0", "--first", "96751", "--count", "1")

    assert "1 tables, 0 faults" in done.stdout, done.stdout + done.stderr


def test_the_smallest_designs_keep_their_promises():
    """Errors at most 5%, limits that hold in 95%: each bound is broken by chance once in a thousand."""
    done = run("simulate.py", "--sweeps", str(SWEEPS), "--only", "short")
    assert done.returncode == 0, done.stderr
    found = [[cell.strip() for cell in line.split("|")[1:-1]] for line in done.stdout.splitlines()[2:-1]]
    errors = {f"{row[0]}: {row[1]}": float(row[3][:-1]) / 100 for row in found if row[2] == "<= 5%"}
    holds = {f"{row[0]}: {row[1]}": float(row[3][:-1]) / 100 for row in found if row[2] == ">= 95%"}

    assert len(errors) >= 20
    assert len(holds) >= 12
    assert max(errors.values()) <= stats.binom.ppf(0.999, SWEEPS, 0.05) / SWEEPS, errors
    assert min(holds.values()) >= stats.binom.ppf(0.001, SWEEPS, 0.95) / SWEEPS, holds
    assert max(errors.values()) > 0


def test_the_simulations_run():
    """The script that measures the error rates prints a row a claim, with limits that hold the share."""
    done = run(
        "simulate.py",
        "--sweeps",
        "4",
        "--only",
        "non_inferior,power,effects,wording,monte_carlo,optimism,changes,looks,margins",
    )

    assert done.returncode == 0, done.stderr
    rows = re.findall(r"\| (\d+\.\d)% \| (\d+\.\d)% \.\. (\d+\.\d)% \|", done.stdout)
    assert len(rows) >= 25
    assert all(float(low) <= float(share) <= float(high) for share, low, high in rows)
