"""Standard input, output and error as programs really find them: closed, full, in any encoding."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer as Buffer

__all__ = ["in_utf8", "open_streams", "own_output", "plain", "silence", "steady_streams"]

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]")


def plain(text: str) -> str:
    """The text with every character that could steer a terminal made visible or left out."""
    return _CONTROL.sub(lambda match: "" if match[0] == "\r" else "\ufffd", text)


def open_streams() -> None:
    """Put /dev/null in the place of a standard stream that was closed before the start.

    Otherwise the next file that is opened would take its number, and be written to.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            descriptor = os.open(os.devnull, os.O_RDWR)
            if descriptor != number:
                os.dup2(descriptor, number)
                os.close(descriptor)
            setattr(sys, name, os.fdopen(number, "r" if number == 0 else "w", encoding="utf-8"))


def steady_streams() -> None:
    """Let standard output and error take any text, whatever the locale's encoding is.

    What standard error does not take (its disk is full, its reader has gone) is dropped: nothing
    that is said on the side is worth the answer.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    if (own := sys.__stderr__) is not None and sys.stderr is own:
        sys.stderr = io.TextIOWrapper(
            _Spare(own.fileno()), encoding=own.encoding, errors="replace", write_through=True
        )


class _Spare(io.BufferedIOBase):
    """A descriptor to write to, if it will; unbuffered, so that no signal has a line said twice."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def fileno(self) -> int:
        """The descriptor."""
        return self._descriptor

    def isatty(self) -> bool:
        """Whether a person sees it at once."""
        return os.isatty(self._descriptor)

    def writable(self) -> bool:
        """It is for writing only."""
        return True

    def write(self, data: Buffer, /) -> int:
        """Write what goes, drop the rest."""
        view = memoryview(data).cast("B")
        size = len(view)
        with suppress(OSError):
            while view:
                view = view[os.write(self._descriptor, view) :]
        return size


def in_utf8(stream: TextIO) -> TextIO:
    """The stream, writing UTF-8 whatever the locale is: JSON is that (RFC 8259 section 8.1)."""
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(encoding="utf-8")
    return stream


@contextmanager
def own_output() -> Iterator[TextIO]:
    """Give a stream to standard output that is the command's alone.

    What plugins, tools and the processes that they start print inside the block goes to standard
    error: an answer, or JSON, is not to have strange lines in it. On a terminal nothing changes.
    """
    out = sys.stdout
    if out.isatty():
        yield out
        return
    if not _is_standard_output(out):
        with redirect_stdout(sys.stderr):
            yield out
        return
    out.flush()
    own = os.fdopen(os.dup(1), "w", encoding=out.encoding, errors=out.errors)
    os.dup2(2, 1)
    try:
        yield own
        own.flush()
    finally:
        _give_back(own, out)


def _is_standard_output(stream: TextIO) -> bool:
    try:
        return stream.fileno() == 1
    except (OSError, ValueError):
        return False


def _give_back(own: TextIO, out: TextIO) -> None:
    """Make standard output again what it was, whatever others did to it meanwhile."""
    with suppress(OSError, ValueError):
        os.dup2(2, 1)  # it may have been closed
        out.flush()
    with suppress(OSError):  # what could not be written was told already
        os.dup2(own.fileno(), 1)
        own.close()
    if out.closed:
        out = os.fdopen(1, "w", encoding=own.encoding, errors=own.errors)
    sys.stdout = out


def silence() -> None:
    """Drop what is still to be written: the reader has gone, or the disk is full."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            devnull = os.open(os.devnull, os.O_WRONLY)
            os.dup2(devnull, stream.fileno())
            os.close(devnull)
