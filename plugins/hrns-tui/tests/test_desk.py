"""What a key at the prompt comes to, without a terminal."""

from __future__ import annotations

import time

from hrns_tui.dialogue import Typed
from hrns_tui.inline.desk import Desk, Work
from prompt_toolkit.buffer import Buffer

from hrns.cancel import Cancel


def test_enter_that_is_pressed_twice_by_a_slip_interrupts_nothing() -> None:
    desk = Desk(Buffer(), Buffer(multiline=False))
    cancel = Cancel()
    desk.begin(Work(cancel, 0.0))
    desk.draft.text = "/agent Explorer"
    for _ in range(2):
        desk.guard.pressed()
        desk.submit()
    assert [*desk.later] == [Typed("/agent Explorer", "/agent Explorer")]
    assert not cancel.is_set()
    time.sleep(0.5)
    desk.guard.pressed()
    desk.submit()
    assert (cancel.is_set(), cancel.reason) == (True, "interrupted for what was queued")


def test_enter_on_an_empty_line_with_nothing_queued_interrupts_nothing() -> None:
    desk = Desk(Buffer(), Buffer(multiline=False))
    cancel = Cancel()
    desk.begin(Work(cancel, 0.0))
    desk.guard.pressed()
    desk.submit()
    assert not cancel.is_set()
