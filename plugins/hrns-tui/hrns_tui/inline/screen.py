"""What a run emits as blocks: printed once when they are finished, in the tail until then.

The worker calls; the drawing thread takes snapshots. What belongs together (a block that is put
and the tail that it leaves) changes under one lock, and nothing slow is done under it.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from time import monotonic
from typing import Literal, TypeAlias

from attrs import evolve

from hrns.chunks import (
    Chunk,
    DiscardChunk,
    EndChunk,
    ErrorChunk,
    MessageChunk,
    MessageDoneChunk,
    NoticeChunk,
    QueuedChunk,
    ReasoningChunk,
    RetryChunk,
    SubagentChunk,
    ToolCallErrorChunk,
    ToolCallResultChunk,
    ToolCallStartChunk,
    ToolOutputChunk,
    UsageChunk,
)
from hrns.cli.printing import plain
from hrns.messages import Diff, Terminal

from ..cells import wrapped
from ..diffs import diff_lines
from ..paint import Paint, Style, Theme
from ..wording import failure, how_it_went, one_line, told
from .blocks import BlockSplitter
from .live import Live, RunningCall, without_ansi
from .stage import Stage
from .status import Meter

__all__ = ["InlineScreen"]

Kind: TypeAlias = Literal["", "answer", "tools", "thought", "said", "notice", "error", "person"]

_OUTPUT_LIMIT = 20_000
_DIFF_ROWS = 40
_SHELL_ROWS = 200
_WHOLE_ROWS = 5000
_PERSON_ROWS = 40


class InlineScreen:
    """Shows a session above the prompt.

    Parameters:
        stage: where it is drawn.
        paint: how.
        width: gives the columns of the terminal.
    """

    def __init__(self, stage: Stage, paint: Paint, width: Callable[[], int]) -> None:
        self.paint = paint
        self._width = width
        self.meter = Meter()
        self._stage = stage
        self._lock = stage.lock
        self._answer = BlockSplitter()
        self._thought: list[str] = []
        self._thought_since = 0.0
        self._calls: dict[str, RunningCall] = {}
        self._above: Kind = ""
        self._last_output = ("", "")
        stage.snapshot = self._snapshot

    def show(self, chunk: Chunk) -> None:
        """Show one chunk of a run."""
        match chunk:
            case MessageChunk(text):
                self._say_more(text)
            case ReasoningChunk(text):
                self._think_more(text)
            case ToolCallStartChunk():
                self._start(chunk)
            case ToolOutputChunk(call_id, text):
                self._output(call_id, text)
            case SubagentChunk():
                self._inside(chunk)
            case ToolCallErrorChunk() | ToolCallResultChunk():
                self._end_call(chunk)
            case UsageChunk(usage):
                self.meter.count(usage)
            case _:
                self._show_rare(chunk)
        self._stage.wake()
        self._stage.pause()

    def _show_rare(self, chunk: Chunk) -> None:
        match chunk:
            case MessageDoneChunk():
                self._finish()
            case QueuedChunk(text):
                self.person(text)
            case DiscardChunk():
                self._discard()
                self.notice(told(chunk))
            case NoticeChunk() | RetryChunk():
                self.notice(told(chunk))
            case ErrorChunk():
                self.error(failure(chunk))
            case EndChunk():
                self._end(chunk)
            case _:
                pass

    def person(self, text: str) -> None:
        """Show what the person said."""
        first, *rest = text.strip().split("\n")
        more = len(rest) - _PERSON_ROWS
        rows = [f"> {first}", *(f"  {row}" for row in rest[:_PERSON_ROWS])]
        said = self.paint("\n".join(rows), "accent")
        cut_off = [self.paint(f"  (and {more} more lines)", "dim")] if more > 0 else []
        self._put("person", "\n".join([said, *cut_off]))

    def say(self, text: str) -> None:
        """Show plain text, on lines of its own."""
        self._put("said", self._wrapped(text))

    def _wrapped(self, text: str, style: Style = "") -> str:
        return self.paint(wrapped(plain(text.rstrip()), self._width() - 1), style)

    def say_styled(self, text: str) -> None:
        """Show lines that are styled already."""
        self._put("said", text)

    def notice(self, text: str) -> None:
        """Show what a person should know and that is no error."""
        self._put("notice", self._wrapped(f"note: {text}", "warning"))

    def error(self, text: str) -> None:
        """Show that something went wrong."""
        self._put("error", self._wrapped(f"error: {text}", "bad"))

    def prompted(self, text: str) -> None:
        """A person sent something."""
        self.person(text)

    def gap(self) -> None:
        """The prompt follows, which stands apart anyway."""

    def show_output(self) -> None:
        """Show the whole output of the last tool call."""
        title, text = self._last_output
        lines = without_ansi(text).rstrip().split("\n") if text.strip() else ["(nothing)"]
        cut = [f"(and {len(lines) - _WHOLE_ROWS} more lines)"] if len(lines) > _WHOLE_ROWS else []
        head = title or "no tool was called yet"
        with self._lock:
            above, self._above = self._above, "said"
            gap = "\n" if above else ""
            body = self.paint("\n".join([*lines[:_WHOLE_ROWS], *cut]), "dim") if title else ""
            self._stage.put(
                f"{gap}{self.paint(head, 'bold')}\n{body}\n" if body else f"{gap}{head}\n"
            )

    def recall(self, text: str) -> None:
        """Show what the person said before."""
        self.person(text)

    def clear(self) -> None:
        """Begin a conversation anew."""
        self.meter.clear()

    def wipe(self) -> None:
        """Empty the screen; the scrollback is the terminal's own."""
        with self._lock:
            self._above = ""
            self._stage.put("\x1b[2J\x1b[H")

    def copy(self, text: str) -> None:
        """Put text on the clipboard by OSC 52, which some terminals allow only if told to."""
        with self._lock:
            self._stage.put(f"\x1b]52;c;{b64encode(text.encode(errors='replace')).decode()}\x07")

    def use_theme(self, theme: Theme) -> None:
        """Show what comes for a dark or a light background."""
        self.paint = evolve(self.paint, theme=theme)

    def _snapshot(self) -> Live:
        thought = "".join(self._thought[-400:])
        answer = self._answer.rest
        calls = tuple(self._calls.values())
        kind: Kind = "thought" if thought else "answer" if answer.strip() else "tools"
        return Live(self._needs_gap(kind), thought, answer, calls)

    def _needs_gap(self, kind: Kind) -> bool:
        return self._above not in ("", kind) or (kind == self._above == "answer")

    def _say_more(self, text: str) -> None:
        self._fold_thought()
        with self._lock:
            self._answer.feed(text)
        self._put_blocks(self._answer.finished())

    def _put_blocks(self, blocks: list[str]) -> None:
        """Put finished blocks; they leave the tail in the same moment."""
        for block in blocks:
            shown = self._rendered(block) if block.strip() else ""
            with self._lock:
                self._answer.drop(len(block))
                if shown:
                    self._write("answer", shown)

    def _rendered(self, source: str) -> str:
        from .markdown import render_markdown

        return render_markdown(source, self._width() - 1, self.paint)

    def _think_more(self, text: str) -> None:
        self._finish_answer()
        with self._lock:
            if not self._thought:
                self._thought_since = monotonic()
            self._thought.append(text)

    def _fold_thought(self) -> None:
        """What the model thought as one line."""
        if not self._thought:
            return
        text = "".join(self._thought)
        seconds = monotonic() - self._thought_since
        with self._lock:
            self._thought.clear()
            if text.strip():
                took = f" for {seconds:.0f} s" if seconds >= 1 else ""
                head = f"thought{took}: "
                line = head + one_line(text, self._width() - len(head) - len(" ...") - 1)
                self._write("thought", self.paint(line, "dim"))

    def _finish_answer(self) -> None:
        from .blocks import split_blocks

        rest = self._answer.rest
        if rest:
            self._put_blocks(split_blocks(rest))

    def _finish(self) -> None:
        self._fold_thought()
        self._finish_answer()

    def _discard(self) -> None:
        with self._lock:
            self._answer = BlockSplitter()
            self._thought.clear()

    def _start(self, chunk: ToolCallStartChunk) -> None:
        self._finish()
        title = one_line(chunk.title or chunk.tool_name)
        with self._lock:
            self._calls[chunk.call_id] = RunningCall(title, monotonic())

    def _output(self, call_id: str, text: str) -> None:
        with self._lock:
            if call := self._calls.get(call_id):
                output = (call.output + text)[-_OUTPUT_LIMIT:]
                self._calls[call_id] = RunningCall(call.title, call.since, output)

    def _inside(self, chunk: SubagentChunk) -> None:
        """What goes on in a call that is a run of its own: its text, and the tools it calls."""
        match chunk.chunk:
            case MessageChunk(text):
                self._output(chunk.call_id, text)
            case ToolCallStartChunk() as start:
                title = one_line(start.title or start.tool_name)
                self._output(chunk.call_id, f"\n* {title}\n")
            case _:
                pass

    def _end_call(self, chunk: ToolCallErrorChunk | ToolCallResultChunk) -> None:
        self._finish()
        result = chunk.result
        call = self._calls.get(chunk.call_id) or RunningCall(one_line(chunk.tool_name), monotonic())
        took = f"  {monotonic() - call.since:.1f} s"
        if result.status == "ok":
            line = self.paint(f"* {call.title}", "bold") + self.paint("  ok", "good")
        else:
            why = f"  {how_it_went(result.status, chunk.text)}"
            line = self.paint(f"* {call.title}", "bold") + self.paint(why, "bad")
        lines = [line + self.paint(took, "dim"), *self._displayed(chunk)]
        whole = result.display.output if isinstance(result.display, Terminal) else chunk.text
        with self._lock:
            self._calls.pop(chunk.call_id, None)
            self._last_output = (f"* {call.title}", whole)
            self._write("tools", "\n".join(lines))

    def _displayed(self, chunk: ToolCallErrorChunk | ToolCallResultChunk) -> list[str]:
        """What people see of a result below its line."""
        match chunk.result.display:
            case Diff() as diff:
                return self.paint.diff(diff_lines(diff, _DIFF_ROWS)).split("\n")
            case Terminal(output=output) if chunk.tool_name == "!":
                lines = without_ansi(output).rstrip().split("\n")[-_SHELL_ROWS:]
                return [self.paint(f"  {line}") for line in lines]
            case _:
                return []

    def _end(self, end: EndChunk) -> None:
        self._finish()
        with self._lock:
            self._calls.clear()
        if end.reason == "cancelled":
            self.notice(end.text or "interrupted")
        elif end.reason in ("limit", "refused") and end.text:
            self.notice(end.text)

    def _put(self, kind: Kind, text: str) -> None:
        self._finish()
        with self._lock:
            self._write(kind, text)

    def _write(self, kind: Kind, text: str) -> None:
        """Put lines for good, a blank one above them if they are of another kind."""
        gap = "\n" if self._needs_gap(kind) else ""
        self._above = kind
        self._stage.put(f"{gap}{text}\n")
