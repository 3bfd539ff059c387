"""What stays on the screen of which chunks, and what the status line says meanwhile."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from hrns_tui.inline.kept import Shelf, Whole
from hrns_tui.inline.screen import InlineScreen
from hrns_tui.inline.stage import Stage
from hrns_tui.inline.status import fitted
from hrns_tui.paint import Paint

from hrns.chunks import (
    Chunk,
    DiscardChunk,
    EndChunk,
    ErrorChunk,
    MessageChunk,
    MessageDoneChunk,
    ReasoningChunk,
    RetryChunk,
    ToolCallErrorChunk,
    ToolCallResultChunk,
    ToolCallStartChunk,
    UsageChunk,
)
from hrns.messages import AssistantMessage, Diff, Display, Status, Terminal, ToolResult, Usage

DONE = MessageDoneChunk(AssistantMessage(()))


class Clock:
    """Seconds that pass when they are told to."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


class Shown(Stage):
    """A stage that keeps what is put."""

    def __init__(self) -> None:
        super().__init__()
        self.text = ""

    def put(self, text: str) -> None:
        self.text += text


class Seen:
    """A screen, and what is on it."""

    def __init__(self, width: int = 80) -> None:
        self.clock, self.stage = Clock(), Shown()
        self.screen = InlineScreen(self.stage, Paint(), lambda: width, self.clock)

    def show(self, *chunks: Chunk | float) -> None:
        """Show the chunks; a number among them is seconds that pass."""
        for chunk in chunks:
            if isinstance(chunk, int | float):
                self.clock.now += chunk
            else:
                self.screen.show(chunk)

    @property
    def text(self) -> str:
        return re.sub(r"\x1b\[\d*m", "", self.stage.text)


def start(call_id: str, title: str = "run it") -> ToolCallStartChunk:
    return ToolCallStartChunk(call_id, "tool", "{}", title)


def end(
    call_id: str,
    text: str = "",
    status: Status = "ok",
    display: Display | None = None,
    structured: str | None = None,
) -> ToolCallResultChunk:
    result = ToolResult(text, status, display, structured)
    return ToolCallResultChunk(call_id, "tool", "{}", text, status, result)


def lines(count: int) -> str:
    return "".join(f"line {number}\n" for number in range(count))


# How long a call took


def test_time_of_a_call_begins_when_it_may_run() -> None:
    seen = Seen()
    seen.show(start("1"), 1.0)
    seen.screen.asks("1", "run it", None)
    assert [call.since for call in seen.stage.snapshot().calls] == [None]
    seen.show(30.0)
    seen.screen.answered("1", runs=True)
    seen.show(2.0, end("1"))
    assert seen.text == "* run it  ok  2.0 s\n"


def test_call_that_never_ran_has_no_time() -> None:
    seen = Seen()
    seen.show(start("1"))
    seen.screen.asks("1", "run it", None)
    seen.show(30.0)
    seen.screen.answered("1", runs=False)
    seen.show(end("1", "ERROR: this call was denied: not now", "denied"))
    fault = ToolResult("ERROR: no tol", "error")
    seen.show(ToolCallErrorChunk("2", "tol", "", fault.text, fault))
    assert seen.text == "* run it  denied: not now\n* tol  error: no tol\n"


def test_call_beside_a_question_has_no_time_that_may_be_the_persons() -> None:
    seen = Seen()
    seen.show(start("1", "read"), start("2", "fetch"))
    seen.screen.asks("2", "fetch", None)
    seen.show(30.0)
    seen.screen.answered("2", runs=True)
    seen.show(end("1"), 1.0, end("2"))
    assert seen.text == "* read  ok\n* fetch  ok  1.0 s\n"


# What stays of a call


@pytest.mark.parametrize(
    ("output", "rows"),
    [
        ("", []),
        ("\n\n", []),
        ("one\n", ["  one"]),
        (lines(5), [f"  line {n}" for n in range(5)]),
        (lines(6), ["  +2 lines (Ctrl-O)", *(f"  line {n}" for n in range(2, 6))]),
        (
            "\x1b[31m" + "long " * 20 + "\x1b[0m\n\a",
            ["  long long long long long long ...", "  \ufffd"],
        ),
    ],
)
def test_end_of_a_commands_output_stays(output: str, rows: list[str]) -> None:
    seen = Seen(36)
    seen.show(start("1"), 1.0, end("1", output, display=Terminal("c", output, 0, 1.0)))
    assert seen.text.splitlines() == ["* run it  ok  1.0 s", *rows]


def test_text_of_another_tool_is_one_line() -> None:
    seen = Seen()
    seen.show(start("1", "read_file a.txt"), end("1", lines(50)))
    assert seen.text == "* read_file a.txt  ok  0.0 s\n"


