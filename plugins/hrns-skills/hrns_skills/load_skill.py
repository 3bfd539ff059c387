"""The tool that loads a skill, or a file that lies beside it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import islice
from pathlib import Path
from typing import Annotated

from hrns.messages import Text, ToolResult
from hrns.records import Skill
from hrns.tools import Tool, tool

from .documents import UnusableFile, read_text

__all__ = ["make_load_skill"]

RESOURCE_LIMIT_BYTES = 256 * 1024  # about 64 000 tokens: more would push out the conversation
FILES_SHOWN = 50


def make_load_skill(skills: Sequence[Skill]) -> Tool:
    """The tool `load_skill` for these skills. It touches nothing but their own files."""
    by_name = {skill.name: skill for skill in skills}

    @tool(effects=(), parallel_safe=True)
    def load_skill(
        name: Annotated[str, "The exact name of the skill."],
        resource: Annotated[
            str, "A file of the skill, relative to its directory; left out: its SKILL.md."
        ] = "",
    ) -> str | ToolResult:
        """Load the instructions of a skill, or one of the files that belong to it."""
        skill = by_name.get(name)
        if skill is None:
            return f"ERROR: there is no skill {name!r}. Skills: {_nearest(name, by_name)}"
        try:
            return _resource(skill, resource) if resource else _whole(skill)
        except UnusableFile as error:
            return f"ERROR: {resource or name} cannot be loaded: {error.message}"
        except OSError as error:
            return f"ERROR: {resource or name} cannot be loaded: {error.strerror or error}"
        except ValueError:  # NUL, or half a surrogate pair
            return f"ERROR: {resource!r} is no path"

    return load_skill


def _nearest(wanted: str, names: Iterable[str]) -> str:
    """All names, the one that is most like the wanted one first."""

    def likeness(name: str) -> float:
        return SequenceMatcher(None, wanted.lower(), name.lower()).ratio()

    return ", ".join(sorted(names, key=likeness, reverse=True))


def _whole(skill: Skill) -> ToolResult:
    """The whole text, and in a part of its own which other files there are."""
    parts = [Text(skill.read())]
    if skill.directory and (files := list(islice(_files(skill.directory), FILES_SHOWN))):
        parts.append(
            Text(
                f"[Files of this skill in {skill.directory}, to be had with load_skill's "
                f"resource: {', '.join(files)}]"
            )
        )
    return ToolResult(parts)


def _resource(skill: Skill, resource: str) -> str | ToolResult:
    if skill.directory is None:
        return f"ERROR: the skill {skill.name!r} has no files of its own"
    if Path(resource).is_absolute():
        return f"ERROR: {resource} is not relative to the directory of the skill"
    path = skill.directory / resource
    return ToolResult(read_text(path, skill.directory, RESOURCE_LIMIT_BYTES))


def _files(directory: Path) -> Iterator[str]:
    """The files below a directory, relative to it, hidden ones and its SKILL.md left out."""
    for parent, directories, names in os.walk(directory):
        directories[:] = sorted(name for name in directories if not name.startswith("."))
        for name in sorted(names):
            relative = Path(parent, name).relative_to(directory).as_posix()
            if relative.lower() != "skill.md" and not name.startswith("."):
                yield relative
