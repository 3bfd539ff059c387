"""What the tools need of a machine: the protocol `Host`, and its values."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO, Literal, Protocol, TypeAlias

from attrs import frozen

__all__ = ["Command", "Entry", "FileChanged", "FileInfo", "Host", "Kind", "LogFile"]

Kind: TypeAlias = Literal["file", "directory", "link", "fifo", "socket", "device"]


@frozen
class FileInfo:
    """What stands at a path, symbolic links followed.

    Parameters:
        kind: what it is; `link` only for one that leads nowhere.
        size: bytes.
        mtime_ns: nanoseconds since the epoch.
        inode: device and inode number: another file at the same path has another.
    """

    kind: Kind
    size: int
    mtime_ns: int
    inode: tuple[int, int]


@frozen
class Entry:
    """One name in a directory; a symbolic link is a `link`, wherever it leads."""

    name: str
    kind: Kind


class FileChanged(Exception):
    """Somebody else changed the file between our look at it and our write."""


class LogFile(Protocol):
    """A file that takes what does not fit in memory."""

    @property
    def path(self) -> Path:
        """Where it lies."""
        ...

    @property
    def complete(self) -> bool:
        """Whether it holds all that was written to it, or only the beginning."""
        ...

    def write(self, data: bytes) -> None:
        """Append; never raises: a full disk costs the log, not the command."""
        ...

    def close(self) -> None:
        """No more will come."""
        ...


class Command(Protocol):
    """A command that runs, and everything that it started. Whoever starts one also reaps it."""

    def read(self) -> bytes:
        """The next piece of its output, both streams together; b"" when all holders closed it."""
        ...

    def close_output(self) -> None:
        """Nobody will read any more; called by the reader, after the end."""
        ...

    def wait(self) -> int:
        """Wait for the command itself (not for what it left behind); its status, -N for signal N.

        It is called once.
        """
        ...

    def end(self, grace_s: float) -> None:
        """Ask the whole tree to end, and after some seconds make it; returns when none is left."""
        ...

    def reap(self) -> None:
        """Forget the command, which has ended; called last of all."""
        ...


class Host(Protocol):
    """A machine. Paths are absolute; a method raises OSError as the like call of `os` would."""

    def home(self) -> Path:
        """The directory that `~` stands for."""
        ...

    def resolve(self, path: Path) -> Path:
        """The path with symbolic links and `..` followed, as far as it exists."""
        ...

    def info(self, path: Path) -> FileInfo | None:
        """What stands there; None for nothing."""
        ...

    def scan(self, path: Path) -> list[Entry]:
        """The names in a directory, unsorted."""
        ...

    def open(self, path: Path) -> BinaryIO:
        """A regular file for reading; anything else is an error and never waits."""
        ...

    def writing(self, path: Path) -> AbstractContextManager[None]:
        """Inside the block nobody else that goes through this host writes the file."""
        ...

    def create(self, path: Path, data: bytes) -> None:
        """A new file with this content, whole or not at all; FileExistsError if there is one."""
        ...

    def replace(self, path: Path, data: bytes, expected: FileInfo) -> None:
        """Another content for a file, whole or not at all; mode, owner and links stay.

        Raises FileChanged if the file is not the one that `expected` describes.
        """
        ...

    def program(self, name: str) -> str | None:
        """Where a program lies, or None."""
        ...

    def python(self) -> str | None:
        """A Python there that has this distribution, or None."""
        ...

    def start(self, command: str | Sequence[str], cwd: Path) -> Command:
        """Start a shell's command line, or a program with its arguments; no input, no terminal."""
        ...

    def log(self) -> LogFile:
        """A new log file that only this user can read."""
        ...
