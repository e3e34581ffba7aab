"""What makes two configurations different retrievers."""

from __future__ import annotations

from harness.cell.settings import retriever_settings


def test_where_a_model_is_cached_makes_no_other_retriever():
    """Two folders of a cache are one retriever; another chunk size, or another revision of the model, is not."""
    config = {
        "chunk": 256,
        "model": {"name": "a", "revision": "1", "cache_dir": "/one"},
        "k": [5],
        "plan": False,
    }
    elsewhere = config | {"model": config["model"] | {"cache_dir": "/two"}, "k": [10]}

    assert retriever_settings(config) == retriever_settings(elsewhere)
    assert retriever_settings(config) != retriever_settings(config | {"chunk": 128})
    assert retriever_settings(config) != retriever_settings(
        config | {"model": config["model"] | {"revision": "2"}}
    )
