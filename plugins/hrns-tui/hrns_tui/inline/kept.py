"""What is shown in part, kept to be printed whole: outputs of tools, thoughts."""

from __future__ import annotations

import json
from collections import deque

from attrs import frozen

from hrns.messages import Diff, Display, Terminal, ToolResult

from ..cells import wrapped
from ..diffs import diff_lines
from ..paint import Paint
from .live import without_ansi

__all__ = ["Shelf", "Whole"]

_KEPT = 10


@frozen
class Whole:
    """One of them.

    Parameters:
        title: the line above it.
        text: all of it, unless it is a change of a file.
        display: how people see it.
        log: the file in which more of it is, if that is known.
        asked_about: the call that would do it, if it is not done yet.
        is_prose: whether its lines are broken between words.
    """

    title: str
    text: str = ""
    display: Display | None = None
    log: str = ""
    asked_about: str = ""
    is_prose: bool = False

    @classmethod
    def of(cls, title: str, result: ToolResult) -> Whole:
        """What came of a call."""
        return cls(title, result.text, result.display, _log(result))

    def shown(self, paint: Paint, width: int) -> str:
        """All of it, styled."""
        head = paint(self.title, "bold")
        if isinstance(self.display, Diff):
            return "\n".join([head, paint.diff(diff_lines(self.display, self.title))])
        text = self.display.output if isinstance(self.display, Terminal) else self.text
        text = wrapped(text, width) if self.is_prose else text
        log = [f"(its log: {self.log})"] if self.log else []
        body = without_ansi(text).strip("\n").rstrip() or "(nothing)"
        return "\n".join([head, paint("\n".join([body, *log]), "dim")])


def _log(result: ToolResult) -> str:
    """The file that a command's output is in, where its tool names one."""
    try:
        facts = json.loads(result.structured or "null")
    except ValueError:
        return ""
    log = facts.get("log") if isinstance(facts, dict) else None
    return log if isinstance(log, str) else ""


class Shelf:
    """The last of them."""

    def __init__(self) -> None:
        self._kept: deque[Whole] = deque(maxlen=_KEPT)
        self._at = 0

    def put(self, whole: Whole) -> None:
        """Keep one more."""
        self._kept.append(whole)
        self._at = 0

    def settle(self, call_id: str) -> None:
        """Forget what a call would do: it is done, or never will be."""
        for each in [each for each in self._kept if each.asked_about == call_id]:
            self._kept.remove(each)

    def take(self) -> Whole | None:
        """The last; taken again, the one before, and after the first the last again."""
        if not self._kept:
            return None
        self._at = self._at % len(self._kept) + 1
        return self._kept[-self._at]
