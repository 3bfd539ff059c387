"""Our own search engine, for machines without `rg`: see `engines.py`, which starts it.

It takes the query as its argument and writes what it finds to standard output.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from typing import BinaryIO

from hrns.cancel import Cancel

from .brackets import plain_brackets
from .engines import Query, from_json
from .host import Host, LocalHost
from .texts import decode
from .walking import Walk

BLOCK_BYTES = 8 * 1024 * 1024
"""Files are searched in blocks of whole lines of about this size."""

FIRST_BLOCK_BYTES = 64 * 1024
LINE_CHARACTERS = 4096

_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_NEEDS_LINES = re.compile(r"\\[AZ]|\(\?")
"""What may match in a line and not in a text of many lines."""


def main() -> int:
    """Search; 0 if something was found, 1 if nothing, 2 if the pattern is none."""
    query = from_json(sys.argv[1])
    try:
        finder = _Finder(query)
    except re.error as error:
        print(f"{error} in {query.pattern!r}")  # noqa: T201 - how an engine tells
        return 2
    host, found = LocalHost(), False
    for path in _paths(host, query):
        for line in _matching(host, query, path, finder):
            found = True
            sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
    return 0 if found else 1


def _paths(host: Host, query: Query) -> Iterator[str]:
    if query.file:
        yield query.file
        return
    for found in Walk(host, query.root, query.glob, Cancel(), float("inf")):
        if found.entry.kind == "file":
            yield found.path


def _matching(host: Host, query: Query, path: str, finder: _Finder) -> Iterator[bytes]:
    """The lines to show of a file, as an engine writes them; none of a binary one."""
    before = 0
    name = path.encode("utf-8", "surrogateescape")
    try:
        with host.open(query.root / path) as file:
            for text in _blocks(file):
                lines = text.removesuffix("\n").split("\n")
                for number, sign in _with_context(finder.hits(text, lines), query.context, lines):
                    line = lines[number][:LINE_CHARACTERS].encode("utf-8", "replace")
                    yield b"%b\0%d%b%b\n" % (name, before + number + 1, sign, line)
                before += len(lines)
    except OSError:
        return


def _blocks(file: BinaryIO) -> Iterator[str]:
    """The file's text in blocks of whole lines, line ends as LF; it ends where it is no text."""
    size = FIRST_BLOCK_BYTES  # most files are small, and room for a large block costs time
    while data := file.read(size):
        wide = size == FIRST_BLOCK_BYTES and data[:2] in _UTF16
        data += file.read(BLOCK_BYTES) if wide else file.readline(BLOCK_BYTES)
        size = BLOCK_BYTES
        decoded = decode(data) if wide or b"\0" not in data else None
        if decoded is None:
            return
        yield decoded.shown


class _Finder:
    """The pattern, ready to be looked for in one line after the other."""

    def __init__(self, query: Query) -> None:
        source = re.escape(query.pattern) if query.literal else plain_brackets(query.pattern)
        flags = re.IGNORECASE if query.ignore_case else 0
        self._in_line = re.compile(source, flags).search
        self._in_text = re.compile(source, flags | re.MULTILINE).search
        self._at_once = query.literal or _NEEDS_LINES.search(source) is None

    def hits(self, text: str, lines: Sequence[str]) -> list[int]:
        """The indices of the lines that match."""
        if self._at_once and self._in_text(text) is None:
            return []  # most files: one look instead of one a line
        return [number for number, line in enumerate(lines) if self._in_line(line)]


def _with_context(
    hits: Sequence[int], context: int, lines: Sequence[str]
) -> Iterator[tuple[int, bytes]]:
    """The indices of the matches and of the lines near them, each once and in order."""
    matching = set(hits)
    done = 0
    for hit in hits:
        for number in range(max(done, hit - context), min(len(lines), hit + context + 1)):
            yield number, b":" if number in matching else b"-"
        done = max(done, hit + context + 1)


if __name__ == "__main__":
    sys.exit(main())
