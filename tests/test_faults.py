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


# What servers say, each in words of its own


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (422, "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000"),
        (422, "`inputs` must have less than 4095 tokens. Given: 9000"),
        (400, "the input token count is 36866 but model only supports up to 32768"),
        (400, "prompt token count of 128557 exceeds the limit of 128000"),
        (400, "Prompt exceeds max length"),
        (400, "Range of input length should be [1, 98304]"),
        (400, "The decoder prompt (length 40000) is longer than the maximum model length"),
        (400, "Prompt length (9000) exceeds maximum input length (8192)"),
        (400, "the number of input tokens 5000 cannot exceed the total tokens limit 4096"),
        (400, "Input length 140000 exceeds the maximum length 131072"),
        (400, "Total tokens of image and text exceed max message tokens"),
        (400, "Input tokens exceed the configured limit of 272000 tokens."),
        (400, "The sum of prompt length (4096) and max_tokens should not exceed max_seq_len"),
        (413, "Request body too large for the model. Max size: 8000 tokens."),
        (400, "Please reduce the length of either one, or compress"),
        (400, "string too long. Expected a string with maximum length 1048576"),
        (0, "This request exceeds the maximum allowed tokens of 8192"),
    ],
)
def test_conversation_that_is_too_long_is_known_in_any_words(status: int, message: str) -> None:
    assert type(fault(Report(message), status=status)) is ContextOverflow


@pytest.mark.parametrize(
    "message",
    [
        "max_tokens is too large: 50000. This model supports at most 16384 completion tokens",
        "image exceeds 5 MB maximum: 5316852 bytes > 5242880 bytes",
        "tool_calls[0].id: string too long. Expected a string with maximum length 40",
        "this request exceeds the rate limit of 10 per minute",
        "Too many tokens, please wait before trying again.",
    ],
)
def test_other_things_may_be_too_long(message: str) -> None:
    assert type(fault(Report(message), status=400)) is not ContextOverflow


@pytest.mark.parametrize(
    ("status", "report"),
    [
        (429, Report("Your account is suspended", "exceeded_current_quota_error")),
        (429, Report("Insufficient balance or no resource package. Please recharge.", "1113")),
        (429, Report("\u4f59\u989d\u4e0d\u8db3", "1113")),
        (429, Report("the team has used all available credits")),
        (429, Report("Rate limit exceeded: free-models-per-day")),
        (429, Report("The limit is reached", "usage_limit_reached")),
        (400, Report("Your credit balance is too low to access the API.")),
        (0, Report("You exceeded your current quota", "insufficient_quota")),
    ],
)
def test_quota_that_is_used_up_is_not_asked_for_again(status: int, report: Report) -> None:
    error = fault(report, status=status)
    assert (type(error), error.retryable) == (RateLimited, False)


def quota(name: str) -> bytes:
    violation = {"violations": [{"quotaId": name}]}
    details = [
        violation,
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "38s"},
    ]
    body = {"code": 429, "message": "Quota exceeded", "details": details}
    return json.dumps([{"error": body}]).encode()


def test_quota_of_a_minute_is_waited_for_and_that_of_a_day_is_not() -> None:
    minute = response_fault(429, {}, quota("RequestsPerMinutePerProject"))
    assert (minute.retryable, minute.retry_after_s) == (True, 38.0)
    assert response_fault(429, {}, quota("RequestsPerDayPerProject")).retryable is False


@pytest.mark.parametrize(
    ("message", "seconds"),
    [
        ("Please try again in 6m0.5s. Visit", 360.5),
        ("Please try again in 20ms.", 0.02),
        ("Please retry after 26 seconds.", 26.0),
        ("Please try again later.", None),
    ],
)
def test_wait_is_read_in_the_message_where_no_header_tells_it(
    message: str, seconds: float | None
) -> None:
    body = json.dumps(error(message)).encode()
    assert response_fault(429, {}, body).retry_after_s == seconds
    assert response_fault(429, {"retry-after": "3"}, body).retry_after_s == 3.0


@pytest.mark.parametrize(("text", "seconds"), [("2s", 2.0), ("500ms", 0.5), ("1m30s", 90.0)])
def test_wait_of_a_header_may_have_a_unit(text: str, seconds: float) -> None:
    assert retry_after_s({"retry-after": text}) == seconds


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "API key not valid. Please pass a valid API key."),
        (400, "Incorrect API key provided"),
        (500, "gateway.AuthenticationError: no such key"),
    ],
)
def test_wrong_key_is_known_whatever_the_status(status: int, message: str) -> None:
    assert type(fault(Report(message), status=status)) is AuthenticationFailed


@pytest.mark.parametrize(
    ("status", "report", "kind"),
    [
        (498, Report("capacity exceeded"), RateLimited),
        (400, Report("Rate limit", "rate_limit_error"), RateLimited),
        (0, Report("Too many tokens, please wait", "throttlingexception"), RateLimited),
    ],
)
def test_load_is_known_whatever_the_status(
    status: int, report: Report, kind: type[ProviderError]
) -> None:
    found = fault(report, status=status)
    assert (type(found), found.retryable) == (kind, True)


@pytest.mark.parametrize(
    ("body", "report"),
    [
        (
            {"detail": [{"loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]},
            Report("body.seed: Extra inputs are not permitted"),
        ),
        (
            error('{"error": {"code": 400, "message": "inner", "status": "INVALID"}}', code=500),
            Report("inner", "invalid", 400),
        ),
        (error("{no JSON}"), Report("{no JSON}")),
        ({"error": True, "message": "it broke"}, Report("it broke")),
        ({"error": "refused", "error_description": "why"}, Report("refused: why")),
        ({"Message": "not allowed"}, Report("not allowed")),
        ({"title": "Bad thing", "status": 400}, Report("Bad thing", "", 400)),
        ({"base_resp": {"status_code": 1004, "status_msg": "who"}}, Report("who")),
    ],
)
def test_error_is_read_in_less_usual_shapes(body: object, report: Report) -> None:
    assert read_report(body) == report
