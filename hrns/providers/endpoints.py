"""Base URLs as people paste them, and which protocol is spoken there."""

from __future__ import annotations

import re
from urllib.parse import SplitResult, urlsplit

from attrs import frozen

from ..errors import ConfigError

__all__ = ["Endpoint", "guess_api", "read_endpoint"]

_TAILS = {
    "openai-chat": ("/chat/completions", "/completions", "/models"),
    "openai-responses": ("/responses", "/models"),
    "anthropic": ("/v1/messages", "/messages", "/v1/models", "/v1"),
    "ollama": ("/api/chat", "/api/tags", "/api/generate", "/api", "/v1"),
}
"""What is cut off the end of a pasted URL: the codec puts its own paths there."""

_DEFAULT_PATHS = {"openai-chat": "/v1", "openai-responses": "/v1"}
"""The path of a URL that has none."""


@frozen
class Endpoint:
    """A server, ready for paths to be added.

    Parameters:
        base: the base URL without user, query and a slash at the end.
        query: what stands behind each path, "?" included, or "".
        user: `name:password` of the URL, or "".
    """

    base: str
    query: str = ""
    user: str = ""

    def url(self, path: str) -> str:
        """The URL of a path that begins with a slash, and may have a query of its own."""
        more = self.query.replace("?", "&", 1) if "?" in path else self.query
        return f"{self.base}{path}{more}"


def read_endpoint(url: str, api: str) -> Endpoint:
    """The endpoint that a pasted URL means.

    With or without `/v1`, with a path of the protocol such as `/chat/completions` at its end, a
    slash, a query: all mean the same server.

    Raises:
        ConfigError: it is no URL of a server; a user or query in it is not repeated.
    """
    parts = _split(url.strip().strip("<>\"'"))
    path = re.sub("/{2,}", "/", parts.path).rstrip("/")
    for tail in _TAILS.get(api, ()):
        if path.lower().endswith(tail):
            path = path[: -len(tail)].rstrip("/")
            break
    user, _, place = parts.netloc.rpartition("@")
    base = f"{parts.scheme.lower()}://{place.lower()}{path or _DEFAULT_PATHS.get(api, '')}"
    return Endpoint(base, f"?{parts.query}" if parts.query else "", user)


def _split(url: str) -> SplitResult:
    if not url:
        raise ConfigError("there is no URL", hint="Give one such as https://api.openai.com/v1.")
    scheme, mark, rest = url.partition("://")
    if not mark:
        shown = _without_secrets(url)
        local = re.match(r"(localhost|127\.|\[?::1|0\.0\.0\.0|10\.|192\.168\.)", url)
        raise ConfigError(
            f"the URL {shown!r} has no scheme",
            hint=f"Write {'http' if local else 'https'}://{shown}",
        )
    if scheme.lower() not in ("http", "https"):
        raise ConfigError(
            f"the URL begins with {scheme!r}, which is not spoken here",
            hint="Begin it with http:// or https://.",
        )
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ConfigError(
            f"the URL {_without_secrets(url)!r} cannot be read: {error}",
            hint="An IPv6 address stands in brackets: http://[::1]:8080.",
        ) from None
    if not parts.hostname or port == 0 or re.search(r"\s", rest):
        raise ConfigError(
            f"the URL {_without_secrets(url)!r} names no server",
            hint="Give one such as http://localhost:8080/v1.",
        )
    if parts.netloc.count(":") > 1 and "[" not in parts.netloc and "@" not in parts.netloc:
        raise ConfigError(
            f"the URL {_without_secrets(url)!r} has an IPv6 address without brackets",
            hint="Write it as http://[::1]:8080.",
        )
    return parts


def _without_secrets(url: str) -> str:
    """The URL as it may be shown: neither user nor query nor fragment."""
    scheme, mark, rest = url.rpartition("://")
    place, slash, path = rest.partition("/")
    place = place.rpartition("@")[2]
    return f"{scheme}{mark}{place}{slash}{path}".partition("?")[0].partition("#")[0]


def guess_api(url: str) -> str:
    """The protocol that is most likely spoken at a URL: the host, port and path tell."""
    parts = urlsplit(url if "://" in url else f"http://{url}")
    path = parts.path.rstrip("/").lower()
    host = (parts.hostname or "").lower()
    if path.endswith("/responses"):
        return "openai-responses"
    if path.endswith("/chat/completions"):
        return "openai-chat"
    if host.endswith("anthropic.com") or path.endswith("/messages") or "/anthropic" in path:
        return "anthropic"
    if path.endswith(("/api/chat", "/api/generate", "/api/tags")):
        return "ollama"
    if (_port(parts) == 11434 or host.endswith("ollama.com")) and path in ("", "/api"):
        return "ollama"
    return "openai-chat"


def _port(parts: SplitResult) -> int | None:
    try:
        return parts.port
    except ValueError:
        return None
