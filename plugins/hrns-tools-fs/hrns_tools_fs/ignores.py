"""What git ignores: `.gitignore` files, from the top of the repository down.

What package managers and interpreters fill is ignored without being named there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from pathlib import Path
from typing import TYPE_CHECKING, cast
from warnings import catch_warnings, simplefilter

from attrs import field, frozen

from .brackets import plain_brackets
from .host import Host

if TYPE_CHECKING:
    from pathspec import RegexPattern

__all__ = ["Ignores", "is_top"]

_FILE_BYTES = 1024 * 1024
_SPECIAL = frozenset({".git", ".gitignore"})
_INSTALLED = frozenset({"node_modules", "__pycache__"})
"""Directories that programs fill, and that count as ignored unless a rule says otherwise."""
_MOST_STARS = 4
"""In one name: with each star the comparison of a long name takes some hundred times as long."""
_MOST_DEEP = 3
"""Times that `**` may stand in a rule."""


@frozen
class _Rules:
    """The rules of one file.

    Parameters:
        base: the directory that they are relative to, as text with a slash at its end.
        patterns: the rules; the last one that fits counts.
    """

    base: str
    patterns: tuple[RegexPattern, ...] = field(repr=False)


@frozen
class Ignores:
    """The rules that hold in a directory; those of its own file are the last.

    Parameters:
        host: where the files lie.
        rules: from the top down.
    """

    host: Host
    rules: tuple[_Rules, ...] = ()

    @classmethod
    def above(cls, host: Host, directory: Path) -> Ignores:
        """The rules that hold for a directory from outside of it.

        Those of its repository; none if it is in no repository, or ignored itself: who names it
        wants to see it.
        """
        top = next((each for each in directory.parents if is_top(host, each)), None)
        if top is None or is_top(host, directory):
            return cls(host)
        ignores = cls(host)
        chain = [each for each in reversed(directory.parents) if each.is_relative_to(top)]
        for inner, outer in zip([*chain[1:], directory], chain, strict=True):
            ignores = ignores.inside(outer, _SPECIAL)
            if ignores.match(inner.as_posix(), directory=True):
                return cls(host)
        return ignores

    def inside(self, directory: Path, names: Set[str]) -> Ignores:
        """The rules that hold inside a directory; a repository of its own begins anew.

        Parameters:
            names: what is in the directory.
        """
        if names.isdisjoint(_SPECIAL):
            return self
        rules = self.rules
        if is_top(self.host, directory):
            rules = self._read(directory, directory / ".git" / "info" / "exclude")
        return Ignores(self.host, rules + self._read(directory, directory / ".gitignore"))

    def match(self, path: str, *, directory: bool) -> bool:
        """Whether an entry is ignored; `path` is absolute, with slashes."""
        for rules in reversed(self.rules):
            relative = path[len(rules.base) :] + ("/" if directory else "")
            for pattern in reversed(rules.patterns):
                if _fits(pattern, relative):
                    return bool(pattern.include)
        return directory and path.rpartition("/")[2] in _INSTALLED

    def _read(self, base: Path, file: Path) -> tuple[_Rules, ...]:
        try:
            with self.host.open(file) as opened:
                text = opened.read(_FILE_BYTES).decode("utf-8-sig", "surrogateescape")
        except OSError:
            return ()
        return (_Rules(base.as_posix().rstrip("/") + "/", _patterns(text.split("\n"))),)


def _patterns(lines: Sequence[str]) -> tuple[RegexPattern, ...]:
    """The rules; as git does it, a line that is none is passed over."""
    return tuple(
        pattern
        for line in lines
        if not _is_costly(line)
        for pattern in _parsed(plain_brackets(line.removesuffix("\r")))
    )


def _fits(pattern: RegexPattern, path: str) -> bool:
    """Whether a rule is about this entry: about one that it lies in has been decided before."""
    matches = pattern.regex.finditer(path) if pattern.regex else ()
    return any(_is_whole(match, path) for match in matches)


def _is_whole(match: re.Match[str], path: str) -> bool:
    if "ps_d" in match.groupdict():  # how pathspec marks the end of a directory
        return match["ps_d"] is None or match.end("ps_d") == len(path)
    # `x/**` is about what is in x.
    return not (match.end() == len(path) and path.endswith("/"))


def _is_costly(line: str) -> bool:
    """Whether a rule may take for ever to be compared with some path.

    Whoever wrote the repository also chose the names in it, and nothing can stop a comparison.
    """
    names = line.split("/")
    stars = max(len(re.findall(r"\*+", name)) for name in names)
    return stars > _MOST_STARS or names.count("**") > _MOST_DEEP


def _parsed(line: str) -> list[RegexPattern]:
    """The rule of a line, if it has one."""
    from pathspec import GitIgnoreSpec

    try:
        with catch_warnings():
            simplefilter("ignore", FutureWarning)  # of `[[`, which is to mean the same later
            found = GitIgnoreSpec.from_lines([line]).patterns
    except (ValueError, re.error):
        return []
    return [cast("RegexPattern", each) for each in found if each.include is not None]


def is_top(host: Host, directory: Path) -> bool:
    """Whether a directory is the top of a repository."""
    return host.info(directory / ".git") is not None
