"""The machine that this runs on, as a `Host`."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, cast

from .base import Command, Entry, FileChanged, FileInfo, Kind
from .publish import publish_new, publish_over

__all__ = ["LocalHost"]

LOG_LIMIT_BYTES = 256 * 1024 * 1024
"""A log takes this much and no more: `yes` would fill any disk."""


class LocalHost:
    """The disks and processes of this machine, with the rights of this process."""

    def home(self) -> Path:
        """The home directory of this user."""
        return Path.home()

    def resolve(self, path: Path) -> Path:
        """The path with symbolic links and `..` followed, as far as it exists."""
        return _resolved(path)

    def info(self, path: Path) -> FileInfo | None:
        """What stands there; None for nothing."""
        try:
            return _info(path.stat())
        except (FileNotFoundError, NotADirectoryError):
            found = None
        except OSError as error:
            if error.errno != errno.ELOOP:
                raise
            found = None
        with suppress(OSError):
            found = _info(path.lstat())
        return found

    def scan(self, path: Path) -> list[Entry]:
        """The names in a directory, unsorted."""
        with os.scandir(path) as entries:
            return [Entry(entry.name, _entry_kind(entry)) for entry in entries]

    def open(self, path: Path) -> BinaryIO:
        """A regular file for reading; O_NONBLOCK, so that a FIFO does not wait for a writer."""
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        descriptor = os.open(path, flags | getattr(os, "O_CLOEXEC", 0))
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise OSError(errno.EINVAL, "not a regular file", str(path))
            return cast("BinaryIO", os.fdopen(descriptor, "rb"))
        except BaseException:
            os.close(descriptor)
            raise

    def writing(self, path: Path) -> AbstractContextManager[None]:
        """Inside the block nobody else in this process writes the file."""
        return _WRITERS.alone_with(_resolved(path))

    def create(self, path: Path, data: bytes) -> None:
        """A new file with this content; directories that are missing are made."""
        target = _resolved(path)  # a link that leads nowhere yet is filled where it leads
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
        except FileExistsError as error:
            raise NotADirectoryError(errno.ENOTDIR, "a file is in the way", str(path)) from error
        publish_new(target, data)

    def replace(self, path: Path, data: bytes, expected: FileInfo) -> None:
        """Another content for a file, whole or not at all; mode, owner and links stay."""
        target = _resolved(path)
        if not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, "the file is read-only", str(path))

        def check(now: os.stat_result) -> None:
            if _info(now) != expected:
                raise FileChanged(str(path))

        publish_over(target, data, check)

    def program(self, name: str) -> str | None:
        """Where a program lies: on PATH, or beside this Python, where packages bring theirs."""
        return shutil.which(name) or shutil.which(name, path=str(Path(sys.executable).parent))

    def python(self) -> str | None:
        """The Python that runs this."""
        return sys.executable or None

    def start(self, command: str | Sequence[str], cwd: Path) -> Command:
        """Start a shell's command line, or a program with its arguments; no input, no terminal."""
        from .processes import start

        return start(command, cwd)

    def log(self) -> LocalLog:
        """A new log file that only this user can read."""
        return LocalLog()


class _Writers:
    """A lock for each file that is being written, shared by all sessions of this process."""

    def __init__(self) -> None:
        self._locks: dict[Path, threading.Lock] = {}
        self._users: Counter[Path] = Counter()
        self._guard = threading.Lock()

    @contextmanager
    def alone_with(self, path: Path) -> Iterator[None]:
        with self._guard:
            lock = self._locks.setdefault(path, threading.Lock())
            self._users[path] += 1
        try:
            with lock:
                yield
        finally:
            with self._guard:
                self._users[path] -= 1
                if not self._users[path]:
                    del self._users[path], self._locks[path]


_WRITERS = _Writers()


class LocalLog:
    """A log in the directory for temporary files; it takes `LOG_LIMIT_BYTES`."""

    def __init__(self) -> None:
        import tempfile

        self._descriptor, name = tempfile.mkstemp(prefix="hrns-command-", suffix=".log")
        self._room = LOG_LIMIT_BYTES
        self.complete = True
        self.path = Path(name)

    def write(self, data: bytes) -> None:
        """Append, as long as there is room."""
        view = memoryview(data)[: self._room]
        self.complete = self.complete and len(view) == len(data)
        try:
            while view:
                written = os.write(self._descriptor, view)
                self._room -= written
                view = view[written:]
        except OSError:  # the disk is full: the command goes on without a log
            self._room = 0
            self.complete = False

    def close(self) -> None:
        """No more will come."""
        os.close(self._descriptor)


def _resolved(path: Path) -> Path:
    """The path behind all links; links in a circle are an OSError (ELOOP) in every Python."""
    try:
        resolved = path.resolve()
    except RuntimeError as error:  # what Python makes of a circle before 3.13
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path)) from error
    if resolved.is_symlink():  # and what it leaves of one from 3.13 on
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    return resolved


def _info(found: os.stat_result) -> FileInfo:
    return FileInfo(
        _kind(found.st_mode), found.st_size, found.st_mtime_ns, (found.st_dev, found.st_ino)
    )


_KINDS: dict[int, Kind] = {
    stat.S_IFREG: "file",
    stat.S_IFDIR: "directory",
    stat.S_IFLNK: "link",
    stat.S_IFIFO: "fifo",
    stat.S_IFSOCK: "socket",
}


def _kind(mode: int) -> Kind:
    return _KINDS.get(stat.S_IFMT(mode), "device")


def _entry_kind(entry: os.DirEntry[str]) -> Kind:
    """Nearly always known without a call to the system."""
    if entry.is_symlink():
        return "link"
    if entry.is_dir(follow_symlinks=False):
        return "directory"
    if entry.is_file(follow_symlinks=False):
        return "file"
    return _kind(entry.stat(follow_symlinks=False).st_mode)
