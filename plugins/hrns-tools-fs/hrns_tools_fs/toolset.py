"""All the tools, on a host."""

from __future__ import annotations

from hrns.tools import Tool

from .host import Host
from .reading import Reading
from .running import Running
from .writing import Writing

__all__ = ["make_tools"]


def make_tools(host: Host) -> list[Tool]:
    """The tools in the order in which models see them."""
    return [*Reading(host).tools(), *Writing(host).tools(), *Running(host).tools()]
