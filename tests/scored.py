"""Scores as the pipeline gets them: labels matched with chunks, first ranks completed by the retriever, then scored."""

from __future__ import annotations

from harness.cell.pipeline import first_ranks as ranks_over_the_index


def score_all(suite, kind, questions, ranking, chunks, tokens, ks, first_ranks, encoded, primary):
    """Every metric; ``first_ranks`` answers for relevant rows that the ranking does not hold, as a retriever does."""
    matches = suite.match(kind, questions, chunks)
    first = ranks_over_the_index(matches.first_rank(ranking), matches.relevant_rows(), first_ranks)
    return suite.score(matches, questions, ranking, first, chunks, tokens, ks, encoded, primary)
