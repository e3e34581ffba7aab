from __future__ import annotations

import codecs

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.text.encodings import decode, detect

FRENCH = "Le café était fermé à cause de la grève. Où êtes-vous allés « hier » ? — demanda l’élève. "
ENGLISH = "Refunds are paid within thirty days of the purchase. Open the billing page first.\n"
CHINESE = "退款必须在购买后三十天内提出。请在设置中打开账单页面,然后选择需要退款的发票。\n"
RUSSIAN = "Возврат средств возможен в течение тридцати дней после покупки. "
JAPANESE = "返金は購入後三十日以内に申請してください。設定から請求書を開きます。カタカナ"
WIDE = ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"]


def read(data: bytes) -> tuple[str, str]:
    encoding = detect(data)
    assert encoding is not None
    return decode(data, encoding), encoding.detail


@settings(derandomize=True)
@given(st.text(st.characters(codec="utf-8", exclude_characters="\0")))
def test_any_text_written_as_utf8_comes_back_exactly(text):
    """Whatever the characters: no newline translation, no normalisation.

    Only a byte order mark at the start is dropped.
    """
    assert read(text.encode()) == (text.removeprefix("\ufeff"), "")


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r", "\u2028", "\x85"])
def test_line_breaks_stay_as_they_are(newline):
    """CRLF, lone CR and Unicode's own line breaks are characters like others."""
    text = f"one{newline}two{newline}"

    assert read(text.encode()) == (text, "")


def test_a_utf8_mark_is_dropped_without_a_note():
    """A file with UTF-8's byte order mark is plain UTF-8 whose text begins after the mark."""
    assert read(codecs.BOM_UTF8 + "añb".encode()) == ("añb", "")


@pytest.mark.parametrize("codec", WIDE)
@pytest.mark.parametrize(
    "text", [ENGLISH, CHINESE, RUSSIAN, FRENCH + JAPANESE], ids=["en", "zh", "ru", "mixed"]
)
def test_wide_encodings_are_read_with_and_without_a_mark(codec, text):
    """UTF-16 and UTF-32 of both byte orders come back exactly and are named."""
    assert read(text.encode(codec)) == (text, f"{codec} without a byte order mark")
    assert read("\ufeff".encode(codec) + text.encode(codec)) == (text, codec)


@pytest.mark.parametrize(
    ("text", "codec", "named"),
    [
        (FRENCH, "cp1252", "cp1252"),
        (
            "Für Rückerstattungen größer als 500 € gilt: Prüfung durch die Geschäftsführung.",
            "cp1252",
            "cp1252",
        ),
        ("Café prices", "cp1252", "cp1252"),
        ("Refund “policy” – the customer’s", "cp1252", "cp1252"),
        (CHINESE, "gb18030", "gb18030"),
        (RUSSIAN, "cp1251", "cp1251"),
        (RUSSIAN, "koi8_r", "koi8_r"),
        (JAPANESE, "shift_jis", "cp932"),
        (JAPANESE, "euc_jp", "euc_jp"),
    ],
)
def test_legacy_code_pages_are_found_and_named(text, codec, named):
    """Old files are read as their writer saw them, and the guess is told."""
    assert read(text.encode(codec)) == (text, named)


def test_a_broken_byte_does_not_turn_a_utf8_file_into_another_encoding():
    """One bad byte costs one character, and is told; the other accents stay."""
    text, detail = read((FRENCH * 3).encode() + b"caf\xe9 noir")

    assert text == FRENCH * 3 + "caf\ufffd noir"
    assert detail == "damaged UTF-8, 1 broken characters replaced by U+FFFD"


def test_a_stray_nul_in_text_is_kept_and_named():
    """NUL characters in otherwise sound UTF-8 neither vanish nor make the file binary."""
    assert read(b"page one of the report\0page two of the report") == (
        "page one of the report\0page two of the report",
        "UTF-8 with NUL characters",
    )


@pytest.mark.parametrize(
    "data",
    [
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\0\0\0\1\0\x08\x06\0\0\0\\r\xa8f",
        b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0>\0\x01\0\0\0\xa0\x6b",
        bytes(range(256)) * 4,
        b"PK\x03\x04\x14\0\0\0\x08\0\xd1\xa5\x7dY\x0f\xf0\x11\xee",
    ],
    ids=["png", "elf", "bytes", "zip"],
)
def test_binary_data_is_no_text(data):
    """Images, programs and archives are not read as text in some exotic encoding."""
    assert detect(data) is None


def test_nothing_is_utf8():
    """An empty file has an encoding; that it is empty is for others to say."""
    assert read(b"") == ("", "")


def test_where_western_and_central_european_pages_draw_the_western_one_wins():
    """Both give sound text for one pound sign among English words; only one of them has it."""
    text = "Plain English text with one £ sign in it and many more words around. "

    assert read(text.encode("cp1252")) == (text, "cp1252")


def test_a_sample_does_not_decide_what_the_whole_contradicts():
    """Half a megabyte of a code page with a last byte that the page lacks is not read without it."""
    encoding = detect(FRENCH.encode("cp1252") * 6000 + b"\x81")

    assert encoding is not None
    assert encoding.detail not in {"", "cp1252"}
    assert encoding.errors == "strict"


def test_half_a_megabyte_of_bytes_is_no_text():
    """Bytes that no code page makes sense of are binary, control characters or not."""
    data = bytes(range(0x80, 0x100)) * 20

    assert detect(data) is None
