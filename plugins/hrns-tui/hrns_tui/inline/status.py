"""The status line: what is going on, with what, and what it took."""

from __future__ import annotations

from pathlib import Path
from time import monotonic

from hrns.messages import Usage
from hrns.retry import RetryPolicy
from hrns.session import Session

from ..banner import place_name
from ..cells import cells, cut
from ..listed import context_window
from .tally import short_count

__all__ = ["Meter", "fitted", "retries_of", "status_parts", "working_head"]

_SEPARATOR = " · "


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


def working_head(state: str, since: float | None) -> str:
    """What goes on, and for how long."""
    return f"{state} {monotonic() - since:.0f} s" if since is not None else state


def retries_of(session: Session) -> int:
    """How often a request is made again at most."""
    said = session.config.limits.retries
    return RetryPolicy().retries if said is None else said


def status_parts(heads: list[str], session: Session | None, meter: Meter) -> list[list[str]]:
    """The parts of the line from left to right: each whole, then what may stand in its place.

    Parameters:
        heads: what goes on, the longest first.
    """
    if session is None:
        return [heads]
    context, spent = _tokens(session, meter)
    return [
        heads,
        [f"{session.model} ({session.entry.name})", session.model],
        [session.agent.name, ""],
        [f"mode {session.context.mode}"],
        [context, ""],
        [spent, ""],
        [place_name(session.context.cwd, Path.home()), session.context.cwd.name, ""],
    ]


def fitted(parts: list[list[str]], width: int) -> list[str]:
    """The parts in one row: what comes last is shortened first, or left out if it may be empty.

    What has to be there and does not fit into one row takes more of them.
    """
    chosen = [0] * len(parts)
    for number in [*reversed(range(len(parts)))]:
        while cells(_joined(parts, chosen)) > width and chosen[number] < len(parts[number]) - 1:
            chosen[number] += 1
    row = _joined(parts, chosen)
    return [row] if cells(row) <= width else _rows(row.split(_SEPARATOR), width)


def _joined(parts: list[list[str]], chosen: list[int]) -> str:
    texts = [part[at] for part, at in zip(parts, chosen, strict=True)]
    return _SEPARATOR.join(text for text in texts if text)


def _rows(parts: list[str], width: int) -> list[str]:
    rows: list[str] = []
    for part in parts:
        if rows and cells(rows[-1] + _SEPARATOR + part) <= width:
            rows[-1] += _SEPARATOR + part
        else:
            rows.append(cut(part, width))
    return rows


def _tokens(session: Session, meter: Meter) -> tuple[str, str]:
    """What the conversation takes of the context, and what the session took."""
    used = meter.last.input + meter.last.output
    if not used:
        return "", ""
    window, taken = context_window(session), short_count(used)
    share = f"/{short_count(window)} {100 * used // window}%" if window else ""
    spent = f"{short_count(meter.total.input)} in {short_count(meter.total.output)} out"
    return f"context {taken}{share}", spent
