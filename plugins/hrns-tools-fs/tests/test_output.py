from __future__ import annotations

import pytest
from hrns_tools_fs.output import HeadAndTail, Kept, Live, clean
from hypothesis import given, settings
from hypothesis import strategies as st

PIECES = st.lists(st.binary(max_size=30), max_size=30)


@pytest.mark.parametrize(
    ("printed", "seen"),
    [
        ("plain \u00e9\n", "plain \u00e9\n"),
        ("\x1b[31mred\x1b[0m \x1b[1;38;5;12mbold\x1b[m", "red bold"),
        ("\x1b]0;title\x07a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "alink"),
        ("\x1b(B\x1b=\x1b7a\x9b2Jb", "ab"),
        ("10%\r50%\r100%\ndone\r\n", "100%\ndone\n"),
        ("N\x08NA\x08AM\x08ME\x08E _\x08x", "NAME x"),
        ("a\x07b\x00c\td", "abc\td"),
        ("cut\x1b[3", "cut"),
        ("\x1b]never ended\nnext", "\nnext"),
        ("a\r\r\nb\rc\r", "a\nc"),
        ("\x1b[0m" + "x" * 100_000 + "\b" * 99_999, "x"),
    ],
)
def test_output_is_cleaned_for_reading(printed: str, seen: str) -> None:
    assert clean(printed) == seen


@settings(max_examples=100)
@given(PIECES)
def test_the_beginning_and_the_end_are_kept(pieces: list[bytes]) -> None:
    printed = b"".join(pieces)
    ends = HeadAndTail(20, 30)
    for piece in pieces:
        ends.add(piece)
    kept = ends.kept()
    assert len(kept.head) + kept.dropped + len(kept.tail) == kept.total == len(printed)
    assert printed.startswith(kept.head)
    assert printed.endswith(kept.tail)
    if len(printed) <= 50:
        assert kept == Kept(printed, b"", 0, len(printed))
    elif kept.dropped:
        assert (len(kept.head) >= 10, len(kept.tail) >= 14) == (True, True)


def test_what_is_kept_is_cut_at_line_ends() -> None:
    ends = HeadAndTail(20, 20)
    for n in range(1000):
        ends.add(b"line %d\n" % n)
    assert ends.kept() == Kept(b"line 0\nline 1\n", b"line 998\nline 999\n", 8858, 8890)


def test_little_is_held_of_much() -> None:
    ends = HeadAndTail(100, 100)
    for _ in range(1000):
        ends.add(b"x" * 100_000)
    assert sum(len(piece) for piece in ends._tail) == 100
    assert ends.kept().dropped == 100_000_000 - 200


@settings(max_examples=100)
@given(st.text("ab\u00e9\n\x1b[]31m;\x07", max_size=40), st.integers(1, 7))
def test_pieces_are_shown_as_the_whole_would_be(printed: str, size: int) -> None:
    data = printed.encode()
    live = Live(1000)
    shown = ""
    for start in range(0, len(data), size):
        live.add(data[start : start + size])
        shown += live.take()
    shown += live.take(last=True)
    assert shown == clean(printed)


def test_a_line_that_is_overwritten_is_another_line_for_who_watches() -> None:
    live = Live(1000)
    live.add(b"a\r\nb 10%\r")
    assert live.take() == "a\nb 10%"
    live.add(b"b 20%\r")
    assert live.take(last=True) == "\nb 20%"


def test_more_than_can_be_looked_at_is_counted() -> None:
    live = Live(5)
    assert (live.add(b"abc"), live.add(b"defgh"), live.add(b"ij")) == (True, False, False)
    assert live.take() == "abcde\n[... 5 bytes not shown ...]\n"
    assert (live.add(b"k"), live.take()) == (True, "k")
