from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import pytest

from hrns.cancel import Cancel
from hrns.errors import Cancelled


def test_new_flag_is_down() -> None:
    cancel = Cancel()
    cancel.check()
    assert (cancel.is_set(), cancel.reason, repr(cancel)) == (False, "", "Cancel(None)")


def test_set_keeps_the_first_reason() -> None:
    cancel = Cancel()
    cancel.set()
    cancel.set("time limit")
    assert (cancel.is_set(), cancel.reason) == (True, "interrupted")


def test_check_raises_with_the_reason() -> None:
    cancel = Cancel()
    cancel.set("time limit")
    with pytest.raises(Cancelled, match=r"^time limit$"):
        cancel.check()


def test_wakers_are_called_once_and_only_inside_their_block() -> None:
    cancel = Cancel()
    calls: list[str] = []
    with cancel.waker(lambda: calls.append("left")):
        pass
    with cancel.waker(lambda: calls.append("outer")), cancel.waker(lambda: calls.append("inner")):
        cancel.set()
        cancel.set()
    assert calls == ["outer", "inner"]


def test_waker_of_a_raised_flag_is_called_at_once() -> None:
    cancel = Cancel()
    cancel.set()
    calls: list[str] = []
    with cancel.waker(lambda: calls.append("woken")):
        assert calls == ["woken"]


def test_waker_is_forgotten_when_its_block_raises() -> None:
    cancel = Cancel()
    calls: list[str] = []
    with pytest.raises(ZeroDivisionError), cancel.waker(lambda: calls.append("woken")):
        raise ZeroDivisionError
    cancel.set()
    assert calls == []


def test_same_waker_twice_is_called_until_both_blocks_end() -> None:
    cancel = Cancel()
    calls: list[None] = []

    def wake() -> None:
        calls.append(None)

    with cancel.waker(wake):
        with cancel.waker(wake):
            pass
        cancel.set()
    assert calls == [None]


def test_wait_times_out() -> None:
    started = time.monotonic()
    assert Cancel().wait(0.05) is False
    assert time.monotonic() - started >= 0.04


@pytest.mark.parametrize("seconds", [0, -5])
def test_wait_for_no_time_returns_at_once(seconds: float) -> None:
    assert Cancel().wait(seconds) is False


def test_wait_of_a_raised_flag_returns_at_once() -> None:
    cancel = Cancel()
    cancel.set()
    started = time.monotonic()
    assert cancel.wait(30) is True
    assert time.monotonic() - started < 20


def test_wait_in_many_threads_ends_when_the_flag_is_raised() -> None:
    cancel = Cancel()
    woken: list[bool] = []
    threads = [
        threading.Thread(target=lambda: woken.append(cancel.wait(30)), daemon=True)
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    cancel.set()
    for thread in threads:
        thread.join(20)
    assert woken == [True] * 8


@contextmanager
def handler(cancel: Cancel) -> Iterator[None]:
    """Inside the block SIGUSR1 raises the flag, as SIGINT does in the program."""

    def on_signal(number: int, _frame: FrameType | None) -> None:
        cancel.set(signal.Signals(number).name)

    before = signal.signal(signal.SIGUSR1, on_signal)
    try:
        yield
    finally:
        signal.signal(signal.SIGUSR1, before)


@pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="the system has no such signal")
def test_signal_handler_wakes_the_thread_that_it_interrupts() -> None:
    cancel = Cancel()
    started = time.monotonic()

    def send() -> None:
        while not cancel.wait(0.05):  # again where it came just as the wait began
            os.kill(os.getpid(), signal.SIGUSR1)

    with handler(cancel):
        sending = threading.Thread(target=send)
        sending.start()
        assert cancel.wait(30) is True
        sending.join()
    assert time.monotonic() - started < 20
    assert cancel.reason == "SIGUSR1"


@pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="the system has no such signal")
def test_signal_in_the_middle_of_set_does_not_hang() -> None:
    cancel = Cancel()
    calls: list[str] = []

    def wake() -> None:
        calls.append("woken")
        if len(calls) == 1:
            os.kill(os.getpid(), signal.SIGUSR1)

    with handler(cancel), cancel.waker(wake):
        cancel.set("first")
    assert (cancel.reason, calls) == ("first", ["woken"])
