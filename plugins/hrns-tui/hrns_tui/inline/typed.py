"""Keys as they are read, and whether an Enter among them was pressed or stood in a paste.

A terminal that does not mark its pastes sends them like keys, line breaks as Enter. What tells
them apart is what arrives in the same breath: a hand, however quick it is or slow the line, ends
what it typed with one Enter; with several lines at once it is a paste, and waits to be sent.

What begins with Escape and is none of the keys that are known here (Shift with F5, Alt with Up, an
answer to what an earlier program asked the terminal) is not taken for Esc and text behind it.
Much text that arrives at once is handed on at once: it is inserted as fast as a marked paste.
"""

from __future__ import annotations

import re
import select
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import groupby, pairwise

from prompt_toolkit.input.vt100 import Vt100Input
from prompt_toolkit.key_binding import KeyPress
from prompt_toolkit.keys import Keys

__all__ = ["TypedInput", "breaks", "ends_in_enter", "known"]

_FULL_BYTES = 1000
"""A read as long as this may have left something behind: prompt_toolkit reads 1024 bytes."""
_SEQUENCE = re.compile(
    "\x1b(?:"
    r"\[[0-?]*[ -/]*[@-~]"  # a key, the focus, a report
    "|[]P^_X][^\x07\x1b]*(?:\x07|\x1b\\\\))"  # an answer, up to its end
)
_RUN = 16
"""Characters that arrive at once and are no keys any more."""
_BOUND = (Keys.Left, Keys.Right)
"""Arrows that mean something with Alt."""
_TEXT = (Keys.ControlJ, Keys.BracketedPaste, Keys.Any)


class TypedInput(Vt100Input):
    """A terminal's keys; `enter_sends` is about those that were read last."""

    enter_sends = True
    _from_cooked = False
    _goes_on = False
    _breaks = 0

    def read_keys(self) -> list[KeyPress]:
        """The keys that were pressed since; CR LF is one of them."""
        keys = _in_runs(known(super().read_keys()))
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


def known(keys: Sequence[KeyPress]) -> list[KeyPress]:
    """The keys without sequences that mean none."""
    if not any(press.key == Keys.Escape for press in keys):
        return [*keys]
    # prompt_toolkit hands on the characters of a sequence that it does not know one by one.
    text = "".join(press.data if len(press.data) == 1 else "\0" for press in keys)
    none: set[int] = set()
    for found in _SEQUENCE.finditer(text):
        none.update(range(found.start(), found.end()))
    for at, (press, after) in enumerate(pairwise(keys)):
        if press.key == Keys.Escape and not after.data and after.key not in _BOUND:
            none |= {at, at + 1}  # Alt with a key that has a sequence of its own
    return [press for at, press in enumerate(keys) if at not in none]


def _in_runs(keys: Sequence[KeyPress]) -> list[KeyPress]:
    """The keys; those that are only text, where there are many, as one that stands for any."""
    made: list[KeyPress] = []
    for is_text, group in groupby(keys, key=lambda press: not isinstance(press.key, Keys)):
        run = [*group]
        if is_text and len(run) >= _RUN:
            first, *rest = run  # the first may belong to an Escape
            made += [first, KeyPress(Keys.Any, "".join(press.data for press in rest))]
        else:
            made += run
    return made


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
        elif not isinstance(press.key, Keys) or press.key in _TEXT:
            yield False
        before = press.key


def _without_line_feeds(keys: Sequence[KeyPress]) -> Iterator[KeyPress]:
    """The keys without line feeds behind an Enter, which mean the same line break."""
    before: str = ""
    for press in keys:
        if not (press.key == Keys.ControlJ and before == Keys.ControlM):
            yield press
        before = press.key
