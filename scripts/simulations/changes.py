"""Claims about one configuration before and after a change: what passes, and what is called a regression."""

from __future__ import annotations

import numpy as np

from harness.verdict.change import change

MARGIN, LEAST = 0.03, 0.01
CASES = (
    # claim, outcome, wanted, (clusters, questions in each), share lost, share gained
    ("non-inferior is claimed wrongly", "non-inferior", "<= 5%", (50, 7), 0.03, 0.00),
    ("non-inferior is claimed wrongly", "non-inferior", "<= 5%", (50, 7), 0.05, 0.02),
    ("non-inferior is claimed wrongly", "non-inferior", "<= 5%", (300, 1), 0.03, 0.00),
    ("non-inferior is claimed wrongly", "non-inferior", "<= 5%", (50, 1), 0.03, 0.00),
    ("non-inferior is claimed wrongly", "non-inferior", "<= 5%", (20, 1), 0.05, 0.02),
    ("a regression is claimed wrongly", "regression", "<= 5%", (50, 7), 0.05, 0.05),
    ("a regression is claimed wrongly", "regression", "<= 5%", (150, 1), 0.05, 0.05),
    ("a regression is claimed wrongly", "regression", "<= 5%", (50, 1), 0.05, 0.05),
    ("a loss of 10 points is a regression", "regression", "(power)", (50, 1), 0.12, 0.02),
    ("a loss of 10 points is a regression", "regression", ">= 80%", (150, 1), 0.12, 0.02),
    ("a loss of 8 points is a regression", "regression", "(power)", (50, 7), 0.09, 0.01),
    ("a loss of 5 points is a regression", "regression", "(power)", (300, 1), 0.07, 0.02),
    ("a harmless change is non-inferior", "non-inferior", "(power)", (300, 1), 0.01, 0.01),
)


def changes(count, most=350):
    """How often each outcome is claimed, over changes whose true mean is known; ``most``: questions."""
    for place, (claim, outcome, wanted, (clusters, each), lost, gained) in enumerate(CASES):
        if clusters * each > most:
            continue
        rng, which, hits = np.random.default_rng([9, place]), np.repeat(np.arange(clusters), each), 0
        for _ in range(count):
            drawn = rng.random(len(which))
            differences = np.where(drawn < lost, -1.0, np.where(drawn < lost + gained, 1.0, 0.0))
            hits += change(differences, which, MARGIN, LEAST).outcome == outcome
        setting = f"{clusters * each} questions, {clusters} clusters, {lost:.0%} lost, {gained:.0%} gained"
        yield claim, setting, wanted, int(hits), count
