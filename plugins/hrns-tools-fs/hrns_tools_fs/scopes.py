"""Where a pattern is looked for."""

from __future__ import annotations

from pathlib import Path

from attrs import frozen

from hrns.errors import ToolFailure

from .globs import Glob
from .host import Host
from .paths import Place, locate, missing

__all__ = ["Scope"]


@frozen
class Scope:
    """A directory and a pattern of what is meant below it.

    Parameters:
        place: the directory, as it was named.
        plain: the directories that the pattern begins with, as `a/b`, or "".
        glob: the rest of the pattern.
    """

    place: Place
    plain: str
    glob: Glob

    @classmethod
    def of(cls, directory: str, pattern: str, cwd: Path, host: Host) -> Scope:
        """The scope of a directory and a pattern; an absolute pattern stands for itself.

        Raises:
            ToolFailure: one of them is none.
        """
        if pattern.startswith(("/", "~/")):
            top, _, pattern = pattern.partition("/")
            directory = top + "/"
        try:
            return cls(locate(directory or ".", cwd, host), *Glob.parse(pattern))
        except ValueError as error:
            raise ToolFailure(f"the pattern {pattern!r}: {error}") from error

    @property
    def root(self) -> Path:
        """The directory that the glob is relative to."""
        return self.place.path / self.plain

    @property
    def prefix(self) -> str:
        """What stands before the paths below `root` when they are shown."""
        return _with_slash(self.place.shown) + _with_slash(self.plain)

    def check(self, host: Host) -> None:
        """That the directory is one.

        Raises:
            ToolFailure: it is not.
        """
        info = host.info(self.place.path)
        if info is None:
            raise missing(self.place, host)
        if info.kind != "directory":
            raise ToolFailure(f"{self.place.shown} is a {info.kind}, not a directory")

    def is_there(self, host: Host) -> bool:
        """Whether there is anything to look through."""
        info = host.info(self.root)
        return info is not None and info.kind == "directory"


def _with_slash(directory: str) -> str:
    return "" if directory in ("", ".", "./") else directory.rstrip("/") + "/"
