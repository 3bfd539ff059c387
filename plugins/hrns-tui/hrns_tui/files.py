"""The files of a project, for completion: those that git, or the tools for files, would see."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hrns_tools_fs.ignores import Ignores

__all__ = ["fuzzy", "project_files"]

_LIMIT = 20_000
_GIT = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")


def project_files(cwd: Path) -> list[str]:
    """Paths relative to the directory, without what `.gitignore` names.

    Outside of repositories, or without git, it is heeded as the tools for files do, if they are
    installed.
    """
    try:
        done = subprocess.run(_GIT, cwd=cwd, capture_output=True, timeout=3, check=True)
    except (OSError, subprocess.SubprocessError):
        return sorted(islice(_walk(cwd), _LIMIT))
    names = os.fsdecode(done.stdout).split("\0")[:-1]
    return sorted(dict.fromkeys(names))[:_LIMIT]


def _walk(cwd: Path) -> Iterable[str]:
    rules = {str(cwd): _rules(cwd)}
    top = _with_slash(str(cwd))
    for folder, folders, names in os.walk(cwd):
        above, base = rules.pop(folder), _with_slash(folder)
        here = above and above.inside(Path(folder), {*folders, *names})
        folders[:] = [
            name
            for name in folders
            if not name.startswith((".", "__pycache__"))
            and not (here and here.match(base + name, directory=True))
        ]
        rules.update((os.path.join(folder, name), here) for name in folders)  # noqa: PTH118 - 20,000 of them
        for name in names:
            if not (here and here.match(base + name, directory=False)):
                yield (base + name)[len(top) :]


def _with_slash(folder: str) -> str:
    return folder.replace(os.sep, "/").rstrip("/") + "/"


def _rules(cwd: Path) -> Ignores | None:
    """What `.gitignore` files say of a directory; None if nobody is there to read them."""
    try:
        from hrns_tools_fs.host import LocalHost
        from hrns_tools_fs.ignores import Ignores
    except ImportError:
        return None
    return Ignores.above(LocalHost(), cwd)


def fuzzy(names: Sequence[str], word: str, limit: int = 20) -> list[str]:
    """The names that have the letters of the word in their order, the likeliest first."""
    wanted = word.casefold()
    found = [(score, name) for name in names if (score := _score(name.casefold(), wanted))]
    return [name for _, name in sorted(found)[:limit]]


def _score(name: str, wanted: str) -> tuple[int, int, int] | None:
    """How far off a name is (less is better), or None if letters are missing."""
    base = name.rpartition("/")[2]
    if base.startswith(wanted):
        return (0, len(base), len(name))
    if wanted in base:
        return (1, base.index(wanted), len(name))
    if wanted in name:
        return (2, name.index(wanted), len(name))
    at = first = -1
    for letter in wanted:
        at = name.find(letter, at + 1)
        if at < 0:
            return None
        first = at if first < 0 else first
    return (3, at - first, len(name))
