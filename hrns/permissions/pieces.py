"""The pieces of a call that are judged one by one: paths, URLs, the commands of a line."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

from attrs import evolve, field, frozen

from .commands import CommandPattern, quoted_line
from .paths import PathPattern, quoted_path
from .places import Place
from .shell import Command, Line, Redirection, program, read_line
from .shell.values import DEVICES
from .text import Match
from .urls import Url, UrlPattern
from .values import Access, Effect

__all__ = ["Piece", "Surroundings", "pieces"]

_SHOWN = 200
_VERBS: dict[Effect, str] = {
    "read": "read",
    "write": "change",
    "execute": "run",
    "network": "reach",
}

# After these a relative path may lead elsewhere; "" is a program that is not known.
_MOVES = frozenset({"cd", "pushd", "popd", ".", "source", ""})


@frozen
class Surroundings:
    """Where a call is made: the working directory, and what belongs to hrns itself."""

    cwd: Place
    own_places: tuple[Place, ...] = ()


@frozen
class Piece(ABC):
    """Something that is judged by itself.

    Parameters:
        kind: what is done.
        subject: to what, for people; "" if it is not known.
        tool: the tool whose rules speak of it.
        rule: the rule that would allow the access that it belongs to.
        declared: whether the tool says so itself; else it was read out of a command line.
    """

    kind: Effect
    subject: str
    tool: str
    rule: str
    declared: bool = True

    @property
    def shown(self) -> str:
        """What is done, as in "it would change src/app.py"."""
        subject = self.subject or "something it does not name"
        short = subject if len(subject) <= _SHOWN else f"{subject[: _SHOWN - 3]}..."
        return f"{_VERBS[self.kind]} {short}"

    @property
    def is_inside(self) -> bool:
        """Whether it is a path in the working directory."""
        return False

    @property
    def guard(self) -> str:
        """Why no rule allows it that does not name the place, or ""."""
        return ""

    @property
    def is_aside(self) -> bool:
        """Whether it does nothing of its own: no rule is needed to allow it."""
        return False

    @abstractmethod
    def touched_by(self, pattern: str) -> Match:
        """Whether a rule for its tool that asks or denies speaks of it."""

    def named_by(self, pattern: str) -> Match:
        """The same for a rule for all tools: it speaks of what is named, and of nothing else."""
        return "yes" if self.touched_by(pattern) == "yes" else "no"

    @abstractmethod
    def covered_by(self, pattern: str) -> bool:
        """Whether a rule that allows holds for it."""


@frozen
class _Unknown(Piece):
    @property
    def guard(self) -> str:
        return "" if self.declared else "it cannot be told where that is"

    def touched_by(self, pattern: str) -> Match:  # noqa: ARG002 - it may be anything
        return "maybe"

    def covered_by(self, pattern: str) -> bool:  # noqa: ARG002
        return False


@frozen
class _Path(Piece):
    place: Place = field(kw_only=True)
    around: Surroundings = field(kw_only=True)

    @property
    def is_inside(self) -> bool:
        return self.place.is_in(self.around.cwd)

    @property
    def guard(self) -> str:
        if self.kind != "write":
            return ""
        if not self.is_inside:
            return f"{self.subject} is outside the working directory"
        if self.place.is_gits_own:
            return f"{self.subject} is git's own"
        if self.place.is_project_config or any(map(self.place.is_in, self.around.own_places)):
            return f"{self.subject} says what hrns may do"
        return ""

    def touched_by(self, pattern: str) -> Match:
        found = PathPattern.parse(pattern).touches(self.place, self.around.cwd.named)
        return "yes" if found else "no"

    def covered_by(self, pattern: str) -> bool:
        return PathPattern.parse(pattern).covers(self.place, self.around.cwd.named)


@frozen
class _Url(Piece):
    def touched_by(self, pattern: str) -> Match:
        return UrlPattern.parse(pattern).touches(self.subject)

    def covered_by(self, pattern: str) -> bool:
        return UrlPattern.parse(pattern).covers(self.subject)


@frozen
class _Command(Piece):
    command: Command = field(kw_only=True)
    line: str = field(kw_only=True)
    cwd: Place = field(kw_only=True)

    @property
    def is_aside(self) -> bool:
        return not self.command.needs_rule

    def touched_by(self, pattern: str) -> Match:
        parsed = CommandPattern.parse(pattern)
        if parsed.is_line(self.line) or parsed.like_line(self.line):
            return "yes"
        found = parsed.touches(self.command)
        if found != "maybe":
            return found
        if parsed.is_mentioned(self.line):
            return "yes"
        # What is only guessed to be run there is not worth a question.
        return "maybe" if self.command.needs_rule else "no"

    def named_by(self, pattern: str) -> Match:
        """Whether a word of the command is a path or a URL that the pattern stands for."""
        return "yes" if any(_is_named(text, pattern, self.cwd) for text in self._texts()) else "no"

    def covered_by(self, pattern: str) -> bool:
        return CommandPattern.parse(pattern).covers(self.command)

    def _texts(self) -> Iterator[str]:
        """The words, and what stands behind `=` in them."""
        for word in self.command.words:
            if word.exact and word.text:
                yield word.text
                yield from filter(None, word.text.partition("=")[2:])


def pieces(tool: str, access: Access, around: Surroundings) -> list[Piece]:
    """The pieces of what a tool is going to touch.

    Raises:
        ValueError, OSError, RuntimeError: it is a path that no system has.
    """
    kind, subject = access.kind, access.subject
    if not subject.strip():
        return [_Unknown(kind, "", tool, tool)]
    if kind == "execute":
        return list(_pieces_of_line(tool, subject, around))
    if kind == "network":
        return [_Url(kind, subject, tool, _rule_of_url(tool, subject))]
    return [_path(kind, subject, tool, around)]


def _path(kind: Effect, subject: str, tool: str, around: Surroundings) -> Piece:
    place = Place.of(subject, around.cwd.named)
    piece = _Path(kind, subject, tool, tool, place=place, around=around)
    if piece.is_inside and not piece.guard:
        return piece
    return evolve(piece, rule=f"{tool}({quoted_path(str(place.named))})")


def _rule_of_url(tool: str, text: str) -> str:
    url = Url.parse(text)
    return f"{tool}({url.server if url else text.strip()})"


def _is_named(text: str, pattern: str, cwd: Place) -> bool:
    if "://" in text:
        return UrlPattern.parse(pattern).touches(text) == "yes"
    place = Place.of(os.path.expanduser(text), cwd.named)  # noqa: PTH111 - pathlib raises
    return PathPattern.parse(pattern).touches(place, cwd.named)


def _pieces_of_line(tool: str, text: str, around: Surroundings) -> Iterator[Piece]:
    text = text.strip()
    line = read_line(text)
    rule = f"{tool}({quoted_line(text)})"
    for command in _commands(line, text):
        yield _Command(
            "execute",
            command.shown,
            tool,
            rule,
            declared=False,
            command=command,
            line=text,
            cwd=around.cwd,
        )
    moved = any(_moves(command) for command in line.commands)
    for redirection in line.redirections:
        if redirection.path not in DEVICES:
            yield evolve(_redirected(redirection, around, moved=moved), rule=rule, declared=False)


def _moves(command: Command) -> bool:
    """Whether a relative path may lead elsewhere after the command."""
    return bool(command.words) and program(command.words[0]) in _MOVES


def _commands(line: Line, text: str) -> Sequence[Command]:
    """The commands of a line: one at least, and one that needs a rule if nothing else is done."""
    first, *others = line.commands or (Command((), note=text, needs_rule=False),)
    if not (line.redirections or any(command.needs_rule for command in line.commands)):
        first = evolve(first, needs_rule=True)
    return (first, *others)


def _redirected(redirection: Redirection, around: Surroundings, *, moved: bool) -> Piece:
    """A redirection, judged as a call of `read_file` or `write_file` is."""
    tool = "read_file" if redirection.kind == "read" else "write_file"
    path = os.path.expanduser(redirection.path)  # noqa: PTH111 - pathlib raises
    if not path or (moved and not os.path.isabs(path)):  # noqa: PTH117
        return _Unknown(redirection.kind, "", tool, "")
    return _path(redirection.kind, path, tool, around)
