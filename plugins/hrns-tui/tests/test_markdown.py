"""What Markdown looks like in a window, and that nothing of it is lost in a narrow one."""

from __future__ import annotations

import re

import pytest
from hrns_tui.cells import cells
from hrns_tui.inline.markdown import render_markdown
from hrns_tui.paint import Paint
from hypothesis import given, settings
from hypothesis import strategies as st


def shown(source: str, width: int = 80) -> str:
    """The rows as they are read."""
    text = re.sub(r"\x1b\[[\d;]*m", "", render_markdown(source, width, Paint()))
    return "\n".join(line.rstrip() for line in text.split("\n"))


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("![a plan](https://x.org/a.png) here", "a plan (https://x.org/a.png) here"),
        ("![](a.png)", "picture (a.png)"),
        ("see [the *docs* of `x`](https://x.org)", "see the docs of x (https://x.org)"),
        ("[a][1] b\n\n[1]: https://x.org", "a (https://x.org) b"),
        ("<https://x.org/a> <me@x.org>", "https://x.org/a me@x.org"),
        ("[https://x.org/ä](https://x.org/ä)", "https://x.org/ä"),
        ("[https://good.org](https://bad.org)", "https://good.org (https://bad.org)"),
        ("[![ci](https://x.org/ci.svg)](https://x.org)", "ci (https://x.org/ci.svg) (https://x.org)"),
        ("## [head](u)", "head (u)"),
        ("7. seven\n8. eight", " 7. seven\n 8. eight"),
        ("9) nine\n10) ten\n\n    more", "  9) nine\n 10) ten\n     more"),
        ("- a\n  1. b", " • a\n    1. b"),
        ("&#x202e;&#x9b;&#27; [&#x202e;](x)", "\ufffd\ufffd\ufffd \ufffd (x)"),
        ("![&#x202e; *b*](y)", "\ufffd b (y)"),
    ],
)  # fmt: skip
def test_addresses_and_numbers_are_shown(source: str, text: str) -> None:
    assert shown(source) == text


TABLE = """\
| name | what it says | path |
|------|:------------:|-----:|
| one | a narrative of considerable length | /usr/share/doc/README.html |
| two `c` | | [x](u) |
"""


def test_table_that_fits_is_one() -> None:
    assert shown(TABLE, 90).split("\n") == [
        " name              what it says                                   path",
        " ─────────────────────────────────────────────────────────────────────",
        " one    a narrative of considerable length  /usr/share/doc/README.html",
        " two c                                                           x (u)",
    ]


def test_table_that_is_too_wide_wraps_its_cells_between_words() -> None:
    assert shown(TABLE, 60).split("\n") == [
        " name        what it says                              path",
        " ──────────────────────────────────────────────────────────",
        " one        a narrative of       /usr/share/doc/README.html",
        "          considerable length",
        " two c                                                x (u)",
    ]


def test_table_without_room_for_its_columns_becomes_lists() -> None:
    assert shown(TABLE, 30).split("\n") == [
        "name: one",
        "what it says: a narrative of",
        "considerable length",
        "path:",
        "/usr/share/doc/README.html",
        "",
        "name: two c",
        "what it says:",
        "path: x (u)",
    ]
    assert shown("| first name | second name |\n|---|---|", 16) == "first name:\nsecond name:"


CELLS = st.text("ab漢 é👍", max_size=30).map(str.strip)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 4).flatmap(
        lambda n: st.lists(st.lists(CELLS, min_size=n, max_size=n), min_size=2, max_size=4)
    ),
    st.integers(10, 80),
)
def test_table_of_any_width_loses_nothing_and_fits(rows: list[list[str]], width: int) -> None:
    head, *body = rows
    lines = [head, ["---"] * len(head), *body]
    text = shown("".join(f"|{'|'.join(line)}|\n" for line in lines), width)
    assert all(cells(row) <= width for row in text.split("\n"))
    for letter in "ab漢é👍":
        assert text.count(letter) >= sum(cell.count(letter) for row in rows for cell in row)
