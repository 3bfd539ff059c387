"""What is said at the head of a conversation: with what and where it is held."""

from __future__ import annotations

from pathlib import Path

from hrns import __version__
from hrns.cli.printing import plain
from hrns.session import Session

__all__ = ["banner", "headline"]


def headline(cwd: Path) -> str:
    """Version and directory."""
    return plain(f"hrns {__version__} in {cwd}")


def banner(session: Session) -> str:
    """Provider, model, agent and permission mode."""
    return (
        f"provider {session.entry.name}, model {session.model}, "
        f"agent {session.agent.name}, mode {session.context.mode}"
    )
