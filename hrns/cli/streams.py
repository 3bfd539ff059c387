"""Standard input, output and error as programs really find them: closed, full, in any encoding."""

from __future__ import annotations

import os
import re
import sys
from typing import TextIO

__all__ = ["in_utf8", "open_streams", "plain", "silence", "steady_streams"]

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
    """Let standard output and error take any text, whatever the locale's encoding is."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def in_utf8(stream: TextIO) -> TextIO:
    """The stream, writing UTF-8 whatever the locale is: JSON is that (RFC 8259 section 8.1)."""
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(encoding="utf-8")
    return stream


def silence() -> None:
    """Drop what is still to be written: the reader has gone, or the disk is full."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            devnull = os.open(os.devnull, os.O_WRONLY)
            os.dup2(devnull, stream.fileno())
            os.close(devnull)
