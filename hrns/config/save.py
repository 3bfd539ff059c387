"""Saving: the file is read again, changed, and replaced whole, under a lock.

Theory of operation. A change is a function on the document, never a document: what another
process saved in the meantime is there when the change is made. All of it happens under a lock
on a file beside the configuration, which is never removed: who removes it while another waits
for it hands out two locks. The new text goes to a temporary file of a fixed name (whoever holds
the lock owns it, so one that a killed process left is simply overwritten), reaches the disk,
and takes the old file's place in one step.
"""

from __future__ import annotations

import errno
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeAlias

from ..errors import ConfigError
from .read import SETTER, config_from, read_document
from .values import Config

if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


__all__ = ["Change", "edit_config"]

Change: TypeAlias = Callable[[dict[str, Any]], None]
"""Changes a document in place."""

_LOCK_POLL_S = 0.005
_BUSY = (errno.EACCES, errno.EAGAIN)


def edit_config(path: Path, *changes: Change, wait_s: float = 10.0) -> Config:
    """Make changes to the configuration file, in order, and give what it says afterwards.

    Fields that hrns does not know stay, in their order. The file has mode 0600, and a directory
    that is made for it 0700. Symbolic links are followed: the file they lead to is replaced.

    Parameters:
        wait_s: how many seconds to wait for other processes that save; each takes milliseconds.

    Raises:
        ConfigError: the file cannot be read or saved, does not parse, or would hold a value of
            the wrong type. Whatever is raised, also by a change: the file is as it was.
    """
    try:
        return _edit(Path(os.path.realpath(path)), path, changes, wait_s)
    except ConfigError as error:
        error.hint = f"{error.hint}\nNothing was changed.".lstrip()
        raise
    except OSError as error:
        raise ConfigError(
            f"the configuration cannot be saved: {error.strerror or error}",
            hint="Set HRNS_CONFIG to use a file that you may write. Nothing was changed.",
            path=path,
        ) from error


def _edit(file: Path, path: Path, changes: tuple[Change, ...], wait_s: float) -> Config:
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _locked(file, wait_s):
        document, _ = read_document(file)
        for change in changes:
            change(document)
        config = config_from(document, path, setter=SETTER)
        _replace(file, _encode(document))
    return config


def _encode(document: dict[str, Any]) -> bytes:
    text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    # Half a surrogate pair cannot be UTF-8; as the escape \udXXX it is valid JSON.
    return text.encode("utf-8", "backslashreplace")


@contextmanager
def _locked(file: Path, wait_s: float) -> Iterator[None]:
    """Hold the lock of a file; the system lets go of it when the process dies."""
    descriptor = os.open(file.with_name(f"{file.name}.lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        _wait_for_lock(descriptor, file, wait_s)
        yield
    finally:
        os.close(descriptor)


def _wait_for_lock(descriptor: int, file: Path, wait_s: float) -> None:
    give_up = time.monotonic() + wait_s
    while True:
        try:
            return _lock(descriptor)
        except OSError as error:
            if error.errno not in _BUSY:
                raise
        if time.monotonic() > give_up:
            message = f"another process has been saving for {wait_s:g} seconds"
            raise ConfigError(message, hint="Is one stopped? Try again later.", path=file)
        time.sleep(_LOCK_POLL_S)


def _replace(file: Path, data: bytes) -> None:
    temporary = file.with_name(f".{file.name}.tmp")
    temporary.unlink(missing_ok=True)
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(descriptor)
        temporary.replace(file)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    _sync_directory(file.parent)


def _sync_directory(directory: Path) -> None:
    """Make the replacement survive a power cut, where directories can be synced.

    A failure is passed over: the new file is in place already.
    """
    with suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
