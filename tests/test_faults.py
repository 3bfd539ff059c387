"""What the refusals of servers mean."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from hrns.errors import (
    AuthenticationFailed,
    ContextOverflow,
    ProviderError,
    RateLimited,
    RequestRefused,
    ServerFault,
    ToolsRefused,
)
from hrns.providers.faults import Report, fault, read_report, response_fault, retry_after_s


@pytest.mark.parametrize(
    ("body", "report"),
    [
        (
            {"error": {"message": "no", "type": "Invalid_Request", "code": "bad", "param": "x"}},
            Report("no", "bad invalid_request x"),
        ),
        ({"error": {"code": 502, "message": "limit"}}, Report("limit", "", 502)),
        ({"error": {"code": "429", "message": "m"}}, Report("m", "429", 429)),
        ({"error": "model not found"}, Report("model not found")),
        ([{"error": {"code": 400, "message": "listed"}}], Report("listed", "", 400)),
        ({"object": "error", "message": "flat", "code": 404}, Report("flat", "", 404)),
        ({"detail": "Not Found"}, Report("Not Found")),
        ({"detail": [{"loc": ["body"], "msg": "extra"}, {"msg": "b"}]}, Report("body: extra; b")),
        (
            {"type": "error", "error": {"type": "overloaded_error", "message": "O"}},
            Report("O", "overloaded_error"),
        ),
        ({"error": {"message": "up", "metadata": {"raw": "the\n cause"}}}, Report("up: the cause")),
        (
            {"error": {"message": "m", "failed_generation": "<f>"}},
            Report("m: the model wrote '<f>'"),
        ),
        ({"errors": [{"message": "first"}]}, Report("first")),
        ({}, Report("")),
        (None, Report("")),
        ("text", Report("text")),
    ],
)
def test_error_is_read_in_every_usual_shape(body: object, report: Report) -> None:
    assert read_report(body) == report


def error(message: str = "", **fields: Any) -> dict[str, Any]:
    return {"error": {"message": message, **fields}}


@pytest.mark.parametrize(
    ("status", "body", "kind", "retryable"),
    [
        (400, error("bad"), RequestRefused, False),
        (404, error("no such model"), RequestRefused, False),
        (401, error("who"), AuthenticationFailed, False),
        (403, {}, AuthenticationFailed, False),
        (408, {}, ServerFault, True),
        (429, error("slow down"), RateLimited, True),
        (429, error("Request too large for m: Limit 6, Requested 9"), ContextOverflow, False),
        (429, error("pay", code="insufficient_quota"), RateLimited, False),
        (402, error("Insufficient Balance"), RateLimited, False),
        (413, error("tokens per minute", code="rate_limit_exceeded"), RateLimited, True),
        (500, {}, ServerFault, True),
        (502, "<html><title>Bad gateway</title>", ServerFault, True),
        (503, error("Overloaded", type="overloaded_error"), RateLimited, True),
        (503, error("down"), ServerFault, True),
        (529, {}, RateLimited, True),
        (400, error("x", code="context_length_exceeded"), ContextOverflow, False),
        (400, error("prompt is too long: 226000 tokens > 200000 maximum"), ContextOverflow, False),
        (400, error("the request exceeds the available context size"), ContextOverflow, False),
        (
            400,
            error("The input token count (9) exceeds the maximum number"),
            ContextOverflow,
            False,
        ),
        (400, error("This model's maximum prompt length is 131072"), ContextOverflow, False),
        (400, error("Please reduce the length of the messages"), ContextOverflow, False),
        (422, error("Input is too long for requested model."), ContextOverflow, False),
        (400, error("exceed", type="exceed_context_size_error"), ContextOverflow, False),
        (400, error("tiny does not support tools"), ToolsRefused, False),
        (400, error('"auto" tool choice requires --enable-auto-tool-choice'), ToolsRefused, False),
        (404, error("No endpoints found that support tool use"), ToolsRefused, False),
        (400, error("Failed to call", code="tool_use_failed"), ServerFault, True),
    ],
)
def test_response_becomes_the_error_that_it_means(
    status: int, body: object, kind: type[ProviderError], retryable: bool
) -> None:
    text = body if isinstance(body, str) else json.dumps(body)
    found = response_fault(status, {"x-request-id": "r1"}, text.encode())
    assert type(found) is kind
    assert (found.retryable, found.status, found.body) == (retryable, status, text)
    assert found.request_id == "r1"


@pytest.mark.parametrize(
    ("report", "kind"),
    [
        (Report("worker limit reached", "", 502), ServerFault),
        (Report("odd"), ServerFault),
        (Report("Overloaded", "overloaded_error"), RateLimited),
        (Report("slow", "rate_limit_exceeded"), RateLimited),
        (Report("no", "invalid_request_error"), RequestRefused),
        (Report("who", "authentication_error"), AuthenticationFailed),
        (Report("long", "context_length_exceeded"), ContextOverflow),
    ],
)
def test_error_inside_a_reply_is_told_by_its_code(
    report: Report, kind: type[ProviderError]
) -> None:
    assert type(fault(report)) is kind


def test_message_says_what_the_server_said() -> None:
    found = response_fault(404, {}, b'{"error": {"message": "no model\\n called x"}}')
    assert found.message == "the request was refused (404): no model called x"
    page = response_fault(502, {}, b"<html><title>Bad\ngateway</title><p>...")
    assert page.message == "the server failed (502): Bad gateway"


def test_body_without_end_is_cut() -> None:
    found = response_fault(500, {}, b"x" * 100_000)
    assert len(found.body) == 4000
    assert len(found.message) < 700


def in_seconds(seconds: float) -> str:
    return format_datetime(datetime.now(UTC) + timedelta(seconds=seconds), usegmt=True)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "86400"}, 86_400.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "Wed, 99 Oct 2037 07:28:00 GMT"}, None),
        ({"retry-after": in_seconds(-100)}, 0.0),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after-ms": "?", "retry-after": "9"}, 9.0),
    ],
)
def test_wait_that_is_asked_for_is_read(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after_s(headers) == seconds


def test_wait_until_a_date_is_read_as_seconds() -> None:
    found = retry_after_s({"retry-after": in_seconds(100)})
    assert found is not None
    assert 95 < found <= 100
    far = retry_after_s({"retry-after": "Wed, 21 Oct 2037 07:28:00 GMT"})
    assert far is not None
    assert far > 86_400
