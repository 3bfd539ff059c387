"""Replacing text in text: exactly, in whatever line ends, and nothing besides.

Pure: text in, text out. What is not part of the difference between the old and the new string stays
as it is, to the byte.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import islice

from attrs import field, frozen

from hrns.errors import ToolFailure

from .pages import shortened

__all__ = ["Edit", "Edited", "apply", "whole"]

_SHOWN_PLACES = 10
_NEAREST_CONTEXT = 3
_SEARCHED = 20_000
_COMPARED = 300
_SURROGATE = re.compile("[\ud800-\udfff]")


@frozen
class Edit:
    """One replacement.

    Parameters:
        old: text that stands in the file, once unless `every`.
        new: what is to stand there.
        every: replace it wherever it stands.
    """

    old: str
    new: str
    every: bool = False


@frozen
class Edited:
    """What came of edits: the text, and what the model should know of how."""

    text: str
    notes: tuple[str, ...] = ()


def apply(text: str, edits: Sequence[Edit]) -> Edited:
    """All edits, one after the other, or none.

    Line ends in `old` and `new` fit any in the text; what is put in has those of the place.

    Raises:
        ToolFailure: one cannot be done; the message says which, why, and what stands nearest.
    """
    notes: list[str] = []
    for number, edit in enumerate(edits, 1):
        try:
            edited = _apply_one(text, edit)
        except ToolFailure as fault:
            if len(edits) == 1:
                raise
            raise ToolFailure(
                f"edit {number} of {len(edits)}: {fault.message}\nNone of the edits was made."
            ) from fault
        text = edited.text
        notes.extend(edited.notes)
    return Edited(text, tuple(notes))


def whole(text: str) -> str:
    """The text, if all of it are characters.

    Raises:
        ToolFailure: it holds half of one (a lone surrogate): in a file's text that stands for a
            byte that is no character, and only the file may bring such.
    """
    if _SURROGATE.search(text):
        raise ToolFailure("the text has a lone surrogate, which no file can hold")
    return text


def _apply_one(text: str, edit: Edit) -> Edited:
    old, new = _with_lf(whole(edit.old)), _with_lf(whole(edit.new))
    if not old:
        if not text:
            return Edited(new)  # nothing can be lost
        raise ToolFailure("oldString is empty; it must be text that stands in the file")
    if old == new:
        raise ToolFailure("oldString and newString are the same")
    folded = _Folded.of(text)
    if old not in folded.text:
        return _apply_tolerant(folded, old, new)
    if not edit.every:
        start = _only_place(folded, old)
        return Edited(folded.replaced([(start, old, new)]))
    if not folded.breaks:
        return Edited(text.replace(old, new))
    starts = _occurrences(folded.text, old, len(old))
    return Edited(folded.replaced([(start, old, new) for start in starts]))


def _only_place(folded: _Folded, old: str) -> int:
    """Where `old` stands.

    Raises:
        ToolFailure: in several places, which may overlap: nobody knows which is meant.
    """
    starts = list(islice(_occurrences(folded.text, old, 1), _SHOWN_PLACES))
    if len(starts) > 1:
        count = max(len(starts), folded.text.count(old))
        lines = ", ".join(dict.fromkeys(str(folded.line_at(start)) for start in starts))
        raise ToolFailure(
            f"oldString stands {count} times in the file (lines {lines}); "
            "add lines around it until it is unique, or set replaceAll"
        )
    return starts[0]


@frozen
class _Folded:
    """A text with LF for line ends, and the way back to the text as it is.

    Parameters:
        original: the text as it is.
        text: the same with CRLF as LF.
        breaks: where in `text` the line ends stand that are CRLF.
    """

    original: str
    text: str
    breaks: tuple[int, ...] = field(repr=False)

    @classmethod
    def of(cls, text: str) -> _Folded:
        found = (match.start() - count for count, match in enumerate(re.finditer("\r\n", text)))
        return cls(text, _with_lf(text), tuple(found))

    def place(self, offset: int) -> int:
        """Where an offset of `text` lies in `original`."""
        return offset + bisect_left(self.breaks, offset)

    def line_at(self, offset: int) -> int:
        """The line of an offset of `text`, from 1."""
        return self.text.count("\n", 0, offset) + 1

    def replaced(self, places: Sequence[tuple[int, str, str]]) -> str:
        """The original with, at each (offset in `text`, old, new), new in the place of old."""
        pieces: list[str] = []
        done = 0
        for offset, old, new in places:
            before, after = _common(old, new)
            start = self.place(offset + before)
            pieces.append(self.original[done:start])
            pieces.append(self._in_style(new[before : len(new) - after], offset, len(old)))
            done = self.place(offset + len(old) - after)
        pieces.append(self.original[done:])
        return "".join(pieces)

    def _in_style(self, new: str, offset: int, length: int) -> str:
        """New text with the line ends of the place: of the match, else of most of the file."""
        if "\n" not in new:
            return new
        first = self.text.find("\n", offset, offset + length)
        if first >= 0:
            crlf = self.original[self.place(first)] == "\r"
        else:
            crlf = 2 * len(self.breaks) > self.text.count("\n")
        return new.replace("\n", "\r\n") if crlf else new


def _with_lf(text: str) -> str:
    return text.replace("\r\n", "\n")


def _occurrences(text: str, old: str, step: int) -> Iterator[int]:
    """Where it stands, from the left; the next at least `step` further."""
    start = text.find(old)
    while start >= 0:
        yield start
        start = text.find(old, start + step)


def _common(old: str, new: str) -> tuple[int, int]:
    """How many characters both have in common at the beginning, and then at the end."""
    shorter = min(len(old), len(new))
    before = next((i for i in range(shorter) if old[i] != new[i]), shorter)
    rest = shorter - before
    after = next((i for i in range(rest) if old[-1 - i] != new[-1 - i]), rest)
    return before, after


def _apply_tolerant(folded: _Folded, old: str, new: str) -> Edited:
    """Replace the lines that differ from `old` in white space only, if there is one such place."""
    lines = folded.text.split("\n")
    wanted = old.removesuffix("\n").split("\n")
    starts = _windows([_squeezed(line) for line in lines], [_squeezed(line) for line in wanted])
    shift = _shift(wanted, lines[starts[0] :]) if len(starts) == 1 else None
    if shift is None:
        raise ToolFailure(_not_found(lines, wanted, len(starts)))
    first, after = starts[0], starts[0] + len(wanted)
    ended = old.endswith("\n")
    found = "\n".join(lines[first:after]) + ("\n" if ended and after < len(lines) else "")
    if ended and not found.endswith("\n"):  # the file ends without the line end that was asked for
        new = new.removesuffix("\n")
    offset = sum(len(line) + 1 for line in lines[:first])
    return Edited(
        folded.replaced([(offset, found, shift.applied(new))]),
        (f"matched at line {first + 1} by ignoring differences in white space",),
    )


@frozen
class _Shift:
    """How much further the file's lines are indented than the model's."""

    add: str = ""
    remove: str = ""

    def applied(self, text: str) -> str:
        return "\n".join(
            self.add + line.removeprefix(self.remove) if line.strip() else line
            for line in text.split("\n")
        )


def _shift(wanted: Sequence[str], found: Sequence[str]) -> _Shift | None:
    """The one shift between all lines, or None if there is none: then nobody knows."""
    shifts = {
        _shift_of(_indent(ours), _indent(theirs))
        for ours, theirs in zip(wanted, found, strict=False)
        if ours.strip()
    }
    return shifts.pop() if len(shifts) == 1 else None


def _shift_of(ours: str, theirs: str) -> _Shift | None:
    if theirs.endswith(ours):
        return _Shift(add=theirs.removesuffix(ours))
    return _Shift(remove=ours.removesuffix(theirs)) if ours.endswith(theirs) else None


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _squeezed(line: str) -> str:
    return " ".join(line.split())


def _windows(lines: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """Where the wanted lines stand among the lines; nowhere if they say nothing."""
    if not any(wanted):
        return []
    size = len(wanted)
    return [
        start
        for start in range(len(lines) - size + 1)
        if lines[start] == wanted[0] and lines[start : start + size] == wanted
    ]


def _not_found(lines: Sequence[str], wanted: Sequence[str], loose: int) -> str:
    if loose > 1:
        return (
            f"oldString is not in the file; {loose} places are like it but for white space: "
            "copy the lines exactly as they are"
        )
    nearest = _nearest(lines, wanted)
    return "oldString is not in the file" + (
        f"; the nearest lines are\n{nearest}" if nearest else ""
    )


def _nearest(lines: Sequence[str], wanted: Sequence[str]) -> str:
    """The line that is most like the longest wanted one, numbered, with some lines around it."""
    import difflib

    probe = max((line.strip()[:_COMPARED] for line in wanted), key=len)
    compared = [line.strip()[:_COMPARED] for line in lines[:_SEARCHED]]
    close = difflib.get_close_matches(probe, set(compared), 1, 0.5) if probe else []
    if not close:
        return ""
    at = compared.index(close[0])
    first = max(0, at - _NEAREST_CONTEXT)
    around = lines[first : at + _NEAREST_CONTEXT + 1]
    return "\n".join(f"{first + n}: {shortened(line, 200)}" for n, line in enumerate(around, 1))
