"""Exit statuses: which end of a run, and which error, gives which.

They follow `sysexits.h` where it has a name for what happened; 124 is what `timeout(1)` gives,
128 + n what a shell gives for signal n.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import ConfigError, HrnsError, UsageError

if TYPE_CHECKING:
    from ..chunks import EndChunk, ErrorChunk

__all__ = [
    "BUG",
    "CLOSED_OUTPUT",
    "CONFIG",
    "DONE",
    "FAILED",
    "INTERRUPTED",
    "LIMIT",
    "MISFIT",
    "NOT_PERMITTED",
    "TRY_LATER",
    "UNAVAILABLE",
    "USAGE",
    "of_end",
    "of_error",
]

DONE = 0
FAILED = 1
USAGE = 2
MISFIT = 65
UNAVAILABLE = 69
BUG = 70
TRY_LATER = 75
NOT_PERMITTED = 77
CONFIG = 78
LIMIT = 124
INTERRUPTED = 130
CLOSED_OUTPUT = 141

_BY_CODE = {
    "misfit": MISFIT,
    "unreachable": UNAVAILABLE,
    "server_fault": UNAVAILABLE,
    "broken_stream": UNAVAILABLE,
    "rate_limited": TRY_LATER,
    "authentication": NOT_PERMITTED,
    "config": CONFIG,
    "usage": USAGE,
}


def of_error(error: HrnsError) -> int:
    """The status of a command that ended with this error."""
    match error:
        case UsageError():
            return USAGE
        case ConfigError():
            return CONFIG
        case _:
            return _BY_CODE.get(error.code, FAILED)


def of_end(end: EndChunk, error: ErrorChunk | None, signal: int) -> int:
    """The status of a run.

    Parameters:
        end: its last chunk.
        error: its error chunk, if there was one.
        signal: the number of the signal that stopped it, or 0.
    """
    match end.reason:
        case "done":
            return DONE
        case "limit":
            return LIMIT
        case "cancelled":
            return 128 + (signal or 2)
        case "refused":
            return FAILED
        case "error":
            return _BY_CODE.get(error.reason, FAILED) if error else FAILED
