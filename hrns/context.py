"""What hooks and tools are given: the session's facts, and those of one call.

Nothing in hrns asks the process for its working directory: one process may hold many sessions,
and each has a `cwd` of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from attrs import Factory, define, field

from .cancel import Cancel

if TYPE_CHECKING:
    from .agents import Agent
    from .permissions import Access, Verdict
    from .records import Skill

__all__ = ["AsItIs", "Cleaner", "Mode", "SessionContext", "ToolContext"]

Mode: TypeAlias = Literal["ask", "edits", "all", "plan"]
"""The permission modes: ask before effects, allow edits inside `cwd`, allow all, read only."""


def _nothing(_text: str) -> None:
    """Say nothing to nobody."""


def _allowed(_access: Access) -> Verdict:
    """What is decided where there are no policies."""
    from .permissions import Verdict

    return Verdict("allow", source="no policy")


@define(eq=False)
class SessionContext:
    """The facts of a session. Hooks may keep it: `mode` and `cancel` always say what is now.

    Parameters:
        cwd: the session's working directory.
        config: the configuration document (`hrns.config.Config.document`), keys left out.
        mode: the permission mode.
        cancel: the flag that stops the turn that runs now.
        state: a place for plugins to share things, by names that begin with the plugin's own.
        agent: the agent that is used now, or None.
        agents: all agents, built-in ones first.
        skills: all skills, by the time tools and prompt sections are collected.
        interactive: whether a person is there to be asked.
        warn: says one thing to the person at the front end, as a notice.
    """

    cwd: Path = Path()
    config: Mapping[str, Any] = MappingProxyType({})
    mode: Mode = "ask"
    cancel: Cancel = Factory(Cancel)
    state: dict[str, Any] = Factory(dict)
    agent: Agent | None = None
    agents: tuple[Agent, ...] = ()
    skills: tuple[Skill, ...] = ()
    interactive: bool = False
    warn: Callable[[str], None] = field(default=_nothing, repr=False)


class Cleaner(Protocol):
    """Takes secrets out of one text that comes in pieces."""

    def feed(self, piece: str, /) -> str:
        """The text that is complete with this piece; what may be the start of a secret is held."""

    def end(self) -> str:
        """What was held back: no more will come."""


class AsItIs:
    """The cleaner where nothing is secret."""

    def feed(self, piece: str, /) -> str:
        """The piece."""
        return piece

    def end(self) -> str:
        """Nothing: nothing was held back."""
        return ""


@define(eq=False)
class ToolContext:
    """What a running tool is given, if it has a parameter annotated with this class.

    Parameters:
        call_id: the id of the call.
        session: the session's facts.
        cancel: set when the call should end; a tool that runs long watches it.
        output: shows a piece of output to people while the tool still runs.
        judge: what the permission policies say of one more thing that the call would touch, for
            what a tool learns only while it runs: a file that it finds, where a server redirects
            to. Nobody is asked by it: a tool leaves alone what is not allowed, and says so.
        cleaner: gives a new cleaner, which takes secrets out of a text. Output and results are
            cleaned anyway: a tool needs one for what it cuts short, or keeps in a file.
    """

    call_id: str = ""
    session: SessionContext = Factory(SessionContext)
    cancel: Cancel = Factory(Cancel)
    output: Callable[[str], None] = field(default=_nothing, repr=False)
    judge: Callable[[Access], Verdict] = field(default=_allowed, repr=False)
    cleaner: Callable[[], Cleaner] = field(default=AsItIs, repr=False)

    @property
    def cwd(self) -> Path:
        """The session's working directory: relative paths are meant from here."""
        return self.session.cwd
