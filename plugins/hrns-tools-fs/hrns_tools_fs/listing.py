"""list_files: names by pattern."""
# ruff: noqa: N803 - models know the arguments by these names

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

from attrs import frozen

from hrns.context import ToolContext
from hrns.messages import Text, ToolResult
from hrns.permissions import Access, Prepared
from hrns.tools import Tool, tool

from .host import Host

if TYPE_CHECKING:
    from .scopes import Scope
    from .walking import Walk

__all__ = ["Listing"]

SHOWN = 500
LIMIT_S = 30.0


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
        scope = self._scope(dir, globPattern, context)
        title = f"list_files {dir or '.'} {globPattern or '*'}"
        return Prepared([Access("read", str(scope.root))], title=title)

    def list_files(
        self,
        dir: str,  # noqa: A002
        globPattern: Annotated[str, "such as *.md or **/*.{ts,tsx}"],
        context: ToolContext,
    ) -> ToolResult:
        """List the paths below a directory that match a glob pattern, as a JSON array.

        Directories end in /. Hidden and git-ignored entries are left out unless named.
        """
        from .walking import Walk

        scope = self._scope(dir, globPattern, context)
        scope.check(self.host)
        walk = Walk(self.host, scope.root, scope.glob, context.cancel, LIMIT_S)
        paths: list[str] = []
        if scope.is_there(self.host):
            before = scope.prefix
            paths = sorted(before + path for path in _paths(walk))
        notes = [str(walk.left_out)] if str(walk.left_out) else []
        if len(paths) > SHOWN:
            notes.insert(0, f"{SHOWN} of {len(paths)} are shown; narrow the pattern")
        listed = json.dumps(paths[:SHOWN], ensure_ascii=False)
        return ToolResult([Text(listed), *(Text(f"[{note}]") for note in notes)], structured=listed)

    def _scope(self, directory: str, pattern: str, context: ToolContext) -> Scope:
        from .scopes import Scope

        return Scope.of(directory, pattern or "*", context.cwd, self.host)


def _paths(walk: Walk) -> Iterator[str]:
    """Directories end in a slash; a pattern of any depth gives none of them."""
    glob = walk.glob
    for found in walk:
        is_directory = found.entry.kind == "directory"
        wanted = is_directory if glob.directories_only else not (is_directory and glob.recursive)
        if wanted:
            yield found.path + ("/" if is_directory else "")
