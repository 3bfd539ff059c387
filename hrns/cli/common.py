"""What several commands need: the configuration, and where the session is."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from ..config import Config, config_path, load_config, load_project_config, merge
from ..errors import ConfigError

__all__ = ["read_config", "user_config_path", "working_directory"]


def user_config_path() -> Path:
    """Where the user's configuration lies, whether it is there or not."""
    try:
        home = Path.home()
    except RuntimeError:
        home = Path(os.environ.get("HOME") or "/")
    return config_path(os.environ, home)


def read_config() -> Config:
    """The user's configuration, and what the project here may say over it.

    What of the project's is passed over is told on standard error.

    Raises:
        ConfigError: one of the files does not parse.
    """
    config = merge(load_config(user_config_path()), load_project_config(working_directory()))
    for warning in config.warnings:
        sys.stderr.write(f"hrns: warning: {warning}\n")
    return config


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
