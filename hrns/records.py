"""What plugins hand over at session start, apart from tools and agents: typed records."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias

from attrs import field, frozen

from .chunks import Chunk
from .messages import ToolCall, ToolResult
from .providers.base import ModelRequest, Provider
from .tools import Tool

if TYPE_CHECKING:
    from .config import ProviderConfig
    from .session import Launch, Session

__all__ = [
    "ChunkSink",
    "CommandHost",
    "Frontend",
    "PromptSection",
    "ProviderKind",
    "RequestEditor",
    "Skill",
    "SlashCommand",
    "ToolWrapper",
]

ChunkSink: TypeAlias = Callable[[Chunk], None]
"""Is given every chunk of every run; `close()` is called at the end if it has one."""

RequestEditor: TypeAlias = Callable[[ModelRequest], ModelRequest]
"""Changes what is sent, never the transcript."""

ToolWrapper: TypeAlias = Callable[[ToolCall, Tool, Callable[[], ToolResult]], ToolResult]
"""Runs around one tool run: calls `run()` once, or answers itself. In the tool's thread."""


@frozen
class Skill:
    """Instructions for one kind of task, loaded by the model when it needs them.

    Parameters:
        name: the exact name that `load_skill` takes.
        description: one line: when to use it. It stands in the system prompt.
        read: gives the whole text; called when the skill is loaded, may raise OSError.
        directory: where its other files lie, or None.
        source: where it comes from, for people.
    """

    name: str
    description: str
    read: Callable[[], str] = field(eq=False, repr=False)
    directory: Path | None = None
    source: str = ""


@frozen
class ProviderKind:
    """A protocol that provider entries of the configuration can name as their `api`.

    Parameters:
        api: the word in the configuration, such as `openai-chat`.
        build: makes the provider from its entry.
        recognises: whether a base URL looks like one of this kind; for `connect`.
        description: one line for people.
    """

    api: str
    build: Callable[[ProviderConfig], Provider] = field(eq=False, repr=False)
    recognises: Callable[[str], bool] = field(default=lambda _url: False, eq=False, repr=False)
    description: str = ""


@frozen
class PromptSection:
    """A section of the system prompt.

    Parameters:
        name: its own name; the one that comes later of two of one name is left out.
        text: the text; the same text for the same session start, for the sake of prompt caches.
        order: sections stand in ascending order; the agent's prompt is 0, skills are 50.
    """

    name: str
    text: str
    order: int = 100


@frozen
class Frontend:
    """An interactive program around sessions, which also answers questions.

    Parameters:
        name: what it is called by, such as `tui`.
        run: runs it to its end and returns the exit status.
        description: one line for people.
    """

    name: str
    run: Callable[[Launch], int] = field(eq=False, repr=False)
    description: str = ""


class CommandHost(Protocol):
    """What a front end offers to the slash commands that it runs."""

    session: Session

    def say(self, text: str) -> None:
        """Show plain text."""

    def error(self, text: str) -> None:
        """Show that something went wrong, and what to try."""

    def ask(self, prompt: str, *, default: str = "", secret: bool = False) -> str | None:
        """Ask for a line of text; None if the person would rather not."""

    def pick(self, title: str, options: Sequence[tuple[str, str]]) -> str | None:
        """Let the person choose one of (value, description); None if none is wanted."""

    def send(self, text: str) -> None:
        """Send a message to the model when the command is done."""

    def leave(self) -> None:
        """End the front end when the command is done."""


def _no_completion(_session: Session, _argument: str) -> Iterator[str]:
    return iter(())


@frozen
class SlashCommand:
    """A command of the interactive prompt.

    Parameters:
        name: the word after the slash.
        help: one line for `/help`.
        run: does it; the second argument is the rest of the line, stripped.
        usage: the arguments as `/help` shows them, such as `[NAME]`.
        complete: the words that may complete the argument.
        needs_argument: whether a missing argument shows the usage instead.
        at_once: whether it may run while the model works, in a thread of its own: it tells what
            there is, or changes what may change at any time. Then nothing can be asked.
    """

    name: str
    help: str
    run: Callable[[CommandHost, str], None] = field(eq=False, repr=False)
    usage: str = ""
    complete: Callable[[Session, str], Iterator[str]] = field(
        default=_no_completion, eq=False, repr=False
    )
    needs_argument: bool = False
    at_once: bool = False
