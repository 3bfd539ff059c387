"""The command line: `hrns`, `hrns exec` and the rest, one lazily imported module a command.

`hrns --version` is answered before anything else is imported.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status.

    Parameters:
        argv: the words behind `hrns`; None for those that the process was started with.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments in (["--version"], ["-V"], ["version"]):
        from .._version import __version__

        return _say(f"hrns {__version__}\n")
    from .early import end_at_once

    if argv is None:
        end_at_once()
    try:
        from .app import run

        status = run(arguments)
    except KeyboardInterrupt:  # before a command has taken the signal over, or after
        status = 130
    if argv is None:
        end_at_once(status)
    return status


def _say(line: str) -> int:
    """Print a line; returns 0, or 1 where nobody can read it."""
    try:
        sys.stdout.write(line)
        sys.stdout.flush()
    except (AttributeError, OSError):  # None stands for a stream that was closed
        sys.stdout = None  # Python would try again when it ends
        return 1
    return 0
