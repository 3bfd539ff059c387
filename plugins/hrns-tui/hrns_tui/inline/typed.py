"""Keys as they are read, and whether an Enter among them was pressed or stood in a paste.

A terminal that does not mark its pastes sends them like keys, line breaks as Enter. What tells
them apart is what arrives in the same breath: a hand, however quick it is or slow the line, ends
what it typed with one Enter; with several lines at once it is a paste, and waits to be sent.
"""

from __future__ import annotations

import select
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager

from prompt_toolkit.input.vt100 import Vt100Input
from prompt_toolkit.key_binding import KeyPress
from prompt_toolkit.keys import Keys

__all__ = ["TypedInput", "breaks", "ends_in_enter"]

_FULL_BYTES = 1000
"""A read as long as this may have left something behind: prompt_toolkit reads 1024 bytes."""


class TypedInput(Vt100Input):
    """A terminal's keys; `enter_sends` is about those that were read last."""

    enter_sends = True
    _from_cooked = False
    _goes_on = False
    _breaks = 0

    def read_keys(self) -> list[KeyPress]:
        """The keys that were pressed since; CR LF is one of them."""
        keys = super().read_keys()
        if self._from_cooked:  # where Enter is LF
            self._from_cooked = False
            keys = [KeyPress(Keys.ControlM) if k.key == Keys.ControlJ else k for k in keys]
        before = self._breaks if self._goes_on else 0
        size = sum(len(press.data.encode(errors="replace")) for press in keys)
        self._goes_on = size >= _FULL_BYTES and self._is_pending()
        self._breaks = before + breaks(keys)
        self.enter_sends = not (before or self._goes_on) and ends_in_enter(keys)
        return [*_without_line_feeds(keys)]

    def raw_mode(self) -> AbstractContextManager[None]:
        """Inside the block every key counts; lines that were typed before it are kept."""
        return self._raw_mode()

    @contextmanager
    def _raw_mode(self) -> Iterator[None]:
        self._from_cooked = self._is_pending()
        with super().raw_mode():
            yield

    def _is_pending(self) -> bool:
        try:
            return bool(select.select([self.fileno()], [], [], 0)[0])
        except (OSError, ValueError):  # the terminal has gone
            return False


def ends_in_enter(keys: Sequence[KeyPress]) -> bool:
    """Whether the Enter that is among them was pressed to send: the only one, behind all text."""
    said = [*_said(keys)]
    return all(said) or (breaks(keys) == 1 and said[-1])


def breaks(keys: Sequence[KeyPress]) -> int:
    """How often Enter is among them."""
    return sum(_said(keys))


def _said(keys: Sequence[KeyPress]) -> Iterator[bool]:
    """For Enter True, for text False, for keys that only steer nothing."""
    before: str = ""
    for press in _without_line_feeds(keys):
        if press.key == Keys.ControlM:
            yield before != Keys.Escape  # with Alt it breaks the line
        elif not isinstance(press.key, Keys) or press.key in (Keys.ControlJ, Keys.BracketedPaste):
            yield False
        before = press.key


def _without_line_feeds(keys: Sequence[KeyPress]) -> Iterator[KeyPress]:
    """The keys without line feeds behind an Enter, which mean the same line break."""
    before: str = ""
    for press in keys:
        if not (press.key == Keys.ControlJ and before == Keys.ControlM):
            yield press
        before = press.key
