"""web_fetch: a page as text."""
# ruff: noqa: N803 - models know the arguments by these names

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import closing
from queue import Empty, SimpleQueue
from typing import Annotated
from urllib.parse import urldefrag, urljoin

from attrs import frozen

from hrns.context import ToolContext
from hrns.errors import ToolFailure
from hrns.messages import ToolResult
from hrns.permissions import Access, Prepared
from hrns.tools import Tool, tool

from .addresses import Allowed, Resolve, permitted, resolve
from .webpages import SNIFF_BYTES, decoded, is_html, is_text, media_type, to_markdown
from .wire import Dial, Line, Response, Target, dial, get

__all__ = ["Fetching"]

LIMIT_S = 60.0
MAX_BYTES = 50_000
MOST_BYTES = 1_000_000
HTML_BYTES = 4_000_000
"""How much of a page is read: its text is a small part of it."""
REDIRECTS = 10
_ERROR_BYTES = 2000
_REDIRECT = {301, 302, 303, 307, 308}


@frozen
class Fetching:
    """The tool `web_fetch`.

    Parameters:
        resolver: how names become addresses.
        dialler: how an address is connected to.
    """

    resolver: Resolve = resolve
    dialler: Dial = dial

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
        job = _Job(self, Line(), _allowed(context), max(1, min(maxBytes, MOST_BYTES)), raw)
        outcomes: SimpleQueue[ToolResult | Exception | None] = SimpleQueue()

        def work() -> None:
            try:
                outcomes.put(job.result(url))
            except Exception as error:  # noqa: BLE001 - it is raised again in the tool's thread
                outcomes.put(error)

        # Looking up a name cannot be interrupted, so it happens on a thread that can be left.
        threading.Thread(target=work, name="hrns fetch", daemon=True).start()
        with context.cancel.waker(lambda: outcomes.put(None)):
            outcome = _within(outcomes, LIMIT_S)
        job.line.cut()
        context.cancel.check()
        if isinstance(outcome, ToolResult):
            return outcome
        raise outcome or ToolFailure(f"{url} took longer than {LIMIT_S:g} s")


def _within(
    outcomes: SimpleQueue[ToolResult | Exception | None], seconds: float
) -> ToolResult | Exception | None:
    try:
        return outcomes.get(timeout=seconds)
    except Empty:
        return None


def _allowed(context: ToolContext) -> Allowed:
    settings = context.session.config.get("webFetch")
    entries = settings.get("allow") if isinstance(settings, Mapping) else None
    return Allowed.parse(entries if isinstance(entries, list | tuple) else ())


@frozen
class _Job:
    """One fetch, redirects and all."""

    fetching: Fetching
    line: Line
    allowed: Allowed
    limit: int
    raw: bool

    def result(self, url: str) -> ToolResult:
        """What the model gets."""
        target, response = self._followed(Target.parse(url))
        with closing(response):
            return self._read(url, target, response)

    def _read(self, url: str, target: Target, response: Response) -> ToolResult:
        kind, charset = media_type(response.headers.get("Content-Type", ""))
        pieces = response.body()
        start = _start(pieces)
        if not is_text(kind, start):
            return _binary(target, response, kind, start)
        html = is_html(kind, start) and not self.raw
        data, cut = _collected(start, pieces, HTML_BYTES if html else self.limit)
        text = decoded(data, charset)
        if html:
            text, shortened = to_markdown(text, target.url, self.limit)
            cut = cut or shortened
        return self._answer(url, target, response, text, cut=cut)

    def _followed(self, target: Target) -> tuple[Target, Response]:
        """The answer at the end of all redirects; each hop is checked as the first was."""
        for _ in range(REDIRECTS + 1):
            addresses = permitted(target.host, target.port, self.allowed, self.fetching.resolver)
            response = get(target, addresses, self.line, self.fetching.dialler)
            location = response.headers.get("Location")
            if response.status not in _REDIRECT or not location:
                return target, response
            response.close()
            target = Target.parse(urldefrag(urljoin(target.url, location)).url)
        raise ToolFailure(f"more than {REDIRECTS} redirects, the last to {target.url}")

    def _answer(
        self, url: str, target: Target, response: Response, text: str, *, cut: bool
    ) -> ToolResult:
        failed = response.status >= 400
        limit = min(self.limit, _ERROR_BYTES) if failed else self.limit
        data = text.encode("utf-8", "replace")
        notes = [f"redirected to {target.url}"] if target.url != url else []
        if cut or len(data) > limit:
            more = "" if cut else f" of {len(data)}"
            notes.append(f"the first {min(limit, len(data))}{more} bytes are shown; see maxBytes")
        words = [f"ERROR: HTTP {response.status} {response.reason}"] if failed else []
        words.append(data[:limit].decode("utf-8", "ignore") or "[the page is empty]")
        words.extend(f"[{note}]" for note in notes)
        return ToolResult("\n".join(words), status="error" if failed else "ok")


def _start(pieces: Iterator[bytes]) -> bytes:
    """Enough of the beginning to tell what it is, if there is that much."""
    start = b""
    while len(start) < SNIFF_BYTES and (piece := next(pieces, None)) is not None:
        start += piece
    return start


def _collected(start: bytes, pieces: Iterator[bytes], limit: int) -> tuple[bytes, bool]:
    """The body up to a limit, and whether there was more."""
    data = bytearray(start)
    for piece in pieces:
        if len(data) > limit:
            break
        data += piece
    return bytes(data[:limit]), len(data) > limit


def _binary(target: Target, response: Response, kind: str, start: bytes) -> ToolResult:
    size = response.headers.get("Content-Length") or f"at least {len(start)}"
    return ToolResult(
        f"ERROR: {target.url} is binary ({kind or 'no type given'}, {size} bytes) and is not shown",
        status="error",
    )
