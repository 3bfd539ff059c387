"""The commands of plugins by name, for `--help` and completion.

Read from the installed files themselves: importing `importlib.metadata` takes as long as all the
rest of `hrns --help`. Who runs a command asks `importlib.metadata`, which has the last word.
"""

# Importing pathlib would take longer than all that is done here.
# ruff: noqa: PTH118, PTH123, PTH208

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator

__all__ = ["commands_of_plugins"]

_GROUP = "[hrns.cli]"


def commands_of_plugins(paths: Iterable[str] | None = None) -> dict[str, str]:
    """The names in the entry-point group `hrns.cli`, each with its distribution.

    Parameters:
        paths: where distributions lie; `sys.path` if left out.
    """
    commands: dict[str, str] = {}
    for path in sys.path if paths is None else paths:
        for directory in _distributions(path or "."):
            for name in _names(os.path.join(path, directory, "entry_points.txt")):
                commands.setdefault(name, directory.partition("-")[0].replace("_", "-"))
    return commands


def _distributions(path: str) -> list[str]:
    """The metadata directories in a directory; none if it cannot be read."""
    try:
        return [name for name in os.listdir(path) if name.endswith((".dist-info", ".egg-info"))]
    except OSError:
        return []


def _names(file: str) -> Iterator[str]:
    """The names in the group of an `entry_points.txt`, as the packaging specification has it."""
    try:
        with open(file, encoding="utf-8") as opened:
            text = opened.read()
    except (OSError, ValueError):
        return
    inside = False
    for line in text.splitlines() if _GROUP in text else ():
        if line.startswith("["):
            inside = line.strip() == _GROUP
        elif inside and "=" in line and not line.startswith(("#", ";")):
            yield line.partition("=")[0].strip()
