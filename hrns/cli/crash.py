"""A bug in hrns: the traceback goes to a file, the person gets one line."""

from __future__ import annotations

import os
import platform
import sys
import tempfile
import traceback
from collections.abc import Sequence
from pathlib import Path

from .._version import __version__
from ..config import config_path, load_config
from ..errors import HrnsError
from . import status

__all__ = ["report"]


def report(error: Exception, arguments: Sequence[str]) -> int:
    """Write the traceback to a new file, readable by its owner alone; returns the status."""
    words = " ".join(arguments[:1])
    head = f"hrns {__version__}, Python {platform.python_version()}, {platform.platform()}"
    text = f"{head}\ncommand: hrns {words} ...\n\n{''.join(traceback.format_exception(error))}"
    descriptor, name = tempfile.mkstemp(prefix="hrns-crash-", suffix=".txt")
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as file:
        file.write(_without_secrets(text))
    sys.stderr.write(
        f"hrns: this is a bug in hrns: {type(error).__name__}\n"
        f"The traceback is in {name}; please report it.\n"
    )
    return status.BUG


def _without_secrets(text: str) -> str:
    """The text without keys; without the whole text if they cannot be told."""
    from ..redact import redactor_for

    try:
        config = load_config(config_path(os.environ, Path.home()))
    except (HrnsError, OSError, RuntimeError):
        return redactor_for(None, os.environ)(text)
    return redactor_for(config, os.environ)(text)
