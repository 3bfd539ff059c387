"""A change of one file: made whole or not at all, and only of what the model knows."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from attrs import frozen

from hrns.cancel import Cancel
from hrns.errors import ToolFailure
from hrns.messages import Diff, ToolResult

from .edits import Edit, apply, whole
from .host import FileChanged, FileInfo, Host
from .memory import FileMemory
from .paths import Place, missing
from .texts import Decoded, decode
from .writing import Replacement

__all__ = ["Change"]

EDIT_BYTES = 64 * 1024 * 1024
"""An edit holds the file in memory, several times."""

_WHOLE_DIFF_CHARACTERS = 200_000
_DIFF_CONTEXT = 3


@frozen
class _Opened:
    """A file as it was when we looked."""

    real: Path
    info: FileInfo
    data: bytes
    decoded: Decoded


@frozen
class Change:
    """A file that is to change.

    Parameters:
        host: where it lies.
        place: where it lies there.
        memory: what the model knows of it.
    """

    host: Host
    place: Place
    memory: FileMemory

    def is_there(self) -> bool:
        """Whether something stands at a place; a link that leads nowhere can be filled."""
        info = self.host.info(self.place.path)
        return info is not None and info.kind != "link"

    def preview(self, replacements: Sequence[Replacement]) -> Diff | None:
        """The change, or None if it cannot be made: that is told when it is tried."""
        with suppress(ToolFailure):
            opened = self._open()
            new = opened.decoded.with_text(apply(opened.decoded.text, _edits(replacements)).text)
            return _diff(self.place, opened.decoded, new)
        return None

    def create(self, text: str, old: str) -> ToolResult:
        """Make the file; `old` is what should have been replaced, had there been one."""
        place = self.place
        if place.shown.endswith("/"):
            raise ToolFailure(f"{place.shown} is the name of a directory, not of a file")
        data = _encoded(place, Decoded(whole(text)))
        try:
            self.host.create(place.path, data)
        except FileExistsError:
            raise ToolFailure(f"{place.shown} was just made by somebody else; read it") from None
        except OSError as error:
            raise ToolFailure(f"{place.shown} cannot be written: {error.strerror}") from error
        self.memory.note(self.host.resolve(place.path), data, "utf-8")
        notes = ["there was no such file, so it was made with newString"] if old else []
        return _done(notes, place, Diff(place.shown, None, text))

    def edit(self, replacements: Sequence[Replacement], cancel: Cancel) -> ToolResult:
        """Make all replacements, or none; none either once it is cancelled."""
        place = self.place
        with self.host.writing(place.path):
            opened = self._open()
            if self.memory.is_stale(opened.real, opened.data):
                raise ToolFailure(
                    f"{place.shown} has changed since you read it; nothing was written. "
                    "Read it again first."
                )
            edited = apply(opened.decoded.text, _edits(replacements))
            changed = opened.decoded.with_text(edited.text)
            data = _encoded(place, changed)
            cancel.check()  # who was told that this was interrupted is not to find it done
            self._replace(opened, data)
        return _done(edited.notes, place, _diff(self.place, opened.decoded, changed))

    def _open(self) -> _Opened:
        place = self.place
        info = self.host.info(place.path)
        if info is None:
            raise missing(place, self.host)
        if info.kind != "file":
            raise ToolFailure(f"{place.shown} is a {info.kind}, not a regular file")
        if info.size > EDIT_BYTES:
            raise ToolFailure(f"{place.shown} has {info.size} bytes, too many to edit")
        try:
            with self.host.open(place.path) as file:
                data = file.read(EDIT_BYTES + 1) or b""  # some in /proc say nothing of their size
        except OSError as error:
            raise ToolFailure(f"{place.shown} cannot be read: {error.strerror}") from error
        if len(data) > EDIT_BYTES:
            raise ToolFailure(f"{place.shown} has more than {EDIT_BYTES} bytes, too many to edit")
        real = self.host.resolve(place.path)
        decoded = decode(data, self.memory.encoding(real))
        if decoded is None:
            raise ToolFailure(f"{place.shown} is a binary file of {len(data)} bytes, not text")
        return _Opened(real, info, data, decoded)

    def _replace(self, opened: _Opened, data: bytes) -> None:
        shown = self.place.shown
        try:
            self.host.replace(self.place.path, data, opened.info)
        except FileChanged:
            raise ToolFailure(f"{shown} was just changed by somebody else; read it again") from None
        except OSError as error:
            raise ToolFailure(
                f"{shown} cannot be written: {error.strerror}; it is as it was"
            ) from error
        self.memory.note(opened.real, data, opened.decoded.encoding)


def _edits(replacements: Sequence[Replacement]) -> list[Edit]:
    return [Edit(each.oldString, each.newString, each.replaceAll) for each in replacements]


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
