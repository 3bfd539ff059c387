"""write_file and edit_file: changes of files that lose nothing."""
# ruff: noqa: N803, N815 - models know the arguments by these names

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated

from attrs import frozen

from hrns.context import ToolContext
from hrns.errors import ToolFailure
from hrns.messages import Diff, ToolResult
from hrns.permissions import Access, Prepared
from hrns.tools import Tool, tool

from .edits import Edit, apply
from .host import FileChanged, FileInfo, Host
from .memory import FileMemory
from .paths import Place, locate, missing
from .texts import Decoded, decode

__all__ = ["Replacement", "Writing"]

EDIT_BYTES = 64 * 1024 * 1024
"""An edit holds the file in memory, several times."""

_FileName = Annotated[str, "path, relative to the working directory"]


@frozen
class Replacement:
    """One edit, as the model writes it."""

    oldString: str
    newString: str
    replaceAll: bool = False


@frozen
class _Opened:
    """A file as it was when we looked."""

    place: Place
    real: Path
    info: FileInfo
    data: bytes
    decoded: Decoded


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
        """Create a file with newString, or replace oldString by newString in an existing one."""
        place = locate(fileName, context.cwd, self.host)
        if self.host.info(place.path) is None:
            return self._create(place, newString, FileMemory.of(context), oldString)
        return self._edit(place, [Edit(oldString, newString, replaceAll)], context)

    def edit_file(
        self, fileName: str, edits: list[Replacement], context: ToolContext
    ) -> ToolResult:
        """Make several replacements in one file, in order: all of them or none."""
        if not edits:
            raise ToolFailure("edits is empty")
        return self._edit(locate(fileName, context.cwd, self.host), _edits(edits), context)

    def prepare_write(
        self,
        fileName: str,
        oldString: str,
        newString: str,
        context: ToolContext,
        replaceAll: bool = False,
    ) -> Prepared:
        """What write_file would change."""
        place = locate(fileName, context.cwd, self.host)
        preview: Diff | None = Diff(fileName, None, newString)
        if self.host.info(place.path) is not None:
            preview = self._preview(place, [Edit(oldString, newString, replaceAll)], context)
        return _prepared("write_file", place, preview)

    def prepare_edit(
        self, fileName: str, edits: list[Replacement], context: ToolContext
    ) -> Prepared:
        """What edit_file would change."""
        place = locate(fileName, context.cwd, self.host)
        return _prepared("edit_file", place, self._preview(place, _edits(edits), context))

    def _preview(self, place: Place, edits: Sequence[Edit], context: ToolContext) -> Diff | None:
        """The change, or None if it cannot be made: that is told when it is tried."""
        with suppress(ToolFailure, OSError):
            opened = self._open(place, FileMemory.of(context))
            new = apply(opened.decoded.text, edits).text
            return Diff(place.shown, opened.decoded.shown, opened.decoded.with_text(new).shown)
        return None

    def _create(self, place: Place, text: str, memory: FileMemory, old: str) -> ToolResult:
        data = _encoded(place, Decoded(text))
        try:
            self.host.create(place.path, data)
        except FileExistsError:
            raise ToolFailure(f"{place.shown} was just made by somebody else; read it") from None
        except OSError as error:
            raise ToolFailure(f"{place.shown} could not be written: {error.strerror}") from error
        memory.note(self.host.resolve(place.path), data, "utf-8")
        told = "OK: there was no such file, it was created with newString" if old else "OK"
        return ToolResult(told, display=Diff(place.shown, None, text))

    def _edit(self, place: Place, edits: Sequence[Edit], context: ToolContext) -> ToolResult:
        memory = FileMemory.of(context)
        with self.host.writing(place.path):
            opened = self._open(place, memory)
            if memory.is_stale(opened.real, opened.data):
                raise ToolFailure(
                    f"{place.shown} has changed since you read it; nothing was written. "
                    "Read it again first."
                )
            edited = apply(opened.decoded.text, edits)
            changed = opened.decoded.with_text(edited.text)
            self._replace(opened, _encoded(place, changed), memory)
        notes = [note for note in (place.note, *edited.notes) if note]
        return ToolResult(
            f"OK: {'; '.join(notes)}" if notes else "OK",
            display=Diff(place.shown, opened.decoded.shown, changed.shown),
        )

    def _open(self, place: Place, memory: FileMemory) -> _Opened:
        info = self.host.info(place.path)
        if info is None:
            raise missing(place, self.host)
        if info.kind != "file":
            raise ToolFailure(f"{place.shown} is a {info.kind}, not a regular file")
        if info.size > EDIT_BYTES:
            raise ToolFailure(f"{place.shown} has {info.size} bytes, too many to edit")
        with self.host.open(place.path) as file:
            data = file.read()
        real = self.host.resolve(place.path)
        decoded = decode(data, memory.encoding(real))
        if decoded is None:
            raise ToolFailure(f"{place.shown} is a binary file of {len(data)} bytes, not text")
        return _Opened(place, real, info, data, decoded)

    def _replace(self, opened: _Opened, data: bytes, memory: FileMemory) -> None:
        shown = opened.place.shown
        try:
            self.host.replace(opened.place.path, data, opened.info)
        except FileChanged:
            raise ToolFailure(f"{shown} was just changed by somebody else; read it again") from None
        except OSError as error:
            raise ToolFailure(
                f"{shown} could not be written: {error.strerror}; it is as it was"
            ) from error
        memory.note(opened.real, data, opened.decoded.encoding)


def _edits(replacements: Sequence[Replacement]) -> list[Edit]:
    return [Edit(each.oldString, each.newString, each.replaceAll) for each in replacements]


def _prepared(name: str, place: Place, preview: Diff | None) -> Prepared:
    accesses = [Access("read", str(place.path)), Access("write", str(place.path))]
    return Prepared(accesses, title=f"{name} {place.shown}", preview=preview)


def _encoded(place: Place, decoded: Decoded) -> bytes:
    try:
        return decoded.encode()
    except UnicodeEncodeError as error:
        character = decoded.text[error.start]
        raise ToolFailure(
            f"{place.shown} is {decoded.encoding}, which has no {character!r}; nothing was written"
        ) from error
