"""The terminal's own settings: what it can, what is echoed, and what was typed ahead."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TextIO

__all__ = ["drop_typed", "is_capable", "no_echo"]


def is_capable(environ: Mapping[str, str]) -> bool:
    """Whether the terminal can move its cursor, by what its type (`TERM`) says."""
    unnamed = "windows" if sys.platform == "win32" else "dumb"
    return environ.get("TERM", unnamed) not in ("", "dumb", "unknown")


if sys.platform == "win32":

    @contextmanager
    def no_echo(stream: TextIO) -> Iterator[None]:  # noqa: ARG001 - there is no such setting
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
    def no_echo(stream: TextIO) -> Iterator[None]:
        """Inside the block what is typed is not shown; Ctrl-C and its like still are signals."""
        try:
            before = termios.tcgetattr(stream)
        except (termios.error, OSError, ValueError):
            yield
            return
        silent = before.copy()
        silent[3] &= ~termios.ECHO
        termios.tcsetattr(stream, termios.TCSANOW, silent)
        try:
            yield
        finally:
            with suppress(termios.error, OSError):
                termios.tcsetattr(stream, termios.TCSANOW, before)

    def drop_typed(stream: TextIO) -> None:
        """Forget what was typed and not read yet."""
        with suppress(termios.error, OSError, ValueError):
            termios.tcflush(stream, termios.TCIFLUSH)
