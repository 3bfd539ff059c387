from __future__ import annotations

import pytest
from hrns_tools_fs.tags import Data, End, Start, Token, tokens
from hypothesis import given, settings
from hypothesis import strategies as st

MARKS = st.sampled_from(
    [
        *"<>/='\" \n&;ax!-?",
        "<a ",
        "</a>",
        "<!--",
        "-->",
        "<script>",
        "</script>",
        "&lt;",
        "<![CDATA[",
    ]
)


@pytest.mark.parametrize(
    ("html", "found"),
    [
        ("a &lt; b&amp", [Data("a < b&")]),
        ("1 < 2 <3 <", [Data("1 < 2 <3 <")]),
        ("<P>x</P >", [Start("p"), Data("x"), End("p")]),
        ("<br/><hr / >", [Start("br"), Start("hr")]),
        ("<a HREF=x/y>", [Start("a", (("href", "x/y"),))]),
        (
            """<a b = "c > d" e='f"' g h=i&amp;j>""",
            [Start("a", (("b", "c > d"), ("e", 'f"'), ("g", ""), ("h", "i&j")))],
        ),
        ('<a "b">', [Start("a", (('"b"', ""),))]),
        ("<!doctype html>x<!-- a > b -->y<!-->z<? p ?>", [Data("x"), Data("y"), Data("z")]),
        ("<![CDATA[x]]>y</>z</ a>", [Data("y"), Data("z")]),
        ("<script>if (a<b) '</p>'</SCRIPT >x", [Start("script"), End("script"), Data("x")]),
        ("<script>never", [Start("script")]),
        ("<style><p></style><p>", [Start("style"), End("style"), Start("p")]),
        ("x<a href='y>z", [Data("x")]),
        ("x<a b", [Data("x")]),
        ("x<!-- y", [Data("x")]),
        ("", []),
    ],
)
def test_tags_and_text_of_a_page(html: str, found: list[Token]) -> None:
    assert list(tokens(html)) == found


@settings(max_examples=100)
@given(st.lists(MARKS, max_size=30).map("".join))
def test_every_text_is_cut(html: str) -> None:
    assert all(isinstance(each, Start | End | Data) for each in tokens(html))


@pytest.mark.parametrize(
    "piece",
    ["<a ", "<a b=c ", '<a "', '<p a="', "<", "<!", "</", "</a ", "<!--", "<?", "&", "<![", "<a/"],
)
def test_time_to_cut_grows_with_the_length_alone(piece: str) -> None:
    for _ in tokens(piece * (1_000_000 // len(piece))):
        pass
