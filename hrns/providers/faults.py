"""What a server's refusals mean: from status, headers and body to one of our errors."""

from __future__ import annotations

import json
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

_HOLDERS = ("error", "errors", "base_resp")
"""The fields that hold an error."""

_MESSAGES = (
    *("message", "detail", "msg", "error", "error_msg", "errorMsg", "status_msg"),
    *("Message", "title", "reason"),
)
"""The fields of an error that say what is wrong, the best first."""

_OVERFLOW = "|".join(
    (
        r"context[ _](length|window|size)|exceed_context|maximum (context|prompt) length",
        (
            r"(prompt|input|request( body| entity)?|conversation|messages?)( tokens)?"
            r"( is| are)? too (long|large)"
        ),
        r"request_too_large|prompt_too_long|tokens_limit_reached|max_total_tokens",
        r"reduce the length of (the (messages|prompt|input)|either one)",
        (
            r"\b(prompt|input (length|tokens?)|input token count|number of (input )?tokens"
            r"|token count|total tokens)\b.{0,90}\bexceeds?\b.{0,40}(max|limit|\d)"
        ),
        r"exceeds?.{0,30}(maximum|max) (number of (input )?|allowed )tokens",
        r"exceed\w* (model token|context) limit|input token count.{0,80}only supports",
        r"inputs?\b.{0,40}must (be <=|have less than) \d|prompt.{0,40}longer than the max",
        r"range of input length|max input characters|larger than the maximum context",
        r"too many (input )?tokens(?!.{0,20}wait)|more tokens than the (model|context)",
        r"string too long.{0,60}maximum length \d{6}",
    )
)
"""How servers say that a conversation is too long."""

_SPENT = (
    r"insufficient (balance|credit|funds)|credit balance is too low|(used|out of) .{0,20}credits"
    r"|spending limit|recharge|per[- _]?day(?!.*again in)|usage limit|good standing|suspended"
    r"|\u4f59\u989d\u4e0d\u8db3|\u6b20\u8d39"
)
"""How they say that it is money or the day's share that is used up; Chinese ones too."""

_WRONG_KEY = (
    r"(incorrect|invalid) api[- _]?key|api[- _]?key (is )?(not valid|invalid)|AuthenticationError"
)
_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600}
_TIME = r"(?:\d+(?:\.\d+)?\s*(?:ms|seconds?|s|m|h)\s*)+"
_TRY_AGAIN = rf"(?:try again|retry) (?:in|after) ({_TIME})"
_DELAY = rf'"retryDelay"\s*:\s*"({_TIME})"'

_NO_TOOLS = (
    r"(does not|doesn't|do not|not) support (tools?\b|tool[ _]?(use|call)|function)"
    r"(?!.{0,9}without)"  # which is about a conversation with calls where none is offered
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
    error = next((value[name] for name in _HOLDERS if value.get(name)), None)
    if isinstance(error, list):
        error = error[0] if error else None
    if isinstance(error, dict):
        return _read_error(error)
    if isinstance(error, str):
        more = value.get("error_description")
        said = f"{error}: {_flat(more)}" if more else error
        return Report(_flat(said), _words(value), _status(value))
    return _read_error(value)


def _read_error(error: Mapping[str, Any]) -> Report:
    said = next((error[name] for name in _MESSAGES if error.get(name)), "")
    if inner := _inner(said):
        report = _read_error(inner)
        return Report(report.message, report.code or _words(error), report.status or _status(error))
    message = _flat(said) if said else ""
    metadata = error.get("metadata")
    raw = metadata.get("raw") if isinstance(metadata, dict) else None
    failed = error.get("failed_generation")
    for more in (raw, failed and f"the model wrote {_flat(failed)!r}"):
        if more:
            message = f"{message}: {_flat(more)}" if message else _flat(more)
    return Report(message, _words(error), _status(error))


def _inner(said: object) -> Mapping[str, Any] | None:
    """The error of the server behind a gateway, where its JSON is the gateway's message."""
    if not (isinstance(said, str) and said.lstrip()[:1] in ("{", "[")):
        return None
    try:
        value = loads(said.encode("utf-8", "surrogatepass"))
    except ValueError:
        return None
    value = value[0] if isinstance(value, list) and value else value
    error = value.get("error") if isinstance(value, dict) else None
    return error if isinstance(error, dict) else None


def _words(error: Mapping[str, Any]) -> str:
    values = [error.get(name) for name in ("code", "type", "status", "param", "__type")]
    values += re.findall(r'"quotaId": ?"(\w+)"', json.dumps(error.get("details")))
    return " ".join(value.lower() for value in values if isinstance(value, str))


def _status(error: Mapping[str, Any]) -> int:
    for name in ("code", "status", "status_code", "StatusCode"):
        value = error.get(name)
        if isinstance(value, str) and value.isdecimal():
            value = int(value[:9])
        if isinstance(value, int) and 400 <= value <= 599:
            return value
    return 0


def _flat(value: Any) -> str:
    """A value as one line of text, cut to a sane length."""
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        value = "; ".join(map(_complaint, value))
    text = value if isinstance(value, str) else compact(value)
    text = " ".join(text.split())
    return text if len(text) <= _MESSAGE_LIMIT else f"{text[:_MESSAGE_LIMIT]}..."


def _complaint(item: Mapping[str, Any]) -> str:
    """One entry of a list of complaints, with the field that it is about."""
    place = ".".join(map(str, item["loc"])) if isinstance(item.get("loc"), list) else ""
    said = _flat(item.get("msg") or item)
    return f"{place}: {said}" if place and item.get("msg") else said


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
        retry_after_s=_wait_s(headers, report.message, body),
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


def _says(pattern: str) -> Callable[[int, Report], bool]:
    return lambda _status, report: bool(re.search(pattern, report.message, re.IGNORECASE))


_limited = _has("rate_limit", "overloaded", "too_many_requests", "resource_exhausted", "throttl")
_broke = _has(
    *("insufficient_quota", "billing", "insufficient_balance", "credit", "usage_limit"),
    *("current_quota", "arrearage", "perday"),
)
_spent = _says(_SPENT)
_has_wrong_key = _says(_WRONG_KEY)
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
    (
        lambda s, r: s in (0, 400, 429) and (_broke(s, r) or _spent(s, r)),
        (RateLimited, "the quota is used up", False),
    ),
    (lambda s, r: s in (0, 400, 500) and _has_wrong_key(s, r), _UNKNOWN_KEY),
    (_is(429, 498, 529), _BUSY),
    (lambda s, r: s in (0, 400, 413, 500, 503) and _limited(s, r), _BUSY),
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
    if seconds is None and re.fullmatch(_TIME, text):
        seconds = _duration(text)
    return seconds if seconds is not None else _seconds_until(text)


def _wait_s(headers: Mapping[str, str], message: str, body: str) -> float | None:
    """Seconds to wait by the headers, or else by the words of the error."""
    asked = retry_after_s(headers)
    if asked is not None:
        return asked
    told = re.search(_DELAY, body) or re.search(_TRY_AGAIN, message, re.IGNORECASE)
    return _duration(told[1]) if told else None


def _duration(text: str) -> float | None:
    """Seconds of a time such as `6m0.5s`, `20ms`, `38s` or `26 seconds`; None if it is none."""
    pieces = re.findall(r"(\d+(?:\.\d+)?)\s*(ms|h|m|s)", text, re.IGNORECASE)
    if not pieces:
        return None
    return float(sum(float(count) * _SECONDS[unit.lower()] for count, unit in pieces))


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
