"""What several commands need: the configuration, and where the session is."""

from __future__ import annotations

import os
from pathlib import Path

from ..config import Config, config_path, load_config
from ..errors import ConfigError

__all__ = ["read_config", "working_directory"]


def read_config() -> Config:
    """The user's configuration.

    Raises:
        ConfigError: the file does not parse, or there is no home to look in.
    """
    try:
        home = Path.home()
    except RuntimeError:
        home = Path(os.environ.get("HOME") or "/")
    return load_config(config_path(os.environ, home))


def working_directory() -> Path:
    """Where the command was started: the one place where the process is asked.

    Raises:
        ConfigError: the directory is gone.
    """
    try:
        return Path.cwd()
    except FileNotFoundError as error:
        raise ConfigError(
            "the working directory does not exist any more", hint="Change to another one."
        ) from error
