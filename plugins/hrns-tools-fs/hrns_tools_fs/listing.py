"""list_files: names by pattern."""
# ruff: noqa: N803 - models know the arguments by these names

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated

from attrs import frozen

from hrns.context import ToolContext
from hrns.errors import ToolFailure
from hrns.messages import Text, ToolResult
from hrns.permissions import Access, Prepared
from hrns.tools import Tool, tool

from .globs import Glob
from .host import Host
from .paths import Place, locate, missing
from .walking import LeftOut, walk

__all__ = ["Listing", "directory"]

SHOWN = 500
LIMIT_S = 20.0


@frozen
class Listing:
    """The tool `list_files` on a host."""

    host: Host

    def tools(self) -> list[Tool]:
        """The tools to register."""
        made = tool(effects=["read"], parallel_safe=True, prepare=self.prepare)
        return [made(self.list_files)]

    def prepare(self, dir: str, globPattern: str, context: ToolContext) -> Prepared:  # noqa: A002
        """Which directory would be listed."""
        place = locate(dir or ".", context.cwd, self.host)
        title = f"list_files {dir or '.'} {globPattern}"
        return Prepared([Access("read", str(place.path))], title=title)

    def list_files(
        self,
        dir: str,  # noqa: A002
        globPattern: Annotated[str, "such as *.md or **/*.{ts,tsx}"],
        context: ToolContext,
    ) -> ToolResult:
        """List what matches a pattern below a directory, as a JSON array of paths."""
        place = directory(dir, context, self.host)
        try:
            plain, glob = Glob.parse(globPattern or "*")
        except ValueError as error:
            raise ToolFailure(f"globPattern: {error}") from error
        left_out = LeftOut()
        paths = sorted(self._paths(place, plain, glob, left_out, context))
        notes = [str(left_out)] if str(left_out) else []
        if len(paths) > SHOWN:
            notes.insert(0, f"{SHOWN} of {len(paths)} are shown; narrow the pattern")
        listed = json.dumps(paths[:SHOWN], ensure_ascii=False)
        return ToolResult([Text(listed), *(Text(f"[{note}]") for note in notes)], structured=listed)

    def _paths(
        self, place: Place, plain: str, glob: Glob, left_out: LeftOut, context: ToolContext
    ) -> Iterator[str]:
        root = place.path / plain
        info = self.host.info(root)
        if info is None or info.kind != "directory":
            return
        before = _prefix(place.shown) + _prefix(plain)
        for found in walk(self.host, root, glob, left_out, context.cancel, LIMIT_S):
            is_directory = found.entry.kind == "directory"
            if is_directory if glob.directories_only else not (is_directory and glob.recursive):
                yield before + found.path + ("/" if is_directory else "")


def _prefix(directory: str) -> str:
    """What stands before the names in a directory."""
    return "" if directory in ("", ".", "./") else directory.rstrip("/") + "/"


def directory(text: str, context: ToolContext, host: Host) -> Place:
    """The directory that a text means.

    Raises:
        ToolFailure: there is none.
    """
    place = locate(text or ".", context.cwd, host)
    info = host.info(place.path)
    if info is None:
        raise missing(place, host)
    if info.kind != "directory":
        raise ToolFailure(f"{place.shown} is no directory")
    return place
