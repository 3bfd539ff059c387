"""Asking a person for the facts that commands and onboarding need, and telling them things."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol, TypeAlias

from attrs import field, frozen

from hrns.cancel import Cancel
from hrns.chunks import Chunk
from hrns.cli.printing import plain
from hrns.session import Session

from .paint import Theme
from .tables import marked

__all__ = [
    "Dialogue",
    "LinePrompting",
    "Listing",
    "Meanwhile",
    "Prompt",
    "PromptDialogue",
    "TerminalDialogue",
    "Typed",
    "View",
    "confirm",
    "meant",
    "numbered",
]

_SHOWN = 40
"""Options that are listed; the others can still be named."""


class Dialogue(Protocol):
    """The part of `hrns.records.CommandHost` that tells and asks."""

    def say(self, text: str) -> None:
        """Show plain text."""

    def error(self, text: str) -> None:
        """Show that something went wrong, and what to try."""

    def ask(self, prompt: str, *, default: str = "", secret: bool = False) -> str | None:
        """Ask for a line of text; None if the person would rather not."""

    def pick(self, title: str, options: Sequence[tuple[str, str]]) -> str | None:
        """Let the person choose one of (value, description); None if none is wanted."""


@frozen
class Listing:
    """Options to pick from, where there are others beside them.

    Parameters:
        label: what they are, such as `all directories`.
        options: gives them, as (value, description); called when they are shown.
        named: whether the values say something to a person, or the descriptions alone do.
        about: a line about the option of a value, for who is about to choose it.
        remove: removes the option of a value for good; raises HrnsError if it cannot.
        current: the value that is in use, which is marked; "" for none.
    """

    label: str
    options: Callable[[], Sequence[tuple[str, str]]] = field(eq=False, repr=False)
    named: bool = True
    about: Callable[[str], str] | None = field(default=None, eq=False, repr=False)
    remove: Callable[[str], object] | None = field(default=None, eq=False, repr=False)
    current: str = ""

    def shown(self, value: str) -> str:
        """A value as it is shown: with a mark if it is the one in use."""
        return marked(value, self.current) if self.current else value


class TerminalDialogue(Dialogue, Protocol):
    """What a terminal offers beyond it."""

    def pick_from(self, title: str, lists: Sequence[Listing]) -> str | None:
        """Let the person choose an option of one of the lists; the first is shown first."""


Meanwhile: TypeAlias = Callable[[str], Callable[[TerminalDialogue], object] | None]
"""What runs a command while the model works; None if the command has to wait."""


class View(Protocol):
    """Where a session is shown."""

    def show(self, chunk: Chunk) -> None:
        """Show one chunk of a run."""

    def say(self, text: str) -> None:
        """Show plain text, on lines of its own."""

    def notice(self, text: str) -> None:
        """Show what a person should know and that is no error."""

    def error(self, text: str) -> None:
        """Show that something went wrong."""

    def gap(self) -> None:
        """A prompt follows."""

    def prompted(self, text: str) -> None:
        """A person sent this."""

    def recall(self, text: str) -> None:
        """A person said this before."""

    def clear(self) -> None:
        """A new conversation begins."""

    def wipe(self) -> None:
        """Empty the screen."""

    def copy(self, text: str) -> None:
        """Put text on the clipboard of the terminal."""

    def use_theme(self, theme: Theme) -> None:
        """Show what comes for a dark or a light background."""


@frozen
class Typed:
    """What a person sent.

    Parameters:
        text: all of it.
        shown: what is shown of it: large pastes, and what goes along, by their names.
    """

    text: str
    shown: str


class LinePrompting(Protocol):
    """Where a person writes lines.

    Each method raises EOFError when nobody is there any more, or will say more (Ctrl-D), and
    KeyboardInterrupt on Ctrl-C.
    """

    def line(self, label: str, *, secret: bool = False) -> str:
        """One line of text, hidden while it is typed if it is secret."""

    def answer(self, label: str, cancel: Cancel) -> str:
        """The answer to a question that must not be answered by accident.

        What was typed before it was put does not count. EOFError also when `cancel` is set.
        """


class Prompt(Protocol):
    """Where a person writes, whatever draws it; it raises as `LinePrompting` does."""

    @property
    def hint(self) -> str:
        """The most important keys, in one line."""

    @property
    def keys(self) -> Sequence[tuple[str, str]]:
        """All keys, and what each does."""

    def message(self, session: Session) -> Typed:
        """A message or a command; it may have several lines, or nothing in it."""

    def line(self, label: str, *, secret: bool = False) -> str:
        """One line of text, hidden while it is typed if it is secret."""

    def working(
        self, session: Session | None = None, meanwhile: Meanwhile | None = None
    ) -> AbstractContextManager[Cancel]:
        """Inside the block what the person does to interrupt sets the flag.

        Parameters:
            session: the session that works, if it does, for messages that are queued.
            meanwhile: for commands that are typed in the meantime.
        """

    def interruptible(self, run: Callable[[], object]) -> None:
        """Run a command to its end; KeyboardInterrupt if the person would not wait."""

    def attach(self, label: str, text: str) -> None:
        """Have text go along with the next message."""

    def delivered(self, text: str) -> None:
        """A queued message became part of the conversation."""

    def edit(self) -> None:
        """Open the next message in an editor."""

    def refill(self, text: str) -> None:
        """Put a message back into the prompt, to be changed and sent again."""


class PromptDialogue:
    """Tells on a screen and asks at a prompt. Ctrl-C and Ctrl-D stand for "rather not"."""

    def __init__(self, screen: _Telling, prompt: _Asking) -> None:
        self.screen = screen
        self.prompt = prompt

    def say(self, text: str) -> None:
        """Show plain text."""
        self.screen.say(text)

    def error(self, text: str) -> None:
        """Show that something went wrong, and what to try."""
        self.screen.error(text)

    def ask(self, prompt: str, *, default: str = "", secret: bool = False) -> str | None:
        """Ask for a line of text; an empty one stands for the default."""
        label = plain(f"{prompt} [{default}]" if default and not secret else prompt)
        try:
            text = self.prompt.line(label, secret=secret)
        except (EOFError, KeyboardInterrupt):
            return None
        return text.strip() or default

    def pick(self, title: str, options: Sequence[tuple[str, str]]) -> str | None:
        """Let the person choose by number or by name, until it is one of them."""
        return self.pick_from(title, [Listing("", lambda: options)])

    def pick_from(self, title: str, lists: Sequence[Listing]) -> str | None:
        """Let the person choose by number or by name; a plus shows the next list."""
        options = lists[0].options()
        more = [f"   +  {lists[1].label}"] if lists[1:] else []
        shown = [(lists[0].shown(value), description) for value, description in options]
        self.say("\n".join([title, *numbered(shown), *more]))
        while given := self.ask("Number or name"):
            if more and given == "+":
                return self.pick_from(title, [*lists[1:], lists[0]])
            if value := meant(given, [value for value, _ in options]):
                return value
            self.error(f"there is no {given!r} in the list")
        return None


class _Telling(Protocol):
    def say(self, text: str) -> None: ...

    def error(self, text: str) -> None: ...


class _Asking(Protocol):
    def line(self, label: str, *, secret: bool = False) -> str: ...


def confirm(dialogue: Dialogue, question: str, *, default: bool = False) -> bool | None:
    """Whether the person says yes; None if they would rather not answer."""
    given = dialogue.ask(f"{question} (y/n)", default="y" if default else "n")
    return None if given is None else given.casefold() in ("y", "yes")


def numbered(options: Sequence[tuple[str, str]]) -> list[str]:
    """The options (value, description) as numbered lines; of very many only the first."""
    width = max((len(value) for value, _ in options[:_SHOWN]), default=0)
    lines = [
        f"{number:4}  {value:{width}}  {description}".rstrip()
        for number, (value, description) in enumerate(options[:_SHOWN], 1)
    ]
    left_out = len(options) - len(lines)
    return [*lines, f"      and {left_out} more, by name"] if left_out else lines


def meant(given: str, values: Sequence[str]) -> str | None:
    """The value of that name, whatever its case, or of that number; names come first."""
    for value in values:
        if value.casefold() == given.casefold():
            return value
    if given.isascii() and given.isdigit() and 1 <= int(given) <= len(values):
        return values[int(given) - 1]
    return None
