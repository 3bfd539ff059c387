"""What is said at the head of a conversation: with what and where it is held."""

from __future__ import annotations

from pathlib import Path

from hrns import __version__
from hrns.cli.printing import plain
from hrns.session import Session

__all__ = ["KEYS", "KEY_ROWS", "banner", "headline"]

KEYS = "Enter sends, Ctrl-J breaks the line, Esc interrupts, Ctrl-D leaves, /help"

KEY_ROWS = (
    ("Enter", "sends; while the model works: queues the message"),
    ("Ctrl-J, Alt-Enter", "begins a new line"),
    ("Esc", "takes back what is queued, or interrupts"),
    ("Ctrl-C", "interrupts, empties the prompt, twice leaves"),
    ("Ctrl-D", "leaves"),
    ("Up, Down, Ctrl-R", "what was sent before, and a search in it"),
    ("Tab", "completes /commands, their arguments, and files after @"),
    ("Shift-Tab", "the next permission mode"),
    ("Ctrl-O", "the whole output of the last tool"),
    ("Ctrl-G", "opens the message in $EDITOR"),
    ("!command", "runs it; its output goes along with the next message"),
)
"""What the keys do, for `/help`."""


def headline(cwd: Path) -> str:
    """Version and directory."""
    return plain(f"hrns {__version__} in {cwd}")


def banner(session: Session) -> str:
    """Provider, model, agent and permission mode."""
    return (
        f"provider {session.entry.name}, model {session.model}, "
        f"agent {session.agent.name}, mode {session.context.mode}"
    )
