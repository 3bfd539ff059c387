"""Why a reply ended, in the words of the many servers."""

from __future__ import annotations

import re

from ..errors import ServerFault
from ..messages import Stop

__all__ = ["stop_for"]

_CUT = r"length|max_(output_)?tokens|token_limit|context_window|incomplete"
_FILTERED = (
    r"filter|safety|sensitive|recitation|prohibited|blocklist|blocked|spii|guardrail|toxic"
    r"|moderation"
)
_FAILED = (
    r"error|fail|abort|cancel|time_?out|insufficient_system_resource|overload"
    r"|unexpected_tool_call|too_many_tool_calls"
)


def stop_for(reason: str) -> Stop | None:
    """What a server's reason stands for; None if the reply ended as it should.

    A reason that nobody knows is one of the many words for that.

    Raises:
        ServerFault: the server gave the reply up.
    """
    word = reason.lower()
    if "malformed" in word:
        raise _given_up(reason)
    if re.search(_FILTERED, word):
        return "filter"
    if re.search(_FAILED, word):
        raise _given_up(reason)
    if re.search(_CUT, word):
        return "length"
    return "refusal" if word == "refusal" else None


def _given_up(reason: str) -> ServerFault:
    return ServerFault(f"the server gave the reply up: {reason}")
