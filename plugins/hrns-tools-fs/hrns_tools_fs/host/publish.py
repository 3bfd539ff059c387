"""Writing a file whole or not at all.

The new content is written and fsynced beside the file, under no name at all where the system can
do that (Linux, `O_TMPFILE`), else under a hidden one, and then takes the file's name in one step.
Who is killed in the middle, or finds the disk full, leaves the old file as it was.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

__all__ = ["publish_new", "publish_over"]

_NO_TMPFILE = {errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOSYS}
_NO_DIRECTORY_SYNC = {errno.EINVAL, errno.EROFS, errno.ENOTSUP}


def publish_new(path: Path, data: bytes) -> None:
    """Make a file that does not exist yet; FileExistsError if somebody else did."""
    with _written(path.parent, data, 0o666, None) as draft:
        draft.take_name(path)


def publish_over(path: Path, data: bytes, check: Callable[[os.stat_result], None]) -> None:
    """Replace a file's content; its mode, owner and extended attributes stay.

    Parameters:
        check: is given the file as it stands just before it is replaced, and may raise.
    """
    with _written(path.parent, data, 0o600, path) as draft:
        temporary = _hidden_name(path.parent)
        draft.take_name(temporary)
        try:
            check(path.stat())
            temporary.replace(path)
        except BaseException:
            with suppress(OSError):
                temporary.unlink()
            raise


class _Draft(Protocol):
    """A file on its way to a name."""

    descriptor: int

    def take_name(self, name: Path) -> None:
        """Be complete, under a name that is free; FileExistsError if it is not."""
        ...

    def close(self) -> None:
        """Leave nothing behind but the name taken."""
        ...


class _NamelessDraft:
    """A file that has no name: if this process dies it never was."""

    def __init__(self, directory: Path, mode: int, flag: int) -> None:
        self.descriptor = os.open(directory, os.O_WRONLY | os.O_CLOEXEC | flag, mode)

    def take_name(self, name: Path) -> None:
        # Only with a directory descriptor does os.link call linkat(), which can follow the link
        # in /proc; the descriptor itself is not used, for both paths are absolute.
        here = os.open(name.parent, os.O_RDONLY | os.O_CLOEXEC)
        try:
            source = f"/proc/self/fd/{self.descriptor}"
            os.link(source, name, src_dir_fd=here, follow_symlinks=True)
        finally:
            os.close(here)

    def close(self) -> None:
        os.close(self.descriptor)


class _HiddenDraft:
    """A file under a hidden name."""

    def __init__(self, directory: Path, mode: int) -> None:
        self._path = _hidden_name(directory)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        self.descriptor = os.open(self._path, flags, mode)
        self._open = True

    def take_name(self, name: Path) -> None:
        self._close_descriptor()  # Windows renames no file that is open
        try:
            os.link(self._path, name)
        except FileExistsError:
            raise
        except OSError:  # a file system without hard links
            if name.exists():
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(name)) from None
            self._path.replace(name)

    def close(self) -> None:
        self._close_descriptor()
        with suppress(FileNotFoundError):
            self._path.unlink()

    def _close_descriptor(self) -> None:
        if self._open:
            self._open = False
            os.close(self.descriptor)


@contextmanager
def _written(directory: Path, data: bytes, mode: int, like: Path | None) -> Iterator[_Draft]:
    """A draft with the content, safe on the disk; the directory is synced afterwards."""
    draft = _draft(directory, mode)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(draft.descriptor, view) :]
        if like is not None:
            _make_like(draft.descriptor, like)
        os.fsync(draft.descriptor)
        yield draft
    finally:
        draft.close()
    _sync_directory(directory)


def _draft(directory: Path, mode: int) -> _Draft:
    flag = getattr(os, "O_TMPFILE", None)
    if flag is not None and Path("/proc/self/fd").is_dir():
        try:
            return _NamelessDraft(directory, mode, flag)
        except OSError as error:
            if error.errno not in _NO_TMPFILE:
                raise
    return _HiddenDraft(directory, mode)


def _hidden_name(directory: Path) -> Path:
    return directory / f".hrns-{os.urandom(8).hex()}.tmp"


def _make_like(descriptor: int, path: Path) -> None:
    like = path.stat()
    if not hasattr(os, "fchown"):
        return
    mode = stat.S_IMODE(like.st_mode)
    try:
        os.fchown(descriptor, like.st_uid, like.st_gid)
    except PermissionError:  # only root can give files away; the content matters more
        with suppress(PermissionError):
            os.fchown(descriptor, -1, like.st_gid)
        mode &= ~(stat.S_ISUID | stat.S_ISGID)  # nobody is to get our rights by this
    os.fchmod(descriptor, mode)
    _copy_attributes(path, descriptor)


def _copy_attributes(path: Path, descriptor: int) -> None:
    """The extended attributes, access lists among them (Linux); those that may be written."""
    if not hasattr(os, "listxattr"):
        return
    with suppress(OSError):  # a file system without any
        for name in os.listxattr(path):
            with suppress(OSError):
                os.setxattr(descriptor, name, os.getxattr(path, name))


def _sync_directory(directory: Path) -> None:
    if os.name == "nt":  # directories cannot be opened there
        return
    descriptor = os.open(directory, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _NO_DIRECTORY_SYNC:  # some network disks
            raise
    finally:
        os.close(descriptor)
