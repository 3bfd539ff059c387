"""write_file and edit_file: changes of files that lose nothing."""
# ruff: noqa: N803, N815 - models know the arguments by these names

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from attrs import frozen

from hrns.context import ToolContext
from hrns.errors import ToolFailure
from hrns.messages import Diff, ToolResult
from hrns.permissions import Access, Prepared
from hrns.tools import Tool, tool

from .host import Host
from .paths import locate

if TYPE_CHECKING:
    from .changes import Change

__all__ = ["Replacement", "Writing"]


@frozen
class Replacement:
    """Each oldString occurs once in the file, unless replaceAll."""

    oldString: str
    newString: str
    replaceAll: bool = False


@frozen
class Writing:
    """The tools `write_file` and `edit_file` on a host."""

    host: Host

    def tools(self) -> list[Tool]:
        """The tools to register."""
        return [
            tool(effects=["read", "write"], prepare=self.prepare_write)(self.write_file),
            tool(effects=["read", "write"], prepare=self.prepare_edit)(self.edit_file),
        ]

    def write_file(
        self,
        fileName: str,
        oldString: Annotated[str, "text to replace; empty for a new file"],
        newString: str,
        context: ToolContext,
        replaceAll: Annotated[bool, "if oldString occurs more than once"] = False,
    ) -> ToolResult:
        """Create a file with newString, or replace oldString by newString in a file that exists.

        oldString is copied exactly from the file, and occurs there once.
        """
        change = self._change(fileName, context)
        if not change.is_there():
            return change.create(newString, oldString)
        return change.edit([Replacement(oldString, newString, replaceAll)], context.cancel)

    def edit_file(
        self, fileName: str, edits: list[Replacement], context: ToolContext
    ) -> ToolResult:
        """Make several replacements in one file, one after the other: all of them or none."""
        if not edits:
            raise ToolFailure("edits is empty")
        return self._change(fileName, context).edit(edits, context.cancel)

    def prepare_write(
        self,
        fileName: str,
        oldString: str,
        newString: str,
        context: ToolContext,
        replaceAll: bool = False,
    ) -> Prepared:
        """What write_file would change."""
        change = self._change(fileName, context)
        preview: Diff | None = Diff(fileName, None, newString)
        if change.is_there():
            preview = change.preview([Replacement(oldString, newString, replaceAll)])
        return _prepared("write_file", change, preview)

    def prepare_edit(
        self, fileName: str, edits: list[Replacement], context: ToolContext
    ) -> Prepared:
        """What edit_file would change."""
        change = self._change(fileName, context)
        return _prepared("edit_file", change, change.preview(edits))

    def _change(self, name: str, context: ToolContext) -> Change:
        from .changes import Change
        from .memory import FileMemory

        return Change(self.host, locate(name, context.cwd, self.host), FileMemory.of(context))


def _prepared(name: str, change: Change, preview: Diff | None) -> Prepared:
    place = change.place
    accesses = [Access("read", str(place.path)), Access("write", str(place.path))]
    return Prepared(accesses, title=f"{name} {place.shown}", preview=preview)
