from __future__ import annotations

import gzip
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.corpus.beir import BeirCorpus
from harness.corpus.jsonl import JsonlCorpus
from harness.errors import InputError


def load(path, *lines, newline="\n", encoding="utf-8"):
    text = newline.join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    path.write_bytes(text.encode(encoding))
    return JsonlCorpus(str(path)).load()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "corpus.jsonl"


@pytest.mark.parametrize("id_key", ["_id", "id", "doc_id", "docid"])
@pytest.mark.parametrize("text_key", ["text", "content", "contents", "page_content"])
def test_the_usual_keys_are_known(path, id_key, text_key):
    """Whatever the exporter calls them.

    Id and text are found, title and metadata kept, a number becomes an id.
    """
    loaded = load(
        path,
        {id_key: 7, text_key: "seven", "title": "Seven", "metadata": {"lang": "en"}},
        {id_key: "b", text_key: "x"},
    )

    first, second = loaded.documents
    assert (first.doc_id, first.text, first.title, first.metadata) == ("7", "seven", "Seven", {"lang": "en"})
    assert (second.doc_id, second.title, second.position, second.metadata) == ("b", "", 1, {})
    assert first.embed_prefix == ""


@settings(derandomize=True, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text(st.characters(codec="utf-8"), min_size=1), min_size=1), st.booleans())
def test_texts_are_the_strings_of_the_file(path, texts, escaped):
    """Escaped or raw, with any line break inside: the string's value comes back, blank ones aside."""
    texts = ["a" + text for text in texts]
    loaded = load(
        path, *(json.dumps({"_id": str(i), "text": t}, ensure_ascii=escaped) for i, t in enumerate(texts))
    )

    assert [document.text for document in loaded.documents] == texts


def test_positions_are_ids_where_no_object_has_one(path):
    """Positions count objects, also those left out; blank lines are none."""
    loaded = load(path, {"text": "a"}, "", {"text": " "}, "  \r", {"text": "c"})

    assert [(d.doc_id, d.position) for d in loaded.documents] == [("0", 0), ("2", 2)]
    assert loaded.notes == {"empty": ("1",)}


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_lines_end_as_on_any_system(path, newline):
    """Line numbers and texts are the same whatever ended the lines; U+2028 inside a text ends none."""
    text = '{"id": "a", "text": "one\u2028two"}'

    assert [d.text for d in load(path, text, {"id": "b", "text": "x"}, newline=newline).documents] == [
        "one\u2028two",
        "x",
    ]
    with pytest.raises(InputError, match=r":2: this line is not JSON"):
        load(path, text, "{", newline=newline)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_other_encodings_are_read(path, encoding):
    """A file written by PowerShell or Excel is read and, when it is not UTF-8, named."""
    loaded = load(path, {"id": "a", "text": "é"}, {"id": "b", "text": "ü"}, newline="\r\n", encoding=encoding)

    assert [d.text for d in loaded.documents] == ["é", "ü"]
    assert ("not UTF-8" in loaded.notes) == (encoding != "utf-8-sig")


def test_a_lone_surrogate_is_replaced_and_named(path):
    """An escape cut in two can't be written by anyone; one character stands for it, so that offsets hold."""
    loaded = load(path, '{"id": "a", "text": "x\\ud83dy"}', '{"id": "b", "text": "\\ud83d\\ude00"}')

    assert [d.text for d in loaded.documents] == ["x\ufffdy", "😀"]
    assert loaded.notes == {"lone surrogates replaced by U+FFFD": ("a",)}


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"id": "b", "text": "x"', "this line is not JSON (Expecting ',' delimiter at character 24)"),
        ('["b", "x"]', "a JSON list where an object with a text is expected"),
        ('"x"', "a JSON text where an object"),
        (
            '{"id": "b"}',
            "no text: one of text, content, contents, page_content is expected, the keys found are id",
        ),
        ('{"id": "b", "text": 5}', "text is a JSON number; a text is expected"),
        ('{"id": "b", "text": null}', "text is a JSON null; a text is expected"),
        ('{"id": "b", "text": "x", "title": ["t"]}', "title is a JSON list; a text is expected"),
        ('{"id": "b", "text": "x", "metadata": "m"}', "metadata is a JSON text; an object is expected"),
        ('{"id": true, "text": "x"}', "id is true; an id is a text that is not empty, or a whole number"),
        ('{"id": "", "text": "x"}', 'id is ""; an id is a text'),
        ('{"text": "x"}', "no id, while line 1 has one"),
        ('{"id": "b", "text": ' + "9" * 5000 + "}", "this line is not JSON (Exceeds the limit"),
        ("[" * 100_000, "this line is not JSON (maximum recursion depth exceeded"),
    ],
)
def test_a_fault_names_file_and_line(path, line, words):
    """Blank lines count as lines; the message says what is wrong there."""
    with pytest.raises(InputError) as caught:
        load(path, {"id": "a", "text": "x"}, "", line)

    assert str(caught.value).startswith(f"{path}:3: ")
    assert words in str(caught.value)
    assert (caught.value.path, caught.value.line) == (path, 3)


def test_an_id_that_comes_late_is_refused_too(path):
    """Positions are not mixed with ids: the first line without an id is named."""
    with pytest.raises(InputError, match="no id, while line 3 has one") as caught:
        load(path, {"text": "a"}, {"text": "b"}, {"id": "c", "text": "c"})
    assert caught.value.line == 1


