"""What a session has seen of each file, so that no edit rests on an old reading."""

from __future__ import annotations

from pathlib import Path

from attrs import define, field, frozen

from hrns.context import ToolContext

__all__ = ["FileMemory", "Seen"]

_KEY = "hrns_tools_fs.seen"


@frozen
class Seen:
    """A file as the model last saw it.

    Parameters:
        digest: of all its bytes.
        encoding: what it was read as.
    """

    digest: bytes
    encoding: str


@define(eq=False)
class FileMemory:
    """The files of one session, by their real paths."""

    _seen: dict[Path, Seen] = field(factory=dict)

    @classmethod
    def of(cls, context: ToolContext) -> FileMemory:
        """The memory of the session that a call belongs to."""
        memory = context.session.state.setdefault(_KEY, cls())
        assert isinstance(memory, cls)  # noqa: S101 - the key is ours
        return memory

    def note(self, path: Path, data: bytes, encoding: str) -> None:
        """The model knows that the file is like this."""
        self._seen[path] = Seen(_digest(data), encoding)

    def encoding(self, path: Path) -> str | None:
        """What the file was read as, or None."""
        seen = self._seen.get(path)
        return seen.encoding if seen else None

    def is_stale(self, path: Path, data: bytes) -> bool:
        """Whether the model has seen the file, and with other content."""
        seen = self._seen.get(path)
        return seen is not None and seen.digest != _digest(data)


def _digest(data: bytes) -> bytes:
    import hashlib

    return hashlib.blake2b(data, digest_size=16).digest()