def test_outcome_is_broken_between_words_and_fits() -> None:
    seen = Seen(30)
    seen.show(start("1", "edit_file src/cart.py"))
    seen.show(end("1", "ERROR: `oldText` was not found in " + "x" * 40, "error"))
    assert seen.text.splitlines() == [
        "* edit_file src/cart.py",
        "error: `oldText` was not",
        "found in xxxxxxxxxxxxxxxxxxxx",
        "x" * 20 + "  0.0 s",
    ]
    assert "\x1b[31merror: `oldText` was not\x1b[0m\n\x1b[31mfound in" in seen.stage.text


def test_time_is_told_once_and_never_broken() -> None:
    seen = Seen(31)
    seen.show(start("1"), 1.5, end("1", "ERROR: exit status 1 after 1.5 s", "error"))
    seen.show(start("2", "do all of it and more"), 12.0, end("2"))
    assert seen.text.splitlines() == [
        "* run it  error: exit status 1",
        "after 1.5 s",
        "* do all of it and more  ok",
        "12.0 s",
    ]


def test_change_is_numbered_and_a_long_one_bounded() -> None:
    old = "".join(f"{n}\n" for n in range(1, 31))
    seen = Seen()
    change = Diff("src/a.py", old, old.replace("\n9\n", "\nnine\nten\n").replace("\n28\n", "\n"))
    seen.show(start("1", "edit a.py"), end("1", display=change))
    assert seen.text.splitlines()[1:] == (
        [
            " 6  6",
            " 7  7",
            " 8  8",
            " 9 -9",
            " 9 +nine",
            "10 +ten",
            "11  10",
            "12  11",
            "13  12",
            "   ...",
            "26  25",
            "27  26",
            "28  27",
            "28 -28",
            "29  29",
            "30  30",
        ]
    )
    assert "\x1b[31m 9 -9\x1b[0m\n\x1b[32m 9 +nine\x1b[0m" in seen.stage.text
    many = Seen()
    many.show(start("1", "write"), end("1", display=Diff("b", None, lines(500))))
    assert many.text.splitlines()[1:3] == ["b", "  1 +line 0"]
    assert many.text.splitlines()[-1] == "+460 lines (Ctrl-O)"
    many.screen.show_output()
    assert many.text.endswith(
        "* write\nb\n" + "".join(f"{n:3} +line {n - 1}\n" for n in range(1, 501))
    )


def test_line_ends_alone_are_told() -> None:
    seen = Seen()
    seen.show(start("1", "edit a"), end("1", display=Diff("a", "x\r\ny", "x\ny\n")))
    assert seen.text.splitlines()[1:] == ["(nothing but line ends)"]


# What is printed whole


def test_ctrl_o_prints_all_of_the_last_output_and_then_of_the_one_before() -> None:
    seen = Seen()
    seen.screen.show_output()
    assert seen.text == "no tool was called yet\n"
    log = '{"log": "/tmp/out.log"}'
    seen.show(start("1", "first"), end("1", lines(9000), structured="not JSON"))
    kept = Terminal("c", "head\n[... 5 bytes left out ...]\ntail\n", 0, 1.0)
    seen.show(start("2", "second"), end("2", display=kept, structured=log))
    shown = []
    for _ in range(3):
        before = len(seen.text)
        seen.screen.show_output()
        shown.append(seen.text[before:].lstrip("\n"))
    second = "* second\nhead\n[... 5 bytes left out ...]\ntail\n(its log: /tmp/out.log)\n"
    assert shown == [second, f"* first\n{lines(9000)}", second]


def test_shelf_keeps_the_last_of_many() -> None:
    shelf = Shelf()
    for number in range(30):
        shelf.put(Whole(f"{number}"))
    taken = [whole.title for _ in range(11) if (whole := shelf.take())]
    assert taken == [*(f"{number}" for number in range(29, 19, -1)), "29"]


def test_change_that_is_asked_about_can_be_printed_whole_before_the_answer() -> None:
    seen = Seen()
    change = Diff("a", None, lines(100))
    seen.show(start("1", "write a"))
    seen.screen.asks("1", "write a", change)
    seen.screen.show_output()
    assert seen.text.startswith("write a\n  1 +line 0\n")
    assert seen.text.endswith("100 +line 99\n")
    seen.screen.answered("1", runs=False)
    seen.show(end("1", "ERROR: this call was denied: no", "denied"))
    seen.screen.show_output()
    seen.screen.show_output()
    assert seen.text.count("100 +line 99") == 1


def test_thought_is_one_line_that_names_the_key_which_prints_it() -> None:
    seen = Seen(40)
    thought = "Where is the discount taken off, and where again?"
    seen.show(ReasoningChunk(thought), 4.0, MessageChunk("There."), DONE)
    assert seen.text == "thought for 4 s: Where is ... (Ctrl-T)\n\nThere.\n"
    seen.show(ReasoningChunk("Hm."), MessageChunk("Yes."), DONE)
    assert "\nthought: Hm.\n" in seen.text
    seen.screen.show_thought()
    assert seen.text.endswith("\nthought:\nHm.\n")
    seen.screen.show_thought()
    wrapped = "Where is the discount taken off, and\nwhere again?"
    assert seen.text.endswith(f"\nthought for 4 s:\n{wrapped}\n")


