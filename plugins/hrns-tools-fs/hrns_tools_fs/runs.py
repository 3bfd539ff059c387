"""A command at work: its output kept within bounds, its end awaited, its tree ended."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Literal, TypeAlias

from attrs import define, field, frozen

from hrns.context import ToolContext
from hrns.messages import Status, Terminal, ToolResult

from .host import Command, Host, LogFile
from .output import HeadAndTail, Live, WithoutSecrets, clean

__all__ = ["Ended", "Recorder", "Run", "result"]

HEAD_BYTES = 12 * 1024
TAIL_BYTES = 20 * 1024
LIVE_BYTES = 8 * 1024
LIVE_EVERY_S = 0.05
GRACE_S = 1.0
"""From SIGTERM to SIGKILL after the time limit."""
CANCEL_GRACE_S = 0.2
"""The same for a command that is interrupted: a person waits."""
DRAIN_S = 0.5
"""How long output is awaited after the end; who holds the pipe longer is in the background."""

_WORTH_TELLING_S = 1.0
_SHELL_SIGNAL_BASE = 128
"""A shell says 128 + N for what signal N killed."""

_Event: TypeAlias = Literal["output", "ended", "closed", "cancelled"]
_Outcome: TypeAlias = Literal["ended", "timed out", "cancelled"]


@define(eq=False)
class Recorder:
    """Where the output goes: its ends into memory, a little to people, all of a long one to a log.

    Secrets are taken out first: cut short, they would not be known any more. It is written by the
    thread that reads the pipe, and read by the thread of the tool.
    """

    host: Host
    without_secrets: WithoutSecrets
    ends: HeadAndTail = field(factory=lambda: HeadAndTail(HEAD_BYTES, TAIL_BYTES))
    live: Live = field(factory=lambda: Live(LIVE_BYTES))
    log: LogFile | None = None
    logs: bool = True
    lock: threading.Lock = field(factory=threading.Lock)
    watched: bool = True

    def add(self, piece: bytes) -> bool:
        """One more piece; whether people have something new to look at."""
        with self.lock:
            return self._add(self.without_secrets.feed(piece))

    def _add(self, piece: bytes) -> bool:
        if not piece:
            return False
        if self.ends.total + len(piece) > HEAD_BYTES + TAIL_BYTES:
            self._open_log()
        if self.log is not None:
            self.log.write(piece)
        if not self.watched:
            return False
        self.ends.add(piece)
        return self.live.add(piece)

    def leave(self) -> None:
        """The tool is done, the pipe is not: what still comes goes to the log alone."""
        with self.lock:
            self._add(self.without_secrets.end())
            self.watched = False
            self._open_log()

    def close(self) -> None:
        """Nothing will come any more."""
        with self.lock:
            self._add(self.without_secrets.end())
            if self.log is not None:
                self.log.close()

    def take(self, *, last: bool = False) -> str:
        """What people have not seen yet."""
        with self.lock:
            return self.live.take(last=last)

    def _open_log(self) -> None:
        """Begin the log with all that came so far; if there can be none, there is none."""
        if self.log is None and self.logs:
            try:
                self.log = self.host.log()
                self.log.write(self.ends.kept().head)
            except OSError:
                self.logs = False


@frozen
class Ended:
    """How a command ended. `status` is -N for signal N, None if it was made to end."""

    outcome: _Outcome
    status: int | None
    output: str
    dropped: int
    log: LogFile | None
    left: bool


@define(eq=False)
class Run:
    """One command from its start to its end."""

    command: Command
    context: ToolContext
    recorder: Recorder
    events: SimpleQueue[_Event] = field(factory=SimpleQueue)
    status: int | None = None
    closed: bool = False

    def to_its_end(self, timeout_s: float) -> Ended:
        """Wait for the end, the time limit or the cancel flag; nothing is left running of it."""
        _in_background(self._read_all)
        _in_background(self._wait)
        try:
            with self.context.cancel.waker(lambda: self.events.put("cancelled")):
                outcome = self._watch(time.monotonic() + timeout_s)
        except BaseException:
            self.command.end(0)
            raise
        if outcome != "ended":
            self.command.end(CANCEL_GRACE_S if outcome == "cancelled" else GRACE_S)
        self._drain(time.monotonic() + DRAIN_S)
        if not self.closed:
            self.recorder.leave()
        self.command.reap()
        return self._ended(outcome)

    def _watch(self, deadline: float) -> _Outcome:
        shown = 0.0
        waiting = False
        while True:
            until = min(deadline, shown + LIVE_EVERY_S) if waiting else deadline
            event = self._next(until)
            now = time.monotonic()
            if event == "cancelled":
                return "cancelled"
            if event == "ended":
                return "ended"
            if now >= deadline:
                return "timed out"
            waiting = waiting or event == "output"
            if waiting and now >= shown + LIVE_EVERY_S:
                shown, waiting = now, False
                self._show()

    def _drain(self, deadline: float) -> None:
        while not self.closed and self._next(deadline) is not None:
            pass
        self._show(last=True)

    def _next(self, until: float) -> _Event | None:
        try:
            event = self.events.get(timeout=max(0.0, until - time.monotonic()))
        except Empty:
            return None
        self.closed = self.closed or event == "closed"
        return event

    def _show(self, *, last: bool = False) -> None:
        if text := self.recorder.take(last=last):
            self.context.output(text)

    def _read_all(self) -> None:
        with suppress(OSError):
            while piece := self.command.read():
                if self.recorder.add(piece):
                    self.events.put("output")
        self.command.close_output()
        self.recorder.close()
        self.events.put("closed")

    def _wait(self) -> None:
        self.status = self.command.wait()
        self.events.put("ended")

    def _ended(self, outcome: _Outcome) -> Ended:
        kept = self.recorder.ends.kept()
        output = clean(_readable(kept.head))
        if kept.dropped:
            output += f"\n[... {kept.dropped} bytes left out ...]\n{clean(_readable(kept.tail))}"
        return Ended(
            outcome=outcome,
            status=self.status if outcome == "ended" else None,
            output=output,
            dropped=kept.dropped,
            log=self.recorder.log,
            left=not self.closed,
        )


def _in_background(work: Callable[[], None]) -> None:
    threading.Thread(target=work, name="hrns command", daemon=True).start()


def _readable(data: bytes) -> str:
    with suppress(UnicodeDecodeError):
        return data.decode("utf-8")
    return data.decode("oem" if os.name == "nt" else "utf-8", "replace")


def result(command: str, ended: Ended, timeout_s: float, duration_s: float) -> ToolResult:
    """The end of a command as the model and people get it."""
    status: Status = "ok" if ended.status == 0 else "error"
    if ended.outcome == "cancelled":
        status = "interrupted"
    return ToolResult(
        _words(ended, timeout_s, duration_s),
        status=status,
        display=Terminal(command, ended.output, ended.status, duration_s),
        structured=json.dumps(
            {
                "outcome": ended.outcome,
                "exit_status": ended.status,
                "duration_s": round(duration_s, 3),
                "log": str(ended.log.path) if ended.log else None,
            }
        ),
    )


def _words(ended: Ended, timeout_s: float, duration_s: float) -> str:
    fault = _fault(ended, timeout_s, duration_s)
    notes = []
    if ended.dropped and ended.log:
        how_much = "the whole output" if ended.log.complete else "more of the output"
        notes.append(f"{how_much} is in {ended.log.path}")
    if ended.left:
        where = f"; it writes to {ended.log.path}" if ended.log else ""
        notes.append(f"something that the command started still runs{where}")
    if not fault and duration_s >= _WORTH_TELLING_S:
        notes.append(f"exit status 0 after {duration_s:.1f} s")
    if not fault and not ended.output:
        notes.append("no output, exit status 0")
    note = f"[{'; '.join(notes)}]" if notes else ""
    return "\n".join(text for text in (fault, ended.output, note) if text)


def _fault(ended: Ended, timeout_s: float, duration_s: float) -> str:
    so_far = "output so far:" if ended.output else "there was no output"
    if ended.outcome == "cancelled":
        return f"ERROR: interrupted after {duration_s:.1f} s; {so_far}"
    if ended.outcome == "timed out":
        what = (
            "the command was ended" if ended.left else "the command and what it started were ended"
        )
        return f"ERROR: timed out after {timeout_s:g} s; {what}; {so_far}"
    if ended.status == 0 or ended.status is None:
        return ""
    how = f"exit status {ended.status}"
    if ended.status < 0:
        how = f"killed by {_signal_name(-ended.status)}"
    elif ended.status > _SHELL_SIGNAL_BASE and _signal_name(ended.status - _SHELL_SIGNAL_BASE):
        how += f" ({_signal_name(ended.status - _SHELL_SIGNAL_BASE)})"
    return f"ERROR: {how} after {duration_s:.1f} s"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return ""
