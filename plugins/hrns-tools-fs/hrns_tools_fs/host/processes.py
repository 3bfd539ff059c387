"""Commands as processes that leave nothing behind when they are ended.

Each runs in a session of its own: no terminal to ask questions on, and one process group. What
leaves that group (a daemon) still carries the mark that stands in the command's environment, by
which it is found where the system shows environments (Linux).

The command is reaped last of all: until then nobody else can be given its number, so a signal for
its group reaches no stranger.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from .base import Command

__all__ = ["start"]

PIECE_BYTES = 1024 * 1024
_MARK = "HRNS_COMMAND"
_POLL_S = 0.02
_KILL_TRIES = 100
_REAP_S = 1.0

_QUIET_ENVIRONMENT = {
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GH_PAGER": "cat",
    "MANPAGER": "cat",
    "SYSTEMD_PAGER": "cat",
    "TERM": "dumb",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_EDITOR": "true",
    "GIT_SEQUENCE_EDITOR": "true",
    "GIT_ASKPASS": "",
    "SSH_ASKPASS": "",
    "SSH_ASKPASS_REQUIRE": "never",
    "GCM_INTERACTIVE": "never",
    "DEBIAN_FRONTEND": "noninteractive",
    "PIP_NO_INPUT": "1",
}
"""Keeps pagers, editors and password questions from waiting for nobody."""


def start(command: str | Sequence[str], cwd: Path) -> Command:
    """Start a command line of the system's shell, or a program with its arguments."""
    return _WindowsCommand(command, cwd) if os.name == "nt" else _PosixCommand(command, cwd)


class _PosixCommand:
    """A command in a session of its own."""

    def __init__(self, command: str | Sequence[str], cwd: Path) -> None:
        self._mark = os.urandom(16).hex()
        outer = os.environ.get(_MARK, "")  # this process may be part of a command itself
        self._process = subprocess.Popen(
            ["/bin/sh", "-c", command] if isinstance(command, str) else command,
            cwd=cwd,
            env={**os.environ, **_QUIET_ENVIRONMENT, _MARK: f"{outer} {self._mark}".strip()},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            bufsize=0,
            start_new_session=True,
        )
        _widen(self._process)

    def read(self) -> bytes:
        return _read(self._process)

    def close_output(self) -> None:
        _close_output(self._process)

    def wait(self) -> int:
        if not hasattr(os, "waitid"):  # macOS before Python 3.13
            return self._process.wait()
        try:
            ended = os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT)
        except ChildProcessError:  # reaped already
            return self._process.wait()
        assert ended is not None  # noqa: S101 - only WNOHANG gives None
        return ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status

    def end(self, grace_s: float) -> None:
        self._signal_living(signal.SIGTERM)
        until = time.monotonic() + grace_s
        while time.monotonic() < until and any(self._living()):
            time.sleep(_POLL_S)
        for _ in range(_KILL_TRIES):  # what forks while it is hunted is hunted again
            if not any(self._living()):
                return
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._signal_living(signal.SIGKILL)
            time.sleep(_POLL_S)

    def reap(self) -> None:
        _reap(self._process)

    def _signal_living(self, number: signal.Signals) -> None:
        """Each gets the signal once: some take a second SIGTERM for leave to drop everything."""
        for pid in self._living():
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)

    def _living(self) -> Iterator[int]:
        if Path("/proc/self/environ").exists():
            return _marked_or_in_group(self._mark.encode(), self._process.pid)
        return _in_group(self._process.pid)


def _marked_or_in_group(mark: bytes, group: int) -> Iterator[int]:
    for directory in Path("/proc").iterdir():
        if not directory.name.isdecimal():
            continue
        with suppress(OSError):  # it ended meanwhile, or is another user's
            # "pid (any name) state parent group ...", see proc(5)
            fields = (directory / "stat").read_bytes().rpartition(b")")[2].split()
            if fields[0] in (b"Z", b"X"):
                continue
            if int(fields[2]) == group or mark in (directory / "environ").read_bytes():
                yield int(directory.name)


def _in_group(group: int) -> Iterator[int]:
    listing = subprocess.run(
        ["ps", "-A", "-o", "pid=,pgid=,stat="], capture_output=True, text=True, check=False
    )
    for line in listing.stdout.splitlines():
        pid, its_group, state = line.split()
        if int(its_group) == group and not state.startswith("Z"):
            yield int(pid)


class _WindowsCommand:
    """A command on Windows: its tree is ended by `taskkill`, which knows no soft way."""

    def __init__(self, command: str | Sequence[str], cwd: Path) -> None:
        flags = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
        flags |= getattr(subprocess, "CREATE_NO_WINDOW", 0)
        self._process = subprocess.Popen(
            f'cmd /D /S /C "{command}"' if isinstance(command, str) else command,
            cwd=cwd,
            env={**os.environ, **_QUIET_ENVIRONMENT},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            bufsize=0,
            creationflags=flags,
        )

    def read(self) -> bytes:
        return _read(self._process)

    def close_output(self) -> None:
        _close_output(self._process)

    def wait(self) -> int:
        return self._process.wait()

    def end(self, grace_s: float) -> None:  # noqa: ARG002
        subprocess.run(
            ["taskkill", "/T", "/F", "/PID", str(self._process.pid)],
            capture_output=True,
            check=False,
        )

    def reap(self) -> None:
        _reap(self._process)


def _reap(process: subprocess.Popen[bytes]) -> None:
    with suppress(subprocess.TimeoutExpired):  # even SIGKILL waits for a disk that hangs
        process.wait(_REAP_S)


def _read(process: subprocess.Popen[bytes]) -> bytes:
    assert process.stdout is not None  # noqa: S101 - it was asked for
    return os.read(process.stdout.fileno(), PIECE_BYTES)


def _close_output(process: subprocess.Popen[bytes]) -> None:
    assert process.stdout is not None  # noqa: S101 - it was asked for
    process.stdout.close()


def _widen(process: subprocess.Popen[bytes]) -> None:
    """A pipe of 1 MiB where the system has that (Linux): fewer, larger pieces."""
    import fcntl

    if process.stdout is not None and (command := getattr(fcntl, "F_SETPIPE_SZ", None)):
        with suppress(OSError):  # the user's pipes hold too much already
            fcntl.fcntl(process.stdout.fileno(), command, PIECE_BYTES)