# Requests that are made again


def test_retries_are_told_in_place_and_in_one_line_when_they_are_over() -> None:
    seen = Seen()
    retries = seen.screen.retries
    assert retries.state(4) == []
    seen.show(RetryChunk(1, 4.0, "the server is busy"))
    assert retries.state(4) == ["retry 1/4 in 4 s: the server is busy", "retry 1/4 in 4 s"]
    seen.show(3.0, ReasoningChunk(""))
    assert retries.state(4) == []
    reason = "the server closed the stream before its end"
    seen.show(RetryChunk(2, 1.0, reason), 1.0)
    assert retries.state(4) == [
        f"retry 2/4: {reason}",
        "retry 2/4: the server closed the stream before its ...",
        "retry 2/4: the server closed th ...",
        "retry 2/4",
    ]
    assert seen.text == ""
    seen.show(MessageChunk("Here."), DONE, EndChunk())
    assert seen.text == f"note: asked again 2 times: {reason}\n\nHere.\n"


def test_reply_that_broke_off_is_void_as_far_as_it_stands_there() -> None:
    seen = Seen()
    seen.show(
        MessageChunk("One.\n\nTwo.\n\nThr"), DiscardChunk("cut off"), RetryChunk(1, 1, "cut off")
    )
    seen.show(MessageChunk("On"), DiscardChunk("cut off"), RetryChunk(2, 2, "cut off"))
    assert seen.text == "One.\n"
    seen.show(MessageChunk("One."), DONE)
    void = "note: what stands above of this reply is void, it broke off: cut off"
    assert seen.text == f"One.\n\n{void}\n\nOne.\n"


def test_error_says_how_often_it_was_tried() -> None:
    seen = Seen()
    seen.show(RetryChunk(1, 1, "busy"), RetryChunk(2, 2, "busy"), ErrorChunk("busy\nWait."))
    seen.show(EndChunk("error"))
    assert seen.text == "error: busy (asked 3 times)\nWait.\n"
    seen.show(RetryChunk(1, 1, "busy"), EndChunk("cancelled"), MessageChunk("Hi."), DONE)
    assert seen.text.endswith("\n\nnote: interrupted\n\nHi.\n")


# What a turn took


@pytest.mark.parametrize(
    ("chunks", "told"),
    [
        ([4.9, MessageChunk("So."), DONE, EndChunk()], ""),
        ([42.3, MessageChunk("So."), DONE, EndChunk()], "42 s"),
        (
            [
                UsageChunk(Usage(9000, 300)),
                start("1"),
                40.0,
                end("1"),
                start("2"),
                end("2"),
                UsageChunk(Usage(3000, 9)),
                85.0,
                EndChunk("cancelled"),
            ],
            "2 min 5 s · 2 calls · 12.3k tokens",
        ),
        (
            [UsageChunk(Usage(1, 2)), start("1"), 6.0, end("1"), EndChunk()],
            "6 s · 1 call · 3 tokens",
        ),
    ],
)
def test_long_turn_ends_with_what_it_took(chunks: Sequence[Chunk | float], told: str) -> None:
    seen = Seen()
    seen.show(3600.0, UsageChunk(Usage(5, 5)))
    seen.screen.prompted("Go.")
    seen.show(*chunks)
    last = seen.text.splitlines()[-1]
    assert last == told if told else " s" not in last


def test_time_of_a_persons_answer_is_none_of_the_turn() -> None:
    seen = Seen()
    seen.screen.prompted("Go.")
    seen.show(start("1"), 3.0)
    seen.screen.asks("1", "run it", None)
    seen.show(600.0)
    seen.screen.answered("1", runs=True)
    seen.show(3.0, end("1"), EndChunk())
    assert seen.text.endswith("\n\n6 s · 1 call\n")


# The status line

PARTS = [
    ["working 12 s"],
    ["gpt-large (home)", "gpt-large"],
    ["Builder", ""],
    ["mode ask"],
    ["context 4.2k", ""],
    ["", ""],
    ["~/src/shop", "shop", ""],
]


@pytest.mark.parametrize(
    ("width", "rows"),
    [
        (100, ["working 12 s · gpt-large (home) · Builder · mode ask · context 4.2k · ~/src/shop"]),
        (78, ["working 12 s · gpt-large (home) · Builder · mode ask · context 4.2k · shop"]),
        (70, ["working 12 s · gpt-large (home) · Builder · mode ask · context 4.2k"]),
        (60, ["working 12 s · gpt-large (home) · Builder · mode ask"]),
        (45, ["working 12 s · gpt-large (home) · mode ask"]),
        (39, ["working 12 s · gpt-large · mode ask"]),
        (30, ["working 12 s · gpt-large", "mode ask"]),
        (19, ["working 12 s", "gpt-large", "mode ask"]),
        (7, ["working", "gpt-lar", "mode as"]),
    ],
)
def test_status_line_keeps_state_model_and_mode(width: int, rows: list[str]) -> None:
    assert fitted(PARTS, width) == rows
