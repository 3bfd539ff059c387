"""Patterns of paths, as gitignore has them: `src/**`, `*.py`, `~/notes/`, `/etc/hosts`.

A pattern is relative to the working directory, unless it begins with `/` or `~`. One without a
slash is a name at any depth. `*` and `?` stay within a name, `**` goes through directories, and
a pattern that fits a directory fits all that is in it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

from attrs import field, frozen

from .places import Place
from .text import comparable

__all__ = ["PathPattern", "quoted_path"]

_MAGIC = re.compile(r"[*?\[\\]")
_DRIVE = re.compile(r"[A-Za-z]:/")
_PIECE = re.compile(
    r"(?P<star>\*+)|(?P<any>\?)|\[(?P<negated>[!^]?)(?P<members>\]?(?:\\.|[^\\\]])*)\]"
    r"|\\?(?P<plain>.)",
    re.DOTALL,
)
_MEMBER = re.compile(r"\\?(.)(?:-\\?([^\]]))?", re.DOTALL)


@frozen
class _Characters:
    """One character of a name: of some ranges, or of none of them; or any number of any."""

    ranges: tuple[tuple[str, str], ...] = ()
    others: bool = False
    many: bool = False

    def takes(self, character: str) -> bool:
        """Whether it is one of these."""
        return any(low <= character <= high for low, high in self.ranges) != self.others


_Name: TypeAlias = tuple[_Characters, ...]
_Names: TypeAlias = "tuple[_Name | None, ...]"

_DIRECTORIES = None
"""What stands for `**` among names."""


@frozen
class PathPattern:
    """A pattern of paths.

    Parameters:
        text: as it is written.
        base: the directory that it begins at: relative to the working directory, absolute, or
            with `~`.
        names: the names below it.
        anywhere: whether it has no slash: it is a name at any depth.
    """

    text: str
    base: str
    names: _Names = field(repr=False)
    anywhere: bool

    @classmethod
    def parse(cls, text: str) -> PathPattern:
        """The pattern that a text stands for; every text is one."""
        return _parsed(text)

    def covers(self, place: Place, cwd: Path) -> bool:
        """Whether a rule that allows holds: only for where the path really leads."""
        below = _below(self._place(cwd).real.parts, place.real.parts)
        return below is not None and _fits(self.names, below)

    def touches(self, place: Place, cwd: Path) -> bool:
        """Whether a rule that asks or denies holds: for the path as named or where it leads.

        One without a slash then also is a name outside of the working directory.
        """
        base = self._place(cwd)
        return self._touches(base.named, place.named) or self._touches(base.real, place.real)

    def _place(self, cwd: Path) -> Place:
        return Place.of(os.path.expanduser(self.base), cwd)  # noqa: PTH111 - pathlib raises

    def _touches(self, base: Path, path: Path) -> bool:
        bases, parts = (tuple(map(comparable, each.parts)) for each in (base, path))
        below = _below(bases, parts)
        if below is None and self.anywhere:
            below = _apart(bases, parts)
        return below is not None and _fits(_parsed(comparable(self.text)).names, below)


def quoted_path(path: str) -> str:
    """A path as the pattern that fits it and what is in it, and nothing else."""
    return re.sub(r"([*?\[\\])", r"\\\1", path)


@lru_cache(maxsize=512)
def _parsed(text: str) -> PathPattern:
    written = text.rstrip("/") or "/"
    absolute = written.startswith(("/", "~/")) or written == "~" or _DRIVE.match(written)
    if not absolute and "/" not in written and written not in (".", ".."):
        return PathPattern(text, ".", (_DIRECTORIES, _name(written)), anywhere=True)
    parts = written.split("/")
    plain = next((at for at, part in enumerate(parts) if _MAGIC.search(part)), len(parts))
    base = "/".join(parts[:plain]) or ("/" if absolute else ".")
    names = tuple(_name(part) for part in parts[plain:] if part)
    return PathPattern(text, base, names, anywhere=False)


def _name(part: str) -> _Name | None:
    if part == "**":
        return _DIRECTORIES
    return tuple(_characters(piece) for piece in _PIECE.finditer(part))


def _characters(piece: re.Match[str]) -> _Characters:
    if piece["star"]:
        return _Characters(others=True, many=True)
    if piece["any"]:
        return _Characters(others=True)
    if piece["members"] is None:
        return _Characters(((piece["plain"], piece["plain"]),))
    members = _MEMBER.findall(piece["members"])
    return _Characters(tuple((low, high or low) for low, high in members), bool(piece["negated"]))


def _below(base: Sequence[str], path: Sequence[str]) -> Sequence[str] | None:
    """The names that lead from a directory to a path, or None if it is not in there."""
    return path[len(base) :] if path[: len(base)] == base else None


def _apart(base: Sequence[str], path: Sequence[str]) -> Sequence[str]:
    """The names of a path from where it leaves the way to a directory."""
    pairs = enumerate(zip(base, path, strict=False))
    return path[next((at for at, (one, other) in pairs if one != other), len(base)) :]


def _fits(names: _Names, below: Sequence[str]) -> bool:
    """Whether a path, or a directory that it is in, is one that the names stand for."""
    states = _closed(names, {0})
    for name in below:
        if len(names) in states:
            return True
        states = _closed(names, {at for state in states for at in _after(names, state, name)})
    return len(names) in states


def _after(names: _Names, state: int, name: str) -> Iterator[int]:
    """The states after a name; `**` in the end stands for one at least."""
    expected = names[state]
    if expected is _DIRECTORIES:
        yield state
        if state + 1 == len(names):
            yield state + 1
    elif _takes(expected, name):
        yield state + 1


def _closed(names: _Names, states: set[int]) -> set[int]:
    """`**` before others also stands for no directory at all."""
    closed = set(states)
    for state in states:
        at = state
        while at + 1 < len(names) and names[at] is _DIRECTORIES:
            at += 1
            closed.add(at)
    return closed


def _takes(pattern: _Name, name: str) -> bool:
    """Whether a name is one that the pattern stands for; a star gives way, the last one first."""
    at = place = restart = 0
    star = -1
    while place < len(name):
        if at < len(pattern) and pattern[at].many:
            star, restart = at, place
            at += 1
        elif at < len(pattern) and pattern[at].takes(name[place]):
            at, place = at + 1, place + 1
        elif star >= 0:
            restart += 1
            at, place = star + 1, restart
        else:
            return False
    return all(each.many for each in pattern[at:])
