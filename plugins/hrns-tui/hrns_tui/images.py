"""Pictures that a message names: their paths become the pictures themselves."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

from hrns.messages import Image, Part, Text, UserMessage

__all__ = ["has_images", "images_in", "message_of"]

_MEDIA_TYPES = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
}
_WORD = re.compile(
    r"""(?<!\S)@?(?:'[^'\n]+'|"[^"\n]+"|(?:\\.|[^\s\\])+)(?!\S)""",
)
_LIMIT_BYTES = 10 * 1024 * 1024


def has_images(text: str, cwd: Path) -> bool:
    """Whether the text names a picture that is there."""
    return bool(images_in(text, cwd))


def message_of(text: str, cwd: Path) -> UserMessage:
    """The message: the text as it is, and behind it the pictures that it names."""
    parts: list[Part] = [Text(text)]
    parts += [
        Image(_MEDIA_TYPES[path.suffix.lower()], path.read_bytes()) for path in images_in(text, cwd)
    ]
    return UserMessage(parts)


def images_in(text: str, cwd: Path) -> list[Path]:
    """The pictures that a text names, each once."""
    if not any(suffix in text.lower() for suffix in _MEDIA_TYPES):
        return []
    paths = (_path(word, cwd) for word in _WORD.findall(text))
    return list(dict.fromkeys(path for path in paths if path is not None))


def _path(word: str, cwd: Path) -> Path | None:
    """The picture that a word names, as terminals spell a file that is dropped on them."""
    try:
        [name] = shlex.split(word.removeprefix("@"))
        path = cwd / Path(name).expanduser()
        known = path.suffix.lower() in _MEDIA_TYPES and path.is_file() and os.access(path, os.R_OK)
        return path if known and path.stat().st_size <= _LIMIT_BYTES else None
    except (ValueError, OSError, RuntimeError):
        return None
