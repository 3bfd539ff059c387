"""Searching, in a process of its own: `rg` where there is one, else the same in Python.

So a search can be stopped at any moment, even within an expression that would take for ever, and
it takes nothing from the threads of this process. Both engines write lines of one form::

    path NUL number ":" text      a match
    path NUL number "-" text      a line near one
"""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue

from attrs import asdict, define, frozen

from hrns.cancel import Cancel
from hrns.errors import ToolFailure

from .globs import Glob
from .host import Command, Host
from .texts import decode

__all__ = ["Line", "Query", "as_json", "from_json", "search"]

LIMIT_S = 30.0
_RG_COLUMNS = 4096
_FAULT_LINES = 12
_FAULTY = 2
"""The exit status of an engine that cannot work, or not with every file."""
_INSTALLED = Path(__file__).with_name("installed.ignore")
"""Rules that count for less than those of git."""
_GAP = b"--"
_BINARY = b"binary file matches"
_LINE = re.compile(rb"(?s)(?:\./)?([^\0]+)\0(\d+)([:-])(.*)")


@frozen
class Query:
    """What is searched for.

    Parameters:
        pattern: a regular expression, or plain text if `literal`.
        root: the directory, or the one that `file` is in.
        file: the one file to search, or "" for all that `glob` matches.
        glob: relative to `root`.
        context: lines before and after each match.
        ignore_case: whether `a` is `A`.
        literal: whether the pattern is plain text.
        inherits: whether directories above have a say in what is ignored.
        is_top: whether `root` is the top of a repository.
    """

    pattern: str
    root: Path
    file: str
    glob: Glob
    context: int
    ignore_case: bool
    literal: bool
    inherits: bool
    is_top: bool


@frozen
class Line:
    """A line of a file. `path` is relative to the query's root; `number` is from 1."""

    path: str
    number: int
    is_match: bool
    text: str


def search(query: Query, host: Host, cancel: Cancel, take: Callable[[Line], bool]) -> bool:
    """Give each line to `take`, in the order of the files, until it returns False.

    Returns whether there was time for all of it.

    Raises:
        ToolFailure: the pattern is none.
        Cancelled: the flag is raised.
    """
    faults: list[str] = []
    for arguments in _engines(query, host):
        run = _Run(host.start(arguments, query.root), query, host, take)
        in_time = run.within(LIMIT_S, cancel)
        cancel.check()
        if not run.fault:
            return in_time
        faults.append(run.fault)
    raise ToolFailure(f"the pattern cannot be used: {faults[-1] if faults else 'no engine'}")


def _engines(query: Query, host: Host) -> Iterator[Sequence[str]]:
    """The engines to try: `rg` knows no look-around, so what it refuses is tried in Python."""
    if program := host.program("rg"):
        yield _rg_arguments(program, query)
    if python := host.python():
        yield [python, "-P", "-W", "ignore", "-m", f"{__package__}.searcher", as_json(query)]


def _rg_arguments(program: str, query: Query) -> list[str]:
    name = query.glob.parts[-1]
    return [
        program,
        "--no-config",
        "--no-messages",
        "--no-heading",
        "--with-filename",
        "--line-number",
        "--null",
        "--color=never",
        "--sort=path",
        "--crlf",
        f"--max-columns={_RG_COLUMNS}",
        "--max-columns-preview",
        f"--context={query.context}",
        "--no-ignore-dot",
        "--no-ignore-global",
        f"--ignore-file={_INSTALLED}",
        *([] if query.inherits else ["--no-ignore-parent"]),
        # Without a repository there are rules as well; with this flag rg knows no repository.
        *([] if query.inherits or query.is_top else ["--no-require-git"]),
        # A --glob would override what is ignored; a type does not, but knows names only.
        *([] if query.file or name == "*" else [f"--type-add=wanted:{name}", "--type=wanted"]),
        *(["--hidden", "--glob=!.git"] if query.glob.names_hidden else []),
        *(["--ignore-case"] if query.ignore_case else []),
        *(["--fixed-strings"] if query.literal else []),
        f"--regexp={query.pattern}",
        "--",
        query.file or ".",
    ]


def as_json(query: Query) -> str:
    """The query as an argument of our own engine."""
    fields = asdict(query, recurse=False)
    return json.dumps({**fields, "root": str(query.root), "glob": query.glob.parts})


def from_json(text: str) -> Query:
    """The query that `as_json` wrote."""
    fields = json.loads(text)
    return Query(**{**fields, "root": Path(fields["root"]), "glob": Glob(tuple(fields["glob"]))})


@define(eq=False)
class _Run:
    """One engine at work.

    Parameters:
        fault: why it could not work at all, as it says, or "".
    """

    command: Command
    query: Query
    host: Host
    take: Callable[[Line], bool]
    fault: str = ""

    def within(self, seconds: float, cancel: Cancel) -> bool:
        """Read it to its end, or as far as `take` wants; whether it was not stopped before."""
        stop: SimpleQueue[bool] = SimpleQueue()
        stopped: list[bool] = []

        def guard() -> None:
            with suppress(Empty):
                if stop.get(timeout=seconds):
                    return
            stopped.append(True)
            self.command.end(0)

        threading.Thread(target=guard, name="hrns search", daemon=True).start()
        with cancel.waker(lambda: stop.put(False)):
            try:
                self._read()
            finally:
                stop.put(True)
                self.command.close_output()
                self.command.reap()
        return not stopped

    def _read(self) -> None:
        messages: list[bytes] = []
        before: list[bytes] = []
        for raw in _lines(self.command):
            if found := _LINE.fullmatch(raw):
                path, *rest = found.groups()
                if not self._give(self._whole_path(before, path), *rest):
                    self.command.end(0)
                    return
                before = []
            elif raw != _GAP and _BINARY not in raw:
                before = [*before, raw][-_FAULT_LINES:]
                messages.extend([raw] if len(messages) < _FAULT_LINES else [])
        if self.command.wait() == _FAULTY and messages:
            self.fault = b"\n".join(messages).decode("utf-8", "replace").strip()

    def _whole_path(self, before: Sequence[bytes], end: bytes) -> str:
        """The path that ends a line; one with line ends in it begins in the lines before."""
        for start in range(len(before)):
            path = os.fsdecode(b"\n".join([*before[start:], end]).removeprefix(b"./"))
            if self.host.info(self.query.root / path) is not None:
                return path
        return os.fsdecode(end)

    def _give(self, name: str, number: bytes, sign: bytes, text: bytes) -> bool:
        if not self.query.file and not self.query.glob.matches(name):
            return True
        decoded = decode(text.removesuffix(b"\r"))
        return self.take(Line(name, int(number), sign == b":", decoded.shown if decoded else ""))


def _lines(command: Command) -> Iterator[bytes]:
    rest = b""
    while piece := command.read():
        *lines, rest = (rest + piece).split(b"\n")
        yield from lines
    if rest:
        yield rest
