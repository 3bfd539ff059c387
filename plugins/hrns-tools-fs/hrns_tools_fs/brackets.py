"""Classes of characters by name, as in `[[:alpha:]_]` (POSIX 9.3.5), which Python does not know."""

from __future__ import annotations

import re

__all__ = ["plain_brackets"]

_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": r"\x00-\x7f",
    "blank": r"\t ",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\t-\r ",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}
_OUTSIDE = re.compile(r"\\.|(?P<open>\[[\^!]?\]?)|.", re.DOTALL)
_INSIDE = re.compile(r"\\.|\[:(?P<name>" + "|".join(_CLASSES) + r"):\]|(?P<close>\])|.", re.DOTALL)


def plain_brackets(pattern: str) -> str:
    """A pattern (a regular expression or a glob) with the classes written out as ranges."""
    if "[:" not in pattern:
        return pattern
    pieces: list[str] = []
    at, inside = 0, False
    while token := (_INSIDE if inside else _OUTSIDE).match(pattern, at):
        at = token.end()
        if inside:
            pieces.append(_CLASSES[token["name"]] if token["name"] else token[0])
            inside = not token["close"]
        else:
            pieces.append(token[0])
            inside = bool(token["open"])
    return "".join(pieces)
