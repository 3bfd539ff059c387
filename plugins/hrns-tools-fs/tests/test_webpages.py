from __future__ import annotations

import pytest
from hrns_tools_fs.webpages import to_markdown
from hypothesis import given, settings
from hypothesis import strategies as st

BASE = "http://h/dir/page.html"


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<ul><li>1<li>2<ul><li>3</ul><li>4</ul>", "- 1\n- 2\n  - 3\n- 4"),
        ("<ol start=3><li>x<li>y</ol>", "3. x\n4. y"),
        ("<p>one<p>two<div>three</div>four", "one\n\ntwo\n\nthree\n\nfour"),
        (
            "<table><tr><th>a<th>b<tr><td>1<td>2</table>",
            "| a | b |\n| --- | --- |\n| 1 | 2 |",
        ),
        ("<dl><dt>t<dd>v<dt>u<dd>w</dl>", "t\n:   v\n\nu\n:   w"),
        ("<pre><code class='x language-py'>a\n  b &lt;c></code></pre>", "```py\na\n  b <c>\n```"),
        ("<script>x<b></script>a<style>y</style><svg><text>z</text></svg>b", "ab"),
        ("<head><title>No</title><meta x>seen</head><body>b", "# No\n\nb"),
        ("<h1>Same</h1><title>Same</title><p>text", "# Same\n\ntext"),
        (
            "a <img src=x.png alt=pic><img src='data:image/png;base64,AA' alt=no>",
            "a ![pic](http://h/dir/x.png)",
        ),
        (
            "<a href=' ../up?q=1 '>l</a> <a href='http://[bad'>m</a>",
            "[l](http://h/up?q=1) [m](http://[bad)",
        ),
        ("snake_case * 2 &amp; &eacute;", "snake_case * 2 & \u00e9"),
        ("<b>bold</i></b></p> text", "**bold** text"),
        ("", ""),
    ],
)
def test_html_becomes_markdown(html: str, markdown: str) -> None:
    assert to_markdown(html, BASE, 10_000) == (markdown, False)


@pytest.mark.parametrize("element", ["div", "b", "ul><li", "table><tr><td", "blockquote"])
def test_what_is_nested_without_end_is_read_all_the_same(element: str) -> None:
    text, _ = to_markdown(f"<{element}>" * 5000 + "deep", BASE, 1_000_000)
    assert "deep" in text


def test_a_long_page_is_cut() -> None:
    text, cut = to_markdown("<p>word" * 100_000, BASE, 100)
    assert (cut, 40 <= text.count("word") < 100) == (True, True)


MARKUP = (
    """<li> <p> </p> <table> <td> </table> <a_href=x> < & <!-- ]]> word <pre> </ul> <br/> \x00"""
)


@settings(max_examples=100)
@given(st.lists(st.sampled_from(MARKUP.split()), max_size=30))
def test_any_markup_is_read(pieces: list[str]) -> None:
    text, _ = to_markdown(" ".join(pieces).replace("_", " "), BASE, 10_000)
    assert text == text.strip()
