"""Walking a directory: sorted, pruned, and honest about what is left out."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from attrs import define, frozen

from hrns.cancel import Cancel

from .globs import Glob, State
from .host import Entry, Host
from .ignores import Ignores

__all__ = ["Found", "LeftOut", "walk"]


@frozen
class Found:
    """An entry that matches.

    Parameters:
        path: relative to where the walk began, with slashes.
        entry: its name and kind.
    """

    path: str
    entry: Entry


@define
class LeftOut:
    """How many entries were passed over that the pattern might have reached.

    Parameters:
        hidden: their names begin with a dot.
        ignored: git ignores them.
        unreadable: directories that could not be read.
        late: whether the time was over before the end.
    """

    hidden: int = 0
    ignored: int = 0
    unreadable: int = 0
    late: bool = False

    def __str__(self) -> str:
        """What was left out and how to get it, or ""."""
        counts = {"hidden": self.hidden, "ignored": self.ignored, "unreadable": self.unreadable}
        told = [f"{count} {name}" for name, count in counts.items() if count]
        words = [f"left out: {', '.join(told)}; name them to see them"] if told else []
        if self.late:
            words.append("it took too long, so not everything was looked at: name a smaller dir")
        return "; ".join(words)


def walk(
    host: Host, root: Path, glob: Glob, left_out: LeftOut, cancel: Cancel, limit_s: float
) -> Iterator[Found]:
    """The entries below a directory that match, in the order of their names, depth first.

    Hidden entries (a leading dot) are passed over unless the pattern names the dot, and what git
    ignores always; both are counted. Symbolic links are not followed.

    Parameters:
        left_out: is told what is passed over.
        limit_s: after so many seconds it stops.

    Raises:
        Cancelled: the flag is raised.
    """
    until = time.monotonic() + limit_s
    level = _level(host, root, "", glob.start, Ignores.above(host, root), left_out)
    levels = [level] if level else []
    while levels:
        level = levels[-1]
        entry = next(level.entries, None)
        if entry is None:
            levels.pop()
            continue
        matches, state = glob.step(level.state, entry.name)
        directory = entry.kind == "directory"
        if not matches and not (directory and state):
            _count_hidden(glob, level, entry, left_out)
            continue
        path = level.prefix + entry.name
        if level.ignores.match(f"{level.base}{path}", directory=directory):
            left_out.ignored += 1
            continue
        if matches:
            yield Found(path, entry)
        if directory and state:
            cancel.check()
            if time.monotonic() > until:
                left_out.late = True
                return
            inner = _level(host, root, path + "/", state, level.ignores, left_out)
            levels.extend([inner] if inner else [])


@frozen
class _Level:
    """A directory on the way.

    Parameters:
        base: where the walk began, as text with a slash at its end.
        prefix: the path from there, likewise, or "".
        entries: what is still to come.
        state: what the pattern wants here.
        ignores: the rules that hold here.
    """

    base: str
    prefix: str
    entries: Iterator[Entry]
    state: State
    ignores: Ignores


def _level(
    host: Host, root: Path, prefix: str, state: State, ignores: Ignores, left_out: LeftOut
) -> _Level | None:
    directory = root / prefix
    try:
        entries = host.scan(directory)
    except OSError:
        left_out.unreadable += 1
        return None
    names = {entry.name for entry in entries}
    base = root.as_posix().rstrip("/") + "/"
    entries.sort(key=lambda entry: entry.name)
    return _Level(base, prefix, iter(entries), state, ignores.inside(directory, names))


def _count_hidden(glob: Glob, level: _Level, entry: Entry, left_out: LeftOut) -> None:
    if entry.name.startswith(".") and entry.name != ".git":
        matches, state = glob.step(level.state, entry.name, hidden_too=True)
        left_out.hidden += matches or (entry.kind == "directory" and bool(state))
