"""Paths as models write them, and as they lie on the disk."""

from __future__ import annotations

import unicodedata
from pathlib import Path

from attrs import frozen

from hrns.errors import ToolFailure

from .host import Host

__all__ = ["Place", "locate", "missing"]

_SUGGESTIONS = 3
_LOOK_ALIKE = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"'})


@frozen
class Place:
    """Where a text leads.

    Parameters:
        path: absolute; `.` and `..` are gone from it.
        shown: the text, as messages repeat it.
        note: what the model should know of how it was found, or "".
    """

    path: Path
    shown: str
    note: str = ""


def locate(text: str, cwd: Path, host: Host) -> Place:
    """The place that a text means: `~` is the home, what is relative is meant from `cwd`.

    If nothing has just this name, a name that only looks the same (another Unicode form, another
    kind of space or quote) is taken where there is exactly one.

    Raises:
        ToolFailure: the text is no path, or one that may not be looked at.
    """
    if not text or "\0" in text:
        raise ToolFailure("the path is empty" if not text else "a path holds no NUL")
    try:
        path = _absolute(text, cwd, host)
        found = path if host.info(path) is not None else _look_alike(path, host)
    except OSError as error:
        raise ToolFailure(f"{text}: {error.strerror}") from error
    except UnicodeError as error:
        raise ToolFailure(f"{text!r} has a character that no path holds") from error
    return Place(found, text, "" if found == path else f"on the disk it is {str(found)!r}")


def missing(place: Place, host: Host) -> ToolFailure:
    """That there is nothing at a place, and which names are near."""
    directory = place.path.parent
    if host.info(directory) is None:
        nearest = next(parent for parent in directory.parents if host.info(parent) is not None)
        return ToolFailure(f"{place.shown}: there is no directory {directory}; {nearest} exists")
    near = _near(place.path, host)
    hint = f"; did you mean {' or '.join(near)}?" if near else ""
    return ToolFailure(f"{place.shown}: there is no such file{hint}")


def _absolute(text: str, cwd: Path, host: Host) -> Path:
    at_home = text == "~" or text.startswith(("~/", "~\\"))
    path = host.home() / text[2:] if at_home else cwd / text
    # `a/../b` is not `b` where `a` is a link: only the disk knows.
    return host.resolve(path) if ".." in path.parts else path


def _look_alike(path: Path, host: Host) -> Path:
    """The path with each name that is not there replaced by the only one that looks like it."""
    found = Path(path.anchor)
    for part in path.parts[1:]:
        there = host.info(found / part) is not None
        names = [part] if there else _names_like(part, found, host)
        found /= names[0] if len(names) == 1 else part
    return found


def _names_like(part: str, directory: Path, host: Host) -> list[str]:
    folded = _folded(part)
    return [name for name in _names(directory, host) if _folded(name) == folded]


def _near(path: Path, host: Host) -> list[str]:
    import difflib

    names = {name.casefold(): name for name in _names(path.parent, host)}
    close = difflib.get_close_matches(path.name.casefold(), names, _SUGGESTIONS, cutoff=0.6)
    return [names[name] for name in close]


def _names(directory: Path, host: Host) -> list[str]:
    try:
        return [entry.name for entry in host.scan(directory)]
    except OSError:
        return []


def _folded(name: str) -> str:
    composed = unicodedata.normalize("NFKC", name.translate(_LOOK_ALIKE))
    return "".join(" " if unicodedata.category(each) == "Zs" else each for each in composed)
