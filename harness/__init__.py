"""Sweeps of retrieval configurations over one golden set, side by side in MLflow.

The folders are the stages, in the order in which data passes through them:

    corpus ─Document─▶ chunker ─Chunk─▶ retriever ─Ranking─▶ (reranker) ─▶ metrics ─Scores─▶ tracker
                                        │ model, index
    golden ─Question──────────────────▶ │                labels enter only at metrics

``records`` holds the nouns, ``pipeline`` the order, ``sweep`` the main command. ``conf/`` mirrors the
folders: ``model=bge`` is ``conf/model/bge.yaml`` and ``harness/model/``.
"""

__version__ = "0.1.0"
