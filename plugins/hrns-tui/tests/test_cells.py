"""What fits into so many columns, and where lines are broken."""

from __future__ import annotations

import re

import pytest
from hrns_tui.cells import cells, cut, padded, wrapped
from hrns_tui.inline.live import Live, RunningCall, live_lines
from hrns_tui.paint import Paint
from hrns_tui.tables import table
from hypothesis import given, settings
from hypothesis import strategies as st


def test_wide_characters_take_two_columns() -> None:
    assert [cells(text) for text in ("abc", "日本", "é", "👍")] == [3, 4, 1, 2]
    assert [cut("日本語", width) for width in (6, 5, 4, 0)] == ["日本語", "日本", "日本", ""]
    assert padded("日本", 6) == "日本  "


def test_columns_of_a_table_stand_below_each_other() -> None:
    assert table([("日本", "one"), ("a", "two")]) == "日本   one\na      two"


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("one two three", 8, ["one two", "three"]),
        ("  one two three", 9, ["  one two", "three"]),
        ("日本語を話す", 6, ["日本語", "を話す"]),
        ("see 日本語を話す", 8, ["see 日本", "語を話す"]),
        ("a 👍👍👍 b", 6, ["a 👍👍", "👍 b"]),
        (
            "at https://example.org/a/long/path now",
            12,
            ["at", "https://example.org/a/long/path", "now"],
        ),
        ("x" * 30, 10, ["x" * 30]),
        (
            "/name   says what it does, at some length",
            30,
            ["/name   says what it does, at", "        some length"],
        ),
        ("/name   says what it does", 24, ["/name   says what it", "    does"]),
        (
            "    indented words that go on and on",
            30,
            ["    indented words that go on", "    and on"],
        ),
    ],
)
def test_lines_are_broken_between_words(text: str, width: int, lines: list[str]) -> None:
    assert wrapped(text, width).split("\n") == lines


def test_words_are_broken_where_all_of_a_line_has_to_be_seen() -> None:
    lines = wrapped("run " + "x" * 25 + " now", 10, whole_words=False).split("\n")
    assert lines == ["run xxxxxx", "x" * 10, "x" * 9, "now"]
    assert wrapped("run abcdef now", 8, whole_words=False).split("\n") == ["run", "abcdef", "now"]


@settings(max_examples=100)
@given(st.text("ab 日👍é\n", max_size=120), st.integers(2, 40))
def test_nothing_is_lost_and_every_line_fits_that_can(text: str, width: int) -> None:
    broken = wrapped(text, width)
    assert broken.replace("\n", "").replace(" ", "") == text.replace("\n", "").replace(" ", "")
    for line in broken.split("\n"):
        assert cells(line) <= width or len(line.split()) == 1


def test_tail_of_a_turn_fits_the_window() -> None:
    live = Live(thought="考えて" * 30, calls=(RunningCall("走る" * 20, 0, "出力" * 40),))
    plain = re.sub(r"\x1b\[\d*m", "", "\n".join(live_lines(live, 21, 12, Paint()))).split("\n")
    assert all(cells(line) <= 21 for line in plain)
    assert plain[:2] == ["thinking:", "て考えて考えて考えて"]
    assert plain[-1] == "  出力出力出力出力出"
