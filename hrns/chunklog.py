"""The chunk log: what the runs of a session emit, as lines of JSON in a file."""

from __future__ import annotations

import os
from pathlib import Path

from .chunks import Chunk
from .errors import ConfigError
from .serial import dumps

__all__ = ["ChunkLog"]


class ChunkLog:
    """Appends each chunk to a file, as one line; a chunk sink.

    The file is made with mode 0600. A line is written in one piece, so several processes may
    share a file.

    Parameters:
        path: the file; absolute.

    Raises:
        ConfigError: it cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        try:
            self._file = os.fdopen(os.open(path, flags, 0o600), "ab", buffering=0)
        except OSError as error:
            raise ConfigError(
                f"the log cannot be written: {error.strerror}",
                hint="Name another file with --log, or as `log` in the configuration.",
                path=path,
            ) from error

    def __call__(self, chunk: Chunk) -> None:
        """Write one chunk; raises OSError, after which the file is closed."""
        line = dumps(chunk).encode() + b"\n"
        try:
            while line:  # a write may be cut short by a full disk, and then raises
                line = line[self._file.write(line) :]
        except OSError:
            self.close()
            raise

    def close(self) -> None:
        """Close the file."""
        self._file.close()
