"""The entry points of installed distributions, whatever state one of them is in.

`importlib.metadata` gives those of all or, where a single file of any package is broken, none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint, distributions, entry_points

from .errors import in_words

__all__ = ["installed_entry_points"]


def installed_entry_points(group: str, warn: Callable[[str], object]) -> list[EntryPoint]:
    """The entry points of a group.

    Parameters:
        warn: is told of each distribution whose entry points cannot be read.
    """
    try:
        return list(entry_points(group=group))
    except Exception:  # noqa: BLE001 - what fails is found below; to look at each takes far longer
        return list(_one_by_one(group, warn))


def _one_by_one(group: str, warn: Callable[[str], object]) -> Iterator[EntryPoint]:
    seen: set[str] = set()
    for distribution in distributions():
        name = ""
        try:
            name = re.sub(r"[-_.]+", "-", distribution.name).lower()
            points = [] if name in seen else list(distribution.entry_points)
        except Exception as error:  # noqa: BLE001 - anybody's file, and it is named
            warn(
                f"the entry points of {name or 'a distribution'} cannot be read: "
                f"{in_words(error)}; reinstall it"
            )
            points = []
        seen.add(name)  # of two copies the first counts, as it does for imports
        yield from (point for point in points if point.group == group)
