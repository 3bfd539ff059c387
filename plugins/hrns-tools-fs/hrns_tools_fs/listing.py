"""list_files: names by pattern."""
# ruff: noqa: N803 - models know the arguments by these names

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
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
        paths = sorted(_paths(walk)) if scope.is_there(self.host) else []
        shown, kept_back = _permitted(paths, scope, context)
        notes = [str(walk.left_out)] if str(walk.left_out) else []
        if kept_back:
            notes.insert(0, f"left out: {kept_back} that may not be read, by a permission rule")
        if len(shown) == SHOWN < len(paths) - kept_back:
            notes.insert(0, f"{SHOWN} of {len(paths) - kept_back} are shown; narrow the pattern")
        listed = json.dumps([scope.prefix + path for path in shown], ensure_ascii=False)
        return ToolResult([Text(listed), *(Text(f"[{note}]") for note in notes)], structured=listed)

    def _scope(self, directory: str, pattern: str, context: ToolContext) -> Scope:
        from .scopes import Scope

        return Scope.of(directory, pattern or "*", context.cwd, self.host)


def _permitted(paths: Iterable[str], scope: Scope, context: ToolContext) -> tuple[list[str], int]:
    """The first paths that may be read, `SHOWN` at most, and how many among them may not."""
    from .grants import Grant

    grant = Grant.of(context.judge, Access("read", str(scope.root)))
    shown: list[str] = []
    kept_back = 0
    for path in paths:
        if len(shown) == SHOWN:
            break
        context.cancel.check()
        if grant.refusal(Access("read", str(scope.root / path))):
            kept_back += 1
        else:
            shown.append(path)
    return shown, kept_back


def _paths(walk: Walk) -> Iterator[str]:
    """Directories end in a slash; a pattern of any depth gives none of them."""
    glob = walk.glob
    for found in walk:
        is_directory = found.entry.kind == "directory"
        wanted = is_directory if glob.directories_only else not (is_directory and glob.recursive)
        if wanted:
            yield found.path + ("/" if is_directory else "")
