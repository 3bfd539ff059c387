"""What the terminal offers to its own commands beyond `hrns.records.CommandHost`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from hrns.journal import Record
from hrns.session import Session

from .dialogue import Listing
from .paint import Theme

__all__ = ["TerminalHost"]


@runtime_checkable
class TerminalHost(Protocol):
    """A prompt in a terminal."""

    session: Session

    @property
    def keys(self) -> Sequence[tuple[str, str]]:
        """The keys of the prompt, and what each does."""

    def say(self, text: str) -> None:
        """Show plain text."""

    def error(self, text: str) -> None:
        """Show that something went wrong, and what to try."""

    def ask(self, prompt: str, *, default: str = "", secret: bool = False) -> str | None:
        """Ask for a line of text; None if the person would rather not."""

    def pick(self, title: str, options: Sequence[tuple[str, str]]) -> str | None:
        """Let the person choose one of (value, description); None if none is wanted."""

    def pick_from(self, title: str, lists: Sequence[Listing]) -> str | None:
        """Let the person choose an option of one of the lists; the first is shown first."""

    def send(self, text: str) -> None:
        """Send a message to the model when the command is done."""

    def leave(self) -> None:
        """End the front end when the command is done."""

    def resume(self, record: Record) -> None:
        """Go on with another session."""

    def copy(self, text: str) -> None:
        """Put text on the clipboard of the terminal."""

    def wipe(self) -> None:
        """Empty the screen."""

    def use_theme(self, theme: Theme) -> None:
        """Show what comes for a dark or a light background."""

    def edit(self) -> None:
        """Open the next message in an editor."""

    def recount(self) -> None:
        """Count what the conversation takes of the context as it is now."""

    def refill(self, text: str) -> None:
        """Put a message back into the prompt, to be changed and sent again."""
