"""Walking a directory: sorted, pruned, and honest about what is left out."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from attrs import Factory, define, frozen

from hrns.cancel import Cancel

from .globs import NOWHERE, Glob, State
from .host import Entry, Host
from .ignores import Ignores

__all__ = ["Found", "LeftOut", "Walk"]


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


@frozen
class _Level:
    """A directory on the way.

    Parameters:
        prefix: its path from where the walk began, with a slash at its end, or "".
        base: its whole path, with a slash at its end.
        entries: what is still to come.
        state: what the pattern wants here.
        ignores: the rules that hold here.
    """

    prefix: str
    base: str
    entries: Iterator[Entry]
    state: State
    ignores: Ignores


@define(eq=False)
class Walk:
    """The entries below a directory that match a pattern; iterate it once.

    They come in the order of their names, depth first. Hidden entries (a leading dot) are passed
    over unless the pattern names the dot, and what git ignores always. Symbolic links are not
    followed. Iterating raises `Cancelled` when the flag is raised.

    Parameters:
        host: where the directory lies.
        root: the directory.
        glob: the pattern.
        cancel: ends the walk.
        limit_s: so does the time.
        left_out: what was passed over so far.
    """

    host: Host
    root: Path
    glob: Glob
    cancel: Cancel
    limit_s: float
    left_out: LeftOut = Factory(LeftOut)

    def __iter__(self) -> Iterator[Found]:
        until = time.monotonic() + self.limit_s
        levels = self._inside("", self.glob.start, Ignores.above(self.host, self.root))
        while levels:
            level = levels[-1]
            entry = next(level.entries, None)
            if entry is None:
                levels.pop()
                continue
            matches, state = self._wanted(level, entry)
            if matches:
                yield Found(level.prefix + entry.name, entry)
            if state:
                self.cancel.check()
                if time.monotonic() > until:
                    self.left_out.late = True
                    return
                levels.extend(self._inside(f"{level.prefix}{entry.name}/", state, level.ignores))

    def _inside(self, prefix: str, state: State, ignores: Ignores) -> list[_Level]:
        """The directory as a level; nothing if it cannot be read."""
        directory = self.root / prefix
        try:
            entries = self.host.scan(directory)
        except OSError:
            self.left_out.unreadable += 1
            return []
        names = {entry.name for entry in entries}
        entries.sort(key=lambda entry: entry.name)
        base = directory.as_posix().rstrip("/") + "/"
        return [_Level(prefix, base, iter(entries), state, ignores.inside(directory, names))]

    def _wanted(self, level: _Level, entry: Entry) -> tuple[bool, State]:
        """Whether an entry matches, and the state to go into it with; counts what is left out."""
        directory = entry.kind == "directory"
        matches, state = self.glob.step(level.state, entry.name)
        state = state if directory else NOWHERE
        if not matches and not state:
            self.left_out.hidden += self._is_hidden(level, entry)
        elif level.ignores.match(level.base + entry.name, directory=directory):
            self.left_out.ignored += 1
            return False, NOWHERE
        return matches, state

    def _is_hidden(self, level: _Level, entry: Entry) -> bool:
        """Whether only its leading dot keeps an entry from being wanted."""
        if not entry.name.startswith(".") or entry.name == ".git":
            return False
        matches, state = self.glob.step(level.state, entry.name, hidden_too=True)
        return matches or (entry.kind == "directory" and bool(state))
