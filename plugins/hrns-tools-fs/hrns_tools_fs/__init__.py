"""The bundled tools of hrns: read, list, search, write, edit, run, fetch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hrns import hookimpl

if TYPE_CHECKING:
    from hrns import Tool

__all__ = ["hrns_tools"]


@hookimpl
def hrns_tools() -> list[Tool]:
    """The tools, on this machine."""
    from .host import LocalHost
    from .toolset import make_tools

    return make_tools(LocalHost())
