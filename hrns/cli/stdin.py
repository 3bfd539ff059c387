"""Standard input as part of the prompt."""

from __future__ import annotations

import os
import re
import sys
import threading
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from queue import Empty, SimpleQueue

from ..cancel import Cancel
from ..errors import PromptMissing, UsageError

__all__ = ["compose_prompt"]

PATIENCE_S = 3.0
"""Seconds after which is said what is awaited."""

_BLOCK_BYTES = 1 << 16
_UNREAD = re.compile("[\udc80-\udcff]")
"""How Python keeps the bytes of an argument that are no text in the locale's encoding."""


def compose_prompt(words: tuple[str, ...], message: str, *, use_stdin: bool, cancel: Cancel) -> str:
    """The prompt: the words or the message, and what is piped in.

    With a message, piped input is added behind it; `-` stands for piped input alone.

    Raises:
        PromptMissing: there is nothing to ask.
        UsageError: both words and a message are given, or standard input cannot be read.
        Cancelled: `cancel` was set while input was awaited.
    """
    if words and message:
        raise UsageError(
            "there are both words and --message", hint="Give the message in one of the two ways."
        )
    said = _as_utf_8(message or " ".join(words))
    alone = said == "-"
    piped = _piped(cancel) if alone or (use_stdin and not _is_terminal()) else ""
    parts = [part for part in ("" if alone else said, piped) if part.strip()]
    if not parts:
        raise PromptMissing(
            "there is no message", hint='Say what you want: hrns exec "a question".'
        )
    return "\n\n".join(parts)


def _as_utf_8(argument: str) -> str:
    """The argument as it was written, where the locale could not read all of it (`LC_ALL=C`)."""
    if argument.isascii() or not _UNREAD.search(argument):
        return argument
    return os.fsencode(argument).decode("utf-8", "replace")


def _is_terminal() -> bool:
    """Whether nothing is piped in: a terminal, or no standard input at all."""
    return sys.stdin is None or sys.stdin.closed or sys.stdin.isatty()


def _piped(cancel: Cancel) -> str:
    """Standard input to its end, undecodable bytes replaced.

    It is read in a thread: a signal handler that raises nothing does not end a blocked read.
    """
    bell: SimpleQueue[bytes | OSError] = SimpleQueue()
    threading.Thread(target=_read, args=(bell,), name="hrns stdin", daemon=True).start()
    with cancel.waker(lambda: bell.put(b"")):
        try:
            data = bell.get(timeout=PATIENCE_S)
        except Empty:
            sys.stderr.write(
                "hrns: waiting for the end of standard input "
                "(close it with Ctrl-D, or use --no-stdin)\n"
            )
            sys.stderr.flush()
            data = bell.get()
    cancel.check()
    if isinstance(data, OSError):
        raise UsageError(
            f"standard input cannot be read: {data.strerror or data}",
            hint="--no-stdin leaves it alone.",
        ) from data
    wide = data.startswith((BOM_UTF16_LE, BOM_UTF16_BE))  # as PowerShell 5 writes files
    return data.decode("utf-16" if wide else "utf-8-sig", "replace")


def _read(bell: SimpleQueue[bytes | OSError]) -> None:
    # Not through sys.stdin: Python aborts if it ends while a thread holds the lock of that.
    try:
        blocks = iter(lambda: os.read(sys.stdin.fileno(), _BLOCK_BYTES), b"")
        bell.put(b"".join(blocks))
    except OSError as error:
        bell.put(error)
