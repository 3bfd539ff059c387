"""A provider that is a codec and a server: requests go out, deltas come in.

What is peculiar to servers rather than to protocols is dealt with here: refusals that can be
worked around, a stream that is complete but never closed, a web page in place of a reply, and
errors that repeat the key.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from .._version import __version__
from ..cancel import Cancel
from ..errors import BrokenStream, ConfigError, ProviderError, RequestRefused, UsageError
from ..transport import Response, Transport
from .base import (
    Codec,
    Delta,
    Finish,
    HttpRequest,
    ModelInfo,
    ModelRequest,
    ProviderNotice,
)
from .endpoints import Endpoint, guess_api, read_endpoint

__all__ = ["APIS", "HttpProvider", "build", "guess_api"]

APIS = ("openai-chat", "openai-responses", "anthropic", "ollama")
"""The protocols that `build` knows."""

GRACE_S = 1.0
"""How long the end of a stream is waited for when the reply is complete: usage may still come."""

_CHANGES = 8
"""How often a request is written differently before a refusal is final."""

_ERROR_LIMIT_BYTES = 64 * 1024
_LIST_LIMIT_BYTES = 16 * 1024 * 1024
_ERROR_WAIT_S = 10.0


class HttpProvider:
    """Answers requests over HTTP.

    Parameters:
        codec: the protocol.
        endpoint: the server.
        key: the key, or "".
        headers: headers of each request, on top of all others.
        transport: how the server is reached.
    """

    def __init__(
        self,
        codec: Codec,
        endpoint: Endpoint,
        *,
        key: str = "",
        headers: Mapping[str, str] | None = None,
        transport: Transport | None = None,
    ) -> None:
        self.codec = codec
        self._endpoint = endpoint
        self._key = _checked_key(key)
        self._headers = _headers(codec.api, endpoint, self._key, headers or {})
        self._transport = transport or Transport()

    def __repr__(self) -> str:
        return f"HttpProvider({self.api!r}, {self.endpoint!r})"

    @property
    def api(self) -> str:
        """The protocol that is spoken."""
        return self.codec.api

    @property
    def endpoint(self) -> str:
        """The base URL, without user and query."""
        return self._endpoint.base

    def reply(self, request: ModelRequest, cancel: Cancel) -> Iterator[Delta]:
        """The reply as deltas; the last is `Finish`, anything else raises.

        Raises:
            UsageError: no model is named, or there is no message; nothing was sent.
            ProviderError: the other side, or the way to it, failed.
            ConfigError: the URL, a header or the proxy cannot be used.
            Cancelled: `cancel` was set; promptly, also while waiting for the other side.
        """
        if not request.model:
            raise UsageError("no model is named", hint="Name one, as in Loop(..., model=...).")
        if not request.messages:
            raise UsageError("there is no message to answer")
        notices: list[Delta] = []
        response = self._answer(request, cancel, notices)
        decoder = self.codec.decoder(request.messages)
        begun = finished = False
        try:
            yield from notices
            for block in response.blocks():
                if finished:
                    continue  # read to the end, so that the connection can be kept
                deltas = decoder.feed(block)
                begun = begun or bool(deltas)
                yield from deltas
                if decoder.finishing:
                    finished = bool(deltas) and isinstance(deltas[-1], Finish)
                    response.end_within(GRACE_S)
            if not finished:
                yield from decoder.end()
        except ProviderError as error:
            yield from decoder.left  # shown however the server cuts its stream into packets
            if _is_page(response) and not begun and isinstance(error, BrokenStream):
                raise self._page(response) from error
            raise self._without_key(error) from error.__cause__
        finally:
            response.close()

    def models(self) -> Sequence[ModelInfo]:
        """The models on offer.

        Raises:
            ProviderError: they could not be listed.
            ConfigError: the URL, a header or the proxy cannot be used.
        """
        response = self._open(self.codec.models_request(), Cancel())
        try:
            if not _is_reply(response):
                raise self._refusal(response)
            return self.codec.read_models(response.read(_LIST_LIMIT_BYTES))
        except ProviderError as error:
            raise self._without_key(error) from error.__cause__
        finally:
            response.close()

    def close(self) -> None:
        """Close the connections that are not in use."""
        self._transport.close()

    def _answer(self, request: ModelRequest, cancel: Cancel, notices: list[Delta]) -> Response:
        """A response whose body is a reply. What was changed to get it is told in `notices`."""
        for change in range(_CHANGES + 1):
            response = self._open(self.codec.encode(request, endpoint=self.endpoint), cancel)
            if _is_answer(response):  # also if it is called a page: some call their streams so
                break
            try:
                refusal = self._refusal(response)
            finally:
                response.close()
            said = self.codec.adapt(refusal, request) if change < _CHANGES else None
            if said is None:
                raise self._without_key(refusal)
            notices.append(ProviderNotice(f"{response.place}: {said}."))
        return response

    def _open(self, request: HttpRequest, cancel: Cancel) -> Response:
        return self._transport.open(
            request.method,
            self._endpoint.url(request.path),
            headers=_merged(request.headers, self._headers),
            body=request.body,
            cancel=cancel,
        )

    def _refusal(self, response: Response) -> ProviderError:
        """The error that a response stands for which is no reply."""
        if 300 <= response.status < 400:
            target = response.headers.get("location", "").partition("?")[0]
            return RequestRefused(
                f"{response.place} moved to {target or 'somewhere else'} ({response.status})",
                hint="Redirects are not followed. Put the new base URL into the configuration.",
                status=response.status,
            )
        if _is_page(response) and (response.status < 300 or response.status in (404, 405)):
            return self._page(response)
        response.end_within(_ERROR_WAIT_S)
        body = response.read(_ERROR_LIMIT_BYTES)
        error = self.codec.error(response.status, response.headers, body)
        error.message = f"{response.place}: {error.message}"
        error.hint = error.hint or self._hint(response.status)
        return error

    def _page(self, response: Response) -> RequestRefused:
        return RequestRefused(
            f"{self.endpoint} answers with a web page",
            hint="Is the base URL right? Most end in /v1.",
            status=response.status,
        )

    def _hint(self, status: int) -> str:
        if status == 401 and not any(name.lower() in _OF_KEYS for name, _ in self._headers):
            return "No key was given; the server wants one as the key of this provider."
        return _HINTS.get(status, "")

    def _without_key(self, error: ProviderError) -> ProviderError:
        """The same error, without the key in case that the server repeats it."""
        for secret in (self._key, self._endpoint.user):
            if len(secret) > 3:
                error.message = error.message.replace(secret, "[key]")
                error.hint = error.hint.replace(secret, "[key]")
                error.body = error.body.replace(secret, "[key]")
        error.args = (error.message,)
        return error


_OF_KEYS = ("authorization", "x-api-key", "api-key")

_HINTS = {
    401: "Look at the key of this provider.",
    403: "Look at the key of this provider, and at what it may do.",
    404: "Look at the model's name, and at the base URL: most end in /v1.",
    405: "Look at the base URL: most end in /v1.",
}


def _is_reply(response: Response) -> bool:
    return _is_answer(response) and not _is_page(response)


def _is_answer(response: Response) -> bool:
    return 200 <= response.status < 300 and response.status != 204


def _is_page(response: Response) -> bool:
    return response.headers.get("content-type", "").startswith("text/html")


def _checked_key(key: str) -> str:
    key = key.strip()
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ConfigError(
            "the key has characters that no key has",
            hint="Paste it again; it is one word of ASCII.",
        )
    return key


def _headers(
    api: str, endpoint: Endpoint, key: str, own: Mapping[str, str]
) -> tuple[tuple[str, str], ...]:
    """The headers of each request: who we are, the key, and what the configuration adds."""
    headers = [("User-Agent", f"hrns/{__version__}")]
    if api == "anthropic":
        headers += [("anthropic-version", "2023-06-01")]
        headers += [("x-api-key", key)] if key else []
    if key and not (api == "anthropic" and endpoint.base.endswith("anthropic.com")):
        headers += [("Authorization", f"Bearer {key}")]
    elif endpoint.user and not key:
        from base64 import b64encode
        from urllib.parse import unquote

        user = b64encode(unquote(endpoint.user).encode()).decode()
        headers += [("Authorization", f"Basic {user}")]
    return _merged(headers, own.items())


def _merged(
    first: Sequence[tuple[str, str]], then: Iterable[tuple[str, str]]
) -> tuple[tuple[str, str], ...]:
    """Headers in which a later one takes the place of an earlier one of its name."""
    named = {name.lower(): (name, value) for name, value in (*first, *then)}
    return tuple(named.values())


def build(
    *,
    url: str,
    key: str = "",
    api: str = "openai-chat",
    headers: Mapping[str, str] | None = None,
    skip_verify: bool = False,
    ca_file: str = "",
    connect_s: float = 15.0,
    idle_s: float = 300.0,
) -> HttpProvider:
    """The provider that these plain values describe.

    Parameters:
        url: the base URL, in any usual form.
        key: the key itself, or "".
        api: one of `APIS`.
        headers: headers of each request.
        skip_verify: whether TLS certificates are not checked.
        ca_file: a file of certificate authorities to trust as well, or "".
        connect_s: the most seconds that connecting may take.
        idle_s: the most seconds without a byte from the server.

    Raises:
        ConfigError: the URL, the key or the api is none.
    """
    return HttpProvider(
        _codec(api),
        read_endpoint(url, api),
        key=key,
        headers=headers,
        transport=Transport(
            verify=not skip_verify, ca_file=ca_file, connect_s=connect_s, idle_s=idle_s
        ),
    )


def _codec(api: str) -> Codec:
    match api:
        case "openai-chat":
            from .openai_chat import OpenAIChat

            return OpenAIChat()
        case "openai-responses":
            from .openai_responses import OpenAIResponses

            return OpenAIResponses()
        case "anthropic":
            from .anthropic import Anthropic

            return Anthropic()
        case "ollama":
            from .ollama import Ollama

            return Ollama()
        case _:
            raise ConfigError(f"there is no protocol {api!r}", hint=f"There are {', '.join(APIS)}.")