def test_one_id_with_two_texts_is_refused(path):
    """Labels could not tell the two apart. The same line twice is only named."""
    with pytest.raises(InputError, match='the id "a" stands for two different texts, at positions 0 and 2'):
        load(path, {"id": "a", "text": "x"}, {"id": "b", "text": "y"}, {"id": "a", "text": "z"})

    loaded = load(path, {"id": "a", "text": "x"}, {"id": "a", "text": "x"})
    assert len(loaded.documents) == 1
    assert loaded.notes == {"same document twice": ("a",)}


def test_missing_and_wrong_paths_are_refused(tmp_path, path):
    """A folder, a missing file, a binary file and an empty one each say what would do."""
    with pytest.raises(InputError, match=r"which is not a file. .*corpus=jsonl one file"):
        JsonlCorpus(str(tmp_path)).load()
    with pytest.raises(InputError, match=r"no such file .*Check the spelling"):
        JsonlCorpus(str(path)).load()
    path.write_bytes(bytes(range(256)))
    with pytest.raises(InputError, match="is a binary file, not JSONL"):
        JsonlCorpus(str(path)).load()
    path.write_text("\n\n")
    with pytest.raises(InputError, match=r"No documents in .*JSON objects with a text"):
        JsonlCorpus(str(path)).load()


def test_a_beir_title_is_embedded_but_no_part_of_the_text(tmp_path):
    """Title, a blank and the text are embedded; spans refer to the text. No title, no blank."""
    lines = [
        {"_id": "1", "title": "T", "text": "body", "metadata": {}},
        {"_id": "2", "title": "", "text": "body"},
    ]
    (tmp_path / "corpus.jsonl").write_text("\n".join(map(json.dumps, lines)))

    first, second = BeirCorpus(str(tmp_path)).load().documents

    assert (first.embed_prefix, first.text, first.title) == ("T ", "body", "T")
    assert (second.embed_prefix, second.text) == ("", "body")


def test_a_beir_prefix_is_part_of_the_digest(tmp_path):
    """Another title gives another embedding, so it must give another digest."""

    def digest(title):
        (tmp_path / "corpus.jsonl").write_text(json.dumps({"_id": "1", "title": title, "text": "body"}))
        return BeirCorpus(str(tmp_path)).load().digest

    assert digest("A") != digest("B")


def test_a_folder_without_a_beir_corpus_is_refused(tmp_path):
    """The message says what is there instead."""
    (tmp_path / "docs.json").write_text("[]")

    with pytest.raises(InputError, match=r"no corpus\.jsonl in .*found there: docs\.json"):
        BeirCorpus(str(tmp_path)).load()
    with pytest.raises(InputError, match=r"which is not a folder. .*corpus=beir a folder"):
        BeirCorpus(str(tmp_path / "docs.json")).load()
    with pytest.raises(InputError, match="no such folder"):
        BeirCorpus(str(tmp_path / "x")).load()


ITEMS = [{"id": "a", "contents": "one\ttwo"}, {"id": "b", "contents": "Ünï"}]


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("c.jsonl", "".join(json.dumps(item) + "\n" for item in ITEMS)),
        ("c.jsonl", json.dumps(ITEMS)),
        ("c.json", json.dumps(ITEMS, indent=2)),
        ("c.json", json.dumps({"version": 2, "documents": ITEMS}, indent=1)),
        ("c.json", "\n".join(json.dumps(item) for item in ITEMS)),
    ],
)
def test_one_list_lines_or_packed_are_the_same_documents(tmp_path, name, content, packed):
    """Two objects with ids a and b: whichever way they are written, two documents with the same digest."""
    path = tmp_path / (name + ".gz" * packed)
    path.write_bytes(gzip.compress(content.encode()) if packed else content.encode())
    corpus = JsonlCorpus(str(path))
    loaded = corpus.load()

    assert [(d.doc_id, d.text, d.position) for d in loaded.documents] == [
        ("a", "one\ttwo", 0),
        ("b", "Ünï", 1),
    ]
    assert loaded.digest == load(tmp_path / "other.jsonl", *ITEMS).digest
    assert corpus.name == "c"


def test_a_collection_of_ids_and_texts(tmp_path):
    """MS MARCO's collection.tsv: an id, a tab, a text; a third cell is refused with the line and what to do."""
    path = tmp_path / "collection.tsv"
    path.write_text("0\tThe Manhattan Project.\n7\tIt ended the war.\n", encoding="utf-8")
    documents = JsonlCorpus(str(path)).load().documents

    assert [(d.doc_id, d.text) for d in documents] == [
        ("0", "The Manhattan Project."),
        ("7", "It ended the war."),
    ]
    assert BeirCorpus(str(tmp_path)).load().documents == documents
    path.write_text("0\tone\nid\ttext\ttitle\n", encoding="utf-8")
    with pytest.raises(InputError, match=r":2: 3 cells between tabs.*JSON lines"):
        JsonlCorpus(str(path)).load()


def test_a_fault_in_a_list_names_the_entry(tmp_path):
    """Lines of a pretty-printed list mean nothing; entries are counted from 1."""
    path = tmp_path / "c.json"
    path.write_text(json.dumps([{"id": "a", "text": "x"}, {"id": "b"}], indent=1), encoding="utf-8")

    with pytest.raises(InputError, match=r"c\.json: entry 2: no text"):
        JsonlCorpus(str(path)).load()
    path.write_text('[{"id": "a", "text": "x"},', encoding="utf-8")
    with pytest.raises(InputError, match=r":1: this line is not JSON"):
        JsonlCorpus(str(path)).load()


def test_a_corpus_in_a_workbook_is_named(path):
    """What can't be read is said in words, with what to do."""
    path.write_bytes(b"\xd0\xcf\x11\xe0" + bytes(100))

    with pytest.raises(InputError, match=r"an old Excel or Word file\. Save it as"):
        JsonlCorpus(str(path)).load()
