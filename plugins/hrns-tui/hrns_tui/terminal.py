"""The terminal's own settings: what it can, what is echoed, and what was typed ahead."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TextIO

__all__ = ["drop_typed", "echo", "is_capable"]


def is_capable(environ: Mapping[str, str]) -> bool:
    """Whether the terminal can move its cursor, by what its type (`TERM`) says."""
    unnamed = "windows" if sys.platform == "win32" else "dumb"
    return environ.get("TERM", unnamed) not in ("", "dumb", "unknown")


if sys.platform == "win32":

    @contextmanager
    def echo(stream: TextIO, *, on: bool) -> Iterator[None]:  # noqa: ARG001 - nothing to set
        """Do nothing: Windows echoes nothing that nobody reads."""
        yield

    def drop_typed(stream: TextIO) -> None:  # noqa: ARG001 - the console is one
        """Forget what was typed and not read yet."""
        import msvcrt

        while msvcrt.kbhit():
            msvcrt.getwch()
else:
    import termios

    @contextmanager
    def echo(stream: TextIO, *, on: bool) -> Iterator[None]:
        """Inside the block what is typed is shown, or not; either way Ctrl-C is a signal."""
        try:
            before = termios.tcgetattr(stream)
        except (termios.error, OSError, ValueError):
            yield
            return
        changed = before.copy()
        changed[3] = changed[3] | termios.ECHO if on else changed[3] & ~termios.ECHO
        termios.tcsetattr(stream, termios.TCSANOW, changed)
        try:
            yield
        finally:
            with suppress(termios.error, OSError):
                termios.tcsetattr(stream, termios.TCSANOW, before)

    def drop_typed(stream: TextIO) -> None:
        """Forget what was typed and not read yet."""
        with suppress(termios.error, OSError, ValueError):
            termios.tcflush(stream, termios.TCIFLUSH)
