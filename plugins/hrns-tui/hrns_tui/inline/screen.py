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
from hrns.messages import Diff

from ..cells import cells, wrapped
from ..paint import Paint, Style, Theme
from ..wording import failure, one_line, told
from .blocks import BlockSplitter
from .kept import Shelf, Whole
from .live import Live, RunningCall
from .outcome import outcome_rows
from .retries import Retries
from .stage import Stage
from .status import Meter
from .tally import Tally

__all__ = ["InlineScreen"]

Kind: TypeAlias = Literal["", "answer", "tools", "thought", "said", "notice", "error", "person"]

_OUTPUT_LIMIT = 20_000
_PERSON_ROWS = 40
_UNFOLD = "(Ctrl-T)"


class InlineScreen:
    """Shows a session above the prompt.

    Parameters:
        stage: where it is drawn.
        paint: how.
        width: gives the columns of the terminal.
        clock: gives the seconds.
    """

    def __init__(
        self,
        stage: Stage,
        paint: Paint,
        width: Callable[[], int],
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.paint = paint
        self._width = width
        self._clock = clock
        self.meter = Meter()
        self.retries = Retries(clock)
        self._tally = Tally(clock)
        self._stage = stage
        self._lock = stage.lock
        self._answer = BlockSplitter()
        self._thought: list[str] = []
        self._thought_since = 0.0
        self._calls: dict[str, RunningCall] = {}
        self._above: Kind = ""
        self._outputs = Shelf()
        self._thoughts = Shelf()
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
                self._tally.count(usage)
            case _:
                self._show_rare(chunk)
        self._stage.wake()
        self._stage.pause()

    def _show_rare(self, chunk: Chunk) -> None:
        match chunk:
            case MessageDoneChunk():
                self._finish()
                self._tell_retries()
                self.retries.done()
            case QueuedChunk(text):
                self.person(text)
            case DiscardChunk():
                self._discard(chunk)
            case RetryChunk():
                self.retries.retry(chunk)
            case NoticeChunk():
                self.notice(told(chunk))
            case ErrorChunk():
                self._fail(chunk)
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

    def aside(self, text: str, kind: Kind = "said") -> None:
        """Show plain text above what still grows, which goes on below it; from any thread."""
        styles: dict[Kind, Style] = {"person": "accent", "error": "bad"}
        with self._lock:
            self._write(kind, self._wrapped(text, styles.get(kind, "")))

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
        self._tally.begin()
        self.person(text)

    def gap(self) -> None:
        """The prompt follows, which stands apart anyway."""

    def show_output(self) -> None:
        """Show the whole output of the last tool call; again, of the one before."""
        self._show_whole(self._outputs, "no tool was called yet")

    def show_thought(self) -> None:
        """Show the whole of what was thought last; again, of what was thought before."""
        self._show_whole(self._thoughts, "nothing was thought yet")

    def _show_whole(self, shelf: Shelf, nothing: str) -> None:
        with self._lock:
            whole = shelf.take()
            above, self._above = self._above, "said"
            gap = "\n" if above else ""
            shown = whole.shown(self.paint, self._width() - 1) if whole else nothing
            self._stage.put(f"{gap}{shown}\n")

    def asks(self, call_id: str, title: str, preview: Diff | None, text: str = "") -> None:
        """The person is asked about a call: until it is answered, nothing of it runs.

        Its change of a file, or else the text, can be printed whole meanwhile.
        """
        self._tally.wait()
        with self._lock:
            for other, call in self._calls.items():
                # What runs beside may be done long before the question, and is told of after it.
                since = None if other == call_id else call.since
                self._calls[other] = evolve(call, since=since, timed=other == call_id)
            if preview is not None or text:
                self._outputs.put(Whole(title, text, preview, asked_about=call_id))
        self._stage.wake()

    def answered(self, call_id: str, *, runs: bool) -> None:
        """The question is answered; the call runs from now on, or never."""
        self._tally.go_on()
        with self._lock:
            if runs and (call := self._calls.get(call_id)):
                self._calls[call_id] = evolve(call, since=self._clock())
        self._stage.wake()

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
        self.retries.answered()
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
        self.retries.answered()
        self._finish_answer()
        with self._lock:
            if not self._thought:
                self._thought_since = self._clock()
            self._thought.append(text)

    def _fold_thought(self) -> None:
        """What the model thought as one line."""
        if not self._thought:
            return
        text = "".join(self._thought).strip()
        seconds = self._clock() - self._thought_since
        took = f" for {seconds:.0f} s" if seconds >= 1 else ""
        with self._lock:
            self._thought.clear()
            if text:
                self._thoughts.put(Whole(f"thought{took}:", text, is_prose=True))
                self._write("thought", self.paint(self._folded(f"thought{took}: ", text), "dim"))

    def _folded(self, head: str, text: str) -> str:
        """As much of a text as there is room for in a row, and the key that shows all of it."""
        room = self._width() - len(head) - 1
        if "\n" not in text and cells(text) <= room:
            return head + text
        return f"{head}{one_line(text, room - len(f' ... {_UNFOLD}'))} {_UNFOLD}"

    def _finish_answer(self) -> None:
        from .blocks import split_blocks

        rest = self._answer.rest
        if rest:
            self._put_blocks(split_blocks(rest))

    def _finish(self) -> None:
        self._fold_thought()
        self._finish_answer()

    def _discard(self, chunk: DiscardChunk) -> None:
        with self._lock:
            self._answer = BlockSplitter()
            self._thought.clear()
            self.retries.discard(chunk)

    def _tell_retries(self, *, failed: bool = False) -> None:
        with self._lock:
            self._write_retries(failed=failed)

    def _write_retries(self, *, failed: bool = False) -> None:
        if said := self.retries.over(failed=failed):
            self._write("notice", self._wrapped(f"note: {said}", "warning"))

    def _fail(self, chunk: ErrorChunk) -> None:
        self._finish()
        tries = self.retries.tries
        self._tell_retries(failed=True)
        first, newline, rest = failure(chunk).partition("\n")
        often = f" (asked {tries + 1} times)" if tries else ""
        self.error(f"{first}{often}{newline}{rest}")

    def _start(self, chunk: ToolCallStartChunk) -> None:
        self._finish()
        self._tally.call()
        title = one_line(chunk.title or chunk.tool_name)
        with self._lock:
            self._calls[chunk.call_id] = RunningCall(title, self._clock())

    def _output(self, call_id: str, text: str) -> None:
        with self._lock:
            if call := self._calls.get(call_id):
                output = (call.output + text)[-_OUTPUT_LIMIT:]
                self._calls[call_id] = evolve(call, output=output)

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
        call = self._calls.get(chunk.call_id) or RunningCall(one_line(chunk.tool_name), None)
        rows = outcome_rows(call, chunk, self._clock(), self._width() - 1, self.paint)
        with self._lock:
            self._calls.pop(chunk.call_id, None)
            self._outputs.settle(chunk.call_id)
            self._outputs.put(Whole.of(f"* {call.title}", chunk.result))
            self._write("tools", "\n".join(rows))

    def _end(self, end: EndChunk) -> None:
        self._finish()
        self._tell_retries(failed=True)
        self.retries.done()
        with self._lock:
            self._calls.clear()
        if end.reason == "cancelled":
            self.notice(end.text or "interrupted")
        elif end.reason in ("limit", "refused") and end.text:
            self.notice(end.text)
        if took := self._tally.told():
            self._put("said", self.paint(took, "dim"))
        self._tally.begin()

    def _put(self, kind: Kind, text: str) -> None:
        self._finish()
        with self._lock:
            self._write(kind, text)

    def _write(self, kind: Kind, text: str) -> None:
        """Put lines for good, a blank one above them if they are of another kind."""
        if kind in ("answer", "thought"):
            self._write_retries()
            self.retries.put()
        gap = "\n" if self._needs_gap(kind) else ""
        self._above = kind
        self._stage.put(f"{gap}{text}\n")
