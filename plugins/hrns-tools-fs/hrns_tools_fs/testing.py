"""The tools as the loop calls them, in a directory of their own: for tests.

``pytest_plugins = ["hrns_tools_fs.testing"]`` in a test module brings the fixture `tools`. Who
writes another `Host` makes a `Toolbox` on it, and finds out whether every tool works there.

PYTEST_DONT_REWRITE: a test module imports it first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import define, field

from .host import Host, LocalHost
from .toolset import make_tools

__all__ = ["Toolbox", "tools"]

from hrns.context import AsItIs, Cleaner, SessionContext, ToolContext
from hrns.errors import ToolFailure
from hrns.messages import ToolResult
from hrns.permissions import Access, Prepared, Verdict
from hrns.tools import Tool


@define(eq=False, slots=False)
class Toolbox:
    """The tools of one session; called with a tool's name and arguments it gives the text.

    Parameters:
        session: what the tools are told of it.
        host: the machine.
        shown: the pieces of output that people saw.
        judge: what permission policies say of what a call finds on its way.
        cleaner: gives what takes secrets out of what a command prints.
    """

    session: SessionContext
    host: Host = field(factory=LocalHost)
    shown: list[str] = field(factory=list)
    judge: Callable[[Access], Verdict] = field(default=lambda _: Verdict("allow"))
    cleaner: Callable[[], Cleaner] = AsItIs

    def __attrs_post_init__(self) -> None:
        self.tools: dict[str, Tool] = {tool.name: tool for tool in make_tools(self.host)}

    def context(self) -> ToolContext:
        """What a tool is given."""
        cancel = self.session.cancel
        show = self.shown.append
        return ToolContext("call", self.session, cancel, show, self.judge, self.cleaner)

    def prepare(self, name: str, **arguments: Any) -> Prepared:
        """What a call would touch."""
        tool = self.tools[name]
        prepared = tool.prepare(tool.structure(arguments), self.context())
        assert isinstance(prepared, Prepared)  # noqa: S101 - these tools answer when they run
        return prepared

    def result(self, name: str, **arguments: Any) -> ToolResult:
        """What the model gets; a failure is told with `ERROR:` before it."""
        tool = self.tools[name]
        structured = tool.structure(arguments)
        try:
            tool.prepare(structured, self.context())
            return tool.run(structured, self.context())
        except ToolFailure as failure:
            return ToolResult(f"ERROR: {failure}", status="error")

    def __call__(self, name: str, **arguments: Any) -> str:
        """The text that the model gets."""
        return self.result(name, **arguments).text

    def file(self, name: str, data: bytes | str) -> Path:
        """A file in the working directory."""
        path = self.session.cwd / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        return path


@pytest.fixture
def tools(tmp_path: Path) -> Iterator[Toolbox]:
    """The tools of a session in `tmp_path`; what still runs in the end is stopped."""
    toolbox = Toolbox(SessionContext(cwd=tmp_path))
    yield toolbox
    toolbox.session.cancel.set("the test is over")
