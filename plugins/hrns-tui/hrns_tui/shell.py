"""A shell command that the person runs, told in chunks as a tool's call is."""

from __future__ import annotations

import codecs
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from time import monotonic

from hrns.cancel import Cancel
from hrns.chunks import Chunk, ToolCallResultChunk, ToolCallStartChunk, ToolOutputChunk
from hrns.messages import Status, Terminal, ToolResult

from .inline.live import without_ansi

__all__ = ["NAME", "run_shell", "shell_report"]

NAME = "!"
_KEPT = 200_000
_ATTACHED = 30_000


def run_shell(
    command: str, cwd: Path, environ: Mapping[str, str], cancel: Cancel
) -> Iterator[Chunk]:
    """Run it to its end, or until the flag is set; the last chunk has a `Terminal` to display."""
    yield ToolCallStartChunk(NAME, NAME, command, f"! {command}")
    began = monotonic()
    try:
        process = _started(command, cwd, environ)
    except (OSError, ValueError) as error:  # no such directory any more; a NUL in the command
        said = f"it cannot be run: {error}"
        yield ToolCallResultChunk(NAME, NAME, command, said, "error", ToolResult(said, "error"))
        return
    output = ""
    with process, cancel.waker(lambda: _kill(process)):
        for text in _pieces(process):
            output = (output + text)[-_KEPT:]
            yield ToolOutputChunk(NAME, text)
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


def _pieces(process: subprocess.Popen[bytes]) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    while process.stdout and (data := os.read(process.stdout.fileno(), 65536)):
        yield decoder.decode(data)


def _kill(process: subprocess.Popen[bytes]) -> None:
    with suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
