"""Work that must not be done twice, counted instead of timed."""

from __future__ import annotations

import json
import shutil

from bench import row, run


def counted(place, _repeat):
    """What is embedded after a change: another k, another chunk size, one edited document of a thousand."""
    place.fresh()
    place.sweep("model=wordllama", "chunk=128", "tracker=none")
    first = place.results()[0]["timing"]["texts_embedded"]
    place.sweep("model=wordllama", "chunk=128", "k=2,7", "metrics.budgets=[300,900]", "tracker=none")
    again = place.results()[0]["timing"]["texts_embedded"]
    row("another k and budget: texts embedded", "0", f"{again:.0f} of {first:.0f}", again == 0)

    place.sweep("model=wordllama", "chunk=128,256", "tracker=none")
    sizes = [result["timing"]["texts_embedded"] for result in place.results()]
    chunks = place.results()[1]["health"]["chunks"]
    good = sizes[0] == 0 and sizes[1] <= chunks
    row(
        "another chunk size: texts embedded",
        "its new chunks only",
        f"{sizes[1]:.0f} of {chunks:.0f} chunks, no question",
        good,
    )

    folder = place.root / "thousand"
    folder.mkdir()
    for i in range(1000):
        (folder / f"{i:04d}.md").write_text(
            f"# Page {i}\n\nThe number of this page is {i}, and it says nothing else.\n"
        )
    quote = "The number of this page is 7"
    golden = place.root / "thousand.jsonl"
    golden.write_text(
        json.dumps({"question": "Which page?", "evidence": [{"doc_id": "0007.md", "quote": quote}]}) + "\n"
    )
    words = [
        "-m",
        "harness",
        "corpus=folder",
        f"corpus.path={folder}",
        f"golden.path={golden}",
        "model=wordllama",
        "tracker=none",
    ]
    run(words, HARNESS_ROOT=str(place.root))
    (folder / "0500.md").write_text("# Page 500\n\nThis page was edited.\n")
    run(words, HARNESS_ROOT=str(place.root))
    edited = place.results()[0]["timing"]["texts_embedded"]
    row("one document of 1,000 edited: texts embedded", "its chunks (1)", f"{edited:.0f}", edited == 1)
    shutil.rmtree(folder)
