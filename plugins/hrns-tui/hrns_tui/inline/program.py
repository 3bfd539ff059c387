"""The rich terminal as a whole: one thread draws and reads keys, the other works."""

from __future__ import annotations

import asyncio
import errno
import signal
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from threading import Thread, current_thread, main_thread
from time import monotonic
from typing import Any, TextIO

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import ThreadedCompleter
from prompt_toolkit.input.typeahead import clear_typeahead
from prompt_toolkit.styles import Style

from hrns.config import home_directory
from hrns.journal import project_folder, sessions_root
from hrns.session import Launch

from ..cells import cells, cut, wrapped
from ..paint import Paint, theme_of
from ..signals import ENDING, handled, let_go
from .completing import PromptCompleter
from .desk import Desk
from .drawing import Frame
from .herald import Herald
from .history import PrivateHistory
from .keys import build_keys
from .layout import Panels, build_layout, typed_rows
from .live import live_lines
from .output import terminal_output
from .printed import shown_lines
from .prompt import InlinePrompt
from .screen import InlineScreen
from .stage import Stage
from .status import fitted, retries_of, status_parts, working_head
from .typed import TypedInput

__all__ = ["Program"]

_BEAT_S = 0.5
_PATIENCE_S = 3.0
_TAIL_ROWS = 12
_SWITCH_S = 0.0005
"""How long the worker keeps the interpreter: at Python's own 5 ms keys lag behind."""


