"""The command line: `hrns`, `hrns exec` and the rest, one lazily imported module a command.

`hrns --version` is answered before anything else is imported.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments in (["--version"], ["-V"], ["version"]):
        from .._version import __version__

        sys.stdout.write(f"hrns {__version__}\n")
        return 0
    try:
        from .app import run

        return run(arguments)
    except KeyboardInterrupt:  # before a command has taken the signal over, or after
        return 130
