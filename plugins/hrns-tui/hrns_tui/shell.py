"""A shell command that the person runs, told in chunks as a tool's call is."""

from __future__ import annotations

import codecs
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from time import monotonic

from hrns.cancel import Cancel
from hrns.chunks import Chunk, ToolCallResultChunk, ToolCallStartChunk, ToolOutputChunk
from hrns.messages import Status, Terminal, ToolResult

from .inline.live import without_ansi

__all__ = ["NAME", "run_shell", "shell_report"]

NAME = "!"
_KEPT = 200_000
_ATTACHED = 30_000
_AHEAD = 8
"""Pieces of output that the command may be ahead of who shows them."""
_DRAIN_S = 0.3
"""How long output is awaited after the end; who holds the pipe longer is in the background."""
_STILL_RUNS = "[something that the command started still runs]"


def run_shell(
    command: str, cwd: Path, environ: Mapping[str, str], cancel: Cancel
) -> Iterator[Chunk]:
    """Run it to its end, or until the flag is set; the last chunk has a `Terminal` to display.

    What it leaves running in the background is not waited for.
    """
    yield ToolCallStartChunk(NAME, NAME, command, f"! {command}")
    began = monotonic()
    try:
        process = _started(command, cwd, environ)
    except (OSError, ValueError) as error:  # no such directory any more; a NUL in the command
        said = f"it cannot be run: {error}"
        yield ToolCallResultChunk(NAME, NAME, command, said, "error", ToolResult(said, "error"))
        return
    output, pipe = "", _Pipe(process)
    with cancel.waker(lambda: _kill(process)):
        for text in pipe.texts():
            output = (output + text)[-_KEPT:]
            yield ToolOutputChunk(NAME, text)
    if not pipe.closed:
        output = "\n".join(filter(None, (output.rstrip("\n"), _STILL_RUNS)))
    status: Status = (
        "interrupted" if cancel.is_set() else "ok" if not process.returncode else "error"
    )
    shown = Terminal(command, output, process.returncode, monotonic() - began)
    said = "interrupted" if cancel.is_set() else f"exit status {process.returncode}"
    result = ToolResult(said, status, display=shown)
    yield ToolCallResultChunk(NAME, NAME, command, said, status, result)


def shell_report(shown: Terminal) -> str:
    """The command and the end of its output, for the model."""
    output = without_ansi(shown.output)[-_ATTACHED:].rstrip()
    fence = "`" * (3 + output.count("```"))
    return (
        f"I ran `{shown.command}`; exit status {shown.exit_status}.\n\n{fence}\n{output}\n{fence}"
    )


def _started(command: str, cwd: Path, environ: Mapping[str, str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S602 - the person typed it
        command,
        shell=True,
        cwd=cwd,
        env=dict(environ),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )


class _Pipe:
    """What a process prints. It is read to the end of the pipe, which others may hold longer.

    Who they are goes on: their output is thrown away, so that they can write it.
    """

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.closed = False
        self._process = process
        self._left = False
        self._pieces: Queue[bytes | None] = Queue(_AHEAD)

    def texts(self) -> Iterator[str]:
        """The pieces, until the process has ended and there are no more of them."""
        Thread(target=self._read, daemon=True, name="hrns ! output").start()
        Thread(target=self._wait, daemon=True, name="hrns ! end").start()
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        try:
            for piece in self._until_the_end():
                yield decoder.decode(piece)
        finally:
            self._leave()

    def _until_the_end(self) -> Iterator[bytes]:
        rest: int | None = None  # what was printed before the end is no more than that
        while rest != 0 and not (self.closed and rest is not None):
            try:
                piece = self._pieces.get(timeout=None if rest is None else _DRAIN_S)
            except Empty:
                return
            if piece is None:
                rest = _AHEAD + 2
            elif piece:
                rest = rest and rest - 1
                yield piece
            else:
                self.closed = True

    def _leave(self) -> None:
        """Let the thread that reads go on without anybody who takes what it reads."""
        self._left = True
        with suppress(Empty):
            while True:
                self._pieces.get_nowait()

    def _read(self) -> None:
        stdout = self._process.stdout
        while stdout and (piece := os.read(stdout.fileno(), 65536)):
            if not self._left:
                self._pieces.put(piece)
        if not self._left:
            self._pieces.put(b"")
        if stdout:
            stdout.close()

    def _wait(self) -> None:
        self._process.wait()
        self._pieces.put(None)


def _kill(process: subprocess.Popen[bytes]) -> None:
    with suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
