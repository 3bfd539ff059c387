"""Markdown that comes in pieces is cut where it is cut as a whole."""

from __future__ import annotations

from hrns_tui.files import fuzzy
from hrns_tui.inline.blocks import BlockSplitter, split_blocks
from hrns_tui.inline.pastes import Pastes
from hypothesis import given, settings
from hypothesis import strategies as st

LINES = st.sampled_from(
    [
        "text",
        "more text",
        "",
        "# head",
        "===",
        "---",
        "- item",
        "  lazy",
        "    code",
        "1. one",
        "> quote",
        ">",
        "```",
        "```py",
        "~~~",
        "| a | b |",
        "|---|---|",
        "* * *",
        "<b>",
        "<!-- x",
        "-->",
        "  - inner",
        "漢字",
        "`one",
        "[a]: b",
    ]
)
DOCUMENTS = st.lists(LINES, max_size=14).map(lambda lines: "\n".join([*lines, ""]))


def cut(text: str, size: int) -> list[str]:
    """The blocks of a text that comes in pieces of so many characters."""
    splitter, blocks = BlockSplitter(), []
    for at in range(0, len(text), size):
        splitter.feed(text[at : at + size])
        for block in splitter.finished():
            splitter.drop(len(block))
            blocks.append(block)
    return [*blocks, *split_blocks(splitter.rest)]


@settings(max_examples=100)
@given(DOCUMENTS, st.integers(1, 40))
def test_pieces_are_cut_as_the_whole_is(text: str, size: int) -> None:
    assert "".join(cut(text, size)) == text
    assert [block.strip("\n") for block in cut(text, size)] == [
        block.strip("\n") for block in split_blocks(text)
    ]


def test_long_open_fence_and_what_follows_it_are_two_blocks() -> None:
    code = "```\n" + "x = 1\n\n" * 3000 + "```\n"
    assert cut(f"{code}\nDone.\n", 7) == [f"{code}\n", "Done.\n"]


def finished(*pieces: str) -> list[list[str]]:
    """What is finished with each of the pieces."""
    splitter, steps = BlockSplitter(), []
    for piece in pieces:
        splitter.feed(piece)
        steps.append(splitter.finished())
        for block in steps[-1]:
            splitter.drop(len(block))
    return steps


def test_paragraph_is_finished_when_the_next_ends_however_their_lines_come() -> None:
    assert finished("one", "\n\n", "two", "\n\n", "three") == [[], [], [], ["one\n\n"], []]


def test_long_fence_is_finished_with_the_line_that_follows_it() -> None:
    code = "```\n" + "x = 1\n" * 3000
    assert finished(code, "```\n", "\n", "Done", ".\n") == [[], [], [], [], [f"{code}```\n\n"]]


def test_other_separators_than_line_breaks_end_no_line() -> None:
    text = "a\u2028b\x0cc\x85d\n\n```\ncode\n```\r\nend\r\rnext"
    blocks = ["a\u2028b\x0cc\x85d\n\n", "```\ncode\n```\r\n", "end\r\r", "next"]
    assert split_blocks(text) == blocks


def test_files_are_found_by_their_letters_the_likeliest_first() -> None:
    names = ["src/mode.py", "src/other/deep_model.py", "docs/memo dell.txt", "model.py"]
    assert fuzzy(names, "model") == [
        "model.py",
        "src/other/deep_model.py",
        "docs/memo dell.txt",
    ]
    assert fuzzy(names, "zzz") == []


def test_large_paste_is_folded_and_unfolded() -> None:
    pastes, text = Pastes(), "line\n" * 11
    assert pastes.fold("short\ntext") == "short\ntext"
    assert pastes.fold(text) == "[paste 1: 11 lines, 55 characters]"
    typed = "a [paste 1: 11 lines, 55 characters] [paste 9: 1 lines, 2 characters]"
    assert pastes.unfold(typed) == f"a {text} [paste 9: 1 lines, 2 characters]"
    assert Pastes().fold(f"{text}x") == "[paste 1: 12 lines, 56 characters]"
