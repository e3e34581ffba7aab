from __future__ import annotations

import gzip
import io
import tracemalloc
import zipfile

import pytest

from harness.errors import InputError
from harness.golden.jsonl import read_text
from harness.text.opening import first_file, opened, plain_name, text_encoding


def test_packed_or_not_the_characters_are_the_same(tmp_path):
    """The content tells, not the name; UTF-16 inside is found as well."""
    for name, data in (("a.gz", "Wärme"), ("b.jsonl", "Wärme")):
        (tmp_path / name).write_bytes(gzip.compress(data.encode()))
    (tmp_path / "c.csv.gz").write_bytes(gzip.compress("Wärme".encode("utf-16")))
    (tmp_path / "d.gz").write_text("Wärme", encoding="utf-8")

    assert {read_text(file) for file in tmp_path.iterdir()} == {"Wärme"}
    assert text_encoding(tmp_path / "c.csv.gz").codec == "utf-16-le"


def test_a_file_that_grows_without_measure_is_refused_before_it_fills_the_memory(tmp_path):
    """512 MB of blanks pack into half a megabyte: a thousandth. 64 MB are read, no more."""
    path = tmp_path / "bomb.jsonl.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(512):
            file.write(b" " * (1 << 20))
    tracemalloc.start()
    with pytest.raises(InputError, match="more than 100 times its size"):
        read_text(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    # 100 times the packed size, twice: once in pieces, once joined.
    assert peak < 2.5 * max(64 << 20, 100 * path.stat().st_size)


@pytest.mark.parametrize("cut", [20, -1])
def test_a_packed_file_that_is_cut_off(tmp_path, cut):
    """Half a file must not pass for a whole one."""
    path = tmp_path / "q.jsonl.gz"
    path.write_bytes(gzip.compress(bytes(range(256)) * 40)[:cut])

    with pytest.raises(InputError, match="cut off or damaged"), opened(path) as file:
        file.read()


def zipped(*names: str) -> bytes:
    """A zip archive with these members."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in names:
            archive.writestr(name, "x")
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (zipped("[Content_Types].xml", "xl/workbook.xml"), "an Excel workbook. Save it as CSV"),
        (zipped("data.csv"), "a zip archive (as Word's files are, too). Unpack it"),
        (b"%PDF-1.7\n", "a PDF"),
        (b"SQLite format 3\0rest", "an SQLite database"),
        (b"\x80\x04\x95rest", "a Python pickle"),
        (b"ARROW1\0\0rest", "an Arrow file"),
        (b"PAR1rest\0", "a Parquet file"),
        (b"\xfd7zXZ\0", "packed with xz. Unpack it"),
        (gzip.compress(b"a.csv".ljust(257, b"\0") + b"ustar\0" + bytes(249), mtime=0), "a tar archive"),
    ],
)
def test_what_holds_no_text_is_named(tmp_path, data, said):
    """The first bytes tell, whatever the file is called; so does a gzip's content."""
    path = tmp_path / "questions.csv"
    path.write_bytes(data)

    with pytest.raises(InputError) as caught:
        read_text(path)
    assert f"questions.csv is {said}" in str(caught.value)


def test_names_with_and_without_gz(tmp_path):
    """A plain file comes before a packed one, and the first name before the second."""
    (tmp_path / "b.tsv.gz").write_bytes(b"")
    places = [tmp_path / "a.tsv", tmp_path / "b.tsv"]

    assert first_file(*places) == tmp_path / "b.tsv.gz"
    (tmp_path / "b.tsv").write_bytes(b"")
    assert first_file(*places) == tmp_path / "b.tsv"
    assert first_file(tmp_path / "c") is None
    assert plain_name(tmp_path / "b.tsv.gz") == tmp_path / "b.tsv"
