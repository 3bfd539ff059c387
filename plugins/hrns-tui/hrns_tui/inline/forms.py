"""What can be asked in place: a line, a choice, a yes to a tool call.

A form lives in the thread of the user interface; whoever asked waits in another for its reply.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from queue import SimpleQueue
from time import monotonic
from typing import Literal, Protocol, TypeAlias

from attrs import field, frozen

from hrns.cli.printing import plain
from hrns.errors import ConfigError, HrnsError
from hrns.permissions import Answer

from ..cells import cells, cut, padded, wrapped
from ..dialogue import Listing
from ..paint import Paint, Style

__all__ = [
    "CALL_ROWS",
    "RULE_ROWS",
    "CallForm",
    "Described",
    "Dismissed",
    "Form",
    "LineForm",
    "Offer",
    "PickForm",
    "told_rule",
]

CALL_ROWS = 30
"""How much is shown of what a call would do; what has more stands above the frame, whole."""

RULE_ROWS = 4
"""How much is shown of the rule that would be saved."""

_PICK_ROWS = 12
_PICK_COLUMNS = 40


@frozen
class Dismissed:
    """The reply of a form that is not answered: the exception to raise where it was asked."""

    error: type[BaseException]


class Form(Protocol):
    """A question that takes the place of the prompt until it is answered."""

    label: str
    secret: bool

    def lines(self, typed: str, rows: int, columns: int, paint: Paint) -> list[str]:
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

    def lines(self, typed: str, rows: int, columns: int, paint: Paint) -> list[str]:  # noqa: ARG002 - the label is all
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
    """Lets an option be chosen; what is typed narrows them down, Ctrl-A shows the next list.

    Ctrl-X, pressed twice, removes an option, where that can be done.

    Parameters:
        title: the question.
        lists: the options, in one list or several.
    """

    def __init__(self, title: str, lists: Sequence[Listing]) -> None:
        self.label = "search: "
        self.secret = False
        self.reply: SimpleQueue[str | Dismissed] = SimpleQueue()
        self._title = title
        self._lists = lists
        self._list = 0
        self._options = lists[0].options()
        self._typed = ""
        self._at = self._first()
        self._doomed = ""
        self._fault = ""
        self._about: dict[str, str] = {}

    @property
    def _shown(self) -> Listing:
        return self._lists[self._list]

    def _first(self) -> int:
        """The option that is marked at first: the one in use, where nothing is searched for."""
        values = [value for value, _ in self._options]
        current = self._shown.current
        return values.index(current) if not self._typed and current in values else 0

    @property
    def can_remove(self) -> bool:
        """Whether options can be removed."""
        return self._shown.remove is not None

    def remove(self) -> None:
        """Remove the marked option, if this was asked for once before."""
        found = self.matching(self._typed)
        value = found[min(self._at, len(found) - 1)][0] if found else ""
        if not value or self._shown.remove is None:
            return
        sure, self._doomed = value == self._doomed, value
        if sure:
            self._doomed = ""
            try:
                self._shown.remove(value)
            except HrnsError as error:
                self._fault = str(error)
            self._options = self._shown.options()

    def _keep(self) -> None:
        """Something else is done: nothing is to be removed."""
        self._doomed = self._fault = ""

    @property
    def has_more(self) -> bool:
        """Whether there is another list."""
        return len(self._lists) > 1

    def show_next(self) -> None:
        """Show the next list."""
        self._keep()
        self._list = (self._list + 1) % len(self._lists)
        self._options = self._shown.options()
        self._at = self._first()

    def matching(self, typed: str) -> list[tuple[str, str]]:
        """The options that have every word that is typed; those that begin with it come first."""
        wanted = typed.casefold().strip()
        words = wanted.split()
        found = [
            each for each in self._options if all(w in " ".join(each).casefold() for w in words)
        ]
        return sorted(found, key=lambda each: _distance(each[0].casefold(), wanted))

    def lines(self, typed: str, rows: int, columns: int, paint: Paint) -> list[str]:
        """The options around the chosen one, which is marked."""
        if typed != self._typed:
            self._keep()
            self._typed = typed
            self._at = self._first()
        found = self.matching(typed)
        self._at = max(0, min(self._at, len(found) - 1))
        footer = wrapped(self._footer(len(found)), columns)
        below = paint(footer, self._footer_style).split("\n")
        around = 1 + len(below) + (self._shown.about is not None)
        height = max(1, min(_PICK_ROWS, rows - around))
        first = max(0, min(self._at - height // 2, len(found) - height))
        told = self._shown.shown
        width = min(max((cells(told(value)) for value, _ in found), default=0), _PICK_COLUMNS)
        shown = [
            self._row(number == self._at, padded(told(value), width), description, paint)
            for number, (value, description) in list(enumerate(found))[first : first + height]
        ]
        about = self._told(found[self._at][0], columns, paint) if found else []
        return [paint(self._title, "bold"), *shown, *about, *below]

    def _told(self, value: str, columns: int, paint: Paint) -> list[str]:
        """What is known about an option, in one row."""
        if self._shown.about is None:
            return []
        if value not in self._about:
            self._about[value] = plain(self._shown.about(value))
        return [paint(cut(f"  {self._about[value]}", columns), "dim")] if self._about[value] else []

    def _row(self, chosen: bool, value: str, description: str, paint: Paint) -> str:
        sign = ">" if chosen else " "
        if not self._shown.named:
            return paint(f"{sign} {description}", "accent" if chosen else "")
        if chosen:
            return paint(f"> {value}  {description}", "accent")
        return paint(f"  {value}  ") + paint(description, "dim")

    @property
    def _footer_style(self) -> Style:
        return "warning" if self._doomed else "bad" if self._fault else "dim"

    def _footer(self, found: int) -> str:
        if self._doomed or self._fault:
            return plain(self._fault) or "Ctrl-X once more removes it for good"
        after = self._lists[(self._list + 1) % len(self._lists)].label
        more = ", Ctrl-X removes" if self.can_remove else ""
        more += f", Ctrl-A shows {after}" if self.has_more else ""
        choose = "Enter chooses" if self.can_remove else "Up, Down and Enter choose"
        return f"{found} of {len(self._options)}; {choose}{more}, Esc leaves"

    def enter(self, typed: str) -> bool:
        """Choose the marked option, if there is one."""
        found = self.matching(typed)
        if not found:
            return False
        self.reply.put(found[min(self._at, len(found) - 1)][0])
        return True

    def move(self, steps: int) -> None:
        """Mark another one."""
        self._keep()
        self._at += steps

    def dismiss(self, error: type[BaseException]) -> None:
        """None is chosen."""
        self.reply.put(Dismissed(error))


def _distance(value: str, wanted: str) -> int:
    """How far a value is from what was typed: it is that, begins with it, or has it elsewhere."""
    return 0 if value == wanted else 1 if value.startswith(wanted) else 2


Described: TypeAlias = Callable[[int], list[str]]
"""What a call would do, in lines of at most so many columns, styled."""


def told_rule(rule: str, columns: int) -> list[str]:
    """What `always` would save, in lines of at most so many columns."""
    return wrapped(f"a saves the rule {rule}", columns, whole_words=False).split("\n")


def _in_rows(answers: Sequence[str], columns: int) -> list[str]:
    """The answers, as many in a row as there is room for."""
    first, *others = answers
    rows = [first]
    for answer in others:
        longer = f"{rows[-1]}   {answer}"
        rows = [*rows[:-1], longer] if cells(longer) <= columns else [*rows, answer]
    return rows


@frozen
class Offer:
    """What can be saved with an answer.

    Parameters:
        rule: the rule for the very call; "" if nothing can be saved.
        wider: that for calls like it, to be changed before it is saved; "" if there is none.
        checked: gives a rule that was written as it is saved; raises ConfigError if it is none.
    """

    rule: str
    wider: str = ""
    checked: Callable[[str], str] = field(default=str, eq=False, repr=False)


class CallForm:
    """Asks whether a tool call may run. Its keys count only as `KeyGuard` has it.

    Parameters:
        described: what it would do.
        offer: what can be saved with the answer.
        above: whether what it would do stands above the frame.
        whole: whether all of it does; else Ctrl-O shows it.
    """

    def __init__(
        self, described: Described, offer: Offer, *, above: bool, whole: bool = True
    ) -> None:
        self.label = "> "
        self.secret = False
        self.reply: SimpleQueue[Answer | Dismissed] = SimpleQueue()
        self.shown_at = monotonic()
        self._wants: Literal["key", "reason", "rule"] = "key"
        self._described = described
        self._offer = offer
        self._fault = ""
        place = "all of it is above" if whole else "more is above, Ctrl-O shows all of it"
        self._rest = place if above else "a higher window shows the rest"

    def lines(self, typed: str, rows: int, columns: int, paint: Paint) -> list[str]:
        """What would be done, and the keys."""
        match self._wants:
            case "reason":
                text = "Why not? It is told to the model. Enter sends it, Esc goes back."
                asked = paint(wrapped(text, columns), "bold").split("\n")
            case "rule":
                asked = self._about_rule(columns, paint)
            case "key":
                return self._about_call(typed, rows, columns, paint)
        return [*self._head(rows - len(asked), columns, paint), *asked]

    def _about_rule(self, columns: int, paint: Paint) -> list[str]:
        text = "What is to be allowed from now on? Enter saves the rule, Esc goes back."
        asked = paint(wrapped(text, columns), "bold")
        fault = paint(wrapped(plain(self._fault), columns), "bad") if self._fault else ""
        return "\n".join([asked, *([fault] if fault else [])]).split("\n")

    def _about_call(self, typed: str, rows: int, columns: int, paint: Paint) -> list[str]:
        head, keys = self._described(columns), self._keys(columns, paint)
        hint = self._hint(typed, columns, paint)
        # In a low window all of it stands above the frame: what would be done comes first here.
        hint = hint[: max(0, rows - len(keys) - min(len(head), 2))]
        head = self._head(rows - len(keys) - len(hint), columns, paint)
        return [*head, *keys[-max(1, rows - 1) :], *hint]

    def _head(self, rows: int, columns: int, paint: Paint) -> list[str]:
        """What would be done: of too much the beginning, and some of the end."""
        head, most = self._described(columns), min(CALL_ROWS, max(rows, 1))
        if len(head) <= most or most == 1:
            return head[:most]
        last = (most - 1) // 3
        return [
            *head[: most - 1 - last],
            paint(cut(f"... ({self._rest})", columns), "dim"),
            *head[len(head) - last :],
        ]

    def _keys(self, columns: int, paint: Paint) -> list[str]:
        kept = ["s this session", "a always"] if self._offer.rule else []
        kept += ["p always, by a pattern"] if self._offer.wider else []
        rows = _in_rows(["y once", *kept, "n no", "r no, with a reason"], columns)
        return [paint("Allow?", "bold"), *(paint(row, "accent") for row in rows)]

    def _hint(self, typed: str, columns: int, paint: Paint) -> list[str]:
        """What the keys stand for, or why they do nothing."""
        if typed:
            text = "These keys count on an empty line: Ctrl-U empties it."
            return paint(wrapped(text, columns), "warning").split("\n")
        rows = self._told_rule(columns) if self._offer.rule else []
        return [paint(row, "dim") for row in rows]

    def _told_rule(self, columns: int) -> list[str]:
        rows = told_rule(self._offer.rule, columns)
        if len(rows) > RULE_ROWS:
            rows = [*rows[: RULE_ROWS - 1], f"... ({self._rest})"]
        wider = self._offer.wider
        more = wrapped(f"p opens the rule {wider}", columns, whole_words=False).split("\n")
        return [*rows, *more[:RULE_ROWS]] if wider else rows  # all of it stands in the line then

    def key(self, key: str) -> bool:
        """Take one of the keys; returns whether the form is answered by it."""
        rule = self._offer.rule
        match key:
            case "y":
                self.reply.put(Answer("once"))
            case "s" | "a" if not rule:  # nothing that could be kept
                self.reply.put(Answer("once"))
            case "s":
                self.reply.put(Answer("session"))
            case "a":
                self.reply.put(Answer("always", rule))
            case "n":
                self.reply.put(Answer("no"))
            case _:
                self._want(key)
                return False
        return True

    def _want(self, key: str) -> None:
        """Go on with a line, if the key stands for one."""
        if key == "r":
            self._wants = "reason"
        elif key == "p" and self._offer.wider:
            self._wants, self.label = "rule", "rule: "

    @property
    def wants_line(self) -> bool:
        """Whether it is answered by a line now, and not by a key."""
        return self._wants != "key"

    @property
    def first_text(self) -> str:
        """What stands in that line at first."""
        return self._offer.wider if self._wants == "rule" else ""

    def go_back(self) -> None:
        """Be answered by keys again."""
        self._wants, self.label, self._fault = "key", "> ", ""

    def enter(self, typed: str) -> bool:
        """Take the reason, or the rule; if that is none, it is told, and asked for again."""
        if self._wants == "reason":
            self.reply.put(Answer("no", reason=typed.strip()))
            return True
        try:
            self.reply.put(Answer("always", self._offer.checked(typed)))
        except ConfigError as error:
            self._fault = str(error)
            return False
        return True

    def move(self, steps: int) -> None:
        """There is nothing to move in."""

    def dismiss(self, error: type[BaseException]) -> None:
        """It will not be answered."""
        self.reply.put(Dismissed(error))
