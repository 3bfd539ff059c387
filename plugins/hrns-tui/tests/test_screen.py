"""What is written for which chunks, character for character."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence

import pytest
from hrns_tui.screen import Screen, wants_colour
from hypothesis import given, settings
from hypothesis import strategies as st

from hrns.chunks import (
    Chunk,
    DiscardChunk,
    EndChunk,
    ErrorChunk,
    MessageChunk,
    MessageDoneChunk,
    NoticeChunk,
    ReasoningChunk,
    RetryChunk,
    ToolCallErrorChunk,
    ToolCallResultChunk,
    ToolCallStartChunk,
    Unknown,
    UsageChunk,
)
from hrns.messages import AssistantMessage, Status, ToolResult, Usage

DONE = MessageDoneChunk(AssistantMessage(()))


def shown(*chunks: Chunk, colour: bool = False) -> str:
    out = io.StringIO()
    screen = Screen(out, colour=colour)
    for chunk in chunks:
        screen.show(chunk)
    return out.getvalue()


def start(call_id: str, title: str = "") -> ToolCallStartChunk:
    return ToolCallStartChunk(call_id, "tool", "{}", title)


def end(call_id: str, text: str = "", status: Status = "ok") -> ToolCallResultChunk:
    return ToolCallResultChunk(call_id, "tool", "{}", text, status, ToolResult(text, status))


@pytest.mark.parametrize(
    ("chunks", "text"),
    [
        ([MessageChunk("One"), MessageChunk(" line."), DONE, EndChunk()], "One line.\n"),
        ([MessageChunk("\n\nOne\n"), MessageChunk("\ntwo\n\n"), DONE], "One\n\ntwo\n"),
        ([MessageChunk("\n"), DONE, EndChunk()], ""),
        (
            [ReasoningChunk("Hm"), ReasoningChunk(".\n"), MessageChunk("Yes."), DONE],
            "thinking: Hm.\n\nYes.\n",
        ),
        ([start("1", "read a.txt"), end("1")], "* read a.txt - ok\n"),
        ([start("1"), end("1", "ERROR: no\nmore", "error")], "* tool - error: no ...\n"),
        (
            [start("1", "a\nb"), start("2", "c"), end("2"), end("1")],
            "* a ...\n* c - ok\n  a ... - ok\n",
        ),
        (
            [start("1"), end("1", "ERROR: this call was denied: not now", "denied")],
            "* tool - denied: not now\n",
        ),
        (
            [ToolCallErrorChunk("1", "tol", "", "ERROR: no tol", ToolResult("", "error"))],
            "* tol - error: no tol\n",
        ),
        ([MessageChunk("So"), start("1"), end("1"), MessageChunk("it is")],
         "So\n\n* tool - ok\n\nit is"),
        ([ErrorChunk("broken\nTry again."), EndChunk("error")], "error: broken\nTry again.\n"),
        ([ErrorChunk("no such model", "request_refused", 404)],
         "error: no such model\n/models lists what there is, /model goes on with another.\n"),
        ([ErrorChunk("bad key", "authentication", 401)],
         "error: bad key\n/connect asks for another key.\n"),
        ([NoticeChunk("one"), NoticeChunk("two")], "note: one\nnote: two\n"),
        ([RetryChunk(1, 0.5, "busy")], "note: busy; trying again in 0.5 s\n"),
        (
            [MessageChunk("Half"), DiscardChunk("cut off")],
            "Half\n\nnote: what was shown of this reply is void: cut off\n",
        ),
        ([MessageChunk("Half"), EndChunk("cancelled", "interrupted")],
         "Half\n\nnote: interrupted\n"),
        ([EndChunk("limit", "the limit of 3 turns")], "note: the limit of 3 turns\n"),
        ([UsageChunk(Usage(1, 2)), Unknown("later", {})], ""),
    ],
)  # fmt: skip
def test_chunks_are_shown_as_lines(chunks: Sequence[Chunk], text: str) -> None:
    assert shown(*chunks) == text


def test_colour_is_beside_the_words_never_in_their_place() -> None:
    chunks: list[Chunk] = [
        ReasoningChunk("Hm."),
        start("1", "do"),
        end("1", "no", "error"),
        ErrorChunk("bad"),
        NoticeChunk("so"),
    ]
    coloured = shown(*chunks, colour=True)
    assert re.sub(r"\x1b\[\d+m", "", coloured) == shown(*chunks)
    assert coloured == (
        "\x1b[2mthinking: Hm.\x1b[0m\n\n\x1b[1m* do\x1b[0m\x1b[31m - error: no\n\x1b[0m"
        "\n\x1b[31merror: bad\x1b[0m\n\n\x1b[33mnote: so\x1b[0m\n"
    )


def test_long_titles_and_reasons_are_cut() -> None:
    text = shown(start("1", "t" * 300), end("1", "r" * 300, "error"))
    assert text == f"* {'t' * 200} ... - error: {'r' * 200} ...\n"


TEXTS = st.text(st.sampled_from("ab \t\n\r\x1b[]m\x07\x9b\u202e\x00\\"), max_size=12)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.sampled_from([MessageChunk, ReasoningChunk]), TEXTS), max_size=8))
def test_text_is_shown_whole_however_it_is_cut_and_steers_nothing(
    pieces: list[tuple[type[MessageChunk | ReasoningChunk], str]],
) -> None:
    text = shown(*(kind(text) for kind, text in pieces), DONE, EndChunk())
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", text)
    wanted = "".join(text for _, text in pieces)
    assert text.count("a") == wanted.count("a")
    assert text.count("\ufffd") == len(re.findall("[\x1b\x07\x9b\u202e\x00]", wanted))


@settings(max_examples=50, deadline=None)
@given(TEXTS)
def test_everything_else_that_is_said_steers_nothing(text: str) -> None:
    result = ToolResult(text, "error")
    out = shown(
        ToolCallStartChunk("1", text, text, text),
        ToolCallResultChunk("1", text, text, text, "error", result),
        ToolCallErrorChunk("2", text, text, text, result),
        ErrorChunk(text),
        NoticeChunk(text),
        RetryChunk(1, 1, text),
        DiscardChunk(text),
        EndChunk("limit", text),
    )
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", out)


def test_gap_separates_what_is_shown_from_a_prompt() -> None:
    out = io.StringIO()
    screen = Screen(out, colour=False)
    screen.gap()
    screen.say("Welcome.")
    screen.say("Well.")
    screen.gap()
    out.write("> hi\n")
    screen.prompted("hi")
    screen.show(MessageChunk("Hi"))
    screen.gap()
    screen.gap()
    assert out.getvalue() == "Welcome.\nWell.\n\n> hi\n\nHi\n\n"


class Tty(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("out", "environ", "wanted"),
    [
        (Tty(), {"TERM": "xterm"}, True),
        (io.StringIO(), {"TERM": "xterm"}, False),
        (Tty(), {"TERM": "dumb"}, False),
        (Tty(), {}, False),
        (Tty(), {"TERM": "xterm", "NO_COLOR": "1"}, False),
        (Tty(), {"TERM": "xterm", "NO_COLOR": ""}, True),
    ],
)
def test_colour_is_for_terminals_that_can_and_people_who_want(
    out: io.StringIO, environ: dict[str, str], wanted: bool
) -> None:
    assert wants_colour(out, environ) is wanted
