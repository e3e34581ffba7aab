"""Every option of ``conf/corpus`` and ``conf/golden`` keeps the promises of its group."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir
from hydra.utils import instantiate

from harness.corpus import Loaded
from harness.golden import Labels
from harness.paths import conf_folder, register_resolvers
from harness.records import Document

CORPORA = sorted(path.stem for path in (conf_folder() / "corpus").glob("*.yaml"))
GOLDEN_SETS = sorted(path.stem for path in (conf_folder() / "golden").glob("*.yaml"))
TEXTS = {"a.md": "# Refunds\r\n\r\nPaid within thirty days.\r\n", "b.md": "Plans cost 12 euros — é 😀.\n"}


@pytest.fixture
def source(tmp_path):
    """A folder that every option can read: text files, a JSONL corpus, both kinds of labels."""
    for name, text in TEXTS.items():
        (tmp_path / name).write_bytes(text.encode())
    (tmp_path / "corpus.jsonl").write_text(
        "".join(json.dumps({"_id": k, "text": v}) + "\n" for k, v in TEXTS.items())
    )
    (tmp_path / "queries.jsonl").write_text('{"_id": "1", "text": "How much?"}\n')
    (tmp_path / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n1\tb.md\t1\n")
    (tmp_path / "golden.jsonl").write_text(
        '{"question": "How much?", "evidence": [{"doc_id": "b.md", "quote": "12 euros"}]}\n'
    )
    return tmp_path


def part(group: str, overrides: list[str]):
    register_resolvers()
    with initialize_config_dir(str(Path(conf_folder()).resolve()), version_base="1.3"):
        return instantiate(compose(overrides=overrides)[group])


def load_corpus(option: str, source: Path) -> Loaded:
    path = source / "corpus.jsonl" if option == "jsonl" else source
    return part(
        "corpus", [f"+corpus={option}", *([] if option == "handbook" else [f"corpus.path='{path}'"])]
    ).load()


@pytest.mark.parametrize("option", CORPORA)
def test_a_corpus_gives_the_same_documents_each_time(option, source):
    """Ids are unique, texts are not blank, positions rise, and loading again changes nothing."""
    loaded, again = load_corpus(option, source), load_corpus(option, source)

    assert loaded == again
    ids = [document.doc_id for document in loaded.documents]
    assert len(ids) == len(set(ids)) >= 2
    positions = [document.position for document in loaded.documents]
    assert positions == sorted(set(positions))
    for document in loaded.documents:
        assert isinstance(document, Document)
        assert document.text.strip()
        assert "\\" not in document.doc_id
    assert int(loaded.digest, 16) >= 0
    assert all(isinstance(name, str) for names in loaded.notes.values() for name in names)


@pytest.mark.parametrize("option", [option for option in CORPORA if option != "handbook"])
def test_a_corpus_gives_exactly_the_characters(option, source):
    """CRLF, accents and emoji come through; the corpus has a name."""
    loaded = load_corpus(option, source)

    assert {document.doc_id: document.text for document in loaded.documents} == TEXTS
    overrides = [
        f"+corpus={option}",
        f"corpus.path='{source / 'corpus.jsonl' if option == 'jsonl' else source}'",
    ]
    assert part("corpus", overrides).name


@pytest.mark.parametrize("option", GOLDEN_SETS)
def test_a_golden_set_is_anchored_in_the_documents(option, source):
    """By default labels are looked for beside the corpus; every span holds its quote; counts add up."""
    documents = load_corpus("beir", source).documents
    overrides = ["+corpus=beir", f"corpus.path='{source}'", f"+golden={option}"]

    labels = part("golden", overrides).load(documents)

    assert isinstance(labels, Labels)
    assert labels == part("golden", overrides).load(documents)
    assert sum(labels.states.values()) == sum(len(question.evidence) for question in labels.questions) == 1
    texts = {document.doc_id: document.text for document in documents}
    for question in labels.questions:
        for unit in question.evidence:
            for place in unit.places:
                assert place.is_document or texts[place.doc_id][place.start : place.end] == place.quote
    assert labels.name
    assert int(labels.digest, 16) >= 0
