"""What can be asked in place: a line, a choice, a yes to a tool call.

A form lives in the thread of the user interface; whoever asked waits in another for its reply.
"""

from __future__ import annotations

from collections.abc import Sequence
from queue import SimpleQueue
from time import monotonic
from typing import Protocol

from attrs import frozen

from hrns.permissions import Answer

from ..paint import Paint

__all__ = ["CallForm", "Dismissed", "Form", "LineForm", "PickForm"]

_PICK_ROWS = 12


@frozen
class Dismissed:
    """The reply of a form that is not answered: the exception to raise where it was asked."""

    error: type[BaseException]


class Form(Protocol):
    """A question that takes the place of the prompt until it is answered."""

    label: str
    secret: bool

    def lines(self, typed: str, rows: int, paint: Paint) -> list[str]:
        """What is shown above the line that is typed."""

    def enter(self, typed: str) -> bool:
        """Take the line; returns whether the form is answered by it."""

    def move(self, steps: int) -> None:
        """Up and down, where there is something to move in."""

    def dismiss(self, error: type[BaseException]) -> None:
        """It will not be answered."""


class LineForm:
    """Asks for a line of text."""

    def __init__(self, label: str, *, secret: bool = False) -> None:
        self.label = f"{label}: "
        self.secret = secret
        self.reply: SimpleQueue[str | Dismissed] = SimpleQueue()

    def lines(self, typed: str, rows: int, paint: Paint) -> list[str]:  # noqa: ARG002 - the label is all
        """Nothing."""
        return []

    def enter(self, typed: str) -> bool:
        """Any line will do."""
        self.reply.put(typed)
        return True

    def move(self, steps: int) -> None:
        """There is nothing to move in."""

    def dismiss(self, error: type[BaseException]) -> None:
        """It will not be answered."""
        self.reply.put(Dismissed(error))


class PickForm:
    """Lets one of (value, description) be chosen; what is typed narrows them down."""

    def __init__(self, title: str, options: Sequence[tuple[str, str]]) -> None:
        self.label = "search: "
        self.secret = False
        self.reply: SimpleQueue[str | Dismissed] = SimpleQueue()
        self._title = title
        self._options = options
        self._typed = ""
        self._at = 0

    def matching(self, typed: str) -> list[tuple[str, str]]:
        """The options that have every word that is typed."""
        words = typed.casefold().split()
        return [
            each for each in self._options if all(w in " ".join(each).casefold() for w in words)
        ]

    def lines(self, typed: str, rows: int, paint: Paint) -> list[str]:
        """The options around the chosen one, which is marked."""
        if typed != self._typed:
            self._typed, self._at = typed, 0
        found = self.matching(typed)
        self._at = max(0, min(self._at, len(found) - 1))
        height = max(1, min(_PICK_ROWS, rows - 2))
        first = max(0, min(self._at - height // 2, len(found) - height))
        width = max((len(value) for value, _ in found), default=0)
        shown = [
            self._row(number, value.ljust(min(width, 40)), description, paint)
            for number, (value, description) in list(enumerate(found))[first : first + height]
        ]
        count = f"{len(found)} of {len(self._options)}; Up, Down and Enter choose, Esc leaves"
        return [paint(self._title, "bold"), *shown, paint(count, "dim")]

    def _row(self, number: int, value: str, description: str, paint: Paint) -> str:
        if number == self._at:
            return paint(f"> {value}  {description}", "accent")
        return paint(f"  {value}  ") + paint(description, "dim")

    def enter(self, typed: str) -> bool:
        """Choose the marked option, if there is one."""
        found = self.matching(typed)
        if not found:
            return False
        self.reply.put(found[min(self._at, len(found) - 1)][0])
        return True

    def move(self, steps: int) -> None:
        """Mark another one."""
        self._at += steps

    def dismiss(self, error: type[BaseException]) -> None:
        """None is chosen."""
        self.reply.put(Dismissed(error))


class CallForm:
    """Asks whether a tool call may run. Its keys count only as `KeyGuard` has it."""

    def __init__(self, described: str, rule: str) -> None:
        self.label = "> "
        self.secret = False
        self.reply: SimpleQueue[Answer | Dismissed] = SimpleQueue()
        self.shown_at = monotonic()
        self.wants_reason = False
        self._described = described
        self._rule = rule

    def lines(self, typed: str, rows: int, paint: Paint) -> list[str]:
        """What would be done, and the keys."""
        if self.wants_reason:
            return [
                paint("Why not? It is told to the model. Enter sends it, Esc goes back.", "bold")
            ]
        head = self._described.split("\n")
        if len(head) > rows - 4:
            head = [*head[: max(rows - 5, 1)], paint("... (all of it is above)", "dim")]
        kept = "   s this session   a always" if self._rule else ""
        keys = f"y once{kept}   n no   r no, with a reason"
        lines = [*head, paint("Allow?", "bold"), paint(keys, "accent")]
        if typed:
            return [
                *lines,
                paint("These keys count on an empty line: Ctrl-U empties it.", "warning"),
            ]
        return [*lines, paint(f"a saves the rule {self._rule}", "dim")] if self._rule else lines

    def key(self, key: str) -> bool:
        """Take one of the keys; returns whether the form is answered by it."""
        match key:
            case "y":
                self.reply.put(Answer("once"))
            case "s" | "a" if not self._rule:  # nothing that could be kept
                self.reply.put(Answer("once"))
            case "s":
                self.reply.put(Answer("session"))
            case "a":
                self.reply.put(Answer("always", self._rule))
            case "n":
                self.reply.put(Answer("no"))
            case _:
                self.wants_reason = True
                return False
        return True

    def enter(self, typed: str) -> bool:
        """Take the reason."""
        self.reply.put(Answer("no", reason=typed.strip()))
        return True

    def move(self, steps: int) -> None:
        """There is nothing to move in."""

    def dismiss(self, error: type[BaseException]) -> None:
        """It will not be answered."""
        self.reply.put(Dismissed(error))
