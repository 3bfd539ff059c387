"""What git ignores: `.gitignore` files, from the top of the repository down."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import field, frozen

from .host import Host

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

__all__ = ["Ignores", "is_top"]

_FILE_BYTES = 1024 * 1024
_SPECIAL = frozenset({".git", ".gitignore"})
_MOST_STARS = 4
"""In one name: with each star the comparison of a long name takes some hundred times as long."""
_MOST_DEEP = 3
"""Times that `**` may stand in a rule."""


@frozen
class _Rules:
    """The rules of one file.

    Parameters:
        base: the directory that they are relative to, as text with a slash at its end.
        spec: the rules.
    """

    base: str
    spec: GitIgnoreSpec = field(repr=False)


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
            decision = rules.spec.check_file(relative).include
            if decision is not None:
                return decision
        return False

    def _read(self, base: Path, file: Path) -> tuple[_Rules, ...]:
        try:
            with self.host.open(file) as opened:
                text = opened.read(_FILE_BYTES).decode("utf-8-sig", "surrogateescape")
        except OSError:
            return ()
        return (_Rules(base.as_posix().rstrip("/") + "/", _spec(text.splitlines())),)


def _spec(lines: Sequence[str]) -> GitIgnoreSpec:
    """The rules; as git does it, a line that is none is passed over."""
    from pathspec import GitIgnoreSpec

    lines = [line for line in lines if not _is_costly(line)]
    try:
        return GitIgnoreSpec.from_lines(lines)
    except (ValueError, re.error):
        return GitIgnoreSpec.from_lines(line for line in lines if _is_rule(line))


def _is_costly(line: str) -> bool:
    """Whether a rule may take for ever to be compared with some path.

    Whoever wrote the repository also chose the names in it, and nothing can stop a comparison.
    """
    names = line.split("/")
    stars = max(len(re.findall(r"\*+", name)) for name in names)
    return stars > _MOST_STARS or names.count("**") > _MOST_DEEP


def _is_rule(line: str) -> bool:
    from pathspec import GitIgnoreSpec

    try:
        GitIgnoreSpec.from_lines([line])
    except (ValueError, re.error):
        return False
    return True


def is_top(host: Host, directory: Path) -> bool:
    """Whether a directory is the top of a repository."""
    return host.info(directory / ".git") is not None