class Program:
    """A frame, what stands in it, and a worker.

    Parameters:
        launch: how the program was started.
        source: the terminal that is read from.
        out: the terminal that is written to.
        colour: whether colours may be used.
    """

    def __init__(self, launch: Launch, source: TextIO, out: TextIO, *, colour: bool) -> None:
        wants, term = _wants(launch), launch.environ.get("TERM", "")
        paint = Paint(theme_of(launch.environ, wants.get("theme")), colour)
        output = terminal_output(out, term, colour=colour)
        self._completer = PromptCompleter()
        self.desk = Desk(self._draft(launch), Buffer(multiline=False))
        self.herald = Herald(output, self.desk, launch.cwd, wants, term)
        typed = TypedInput(source)
        self.stage = Stage()
        self.screen = InlineScreen(self.stage, paint, lambda: output.get_size().columns)
        self.prompt = InlinePrompt(self.desk, self.stage, self.screen)
        panels = Panels(self._live, self._aside, self._form, self._status)
        self.frame = Frame(
            output,
            input=typed,
            layout=build_layout(self.desk, panels, lambda: self.screen.paint),
            key_bindings=build_keys(
                self.desk,
                self.screen.show_output,
                self.screen.show_thought,
                lambda: typed.enter_sends,
            ),
            style=Style([]),
            include_default_pygments_style=False,
        )
        self._tail_of: tuple[object, ...] = ()
        self._tail: list[str] = []
        self.desk.changed = self._changed
        self.desk.draft.complete_while_typing = self.desk.may_complete
        self.frame.key_processor.before_key_press += self._key_pressed

    def run(self, work: Callable[[], int]) -> int:
        """Run the work in a thread, and draw until it is done; returns what it returns.

        Raises:
            BaseException: what the work, or the drawing, raised.
            SystemExit: the program was told to end (SIGTERM, SIGHUP).
        """
        self._outcome: int | BaseException = 0
        self._signalled = 0
        worker = Thread(target=self._work, args=(work,), daemon=True, name="hrns-worker")
        before = sys.getswitchinterval()
        sys.setswitchinterval(_SWITCH_S)
        try:
            with (
                shown_lines(self.stage.call, self.screen.aside),
                handled(self._told_to_end, ENDING),
            ):
                self._draw(worker)
        finally:
            sys.setswitchinterval(before)
        return self._result()

    def _draw(self, worker: Thread) -> None:
        try:
            self.frame.run(pre_run=lambda: self._begin(worker), set_exception_handler=False)
        except (EOFError, OSError) as error:
            if isinstance(error, OSError) and error.errno != errno.EIO:
                raise
            self._close_down()  # the terminal has gone
            if worker.ident is not None:
                worker.join(_PATIENCE_S)
        finally:
            clear_typeahead(self.frame.input)
            self.frame.terminal.let_go()
            self.stage.close()
            with suppress(OSError):  # the terminal may have gone
                self.herald.close()

    def _result(self) -> int:
        if self._signalled:
            raise SystemExit(128 + self._signalled)
        if isinstance(self._outcome, BaseException):
            raise self._outcome
        return self._outcome

    def _begin(self, worker: Thread) -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(self._failed)
        self.stage.open(self.frame)
        self.herald.open()
        self.frame.create_background_task(self._beat())
        self.frame.after_render += lambda _: self._start(worker)

    @staticmethod
    def _start(worker: Thread) -> None:
        """Begin with the work when the prompt stands there, which its imports would hold up."""
        if worker.ident is None:
            worker.start()

    def _work(self, work: Callable[[], int]) -> None:
        try:
            self._outcome = work()
        except BaseException as error:  # noqa: BLE001 - raised again in the main thread
            self._outcome = error
        self.stage.call(self._exit)

    def _exit(self) -> None:
        if current_thread() is main_thread():
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # a late Ctrl-C is no crash
        if self.frame.is_running and not self.frame.is_done:
            self.frame.exit(result=0)

    def _failed(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """A fault while drawing or in a key ends the program; it is no fault of the turn."""
        error = context.get("exception")
        if error is None:
            loop.default_exception_handler(context)
        elif self.frame.is_running and not self.frame.is_done:
            self._close_down()
            self.frame.exit(exception=error)

    def _told_to_end(self, number: int, _frame: object) -> None:
        let_go(number)
        self._signalled = number
        self.stage.call(self._close_down)

    def _close_down(self) -> None:
        """End the turn and the prompt; if the worker does not heed it, go without it."""
        if self.desk.work:
            self.desk.work.cancel.set("terminated")
        self.desk.leave()
        if self.frame.is_running and self.frame.loop is not None:
            self.frame.loop.call_later(_PATIENCE_S, self._exit)

    async def _beat(self) -> None:
        """Draw about twice a second while time is shown, if nothing else has it drawn."""
        shown = ""
        while True:
            await asyncio.sleep(_BEAT_S)
            still = monotonic() - self.stage.drawn_at > _BEAT_S / 2
            if (self.desk.work and still) or self.desk.hint != shown:
                self.frame.invalidate()
            shown = self.desk.hint

    def _changed(self) -> None:
        self._completer.session = self.desk.session
        layout, buffer = self.frame.layout, self.desk.buffer
        if layout.current_buffer is not buffer and not layout.is_searching:
            layout.focus(buffer)
        if not self.frame.is_away:
            self.herald.tell()
        self.frame.invalidate()

    def _key_pressed(self, _: object) -> None:
        if held := self.desk.guard.pressed():
            self.desk.draft.insert_text(held)

    def _draft(self, launch: Launch) -> Buffer:
        root = sessions_root(launch.environ, home_directory(launch.environ))
        folder = project_folder(root, launch.cwd)
        return Buffer(
            multiline=True,
            history=PrivateHistory(folder / "history"),
            completer=ThreadedCompleter(self._completer),
            tempfile_suffix=".md",
        )

    # What the panels show

    def size(self) -> tuple[int, int]:
        """Columns and rows of the terminal."""
        size = self.frame.output.get_size()
        return size.columns, size.rows

    def _live(self) -> list[str]:
        """The tail, rendered only if it changed: layout asks for it several times."""
        columns, rows = self.size()
        live, height = self.stage.live, max(1, min(_TAIL_ROWS, rows - 6))
        second = int(monotonic()) if live.calls else 0
        if self._tail_of != (wanted := (live, columns, height, second, self.screen.paint)):
            self._tail = live_lines(live, columns - 1, height, self.screen.paint)
            self._tail_of = wanted
        return self._tail

    def _aside(self) -> list[str]:
        desk, paint = self.desk, self.screen.paint
        room = self.size()[0] - 38
        lines = [f"queued: {_first(text, room)}" for text in desk.queued]
        lines += [f"queued until it is done: {_first(t.shown, room)}" for t in desk.later]
        if lines and desk.form is None:  # in a question Esc means no
            now = "Enter again: at once, " if desk.may_hurry else ""
            lines.append(cut(f"  ({now}Esc takes it back)", self.size()[0] - 1))
        drops = "  (Esc drops it)" if desk.form is None else ""
        goes = [f"goes along: {_first(each.label, room)}{drops}" for each in desk.attached]
        return [paint(line, "dim") for line in [*lines, *goes][-4:]]

    def _form(self) -> list[str]:
        form = self.desk.form
        if form is None:
            return []
        columns, rows = self.size()
        typed = self.desk.buffer.text
        below = typed_rows(typed, columns) + len(self._status())
        room = rows - 1 - below  # a blank line is above
        return ["", *form.lines(typed, room, columns - 1, self.screen.paint)]

    def _status(self) -> list[str]:
        desk, paint = self.desk, self.screen.paint
        if desk.hint:
            hint = wrapped(desk.hint, self.size()[0] - 1, whole_words=False)
            return ["", *paint(hint, "warning").split("\n")]
        parts = status_parts(self._heads(), desk.session, self.screen.meter)
        return ["", *(paint(row, "dim") for row in fitted(parts, self.size()[0] - 1))]

    def _heads(self) -> list[str]:
        """What goes on, as long as there may be room for, and shorter."""
        desk = self.desk
        if desk.session and (again := self.screen.retries.state(retries_of(desk.session))):
            return again
        return [working_head(desk.state, desk.work.since if desk.work else None)]


def _first(text: str, room: int) -> str:
    """The first line of a text, as much as there is room for."""
    first, _, more = text.strip().partition("\n")
    return f"{cut(first, max(room, 10))} ..." if more or cells(first) > room else first


def _wants(launch: Launch) -> Mapping[str, Any]:
    """What the configuration says of the terminal."""
    section = launch.config.document.get("tui")
    return section if isinstance(section, dict) else {}
