from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).parents[2]


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


def test_the_simulations_run():
    """The script that measures the error rates prints a row a claim, with limits that hold the share."""
    done = run(
        "simulate.py",
        "--sweeps",
        "4",
        "--only",
        "non_inferior,power,effects,wording,monte_carlo,optimism,changes",
    )

    assert done.returncode == 0, done.stderr
    rows = re.findall(r"\| (\d+\.\d)% \| (\d+\.\d)% \.\. (\d+\.\d)% \|", done.stdout)
    assert len(rows) >= 25
    assert all(float(low) <= float(share) <= float(high) for share, low, high in rows)
