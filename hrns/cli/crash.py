"""A bug, ours or of a plugin's command: the traceback to a file, one line to the person."""

from __future__ import annotations

import os
import platform
import sys
import tempfile
import traceback
from collections.abc import Sequence

from .._version import __version__
from . import status

__all__ = ["report"]


def report(error: Exception, arguments: Sequence[str], whose: str = "hrns") -> int:
    """Write the traceback to a new file, readable by its owner alone; returns the status.

    It is printed if no file can be written.

    Parameters:
        whose: the distribution that the bug is in.
    """
    words = " ".join(arguments[:1])
    head = f"hrns {__version__}, Python {platform.python_version()}, {platform.platform()}"
    trace = "".join(traceback.format_exception(error))
    text = _without_secrets(f"{head}\ncommand: hrns {words} ...\n\n{trace}")
    try:
        where = f"The traceback is in {_written(text)}; please report it.\n"
    except OSError:
        where = f"Please report it with this traceback:\n\n{text}"
    sys.stderr.write(f"hrns: this is a bug in {whose}: {type(error).__name__}\n{where}")
    return status.BUG


def _written(text: str) -> str:
    """The path of a new file with this text."""
    descriptor, name = tempfile.mkstemp(prefix="hrns-crash-", suffix=".txt")
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as file:
        file.write(text)
    return name


def _without_secrets(text: str) -> str:
    """The text without keys; of a configuration that cannot be read none is known."""
    from ..config import load_config
    from ..redact import redactor_for
    from .common import user_config_path

    try:
        config = load_config(user_config_path())
    except Exception:  # noqa: BLE001 - reading it may be the very bug that is told of
        return redactor_for(None, os.environ)(text)
    return redactor_for(config, os.environ)(text)
