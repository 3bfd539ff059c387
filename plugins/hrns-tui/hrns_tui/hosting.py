"""What the terminal offers to its own commands beyond `hrns.records.CommandHost`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from hrns.journal import Record
from hrns.records import CommandHost

from .dialogue import TerminalDialogue
from .paint import Theme

__all__ = ["TerminalHost"]


@runtime_checkable
class TerminalHost(CommandHost, TerminalDialogue, Protocol):
    """A prompt in a terminal."""

    @property
    def keys(self) -> Sequence[tuple[str, str]]:
        """The keys of the prompt, and what each does."""

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
