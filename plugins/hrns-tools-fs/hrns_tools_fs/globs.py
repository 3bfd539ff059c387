"""Glob patterns, matched name by name, so that a walk knows where it need not go.

`*`, `?`, `[...]` and `{a,b}` match within a name, `**` any number of directories. As in a shell, a
name that begins with a dot is matched only by a pattern that begins with one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import islice, pairwise
from warnings import catch_warnings, simplefilter

from attrs import define, field, frozen

from .brackets import plain_brackets

__all__ = ["NOWHERE", "Glob", "State"]

State = frozenset[int]
"""Where in the pattern a directory stands: the parts that its entries may match."""

NOWHERE = State()
"""No part fits what is below."""

_MAGIC = re.compile(r"[*?\[{]")
_CLASS = r"\[(?P<negated>[!^]?)(?P<members>\][^\]]*|[^\]]+)\]"
_PIECE = re.compile(rf"(?P<star>\*+)|(?P<any>\?)|{_CLASS}|.", re.DOTALL)
_SIGN = re.compile(rf"{_CLASS}|[{{}},]", re.DOTALL)
_SLASH_IN_BRACES = re.compile(r"\{[^{}]*/[^{}]*\}")
_MOST_CHOICES = 200
_LONGEST = 1000


@frozen
class _Move:
    """How one part of the pattern takes a name.

    Parameters:
        fits: whether it takes a name; None if it takes any.
        takes_dots: whether it takes a leading dot.
        then: what may come below; None if the name is a match.
    """

    fits: Callable[[str], object] | None
    takes_dots: bool
    then: State | None


@define(eq=False)
class Glob:
    """A pattern, relative to a directory.

    Parameters:
        parts: the pattern, cut at slashes.
        directories_only: whether it ended in a slash.
    """

    parts: tuple[str, ...]
    directories_only: bool = False
    _moves: dict[State, tuple[_Move, ...]] = field(init=False, factory=dict)

    @classmethod
    def parse(cls, pattern: str) -> tuple[str, Glob]:
        """The leading directories that are plain names, and the glob for what is below them.

        Raises:
            ValueError: the pattern is empty or leaves the directory.
        """
        pattern = plain_brackets(pattern)
        parts = [part for part in pattern.replace("\\", "/").split("/") if part not in ("", ".")]
        if not parts or ".." in parts:
            raise ValueError("the pattern is empty" if not parts else "a pattern has no '..'")
        if _SLASH_IN_BRACES.search(pattern):
            raise ValueError("braces hold no slash: ask for one of the choices at a time")
        if parts[-1] == "**":
            parts.append("*")
        plain = 0
        while plain < len(parts) - 1 and not _MAGIC.search(parts[plain]):
            plain += 1
        for part in parts[plain:]:
            _compiled(part)
        return "/".join(parts[:plain]), cls(tuple(parts[plain:]), pattern.endswith("/"))

    @property
    def recursive(self) -> bool:
        """Whether it goes down to any depth."""
        return "**" in self.parts

    @property
    def start(self) -> State:
        """The state of the directory that the pattern is relative to."""
        return self._closed(0)

    def step(self, state: State, name: str, *, hidden_too: bool = False) -> tuple[bool, State]:
        """Whether an entry of a directory matches, and the state of that entry as a directory.

        Parameters:
            hidden_too: take a leading dot as any other character.
        """
        moves = self._moves.get(state)
        if moves is None:
            moves = self._moves[state] = tuple(self._move(part) for part in sorted(state))
        hidden = name.startswith(".") and not hidden_too
        matches, reached = False, NOWHERE
        for move in moves:
            if (hidden and not move.takes_dots) or not (move.fits is None or move.fits(name)):
                continue
            if move.then is None:
                matches = True
            else:
                reached |= move.then
        return matches, reached

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

    def _move(self, number: int) -> _Move:
        part = self.parts[number]
        if part == "**":
            return _Move(None, takes_dots=False, then=self._closed(number))
        fits = None if part == "*" else _compiled(part).fullmatch
        last = number == len(self.parts) - 1
        return _Move(fits, part.startswith("."), None if last else self._closed(number + 1))

    def _closed(self, number: int) -> State:
        """A part, and what may come at once since `**` also stands for no directory at all."""
        closed = {number}
        while self.parts[number] == "**":
            number += 1
            closed.add(number)
        return frozenset(closed)


def _compiled(part: str) -> re.Pattern[str]:
    if len(part) > _LONGEST:
        raise ValueError(f"no name is so long: {part[:40]!r}...")
    choices = list(islice(_alternatives(part, 0), _MOST_CHOICES + 1))
    if len(choices) > _MOST_CHOICES:
        raise ValueError(f"the braces of {part!r} stand for more than {_MOST_CHOICES} patterns")
    try:
        with catch_warnings():
            simplefilter("ignore", FutureWarning)  # of `[--0]`, which is to mean the same later
            return re.compile("|".join(map(_translated, choices)), re.DOTALL)
    except re.error as error:
        raise ValueError(f"{part!r} is no pattern: {error}") from error


def _alternatives(part: str, at: int) -> Iterator[str]:
    """What a part stands for, each without the braces that begin from `at` on."""
    while (start := _next_brace(part, at)) >= 0:
        cuts = _cuts(part, start)
        if cuts:
            for first, last in pairwise([start, *cuts]):
                choice = part[:start] + part[first + 1 : last] + part[cuts[-1] + 1 :]
                yield from _alternatives(choice, start)
            return
        at = start + 1
    yield part


def _next_brace(part: str, at: int) -> int:
    """Where the next `{` stands that is in no brackets, or -1."""
    return next((each.start() for each in _SIGN.finditer(part, at) if each[0] == "{"), -1)


def _cuts(part: str, start: int) -> list[int]:
    """Where the commas of a brace stand, and its end; nothing if it has none."""
    depth = 0
    cuts: list[int] = []
    for sign in _SIGN.finditer(part, start):
        depth += {"{": 1, "}": -1}.get(sign[0], 0)
        if depth == 0:
            return [*cuts, sign.start()]
        if depth == 1 and sign[0] == ",":
            cuts.append(sign.start())
    return []


def _translated(part: str) -> str:
    """The part as a regular expression; a bracket that is not closed is itself.

    What lies between two stars is taken where it stands first, for good: any later place would
    leave less for what follows. So no name takes long.
    """
    chunks = [""]
    for token in _PIECE.finditer(part):
        if token["star"]:
            chunks.append("")
        else:
            chunks[-1] += _one_character(token)
    first, *middle = chunks
    if not middle:
        return first
    last = middle.pop()
    return first + "".join(f"(?>[^/]*?{chunk})" for chunk in middle) + f"[^/]*{last}"


def _one_character(token: re.Match[str]) -> str:
    if token["any"]:
        return "[^/]"
    if token["members"]:
        return f"[{'^' if token['negated'] else ''}{_escaped_members(token['members'])}]"
    return re.escape(token[0])


def _escaped_members(members: str) -> str:
    return re.sub(r"([\\\[\]^&~|])", r"\\\1", members)
