"""The names that a misspelt one may have meant."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["nearest"]


def nearest(name: str, names: Iterable[str], most: int = 1) -> list[str]:
    """The names most like this one, whatever their case, the likest first; at most `most`."""
    from difflib import get_close_matches  # 15 ms that a run without a mistake does not need

    by_folded = {each.casefold(): each for each in names}
    return [by_folded[each] for each in get_close_matches(name.casefold(), by_folded, n=most)]
