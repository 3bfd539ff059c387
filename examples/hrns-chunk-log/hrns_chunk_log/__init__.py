"""Logs everything that happens in an hrns session as lines of JSON."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from hrns import hookimpl

if TYPE_CHECKING:
    from hrns import Chunk, SessionContext


class ChunkLog:
    """A chunk sink that appends each chunk to a file, which only its owner can read."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("a", encoding="utf-8")
        path.chmod(0o600)

    def __call__(self, chunk: Chunk) -> None:
        """Write the chunk; it is on its way to the disk when this returns."""
        from hrns.serial import dumps

        self._file.write(dumps(chunk) + "\n")
        self._file.flush()

    def close(self) -> None:
        """Called when the session is closed."""
        self._file.close()


@hookimpl
def hrns_chunk_sinks(context: SessionContext) -> list[ChunkLog]:
    """A log, if the environment or the configuration says where."""
    path = os.environ.get("HRNS_CHUNK_LOG") or context.config.get("chunkLog")
    return [ChunkLog(context.cwd / Path(path).expanduser())] if path else []
