"""search_files: lines by pattern."""
# ruff: noqa: N803 - models know the arguments by these names

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Annotated

from attrs import Factory, define, frozen

from hrns.context import ToolContext
from hrns.errors import ToolFailure
from hrns.permissions import Access, Prepared
from hrns.tools import Tool, tool

from .host import Host
from .pages import shortened

if TYPE_CHECKING:
    from .engines import Line, Query
    from .grants import Grant
    from .scopes import Scope

__all__ = ["Searching"]

SHOWN = 100
SHOWN_BYTES = 40 * 1024
LINE_CHARACTERS = 300
PATTERN_CHARACTERS = 10_000
MOST_CONTEXT = 20
_AROUND_LINE = 8


@frozen
class Searching:
    """The tool `search_files` on a host."""

    host: Host

    def tools(self) -> list[Tool]:
        """The tools to register."""
        made = tool(effects=["read"], parallel_safe=True, prepare=self.prepare)
        return [made(self.search_files)]

    def prepare(
        self,
        pattern: str,
        call: ToolContext,
        *,
        dir: str = ".",  # noqa: A002
        glob: str = "",
        context: int = 0,  # noqa: ARG002
        ignoreCase: bool = False,  # noqa: ARG002
        literal: bool = False,  # noqa: ARG002
        limit: int = SHOWN,  # noqa: ARG002
    ) -> Prepared:
        """Which directory would be searched."""
        root = self._scope(dir, glob, call).root
        return Prepared([Access("read", str(root))], title=f"search_files {pattern} in {dir}")

    def search_files(
        self,
        pattern: Annotated[str, "regular expression"],
        call: ToolContext,
        *,
        dir: Annotated[str, "or one file"] = ".",  # noqa: A002
        glob: Annotated[str, "which files, such as *.py"] = "",
        context: Annotated[int, "lines around each match"] = 0,
        ignoreCase: bool = False,
        literal: Annotated[bool, "pattern is plain text"] = False,
        limit: Annotated[int, "how many matches"] = SHOWN,
    ) -> str:
        """Find the lines that match a pattern in files below a directory, with their numbers."""
        from .engines import Query, search
        from .grants import Grant
        from .ignores import Ignores, is_top

        if not 0 < len(pattern) <= PATTERN_CHARACTERS:
            raise ToolFailure("the pattern is too long" if pattern else "the pattern is empty")
        scope = self._scope(dir, glob, call)
        info = self.host.info(scope.place.path)
        one_file = info is not None and info.kind == "file"
        if not one_file:
            scope.check(self.host)
        query = Query(
            pattern=pattern,
            root=scope.place.path.parent if one_file else scope.root,
            file=scope.place.path.name if one_file else "",
            glob=scope.glob,
            context=max(0, min(context, MOST_CONTEXT)),
            ignore_case=ignoreCase,
            literal=literal,
            inherits=bool(Ignores.above(self.host, scope.root).rules),
            is_top=is_top(self.host, scope.root),
        )
        grant = Grant.of(call.judge, Access("read", str(scope.root)))
        found = _Found(query, grant, _shown_root(scope, query), max(1, limit))
        there = one_file or scope.is_there(self.host)
        in_time = not there or search(query, self.host, call.cancel, found.take)
        return found.words(in_time=in_time)

    def _scope(self, directory: str, glob: str, call: ToolContext) -> Scope:
        """A glob without a slash is meant at any depth."""
        from .scopes import Scope

        pattern = glob if "/" in glob else f"**/{glob or '*'}"
        return Scope.of(directory, pattern, call.cwd, self.host)


def _shown_root(scope: Scope, query: Query) -> str:
    """What stands before the paths: a file is shown as it was named."""
    return scope.place.shown.removesuffix(query.file) if query.file else scope.prefix


@define(eq=False)
class _Found:
    """What was found so far.

    Parameters:
        query: what is searched for.
        grant: what may be read of what is found.
        prefix: what stands before the paths.
        limit: how many matches are shown.
        kept_back: by path, whether a file with matches may not be read.
    """

    query: Query
    grant: Grant
    prefix: str
    limit: int
    kept_back: dict[str, bool] = Factory(dict)
    lines: list[Line] = Factory(list)
    matches: int = 0
    room: int = SHOWN_BYTES
    full: bool = False

    def take(self, line: Line) -> bool:
        """One more line; whether another is wanted."""
        if self._is_kept_back(line.path):
            return True
        self.room -= len(shortened(line.text, LINE_CHARACTERS).encode("utf-8", "replace"))
        new_file = not self.lines or line.path != self.lines[-1].path
        self.room -= _AROUND_LINE + (len(self.prefix) + len(line.path) if new_file else 0)
        self.full = self.room < 0 or (line.is_match and self.matches == self.limit)
        if not self.full:
            self.matches += line.is_match
            self.lines.append(line)
        return not self.full

    def _is_kept_back(self, path: str) -> bool:
        if path not in self.kept_back:
            access = Access("read", str(self.query.root / path))
            self.kept_back[path] = self.grant.refusal(access) is not None
        return self.kept_back[path]

    def words(self, *, in_time: bool) -> str:
        """The lines under their files, and what is missing."""
        blocks = [
            self.prefix + path + "\n" + "\n".join(_numbered(lines, gaps=self.query.context > 0))
            for path, lines in groupby(self.lines, key=lambda line: line.path)
        ]
        notes = []
        if self.full:
            notes.append(f"the first {self.matches} matches; there are more: narrow the search")
        if not in_time:
            notes.append("it took too long and was stopped: name a smaller dir")
        if kept_back := sum(self.kept_back.values()):
            files = "1 file" if kept_back == 1 else f"{kept_back} files"
            notes.append(f"left out: {files} that may not be read, by a permission rule")
        elif not self.matches and in_time:
            notes.append("no match; hidden and ignored files are searched only if they are named")
        return "\n\n".join([*blocks, *(f"[{note}]" for note in notes)])


def _numbered(lines: Iterable[Line], *, gaps: bool) -> Iterator[str]:
    """`12:` before a match, `13-` before a line near one, `--` for a gap if those are marked."""
    last = 0
    for line in lines:
        if gaps and 0 < last < line.number - 1:
            yield "--"
        last = line.number
        sign = ":" if line.is_match else "-"
        yield f"{line.number}{sign} {shortened(line.text, LINE_CHARACTERS)}"
