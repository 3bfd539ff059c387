"""read_file: a text, a part of a long one, or an image."""
# ruff: noqa: N803 - models know the arguments by these names

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Annotated, BinaryIO

from attrs import frozen

from hrns.cancel import Cancel
from hrns.context import ToolContext
from hrns.errors import ToolFailure
from hrns.messages import Image, Text, ToolResult
from hrns.permissions import Access, Prepared
from hrns.tools import Tool, tool

from .grants import Grant
from .host import FileInfo, Host
from .memory import FileMemory
from .pages import LINE_CHARACTERS, PAGE_BYTES, PAGE_LINES, page
from .paths import Place, locate, missing
from .texts import Decoded, decode, image_type, is_binary

__all__ = ["Reading"]

WHOLE_BYTES = 16 * 1024 * 1024
"""Longer files are read line by line, and no further than is asked."""

IMAGE_BYTES = 5 * 1024 * 1024
"""What the providers take."""

_LISTED = 20
_LINE_BYTES = 4 * LINE_CHARACTERS + 4


@frozen
class Reading:
    """The tool `read_file` on a host."""

    host: Host

    def tools(self) -> list[Tool]:
        """The tools to register."""
        made = tool(effects=["read"], parallel_safe=True, prepare=self.prepare)
        return [made(self.read_file)]

    def prepare(
        self,
        fileName: str,
        context: ToolContext,
        offset: int = 1,  # noqa: ARG002
        limit: int = PAGE_LINES,  # noqa: ARG002
    ) -> Prepared:
        """Which file would be read."""
        place = locate(fileName, context.cwd, self.host)
        return Prepared([Access("read", str(place.path))], title=f"read_file {fileName}")

    def read_file(
        self,
        fileName: str,
        context: ToolContext,
        offset: Annotated[int, "first line, from 1"] = 1,
        limit: Annotated[int, "how many lines"] = PAGE_LINES,
    ) -> ToolResult | str:
        """Read a text file or an image. A long file comes in pages and says how to go on."""
        if offset < 1 or limit < 1:
            raise ToolFailure("offset and limit begin at 1")
        place = locate(fileName, context.cwd, self.host)
        info = self._regular(place, context)
        try:
            if info.size > WHOLE_BYTES:
                return _noted(place, self._stream(place, offset, limit, context.cancel))
            with self.host.open(place.path) as file:
                data = file.read(WHOLE_BYTES) or b""  # None: it has nothing to say as yet
        except OSError as error:
            raise ToolFailure(f"{place.shown} cannot be read: {error.strerror}") from error
        if (media_type := image_type(data)) is not None:
            return _image(place, media_type, data)
        shown = self._whole(place, data, offset, limit, FileMemory.of(context))
        return _noted(place, shown)

    def _regular(self, place: Place, context: ToolContext) -> FileInfo:
        info = self.host.info(place.path)
        if info is None:
            raise missing(place, self.host)
        if info.kind == "directory":
            holds = self._held(place, context)
            raise ToolFailure(f"{place.shown} is a directory (use list_files); it holds {holds}")
        if info.kind == "link":
            raise ToolFailure(f"{place.shown} is a symbolic link that leads nowhere")
        if info.kind != "file":
            raise ToolFailure(f"{place.shown} is a {info.kind}, not a regular file")
        return info

    def _held(self, place: Place, context: ToolContext) -> str:
        """The first names in a directory, of those that may be read."""
        grant = Grant.of(context.judge, Access("read", str(place.path)))
        names = sorted(entry.name for entry in self.host.scan(place.path))
        shown = islice(
            (name for name in names if not grant.refusal(Access("read", str(place.path / name)))),
            _LISTED,
        )
        more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
        return ", ".join(shown) + more or "nothing"

    def _whole(self, place: Place, data: bytes, offset: int, limit: int, memory: FileMemory) -> str:
        real = self.host.resolve(place.path)
        decoded = decode(data, memory.encoding(real))
        if decoded is None:
            raise _not_text(place, len(data))
        memory.note(real, data, decoded.encoding)
        return _paged(decoded, offset, limit)

    def _stream(self, place: Place, offset: int, limit: int, cancel: Cancel) -> str:
        with self.host.open(place.path) as file:
            start = file.read(4096)
            if is_binary(start) or start[:2] in (b"\xff\xfe", b"\xfe\xff"):
                raise _not_text(place, 0)
            file.seek(0)
            return page(_lines(file, cancel), offset, limit, total=None)


def _noted(place: Place, shown: str) -> str:
    return f"[{place.note}]\n{shown}" if place.note else shown


def _paged(decoded: Decoded, offset: int, limit: int) -> str:
    text = decoded.shown
    if not text:
        return "[the file is empty]"
    lines = text.removesuffix("\n").split("\n")
    if offset > len(lines):
        raise ToolFailure(f"offset {offset} is past the end: the file has {len(lines)} lines")
    fits = len(lines) <= limit and len(text.encode("utf-8", "replace")) <= PAGE_BYTES
    if offset == 1 and fits:
        return text
    return page(lines, offset, limit, len(lines))


def _lines(file: BinaryIO, cancel: Cancel) -> Iterator[str]:
    """The lines of a file, of a very long one only the beginning."""
    while raw := file.readline(_LINE_BYTES):
        cancel.check()
        yield raw.rstrip(b"\r\n").decode("utf-8", "replace")
        while raw and not raw.endswith(b"\n"):
            cancel.check()
            raw = file.readline(WHOLE_BYTES)


def _image(place: Place, media_type: str, data: bytes) -> ToolResult:
    if len(data) > IMAGE_BYTES:
        raise ToolFailure(
            f"{place.shown}: {media_type} of {len(data)} bytes; models take {IMAGE_BYTES} at most"
        )
    words = Text(f"{place.shown}: {media_type}, {len(data)} bytes")
    return ToolResult((words, Image(media_type, data)))


def _not_text(place: Place, size: int) -> ToolFailure:
    how_much = f" of {size} bytes" if size else ""
    return ToolFailure(f"{place.shown} is a binary file{how_much}, not text")
