"""The status line: what is going on, with what, and what it took."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from time import monotonic

from hrns.messages import Usage
from hrns.session import Session

from ..listed import context_window

__all__ = ["Meter", "status_text"]


class Meter:
    """Counts the tokens of a session."""

    def __init__(self) -> None:
        self.last = Usage()
        self.total = Usage()

    def count(self, usage: Usage) -> None:
        """Count one request."""
        self.last = usage
        self.total += usage

    def clear(self) -> None:
        """Begin anew."""
        self.last = self.total = Usage()


def status_text(state: str, since: float | None, session: Session | None, meter: Meter) -> str:
    """The line, the most important first: what a narrow terminal has no room for, it cuts off."""
    head = f"{state} {monotonic() - since:.0f} s" if since is not None else state
    if session is None:
        return head
    parts = [
        head,
        f"{session.model} ({session.entry.name})",
        session.agent.name,
        f"mode {session.context.mode}",
        *_tokens(session, meter),
        _short(session.context.cwd, Path.home()),
    ]
    return " · ".join(parts)


def _tokens(session: Session, meter: Meter) -> list[str]:
    used = meter.last.input + meter.last.output
    if not used:
        return []
    window = context_window(session)
    context = f"{_count(used)}/{_count(window)} {100 * used // window}%" if window else _count(used)
    spent = f"{_count(meter.total.input)} in {_count(meter.total.output)} out"
    return [f"context {context}", spent]


def _count(tokens: int) -> str:
    if tokens < 1000:
        return str(tokens)
    return f"{tokens / 1000:.1f}k" if tokens < 100_000 else f"{tokens // 1000}k"


@lru_cache(maxsize=1)
def _short(path: Path, home: Path) -> str:
    return (
        f"~/{path.relative_to(home)}" if path.is_relative_to(home) and path != home else str(path)
    )
