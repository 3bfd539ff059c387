"""Project instructions: the AGENTS.md files from the git root down to the working directory."""

from __future__ import annotations

from pathlib import Path

from hrns.context import SessionContext
from hrns.records import PromptSection

from .documents import read_text, warn
from .places import project_directories, spelled

__all__ = ["instructions_section"]

FILE_NAME = "AGENTS.md"
LIMIT_BYTES = 32 * 1024  # of all files together

_INTRODUCTION = """\
# Project instructions

Where two of these files disagree, the later one counts."""


def instructions_section(context: SessionContext) -> PromptSection | None:
    """The section with the text of all files, the nearest last; None if there are none.

    What is too much is cut from the end of a file, and from the files farthest away first.
    """
    directories = project_directories(context.cwd)
    top = directories[-1]
    parts: list[str] = []
    room_bytes = LIMIT_BYTES
    for path in (spelled(directory, FILE_NAME) for directory in directories):
        if text := _read(context, path, top):
            name = path.relative_to(top)
            parts.insert(0, f"## {name}\n\n{_cut(text, room_bytes, name)}")
            room_bytes = max(0, room_bytes - len(text.encode()))
    if not parts:
        return None
    return PromptSection("project-instructions", "\n\n".join([_INTRODUCTION, *parts]), order=60)


def _read(context: SessionContext, path: Path, top: Path) -> str:
    try:
        return read_text(path, top).strip()
    except FileNotFoundError:
        return ""
    except OSError as error:
        warn(context, f"{path}: {error.strerror or error}")
        return ""


def _cut(text: str, room_bytes: int, name: Path) -> str:
    data = text.encode()
    if len(data) <= room_bytes:
        return text
    shown = data[:room_bytes].decode("utf-8", "ignore")
    note = f"[Cut after {room_bytes} of {len(data)} bytes; read {name} for the rest.]"
    return f"{shown}\n{note}" if shown else note
