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

from .edits import Edit, apply, whole
from .host import FileChanged, FileInfo, Host
from .memory import FileMemory
from .paths import Place, locate, missing
from .texts import Decoded, decode

__all__ = ["Replacement", "Writing"]

EDIT_BYTES = 64 * 1024 * 1024
"""An edit holds the file in memory, several times."""

_WHOLE_DIFF_CHARACTERS = 200_000
_DIFF_CONTEXT = 3


@frozen
class Replacement:
    """Each oldString occurs once in the file, unless replaceAll."""

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
        """Create a file with newString, or replace oldString by newString in a file that exists.

        oldString is copied exactly from the file, and occurs there once.
        """
        place = locate(fileName, context.cwd, self.host)
        if not self._is_there(place):
            return self._create(place, newString, FileMemory.of(context), oldString)
        return self._edit(place, [Edit(oldString, newString, replaceAll)], context)

    def edit_file(
        self, fileName: str, edits: list[Replacement], context: ToolContext
    ) -> ToolResult:
        """Make several replacements in one file, one after the other: all of them or none."""
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
        if self._is_there(place):
            preview = self._preview(place, [Edit(oldString, newString, replaceAll)], context)
        return _prepared("write_file", place, preview)

    def prepare_edit(
        self, fileName: str, edits: list[Replacement], context: ToolContext
    ) -> Prepared:
        """What edit_file would change."""
        place = locate(fileName, context.cwd, self.host)
        return _prepared("edit_file", place, self._preview(place, _edits(edits), context))

    def _is_there(self, place: Place) -> bool:
        """Whether something stands at a place; a link that leads nowhere can be filled."""
        info = self.host.info(place.path)
        return info is not None and info.kind != "link"

    def _preview(self, place: Place, edits: Sequence[Edit], context: ToolContext) -> Diff | None:
        """The change, or None if it cannot be made: that is told when it is tried."""
        with suppress(ToolFailure):
            opened = self._open(place, FileMemory.of(context))
            new = opened.decoded.with_text(apply(opened.decoded.text, edits).text)
            return _diff(place, opened.decoded, new)
        return None

    def _create(self, place: Place, text: str, memory: FileMemory, old: str) -> ToolResult:
        data = _encoded(place, Decoded(whole(text)))
        try:
            self.host.create(place.path, data)
        except FileExistsError:
            raise ToolFailure(f"{place.shown} was just made by somebody else; read it") from None
        except OSError as error:
            raise ToolFailure(f"{place.shown} cannot be written: {error.strerror}") from error
        memory.note(self.host.resolve(place.path), data, "utf-8")
        notes = ["there was no such file, so it was made with newString"] if old else []
        return _done(notes, place, Diff(place.shown, None, text))

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
        return _done(edited.notes, place, _diff(place, opened.decoded, changed))

    def _open(self, place: Place, memory: FileMemory) -> _Opened:
        info = self.host.info(place.path)
        if info is None:
            raise missing(place, self.host)
        if info.kind != "file":
            raise ToolFailure(f"{place.shown} is a {info.kind}, not a regular file")
        if info.size > EDIT_BYTES:
            raise ToolFailure(f"{place.shown} has {info.size} bytes, too many to edit")
        try:
            with self.host.open(place.path) as file:
                data = file.read()
        except OSError as error:
            raise ToolFailure(f"{place.shown} cannot be read: {error.strerror}") from error
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
                f"{shown} cannot be written: {error.strerror}; it is as it was"
            ) from error
        memory.note(opened.real, data, opened.decoded.encoding)


def _edits(replacements: Sequence[Replacement]) -> list[Edit]:
    return [Edit(each.oldString, each.newString, each.replaceAll) for each in replacements]


def _prepared(name: str, place: Place, preview: Diff | None) -> Prepared:
    accesses = [Access("read", str(place.path)), Access("write", str(place.path))]
    return Prepared(accesses, title=f"{name} {place.shown}", preview=preview)


def _done(notes: Sequence[str], place: Place, diff: Diff) -> ToolResult:
    told = [note for note in (place.note, *notes) if note]
    return ToolResult(f"OK: {'; '.join(told)}" if told else "OK", display=diff)


def _diff(place: Place, old: Decoded, new: Decoded) -> Diff:
    """The change for people; of a large file the lines that differ, and some around them."""
    before, after = old.shown, new.shown
    if len(before) + len(after) <= _WHOLE_DIFF_CHARACTERS:
        return Diff(place.shown, before, after)
    old_lines, new_lines = before.splitlines(keepends=True), after.splitlines(keepends=True)
    same = _same_at_start(old_lines, new_lines)
    first = max(0, same - _DIFF_CONTEXT)
    rest = _same_at_start(old_lines[same:][::-1], new_lines[same:][::-1]) - _DIFF_CONTEXT
    last = -max(0, rest) or None
    return Diff(place.shown, "".join(old_lines[first:last]), "".join(new_lines[first:last]))


def _same_at_start(old: Sequence[str], new: Sequence[str]) -> int:
    pairs = enumerate(zip(old, new, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(old), len(new)))


def _encoded(place: Place, decoded: Decoded) -> bytes:
    try:
        return decoded.encode()
    except UnicodeEncodeError as error:
        character = decoded.text[error.start]
        raise ToolFailure(
            f"{place.shown} is {decoded.encoding}, which has no {character!r}; nothing was written"
        ) from error
