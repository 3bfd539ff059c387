"""What a server's refusals mean: from status, headers and body to one of our errors."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

from ..errors import (
    AuthenticationFailed,
    ContextOverflow,
    ProviderError,
    RateLimited,
    RequestRefused,
    ServerFault,
    ToolsRefused,
)
from .jsontext import compact, loads

__all__ = ["Report", "fault", "read_report", "response_fault", "retry_after_s"]

_BODY_LIMIT = 4000
_MESSAGE_LIMIT = 600

_OVERFLOW = (
    r"context[ _](length|window|size)|exceed_context|maximum (context|prompt) length"
    r"|(prompt|input|request|conversation|messages?)( is| are)? too (long|large)"
    r"|reduce the length of the (messages|prompt|input)"
    r"|input token count.{0,40} exceeds|exceeds?.{0,30}(maximum|max) number of (input )?tokens"
    r"|exceed\w* (model token|context) limit|request_too_large"
    r"|too many (input )?tokens|larger than the maximum context"
    r"|more tokens than the (model|context)"
)
_NO_TOOLS = (
    r"(does not|doesn't|do not|not) support (tools?\b|tool[ _]?(use|call)|function)"
    r"|tool choice requires --enable-auto-tool-choice|tools param requires --jinja"
    r"|(tools?|functions?) (is|are) not supported|no endpoints found that support tool use"
    r"|(unsupported|unknown|unrecognized)[^.]{0,40}['\"`]tools['\"`]"
)


class Report(NamedTuple):
    """What an error body says.

    Parameters:
        message: for people, "" if there is none.
        code: the server's words for the kind of error, joined by spaces, in lower case.
        status: an HTTP status that the body names, or 0.
    """

    message: str
    code: str = ""
    status: int = 0


def read_report(value: Any) -> Report:
    """What a JSON value says as an error, in any of the usual shapes."""
    if isinstance(value, list) and value:
        return read_report(value[0])
    if not isinstance(value, dict):
        return Report(_flat(value) if value else "")
    error = value.get("error") or value.get("errors")
    if isinstance(error, list):
        error = error[0] if error else None
    if isinstance(error, dict):
        return _read_error(error)
    if error:
        return Report(_flat(error), _words(value), _status(value))
    return _read_error(value)


def _read_error(error: Mapping[str, Any]) -> Report:
    said = [error.get("message"), error.get("detail"), error.get("msg"), error.get("error")]
    message = next((_flat(text) for text in said if text), "")
    metadata = error.get("metadata")
    raw = metadata.get("raw") if isinstance(metadata, dict) else None
    failed = error.get("failed_generation")
    for more in (raw, failed and f"the model wrote {_flat(failed)!r}"):
        if more:
            message = f"{message}: {_flat(more)}" if message else _flat(more)
    return Report(message, _words(error), _status(error))


def _words(error: Mapping[str, Any]) -> str:
    values = (error.get(name) for name in ("code", "type", "status", "param"))
    return " ".join(value.lower() for value in values if isinstance(value, str))


def _status(error: Mapping[str, Any]) -> int:
    for name in ("code", "status", "status_code"):
        value = error.get(name)
        if isinstance(value, str) and value.isdecimal():
            value = int(value[:9])
        if isinstance(value, int) and 400 <= value <= 599:
            return value
    return 0


def _flat(value: Any) -> str:
    """A value as one line of text, cut to a sane length."""
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        value = "; ".join(_flat(item.get("msg") or item) for item in value)
    text = value if isinstance(value, str) else compact(value)
    text = " ".join(text.split())
    return text if len(text) <= _MESSAGE_LIMIT else f"{text[:_MESSAGE_LIMIT]}..."


def fault(
    report: Report,
    *,
    status: int = 0,
    headers: Mapping[str, str] | None = None,
    body: str = "",
) -> ProviderError:
    """The error that a report stands for.

    Parameters:
        status: the HTTP status, or 0 for an error inside a reply.
        headers: of the response, by lower-case name.
        body: what the server said, whole.
    """
    headers = headers or {}
    number = status or report.status
    kind, said, retryable = next(found for when, found in _KINDS if when(number, report))
    message = f"{said} ({number})" if number else said
    return kind(
        f"{message}: {report.message}" if report.message else message,
        status=number,
        body=body[:_BODY_LIMIT],
        request_id=headers.get("x-request-id") or headers.get("request-id", ""),
        retry_after_s=retry_after_s(headers),
        retryable=retryable,
    )


def _has(*words: str) -> Callable[[int, Report], bool]:
    return lambda _status, report: any(word in report.code for word in words)


def _overflows(status: int, report: Report) -> bool:
    if status == 429:  # more tokens at once than are allowed in a minute: no wait will help
        return "request too large" in report.message.lower()
    if status not in (0, 400, 413, 422, 500):
        return False
    return any(re.search(_OVERFLOW, text, re.IGNORECASE) for text in (report.code, report.message))


def _takes_no_tools(status: int, report: Report) -> bool:
    if status not in (400, 404, 422, 500, 501):
        return False
    return bool(re.search(_NO_TOOLS, report.message, re.IGNORECASE))


def _is(*statuses: int) -> Callable[[int, Report], bool]:
    return lambda status, _report: status in statuses


_limited = _has("rate_limit", "overloaded", "too_many_requests", "resource_exhausted")
_broke = _has("insufficient_quota", "billing", "insufficient_balance", "credit")
_unknown = _has("authentication", "permission", "invalid_api_key", "unauthorized")
_refused = _has("invalid_request", "invalid_argument", "not_found", "bad_request")

_BUSY = (RateLimited, "the server is overloaded or was asked too often", None)
_FAILED = (ServerFault, "the server failed", None)
_UNKNOWN_KEY = (AuthenticationFailed, "the key was not accepted", None)

_Kind: TypeAlias = tuple[type[ProviderError], str, bool | None]
"""The class, what it is called for people, and whether a retry helps where that is special."""

_KINDS: tuple[tuple[Callable[[int, Report], bool], _Kind], ...] = (
    (_has("tool_use_failed"), (ServerFault, "the model wrote a call that is none", True)),
    (_overflows, (ContextOverflow, "the conversation is too long for the model", None)),
    (_takes_no_tools, (ToolsRefused, "the model or its server takes no tools", None)),
    (_is(401), _UNKNOWN_KEY),
    (_is(403), (AuthenticationFailed, "the server does not allow this", None)),
    (_is(402), (RateLimited, "the account has no credit left", False)),
    (lambda s, r: s in (0, 429) and _broke(s, r), (RateLimited, "the quota is used up", False)),
    (_is(429, 529), _BUSY),
    (lambda s, r: s in (0, 413, 500, 503) and _limited(s, r), _BUSY),
    (_is(408, 409, 425), (ServerFault, "the server could not do it just now", None)),
    (lambda s, _r: s >= 500, _FAILED),
    (lambda s, r: not s and _unknown(s, r), _UNKNOWN_KEY),
    (lambda s, r: not s and not _refused(s, r), _FAILED),
    (lambda _s, _r: True, (RequestRefused, "the request was refused", None)),
)


def response_fault(status: int, headers: Mapping[str, str], body: bytes) -> ProviderError:
    """The error that an HTTP response stands for."""
    text = body.decode("utf-8", "replace")
    try:
        report = read_report(loads(body))
    except ValueError:
        report = Report(_flat(_title(text)))
    return fault(report, status=status, headers=headers, body=text)


def _title(text: str) -> str:
    """The title of a web page, or the text itself."""
    found = re.search(r"<title[^>]*>(.*?)</title>", text, re.IGNORECASE | re.DOTALL)
    return found[1] if found else text


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Seconds that the server asks to wait, or None (RFC 9110 section 10.2.3).

    A time in the past is 0; what is neither a number nor a date is None.
    """
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    text = headers.get("retry-after", "").strip()
    if not text:
        return None
    seconds = _number(text)
    return seconds if seconds is not None else _seconds_until(text)


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return max(0.0, value) if math.isfinite(value) else None


def _seconds_until(date: str) -> float | None:
    from datetime import UTC, datetime
    from email.utils import parsedate_to_datetime

    try:
        moment = parsedate_to_datetime(date)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())
