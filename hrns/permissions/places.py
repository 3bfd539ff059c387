"""Paths, as they are named and as they really are, and what lies there."""

from __future__ import annotations

import os
from pathlib import Path

from attrs import frozen

__all__ = ["Place", "own_places"]


@frozen
class Place:
    """A path, as it is named and as it is when all symbolic links are followed.

    Parameters:
        named: absolute, `.` and `..` taken out of the text.
        real: absolute, as the disk has it.
    """

    named: Path
    real: Path

    @classmethod
    def of(cls, path: str | Path, cwd: Path) -> Place:
        """The place that a path means to someone in `cwd`.

        Raises:
            ValueError, OSError, RuntimeError: no system has such a path, or links go in circles.
        """
        absolute = cwd / path
        return cls(Path(os.path.normpath(absolute)), absolute.resolve())

    def is_in(self, directory: Place) -> bool:
        """Whether it really is the directory or lies in it."""
        return self.real.is_relative_to(directory.real)

    @property
    def is_gits_own(self) -> bool:
        """Whether it lies in a `.git`, or is one: what is written there may be run by git."""
        return any(_is_git(part) for part in (*self.named.parts, *self.real.parts))

    @property
    def is_project_config(self) -> bool:
        """Whether it is the configuration of hrns for a project, of any directory."""
        ends = (tuple(map(str.casefold, path.parts[-2:])) for path in (self.named, self.real))
        return (".hrns", "config.json") in ends


def own_places(config: Path) -> tuple[Path, ...]:
    """What belongs to hrns where its configuration is this file.

    The directory that it lies in, if that is its own; but the file may be put anywhere, also into
    a project.
    """
    return (config.parent if config.parent.name == "hrns" else config,)


def _is_git(part: str) -> bool:
    """Whether some system takes the name for `.git`, as git itself sees to it."""
    return part.casefold().rstrip(". ") in (".git", "git~1")
