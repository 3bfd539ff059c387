"""What is said at the head of a conversation: with what and where it is held."""

from __future__ import annotations

from hrns import __version__
from hrns.session import Session

__all__ = ["KEYS", "banner"]

KEYS = "Enter sends, Ctrl-J breaks the line, Ctrl-C interrupts, Ctrl-D leaves, /help"


def banner(session: Session) -> str:
    """Version and directory; provider, model, agent and permission mode."""
    return (
        f"hrns {__version__} in {session.context.cwd}\n"
        f"provider {session.entry.name}, model {session.model}, "
        f"agent {session.agent.name}, mode {session.context.mode}"
    )
