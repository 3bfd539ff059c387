"""Glob patterns, matched name by name, so that a walk knows where it need not go.

`*`, `?`, `[...]` and `{a,b}` match within a name, `**` any number of directories. As in a shell, a
name that begins with a dot is matched only by a pattern that begins with one.
"""

from __future__ import annotations

import re
from functools import cached_property

from attrs import define, field

__all__ = ["Glob", "State"]

State = frozenset[int]
"""Where in the pattern a directory stands: the parts that its entries may match."""

_MAGIC = re.compile(r"[*?\[{]")
_CLASS = re.compile(r"\[([!^]?)(\]?[^\]]*)\]")


@define(eq=False)
class Glob:
    """A pattern, relative to a directory.

    Parameters:
        parts: the pattern, cut at slashes.
        directories_only: whether it ended in a slash.
    """

    parts: tuple[str, ...]
    directories_only: bool = False
    _names: list[re.Pattern[str] | None] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._names = [None if part == "**" else _compiled(part) for part in self.parts]

    @classmethod
    def parse(cls, pattern: str) -> tuple[str, Glob]:
        """The leading directories that are plain names, and the glob for what is below them.

        Raises:
            ValueError: the pattern is empty or leaves the directory.
        """
        parts = [part for part in pattern.replace("\\", "/").split("/") if part not in ("", ".")]
        if not parts or ".." in parts:
            raise ValueError("the pattern is empty" if not parts else "a pattern has no '..'")
        if parts[-1] == "**":
            parts.append("*")
        plain = 0
        while plain < len(parts) - 1 and not _MAGIC.search(parts[plain]):
            plain += 1
        directories_only = pattern.endswith("/")
        return "/".join(parts[:plain]), cls(tuple(parts[plain:]), directories_only)

    @property
    def recursive(self) -> bool:
        """Whether it goes down to any depth."""
        return "**" in self.parts

    @cached_property
    def start(self) -> State:
        """The state of the directory that the pattern is relative to."""
        return self._closed({0})

    def step(self, state: State, name: str, *, hidden_too: bool = False) -> tuple[bool, State]:
        """Whether an entry of a directory matches, and the state of that entry as a directory.

        Parameters:
            hidden_too: take a leading dot as any other character.
        """
        matches, reached = False, set()
        for position in state:
            if self._takes(position, name, hidden_too):
                if self._names[position] is None:
                    reached.add(position)
                elif position == len(self.parts) - 1:
                    matches = True
                else:
                    reached.add(position + 1)
        return matches, self._closed(reached)

    def matches(self, path: str) -> bool:
        """Whether a path, relative to where the pattern is, matches."""
        *directories, name = path.split("/")
        state = self.start
        for directory in directories:
            state = self.step(state, directory)[1]
        return self.step(state, name)[0]

    @property
    def names_hidden(self) -> bool:
        """Whether a part of it begins with a dot."""
        return any(part.startswith(".") for part in self.parts)

    def _takes(self, position: int, name: str, hidden_too: bool) -> bool:
        pattern = self._names[position]
        if name.startswith(".") and not hidden_too and not self.parts[position].startswith("."):
            return False
        return pattern is None or pattern.fullmatch(name) is not None

    def _closed(self, positions: set[int]) -> State:
        """`**` also stands for no directory at all: what is after it may come at once."""
        closed = set(positions)
        for position in positions:
            after = position
            while self._names[after] is None:
                after += 1
                closed.add(after)
        return frozenset(closed)


def _compiled(part: str) -> re.Pattern[str]:
    try:
        return re.compile(_translated(part), re.DOTALL)
    except re.error as error:
        raise ValueError(f"{part!r} is no pattern: {error}") from error


def _translated(part: str) -> str:
    """The part as a regular expression; a bracket or brace that is not closed is itself."""
    pieces: list[str] = []
    at = 0
    while at < len(part):
        piece, at = _next_piece(part, at)
        pieces.append(piece)
    return "".join(pieces)


def _next_piece(part: str, at: int) -> tuple[str, int]:
    character = part[at]
    if character == "*":
        return "[^/]*", at + 1
    if character == "?":
        return "[^/]", at + 1
    if character == "[" and (found := _CLASS.match(part, at)):
        negated, members = found.groups()
        return f"[{'^' if negated else ''}{_escaped_members(members)}]", found.end()
    if character == "{" and (end := part.find("}", at)) > 0:
        choices = part[at + 1 : end].split(",")
        return f"(?:{'|'.join(_translated(choice) for choice in choices)})", end + 1
    return re.escape(character), at + 1


def _escaped_members(members: str) -> str:
    return re.sub(r"([\\\[\]^&~|])", r"\\\1", members)
