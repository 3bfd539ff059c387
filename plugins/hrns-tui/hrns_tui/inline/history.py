"""What was sent before, in a file that only its owner can read."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from prompt_toolkit.history import FileHistory

__all__ = ["PrivateHistory"]


class PrivateHistory(FileHistory):
    """A history in a file; a disk that takes it not costs only the history."""

    @property
    def _path(self) -> Path:
        return Path(os.fsdecode(self.filename))

    def load_history_strings(self) -> Iterable[str]:
        """What was sent, the last first."""
        try:
            return list(super().load_history_strings()) if self._path.is_file() else []
        except OSError:
            return []

    def store_string(self, string: str) -> None:
        """Keep what was sent."""
        path = self._path
        if path.exists() and not path.is_file():
            return  # opening a pipe would wait for somebody at its other end
        with suppress(OSError):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600))
            super().store_string(string.encode(errors="replace").decode())
