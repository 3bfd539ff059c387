"""web_fetch: a page as text."""
# ruff: noqa: N803 - models know the arguments by these names

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Annotated

from attrs import frozen

from hrns.context import ToolContext
from hrns.errors import ToolFailure
from hrns.messages import ToolResult
from hrns.permissions import Access, Prepared
from hrns.tools import Tool, tool

if TYPE_CHECKING:
    from .addresses import Resolve
    from .fetch import Fetch
    from .wire import Dial

__all__ = ["Fetching"]

LIMIT_S = 60.0
MAX_BYTES = 50_000
MOST_BYTES = 1_000_000


@frozen
class Fetching:
    """The tool `web_fetch`.

    Parameters:
        resolver: how names become addresses, if not by the system.
        dialler: how an address is connected to, if not by the system.
    """

    resolver: Resolve | None = None
    dialler: Dial | None = None

    def tools(self) -> list[Tool]:
        """The tools to register."""
        made = tool(effects=["network"], parallel_safe=True, prepare=self.prepare)
        return [made(self.web_fetch)]

    def prepare(
        self,
        url: str,
        context: ToolContext,  # noqa: ARG002
        maxBytes: int = MAX_BYTES,  # noqa: ARG002
        raw: bool = False,  # noqa: ARG002
    ) -> Prepared:
        """Which URL would be fetched."""
        return Prepared([Access("network", url)], title=f"web_fetch {url}")

    def web_fetch(
        self,
        url: str,
        context: ToolContext,
        maxBytes: Annotated[int, "of the answer"] = MAX_BYTES,
        raw: Annotated[bool, "HTML as it is, not as Markdown"] = False,
    ) -> ToolResult:
        """Get a web page or a text from a http(s) URL; HTML comes as Markdown."""
        fetch = self._fetch(url, context, max(1, min(maxBytes, MOST_BYTES)), raw=raw)
        outcomes: SimpleQueue[ToolResult | Exception | None] = SimpleQueue()

        def work() -> None:
            try:
                outcomes.put(fetch.result(url))
            except Exception as error:  # noqa: BLE001 - it is raised again in the tool's thread
                outcomes.put(error)

        # Looking up a name cannot be interrupted, so it happens on a thread that can be left.
        threading.Thread(target=work, name="hrns fetch", daemon=True).start()
        outcome = None
        with context.cancel.waker(lambda: outcomes.put(None)), suppress(Empty):
            outcome = outcomes.get(timeout=LIMIT_S)
        fetch.line.cut()
        context.cancel.check()
        if isinstance(outcome, ToolResult):
            return outcome
        raise outcome or ToolFailure(f"{url} took longer than {LIMIT_S:g} s")

    def _fetch(self, url: str, context: ToolContext, limit: int, *, raw: bool) -> Fetch:
        from .addresses import Allowed, resolve
        from .fetch import Fetch
        from .grants import Grant
        from .wire import dial

        settings = context.session.config.get("webFetch")
        entries = settings.get("allow") if isinstance(settings, Mapping) else None
        allowed = Allowed.parse(entries if isinstance(entries, list | tuple) else ())
        grant = Grant.of(context.judge, Access("network", url))
        return Fetch(self.resolver or resolve, self.dialler or dial, allowed, grant, limit, raw)
