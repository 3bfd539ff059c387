"""Markdown files on disk: found, read and made into records, at one warning for each bad one."""

from __future__ import annotations

import os
import stat
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Protocol, TypeVar

from hrns.context import SessionContext

from .front_matter import Document, Fault, parse

__all__ = ["LIMIT_BYTES", "UnusableFile", "collect", "read_text", "warn"]

LIMIT_BYTES = 1024 * 1024
"""The longest file that is read: more would not fit into any model's context."""

_WARNED = "hrns-skills.warned"


class UnusableFile(OSError):
    """A file that is there and is not taken.

    Parameters:
        message: why not.
        hint: what its owner may try.
    """

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(f"{message}; {hint}")
        self.message = message


class Named(Protocol):
    """A record with a name."""

    @property
    def name(self) -> str:
        """What it is called by."""


Record = TypeVar("Record", bound=Named)


def collect(
    context: SessionContext,
    paths_by_place: Iterable[Iterable[Path]],
    make: Callable[[Path, Document], Record],
    *,
    key: Callable[[str], str] = str,
) -> list[Record]:
    """The records made of all files, one of each name, in the order of the files.

    A record of an earlier place hides one of a later place, as it is meant to. Of two in one
    place the first is used, and a warning names both, unless the files are the same.

    Parameters:
        paths_by_place: the files to look for, the nearest place first; a missing one is no fault.
        make: makes the record, or raises a `Fault`.
        key: gives the form of a name that names are compared by.
    """
    found: dict[str, Record] = {}
    for paths in paths_by_place:
        here: dict[str, tuple[Path, Document, Record]] = {}
        for path in paths:
            if (made := _make(context, path, make)) is None:
                continue
            document, record = made
            first, same, _ = here.setdefault(key(record.name), (path, document, record))
            if same != document:
                warn(context, f"{path}: {first} has the name {record.name!r} already; rename one")
        for name, (_, _, record) in here.items():
            found.setdefault(name, record)
    return list(found.values())


def _make(
    context: SessionContext, path: Path, make: Callable[[Path, Document], Record]
) -> tuple[Document, Record] | None:
    try:
        document = parse(read_text(path, path.parent))
        return document, make(path, document)
    except Fault as fault:
        warn(context, f"{path}:{fault.line}: {fault.message}")
    except (FileNotFoundError, NotADirectoryError):
        pass  # most directories hold no such file, and a link may lead nowhere
    except OSError as error:
        warn(context, f"{path}: {error.strerror or error}")
    return None


def read_text(path: Path, within: Path, limit_bytes: int = LIMIT_BYTES) -> str:
    """The text of a file that lies in a directory, links followed; LF line ends, no BOM.

    It is UTF-8; or UTF-16 with a byte order mark, which is what `>` of PowerShell 5 writes.

    Raises:
        UnusableFile: it lies elsewhere, is no file, too large, or not of these encodings.
        OSError: it is missing or cannot be read.
    """
    real = Path(os.path.realpath(path, strict=True))
    if not real.is_relative_to(os.path.realpath(within)):
        raise UnusableFile(f"it leads out of {within}", "copy it, or link the whole directory")
    status = real.stat()
    if not stat.S_ISREG(status.st_mode):  # to open a pipe would wait for ever
        raise UnusableFile("it is not a file", "move it away")
    if status.st_size > limit_bytes:
        raise UnusableFile(f"it is larger than {limit_bytes // 1024} KiB", "split it up")
    data = real.read_bytes()
    encoding = "utf-16" if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else "utf-8"
    try:
        return data.removeprefix(BOM_UTF8).decode(encoding).replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UnusableFile(f"line {line} is not UTF-8", "save it as UTF-8") from error


def warn(context: SessionContext, message: str) -> None:
    """Say it to the person, once in a session: some hooks are called again and again."""
    said: set[str] = context.state.setdefault(_WARNED, set())
    if message not in said:
        said.add(message)
        context.warn(message)
