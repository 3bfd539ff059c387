from __future__ import annotations

import codecs

import pytest
from hrns_tools_fs.texts import Decoded, decode, image_type
from hypothesis import given, settings
from hypothesis import strategies as st

TEXTS = [
    (b"plain\n", Decoded("plain\n")),
    (b"", Decoded("")),
    ("caf\u00e9 \u4f60\n".encode(), Decoded("caf\u00e9 \u4f60\n")),
    (b"\xef\xbb\xbfWrite-Host hi\n", Decoded("Write-Host hi\n", "utf-8", codecs.BOM_UTF8)),
    ("\ufeffa\u00e9".encode("utf-16-le"), Decoded("a\u00e9", "utf-16-le", codecs.BOM_UTF16_LE)),
    ("\ufeffa\u00e9".encode("utf-16-be"), Decoded("a\u00e9", "utf-16-be", codecs.BOM_UTF16_BE)),
    ("\ufeffa\u00e9".encode("utf-32-le"), Decoded("a\u00e9", "utf-32-le", codecs.BOM_UTF32_LE)),
    (b"x = 1\n# caf\xe9\n", Decoded("x = 1\n# caf\u00e9\n", "latin-1")),
    ("\u00e4\u00f6\u00fc".encode() + b"\xff", Decoded("\u00e4\u00f6\u00fc\udcff")),
]


@pytest.mark.parametrize(("data", "expected"), TEXTS)
def test_bytes_are_read_in_their_encoding(data: bytes, expected: Decoded) -> None:
    assert decode(data) == expected


@pytest.mark.parametrize("data", [b"\0\1\2", b"text\0text", b"%PDF-1.7\n", b"\xff\xfea"])
def test_what_is_no_text_is_told(data: bytes) -> None:
    assert decode(data) is None


@settings(max_examples=100)
@given(st.sampled_from([mark for mark, *_ in [(b"",), (codecs.BOM_UTF8,)]]), st.binary())
def test_any_text_goes_back_to_its_bytes(mark: bytes, data: bytes) -> None:
    decoded = decode(mark + data)
    assert decoded is None or decoded.encode() == mark + data


@settings(max_examples=100)
@given(st.text(), st.sampled_from(["utf-8", "utf-16-le", "utf-16-be", "utf-32-be"]))
def test_any_marked_text_is_read_as_it_was_written(text: str, encoding: str) -> None:
    data = ("\ufeff" + text).encode(encoding)
    decoded = decode(data)
    assert decoded is not None
    assert (decoded.text, decoded.encode()) == (text, data)


def test_ascii_keeps_the_encoding_that_the_file_had() -> None:
    assert decode(b"cafe", known="latin-1") == Decoded("cafe", "latin-1")
    assert decode("caf\u00e9".encode(), known="latin-1") == Decoded("caf\u00e9", "utf-8")


def test_people_see_lf_and_a_mark_for_a_byte_that_is_no_text() -> None:
    assert Decoded("a\r\nb\udcff\r\n").shown == "a\nb\ufffd\n"


def test_images_are_told_by_their_first_bytes() -> None:
    heads = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff\xe0", b"GIF89a", b"RIFF0000WEBP", b"RIFF0000WAVE")
    assert [image_type(head) for head in heads] == [
        "image/png",
        "image/jpeg",
        "image/gif",
        "image/webp",
        None,
    ]
