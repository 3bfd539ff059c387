"""Commands as processes that leave nothing behind when they are ended.

Each runs in a session of its own: no terminal to ask questions on, and one process group. What
leaves that group (a daemon) still carries the mark that stands in the command's environment, or is
a child of one that was found, or holds the pipe for the output: where the system shows all that
(Linux), it is found as well.

The command is reaped last of all: until then nobody else can be given its number, so a signal for
its group reaches no stranger.
"""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import IO

from attrs import field, frozen

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
        self._seen: set[_Process] = set()
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
        """Each gets the signal once: some take a second SIGTERM for leave to drop everything.

        Who started others gets it first: a shell whose `sleep` had ended would go on with its line.
        """
        for pid in list(self._living()):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)

    def _living(self) -> Iterator[int]:
        if not Path("/proc/self/environ").exists():
            return _in_group(self._process.pid)
        everybody = set(_processes())
        self._seen.update(process for process in everybody if self._is_of_it(process))
        _add_children(everybody, self._seen)
        oldest_first = sorted(self._seen & everybody, key=lambda each: (each.began, each.pid))
        return (process.pid for process in oldest_first)

    def _is_of_it(self, process: _Process) -> bool:
        """Whether a process can be told to be of this command by itself."""
        if process.group == self._process.pid:
            return True
        if process.began < self._began:
            return False
        with suppress(OSError):  # it ended meanwhile, or is another user's
            if self._mark.encode() in Path(f"/proc/{process.pid}/environ").read_bytes():
                return True
        return _can_write_to(self._process.stdout, process.pid)

    @cached_property
    def _began(self) -> int:
        """When it began; what is older may have been given its output, but is none of it."""
        process = _process(self._process.pid)
        return process.began if process else 0


@frozen
class _Process:
    """A process that lives. A number is given again, but not to one that began when this did."""

    pid: int
    began: int
    parent: int = field(eq=False)
    group: int = field(eq=False)
    is_dead: bool = field(eq=False)


def _process(pid: int) -> _Process | None:
    try:
        # "pid (any name) state parent group ... began", see proc(5)
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:  # it ended meanwhile
        return None
    return _Process(pid, int(fields[19]), int(fields[1]), int(fields[2]), fields[0] in b"ZX")


def _processes() -> Iterator[_Process]:
    """All that live."""
    for each in Path("/proc").iterdir():
        found = _process(int(each.name)) if each.name.isdecimal() else None
        if found and not found.is_dead:
            yield found


def _add_children(everybody: Iterable[_Process], seen: set[_Process]) -> None:
    """Add the children of those that were seen and live, and theirs."""
    children: dict[int, list[_Process]] = {}
    for process in everybody:
        children.setdefault(process.parent, []).append(process)
    parents = [process for process in everybody if process in seen]
    while parents:
        new = [each for each in children.get(parents.pop().pid, ()) if each not in seen]
        seen.update(new)
        parents += new


def _can_write_to(pipe: IO[bytes] | None, pid: int) -> bool:
    """Whether a process has the other end of a pipe of ours."""
    if pipe is None or pipe.closed:
        return False
    with suppress(OSError):  # it ended meanwhile, or is another user's
        ours = os.fstat(pipe.fileno())
        for each in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):
                writes = each.lstat().st_mode & stat.S_IWUSR
                if writes and os.path.samestat(ours, each.stat()):
                    return True
    return False


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
