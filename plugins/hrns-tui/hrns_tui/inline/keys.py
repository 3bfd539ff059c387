"""The keys, beside those that prompt_toolkit's editor brings along."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from prompt_toolkit.filters import Condition, has_completions, is_done, is_searching
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys

from .desk import Desk
from .forms import CallForm, PickForm
from .guard import FOLLOWED_S

__all__ = ["build_keys"]

_ANSWERS = ("y", "s", "a", "p", "n", "r")


def build_keys(
    desk: Desk,
    show_output: Callable[[], object],
    show_thought: Callable[[], object],
    enter_sends: Callable[[], bool],
) -> KeyBindings:
    """All of them.

    Parameters:
        show_output: shows the whole output of the last tool.
        show_thought: shows what was thought last.
        enter_sends: whether the Enter that was read last is none of a paste.
    """
    keys = KeyBindings()
    _sending(keys, desk, enter_sends)
    _stopping(keys, desk)
    _choosing(keys, desk)
    _answering(keys, desk)

    @keys.add(Keys.BracketedPaste, filter=~is_searching)
    def _paste(event: KeyPressEvent) -> None:
        text = event.data.replace("\r\n", "\n").replace("\r", "\n")
        if desk.types_answer():
            desk.entry.insert_text(text.rstrip("\n").replace("\n", " "))
        else:
            desk.draft.insert_text(desk.pastes.fold(text))

    @keys.add("c-o")
    def _output(_: KeyPressEvent) -> None:
        show_output()

    @keys.add("c-t")
    def _thought(_: KeyPressEvent) -> None:
        show_thought()

    @keys.add("s-tab", filter=~has_completions)
    def _mode(_: KeyPressEvent) -> None:
        desk.cycle_mode()

    @keys.add("c-z")
    def _suspend(event: KeyPressEvent) -> None:
        event.app.suspend_to_background()

    @keys.add("c-g", filter=~is_searching & ~desk.types_answer)
    def _editor(_: KeyPressEvent) -> None:
        desk.draft.text = desk.pastes.unfold(desk.draft.text)
        desk.draft.open_in_editor()

    return keys


def _sending(keys: KeyBindings, desk: Desk, enter_sends: Callable[[], bool]) -> None:
    @keys.add("enter", filter=~is_searching)
    def _enter(_: KeyPressEvent) -> None:
        buffer = desk.buffer
        state = buffer.complete_state
        if buffer is desk.draft and not enter_sends():
            buffer.newline(copy_margin=False)
        elif state and state.current_completion and not buffer.text.startswith("/"):
            buffer.complete_state = None
        else:
            desk.submit()

    @keys.add("c-u", filter=~is_searching)
    def _empty(event: KeyPressEvent) -> None:
        if text := desk.empty():
            event.app.clipboard.set_text(text)

    @keys.add("c-j", filter=~is_searching & ~desk.types_answer)
    @keys.add("escape", "enter", filter=~is_searching & ~desk.types_answer)
    def _line(_: KeyPressEvent) -> None:
        desk.draft.newline(copy_margin=False)


def _stopping(keys: KeyBindings, desk: Desk) -> None:
    @keys.add("escape", filter=~is_searching)
    def _escape(_: KeyPressEvent) -> None:
        if desk.draft.complete_state is not None:
            desk.draft.cancel_completion()
        else:
            desk.escape()

    @keys.add("c-c", filter=~is_searching)
    @keys.add("<sigint>")
    def _interrupt(_: KeyPressEvent) -> None:
        desk.interrupt()

    nothing_typed = Condition(lambda: not desk.buffer.text)

    @keys.add("c-d", filter=nothing_typed & ~is_searching & ~is_done)
    def _end(_: KeyPressEvent) -> None:
        desk.end_of_input()


def _choosing(keys: KeyBindings, desk: Desk) -> None:
    for key, steps in (("up", -1), ("c-p", -1), ("down", 1), ("c-n", 1), ("tab", 1), ("s-tab", -1)):

        @keys.add(key, filter=desk.types_answer, eager=True)
        def _move(_: KeyPressEvent, steps: int = steps) -> None:
            if desk.form is not None:
                desk.form.move(steps)

    has_more = Condition(lambda: isinstance(desk.form, PickForm) and desk.form.has_more)

    @keys.add("c-a", filter=has_more, eager=True)
    def _next_list(_: KeyPressEvent) -> None:
        if isinstance(desk.form, PickForm):
            desk.form.show_next()

    can_remove = Condition(lambda: isinstance(desk.form, PickForm) and desk.form.can_remove)

    @keys.add("c-x", filter=can_remove, eager=True)
    def _remove(_: KeyPressEvent) -> None:
        if isinstance(desk.form, PickForm):
            desk.form.remove()


def _answering(keys: KeyBindings, desk: Desk) -> None:
    """Keys that answer a question about a tool call, if a hand pressed them on purpose."""

    def weigh(event: KeyPressEvent) -> None:
        form, key = desk.form, event.data
        empty = not desk.draft.text
        if isinstance(form, CallForm) and empty and desk.guard.may_answer(form.shown_at):
            desk.guard.waiting = key
            asyncio.get_running_loop().call_later(FOLLOWED_S, count, key)
        else:
            desk.draft.insert_text(key)

    def count(key: str) -> None:
        if desk.guard.waiting == key:
            desk.guard.waiting = ""
            desk.answer(key)

    for key in _ANSWERS:
        keys.add(key, filter=desk.asks_call & ~is_searching)(weigh)
