"""Small pieces of wording: numbers with their nouns, enumerations, Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["bullets", "code", "enumeration", "fenced", "plural", "sentence", "times"]

_SHOWN_ITEMS = 30
_SHOWN_LINES = 60


def plural(count: int, noun: str) -> str:
    """`no files`, `1 file`, `2 files`."""
    return f"{count or 'no'} {noun}{'' if count == 1 else 's'}"


def times(count: int) -> str:
    """`once`, `twice`, `3 times`."""
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def enumeration(items: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)


def sentence(text: str) -> str:
    """The text with a full stop, unless it ends in a mark of its own."""
    return text if text.endswith((".", "!", "?")) else f"{text}."


def code(text: str) -> str:
    """The text as inline code in Markdown."""
    text = text.replace("\n", " ⏎ ")
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def fenced(text: str) -> str:
    """The text as a code block; the middle of a long one is left out, and that is said."""
    lines = text.removesuffix("\n").split("\n")
    if len(lines) > _SHOWN_LINES:
        half = _SHOWN_LINES // 2
        left_out = plural(len(lines) - 2 * half, "more line")
        lines = [*lines[:half], f"[… {left_out} …]", *lines[-half:]]
    fence = max(["```", *(f"{run}`" for run in re.findall(r"```+", text))], key=len)
    return "\n".join([fence, *lines, fence])


def bullets(items: Sequence[str], total: int = 0) -> str:
    """A list in Markdown; of a long one the beginning, and how much more there is.

    `total` is how many there are, if that is more than are given.
    """
    lines = [f"{item[: len(item) - len(item.lstrip())]}- {item.lstrip()}" for item in items]
    total = max(total, len(lines))
    shown = lines if total <= _SHOWN_ITEMS + 1 else lines[:_SHOWN_ITEMS]
    more = total - len(shown)
    return "\n".join([*shown, f"- … and {more} more"] if more else shown)
