"""Kept threads: used again, left behind when they do not come back, ended with their owner."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable
from contextvars import ContextVar
from functools import partial
from queue import SimpleQueue

from hrns.workers import Workers

color: ContextVar[str] = ContextVar("color", default="none")


def run(workers: Workers, work: Callable[[], object], name: str = "work") -> object:
    told: SimpleQueue[object] = SimpleQueue()

    def task() -> Callable[[], object]:
        result = work()
        return lambda: told.put(result)

    workers.start(name, task)
    return told.get(timeout=30)


def ended(thread: object) -> bool:
    assert isinstance(thread, threading.Thread)
    thread.join(30)
    return not thread.is_alive()


def test_thread_is_used_again_under_the_name_of_its_work() -> None:
    workers = Workers()
    first = run(workers, threading.current_thread)
    names = [run(workers, lambda: threading.current_thread().name, name) for name in ("a", "b")]
    assert names == ["a", "b"]
    assert run(workers, threading.current_thread) is first
    workers.close()
    assert ended(first)


def test_work_that_does_not_come_back_keeps_nobody_waiting() -> None:
    workers, gate = Workers(), threading.Event()
    busy: SimpleQueue[object] = SimpleQueue()

    def stuck() -> None:
        busy.put(threading.current_thread())
        gate.wait(60)

    workers.start("stuck", stuck)
    thread = busy.get(timeout=30)
    assert run(workers, threading.current_thread) is not thread
    workers.close()
    gate.set()
    assert ended(thread)


def test_work_after_the_end_is_done_and_its_thread_ends() -> None:
    workers = Workers()
    workers.close()
    assert ended(run(workers, threading.current_thread))


def test_threads_end_with_what_holds_them() -> None:
    workers = Workers()
    thread = run(workers, threading.current_thread)
    del workers
    gc.collect()
    assert ended(thread)


def test_context_variables_of_one_piece_are_not_seen_by_the_next() -> None:
    workers = Workers()
    run(workers, lambda: color.set("red"))
    assert run(workers, color.get) == "none"
    workers.close()


def test_what_a_piece_held_is_given_up_while_its_thread_waits() -> None:
    class Held:
        def __init__(self) -> None:
            self.gone = gone

        def __del__(self) -> None:
            self.gone.append(True)

    workers, gone = Workers(), list[bool]()
    run(workers, partial(repr, Held()))
    deadline = time.monotonic() + 30
    while not gone and time.monotonic() < deadline:
        time.sleep(0.001)
    assert gone == [True]
    workers.close()
