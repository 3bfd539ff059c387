"""What several commands need: the configuration, and where the session is."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ..config import (
    Config,
    config_path,
    home_directory,
    load_config,
    load_project_config,
    merge,
)
from ..errors import ConfigError
from .streams import plain

if TYPE_CHECKING:
    from ..session import Session

__all__ = ["looking_around", "read_config", "tell", "user_config_path", "working_directory"]


def user_config_path() -> Path:
    """Where the user's configuration lies, whether it is there or not."""
    return config_path(os.environ, home_directory(os.environ))


def read_config() -> Config:
    """The user's configuration, and what the project here may say over it.

    What of the project's is passed over is told on standard error.

    Raises:
        ConfigError: one of the files does not parse.
    """
    config = merge(load_config(user_config_path()), load_project_config(working_directory()))
    for warning in config.warnings:
        tell(f"warning: {warning}")
    return config


@contextmanager
def looking_around() -> Iterator[Session]:
    """A session in which no model is asked: what the plugins bring is there to be looked at.

    What they warn of is told.
    """
    from ..config import DEMO
    from ..plugins import load_plugins
    from ..session import open_session

    config = read_config()
    plugins = load_plugins(os.environ, config.plugins.disabled)
    with open_session(config, plugins, DEMO, cwd=working_directory()) as session:
        for notice in session.take_notices():
            tell(f"warning: {notice}")
        yield session


def tell(text: str) -> None:
    """Say something on standard error that is no part of what was asked for."""
    sys.stderr.write(f"hrns: {plain(text)}\n")
    sys.stderr.flush()


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
