"""All the tools, on a host."""

from __future__ import annotations

from hrns.tools import Tool

from .fetching import Fetching
from .host import Host
from .listing import Listing
from .reading import Reading
from .running import Running
from .searching import Searching
from .writing import Writing

__all__ = ["make_tools"]


def make_tools(host: Host) -> list[Tool]:
    """The tools in the order in which models see them."""
    parts = (Reading, Listing, Searching, Writing, Running)
    tools = [made for part in parts for made in part(host).tools()]
    return [*tools, *Fetching().tools()]
