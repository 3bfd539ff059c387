"""One fetch: from the URL, over redirects, to the text."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from urllib.parse import urldefrag, urljoin

from attrs import Factory, frozen

from hrns.errors import ToolFailure
from hrns.messages import ToolResult
from hrns.permissions import Access
from hrns.proxies import proxy_for

from .addresses import Allowed, Resolve, check
from .grants import Grant
from .webpages import SNIFF_BYTES, decoded, is_html, is_text, media_type, to_markdown
from .wire import Dial, Line, Proxy, Response, Target, get

__all__ = ["Fetch"]

HTML_BYTES = 4_000_000
"""How much of a page is read: its text is a small part of it."""
REDIRECTS = 10
_ERROR_BYTES = 2000
_REDIRECT = {301, 302, 303, 307, 308}


@frozen
class Fetch:
    """One fetch, redirects and all.

    Parameters:
        resolver: how names become addresses.
        dialler: how an address is connected to.
        allowed: where it may go besides public addresses.
        grant: where else it may be led.
        limit: bytes of the answer.
        raw: whether HTML stays as it is.
        line: what is under way.
    """

    resolver: Resolve
    dialler: Dial
    allowed: Allowed
    grant: Grant
    limit: int
    raw: bool
    line: Line = Factory(Line)

    def result(self, url: str) -> ToolResult:
        """What the model gets."""
        target, response = self._followed(Target.parse(url.strip()))
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
            proxied = proxy_for(target.url)
            proxy = Proxy.parse(proxied) if proxied else None
            addresses = self._addresses(target, proxy)
            response = get(target, addresses, self.line, self.dialler, proxy)
            location = response.headers.get("Location")
            if response.status not in _REDIRECT or not location:
                return target, response
            response.close()
            target = self._led(target, location)
        raise ToolFailure(f"more than {REDIRECTS} redirects, the last to {target.url}")

    def _led(self, target: Target, location: str) -> Target:
        """Where a redirect leads, if the call may go there."""
        try:
            url = urldefrag(urljoin(target.url, location)).url
        except ValueError as error:
            raise ToolFailure(f"{target.url} redirects to no URL: {location[:200]!r}") from error
        led = Target.parse(url)
        refusal = self.grant.refusal(Access("network", led.url))
        if refusal is None:
            return led
        if refusal.decision == "deny":
            raise ToolFailure(f"{target.url} redirects to {led.url}: {refusal.reason}")
        raise ToolFailure(
            f"{target.url} redirects to {led.url}, which was not allowed with it; "
            "fetch that URL itself if it is what you need"
        )

    def _addresses(self, target: Target, proxy: Proxy | None) -> list[str]:
        """Where the target is; a name that only the proxy knows is the proxy's business."""
        try:
            addresses = self.resolver(target.host, target.port)
        except (OSError, UnicodeError) as error:
            if proxy is None:
                raise ToolFailure(f"the host {target.host} is not known: {error}") from error
            return []
        check(target.host, addresses, self.allowed)
        return list(addresses)

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
