"""The title of the terminal, and its bell."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, cast

import pytest
from hrns_tui.inline.desk import Desk, Work
from hrns_tui.inline.forms import CallForm, LineForm, Offer
from hrns_tui.inline.herald import Herald
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.data_structures import Size
from prompt_toolkit.output.vt100 import Vt100_Output

from hrns.cancel import Cancel
from hrns.session import Session

SESSION = cast("Session", object())


class Heralded:
    """A desk that is told of, what was written, and a clock that stands still."""

    def __init__(self, wants: dict[str, Any] | None = None, term: str = "xterm") -> None:
        self.now = 0.0
        self._out = io.StringIO()
        output = Vt100_Output(self._out, lambda: Size(24, 80), term=term)
        self.desk = Desk(Buffer(), Buffer())
        self.desk.session = SESSION
        cwd = Path("/src/a\x1b[2Jb")
        self.herald = Herald(output, self.desk, cwd, wants or {}, term, clock=lambda: self.now)
        self.desk.changed = self.herald.tell

    @property
    def written(self) -> str:
        """What was written since it was asked for last."""
        text = self._out.getvalue()
        self._out.seek(0)
        self._out.truncate()
        return text


def titled(text: str) -> str:
    return f"\x1b]2;{text}hrns · a\ufffd[2Jb\x07"


def work(since: float = 0.0, turn: Session | None = SESSION) -> Work:
    return Work(Cancel(), since, turn)


def question() -> CallForm:
    return CallForm(lambda _: ["do it"], Offer("do(it)"), above=False)


def end(desk: Desk) -> None:
    """The work is over; the session of these tests has no queue."""
    desk.work = None
    desk.changed()


def test_title_says_what_goes_on_and_is_given_back() -> None:
    seen = Heralded()
    seen.herald.open()
    assert seen.written == "\x1b[22;2t" + titled("")
    seen.desk.begin(work())
    assert seen.written == titled("* ")
    form = question()
    seen.desk.ask(form)
    assert seen.written == titled("? ") + "\a"
    seen.desk.tell("well")
    assert seen.written == ""
    seen.desk.dismiss(form)
    assert seen.written == titled("* ")
    seen.desk.await_message(SESSION)
    assert seen.written == titled("")
    seen.herald.close()
    assert seen.written == "\x1b]2;\x07\x1b[23;2t"


@pytest.mark.parametrize(
    ("seconds", "turn", "rung"), [(19.0, SESSION, 0), (21.0, SESSION, 1), (60.0, None, 0)]
)
def test_bell_rings_at_the_end_of_a_long_turn(
    seconds: float, turn: Session | None, rung: int
) -> None:
    seen = Heralded({"title": False})
    seen.desk.begin(work(turn=turn))
    seen.now = seconds
    assert seen.written == ""
    end(seen.desk)
    seen.desk.tell("well")
    assert seen.written == "\a" * rung


def test_bell_rings_for_no_line_that_a_command_asks_for() -> None:
    seen = Heralded({"title": False})
    seen.desk.ask(LineForm("name"))
    assert seen.written == ""


def test_title_and_bell_can_be_switched_off() -> None:
    seen = Heralded({"title": False, "bell": False})
    seen.herald.open()
    seen.desk.begin(work())
    seen.desk.ask(question())
    seen.now = 60.0
    end(seen.desk)
    seen.herald.close()
    assert seen.written == ""
    console = Heralded(term="linux")
    console.herald.open()
    console.desk.begin(work())
    console.herald.close()
    assert console.written == ""
