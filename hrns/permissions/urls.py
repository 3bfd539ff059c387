"""Patterns of URLs: `example.com`, `*.example.com`, `localhost:8000`, `https://host/path*`.

A pattern is a host, perhaps with a scheme, a port and a path. In the host and the path a `*`
stands for any text. Without a scheme, port or path, every one fits.
"""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import unquote, urlsplit

from attrs import frozen

from .text import Match, matches

__all__ = ["Url", "UrlPattern"]

_PORTS = {"http": 80, "https": 443}
_PATTERN = re.compile(
    r"(?:(?P<scheme>[a-z][a-z0-9+.-]*)://)?(?P<host>\[[^\]/]*\]|[^/:?\[\]]+)"
    r"(?::(?P<port>\d+|\*))?(?P<path>[/?].*)?",
    re.IGNORECASE | re.DOTALL,
)
_ODD = re.compile(r"[\\\s\x00-\x1f\x7f]")
# Servers do not agree what these are in a path.
_ODD_IN_PATH = re.compile(r"//|/\.{1,2}(?=[/?]|\Z)|%(?:00|23|25|2e|2f|3f|5c)", re.IGNORECASE)


@frozen
class Url:
    """A URL, taken apart. `path` is the path with the query, its escapes undone."""

    scheme: str
    host: str
    port: int
    path: str
    plain_path: bool

    @property
    def server(self) -> str:
        """The host as a pattern, with the port if that is not the usual one."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS.get(self.scheme) else f"{host}:{self.port}"

    @classmethod
    def parse(cls, text: str) -> Url | None:
        """The URL that a text is; None if it is none, or one that may be read in several ways."""
        if _ODD.search(text):
            return None
        try:
            parts = urlsplit(text)
            port = parts.port or _PORTS.get(parts.scheme, 0)
            host = _ascii(parts.hostname or "")
        except ValueError:
            return None
        if not host or not parts.scheme or "@" in parts.netloc:
            return None
        raw = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        odd = _ODD_IN_PATH.search(raw) is not None
        return cls(parts.scheme, host, port, unquote(raw), not odd)


@frozen
class UrlPattern:
    """A pattern of URLs; `host` is "" if the text is no such pattern."""

    text: str
    scheme: str = ""
    host: str = ""
    port: str = ""
    path: str = ""

    @classmethod
    def parse(cls, text: str) -> UrlPattern:
        """The pattern that a text stands for; every text is one."""
        return _parsed(text)

    def covers(self, text: str) -> bool:
        """Whether a rule that allows holds for a URL; for a text that is none, only its like."""
        url = Url.parse(text)
        if url is None:
            return self.text in ("*", text.strip())
        if not self._fits_server(url) or not _glob(self.host, url.host):
            return False
        return not self.path or (url.plain_path and _glob(self.path, url.path))

    def touches(self, text: str) -> Match:
        """Whether a rule that asks or denies holds: for what is below the host and path as well."""
        url = Url.parse(text)
        if url is None:
            return "yes" if _glob(self.text, text) else "maybe"
        hosts = (self.host, f"*.{self.host}")
        if not self._fits_server(url) or not any(_glob(host, url.host) for host in hosts):
            return "no"
        if not self.path or self._leads_to(url.path):
            return "yes"
        return "no" if url.plain_path else "maybe"

    def _fits_server(self, url: Url) -> bool:
        port = self.port or (str(_PORTS.get(self.scheme, "")) if self.scheme else "")
        return self.scheme in ("", url.scheme) and port in ("", "*", str(url.port))

    def _leads_to(self, path: str) -> bool:
        stem = self.path.rstrip("/")
        return any(_glob(each, path) for each in (self.path, f"{stem}/*", f"{stem}?*"))


@lru_cache(maxsize=512)
def _parsed(text: str) -> UrlPattern:
    match = _PATTERN.fullmatch(text)
    if match is None:
        return UrlPattern(text)
    scheme, host, port, path = (match[name] or "" for name in ("scheme", "host", "port", "path"))
    try:
        host = _ascii(host.strip("[]"))
    except ValueError:
        host = ""
    return UrlPattern(text, scheme.lower(), host, port, unquote(path))


def _ascii(host: str) -> str:
    """A host in small letters, its labels as they are looked up.

    Raises:
        ValueError: it is no host.
    """
    host = host.lower().rstrip(".")
    return host if host.isascii() else host.encode("idna").decode("ascii")


def _glob(pattern: str, text: str) -> bool:
    return matches(tuple(pattern.split("*")), text)
