"""What is said at the head of a conversation: with what and where it is held."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from hrns import __version__
from hrns.cli.printing import plain
from hrns.session import Session

__all__ = ["banner", "headline", "place_name"]


def headline(cwd: Path, home: Path) -> str:
    """Version and directory."""
    return plain(f"hrns {__version__} in {place_name(cwd, home)}")


@lru_cache(maxsize=1)
def place_name(path: Path, home: Path) -> str:
    """The path as people know it: below their home it begins with `~`."""
    is_below = path.is_relative_to(home) and home not in (path, home.parent)
    return f"~/{path.relative_to(home).as_posix()}" if is_below else str(path)


def banner(session: Session) -> str:
    """Provider, model, agent and permission mode."""
    return (
        f"provider {session.entry.name}, model {session.model}, "
        f"agent {session.agent.name}, mode {session.context.mode}"
    )
