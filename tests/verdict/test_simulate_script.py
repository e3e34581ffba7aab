from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).parents[2]


def test_the_simulations_run():
    """The script that measures the error rates prints a row a claim, with limits that hold the share."""
    paths = os.pathsep.join(str(TOP / folder) for folder in (".", "tests/verdict", "scripts/simulations"))
    done = subprocess.run(
        [
            sys.executable,
            TOP / "scripts/simulations/simulate.py",
            "--sweeps",
            "4",
            "--only",
            "non_inferior,power,effects,wording,monte_carlo,optimism,changes,looks,margins",
        ],
        env=os.environ | {"PYTHONPATH": paths, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    rows = re.findall(r"\| (\d+\.\d)% \| (\d+\.\d)% \.\. (\d+\.\d)% \|", done.stdout)
    assert len(rows) >= 25
    assert all(float(low) <= float(share) <= float(high) for share, low, high in rows)
