"""Where Markdown files are looked for: the project, then the person's home."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from hrns.context import SessionContext

from .documents import warn

__all__ = ["entries_by_place", "files_by_place", "project_directories", "spelled"]


def project_directories(cwd: Path) -> tuple[Path, ...]:
    """The working directory and those above it up to the git root, nearest first.

    Only the working directory where there is no git root.
    """
    cwd = cwd.resolve()
    upwards = (cwd, *cwd.parents)
    for number, directory in enumerate(upwards, 1):
        if os.path.exists(directory / ".git"):  # noqa: PTH110 - Path.exists raises in 3.11
            return upwards[:number]
    return (cwd,)


def entries_by_place(context: SessionContext, roots: Iterable[str]) -> Iterator[list[Path]]:
    """What lies in directories of these names, place by place, the nearest first.

    Within a place the order is that of the roots, then that of the names.
    """
    places = (*project_directories(context.cwd), *_home())
    for place in dict.fromkeys(places):
        yield [entry for root in roots for entry in _entries(context, place / root)]


def files_by_place(
    context: SessionContext, roots: Iterable[str], name: str
) -> Iterator[list[Path]]:
    """The file of this name in each such entry; its case may be another, as on Windows."""
    for entries in entries_by_place(context, roots):
        yield [spelled(entry, name) for entry in entries]


def spelled(directory: Path, name: str) -> Path:
    """The path of a file of this name, or of one that is written `skill.md` or `Skill.md`.

    The directory is not listed for it: it may be a project's, with very many files.
    """
    for spelling in (name, name.lower(), name.capitalize(), name.upper()):
        if os.path.lexists(directory / spelling):
            return directory / spelling
    return directory / name


def _home() -> tuple[Path, ...]:
    try:
        return (Path.home().resolve(),)
    except RuntimeError:  # neither HOME nor an entry in the user database
        return ()


def _entries(context: SessionContext, directory: Path) -> list[Path]:
    try:
        return sorted(directory.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        warn(context, f"{directory}: {error.strerror or error}; nothing in it is used")
        return []
