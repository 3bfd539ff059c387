"""A tool for hrns that tells the weather of any city, all of it made up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hrns import hookimpl

if TYPE_CHECKING:
    from hrns import Tool


@hookimpl
def hrns_tools() -> list[Tool]:
    """The tool `weather`."""
    from .forecast import weather

    return [weather]
