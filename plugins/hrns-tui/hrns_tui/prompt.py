"""The prompt of a capable terminal: an editor of several lines with history and completion."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from prompt_toolkit.application import get_app
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition, is_searching
from prompt_toolkit.history import FileHistory, InMemoryHistory
from prompt_toolkit.input.typeahead import clear_typeahead
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.output import ColorDepth, Output, create_output
from prompt_toolkit.output.vt100 import Vt100_Output
from prompt_toolkit.shortcuts import PromptSession

from hrns.cancel import Cancel
from hrns.session import Session

from .terminal import drop_typed

__all__ = ["TerminalPrompt"]

_BURST_S = 0.04
"""Keys that come closer together than this were not typed by hand."""

_POLL_S = 0.1


class TerminalPrompt:
    """Reads from a terminal.

    Parameters:
        history: the file that what is sent is kept in.
        colour: whether colours may be used.
    """

    def __init__(self, history: Path, *, colour: bool) -> None:
        self._output = _output()
        self._depth = None if colour else ColorDepth.DEPTH_1_BIT
        self._completer = _CommandCompleter()
        self._editor: PromptSession[str] = PromptSession(
            "> ",
            multiline=True,
            prompt_continuation="  ",
            history=_PrivateHistory(history),
            completer=self._completer,
            complete_while_typing=Condition(_types_command),
            reserve_space_for_menu=6,
            key_bindings=_editor_keys(),
            enable_suspend=True,
            include_default_pygments_style=False,
            color_depth=self._depth,
            output=self._output,
        )

    def message(self, session: Session) -> str:
        """What the person sends."""
        self._completer.session = session
        return _clean(self._editor.prompt())

    def line(self, label: str, *, secret: bool = False) -> str:
        """One line."""
        return _clean(self._line_editor(KeyBindings()).prompt(f"{label}: ", is_password=secret))

    def answer(self, label: str, cancel: Cancel) -> str:
        """One line that was typed by hand from now on."""
        editor = self._line_editor(KeyBindings())
        editor.key_bindings = _careful_keys(editor.default_buffer)
        clear_typeahead(editor.input)
        drop_typed(sys.stdin)
        return _clean(editor.prompt(f"{label} ", pre_run=lambda: _end_with(cancel)))

    def _line_editor(self, keys: KeyBindings) -> PromptSession[str]:
        return PromptSession(
            history=InMemoryHistory(),
            key_bindings=keys,
            include_default_pygments_style=False,
            color_depth=self._depth,
            output=self._output,
        )


def _output() -> Output:
    """The terminal, never asked where its cursor is: the answer may come too late, or never."""
    output = create_output()
    if isinstance(output, Vt100_Output):
        output.enable_cpr = False
    return output


def _end_with(cancel: Cancel) -> None:
    """End the prompt that is shown when the flag is set."""
    app = get_app()

    async def watch() -> None:
        while not cancel.is_set():
            await asyncio.sleep(_POLL_S)
        if not app.is_done:
            app.exit(exception=EOFError)

    app.create_background_task(watch())


def _clean(text: str) -> str:
    """The text with the bytes that are no UTF-8 replaced."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _types_command() -> bool:
    text = get_app().current_buffer.text
    return text.startswith("/") and "\n" not in text


def _editor_keys() -> KeyBindings:
    """Enter sends, Ctrl-J and Alt-Enter break the line, Ctrl-C empties the prompt or leaves it."""
    keys = KeyBindings()

    @keys.add("enter", filter=~is_searching)
    def _send(event: KeyPressEvent) -> None:
        # More keys in the same breath: a paste from a terminal that does not mark its pastes.
        if event.key_processor.input_queue:
            event.current_buffer.newline(copy_margin=False)
        else:
            event.current_buffer.validate_and_handle()

    @keys.add("c-j", filter=~is_searching)
    @keys.add("escape", "enter", filter=~is_searching)
    def _new_line(event: KeyPressEvent) -> None:
        event.current_buffer.newline(copy_margin=False)

    @keys.add("c-c", filter=~is_searching)
    @keys.add("<sigint>")
    def _empty_or_leave(event: KeyPressEvent) -> None:
        if event.current_buffer.text:
            event.current_buffer.reset()
        else:
            event.app.exit(exception=KeyboardInterrupt)

    return keys


def _careful_keys(buffer: Buffer) -> KeyBindings:
    """A paste is dropped, and Enter counts only if a hand may have pressed it."""
    keys = KeyBindings()
    changed_at = 0.0

    def note_change(_: Buffer) -> None:
        nonlocal changed_at
        changed_at = time.monotonic()

    buffer.on_text_changed += note_change

    @keys.add("enter")
    def _answer(event: KeyPressEvent) -> None:
        if event.key_processor.input_queue or time.monotonic() - changed_at < _BURST_S:
            event.current_buffer.reset()
        else:
            event.current_buffer.validate_and_handle()

    @keys.add(Keys.BracketedPaste)
    def _drop(event: KeyPressEvent) -> None:
        event.app.output.bell()

    return keys


class _CommandCompleter(Completer):
    """Completes `/commands`, and their arguments by what each command itself knows."""

    session: Session | None = None

    def get_completions(
        self,
        document: Document,
        complete_event: CompleteEvent,  # noqa: ARG002 - the menu and Tab are given the same
    ) -> Iterable[Completion]:
        """The completions of the word at the cursor."""
        text = document.text_before_cursor
        if self.session is None or not text.startswith("/") or "\n" in text:
            return
        name, space, argument = text[1:].partition(" ")
        if not space:
            for command in self.session.commands:
                if command.name.startswith(name):
                    yield Completion(command.name, -len(name), display_meta=command.help)
            return
        for command in self.session.commands:
            if command.name == name:
                for word in command.complete(self.session, argument):
                    yield Completion(word, -len(argument))


class _PrivateHistory(FileHistory):
    """A history that only its owner can read; a disk that takes it not costs only the history."""

    def load_history_strings(self) -> Iterable[str]:
        """What was sent, the last first."""
        try:
            return list(super().load_history_strings())
        except OSError:
            return []

    def store_string(self, string: str) -> None:
        """Keep what was sent."""
        path = Path(os.fsdecode(self.filename))
        with suppress(OSError):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600))
            super().store_string(string)
