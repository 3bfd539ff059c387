"""When a failed request is made again."""

from __future__ import annotations

import pytest

from hrns.errors import (
    AuthenticationFailed,
    ContextOverflow,
    ProviderError,
    RateLimited,
    RequestRefused,
    ServerFault,
    Unreachable,
)
from hrns.retry import RetryPolicy, delay_s


def highest() -> float:
    return 1.0


def lowest() -> float:
    return 0.0


def test_nothing_configured_retries() -> None:
    assert delay_s(RetryPolicy(), 1, RateLimited("busy")) is not None


def test_zero_retries_is_never() -> None:
    assert delay_s(RetryPolicy(retries=0), 1, RateLimited("busy")) is None


def test_waits_double_up_to_the_cap_and_then_it_gives_up() -> None:
    policy = RetryPolicy(retries=4, base_s=1, cap_s=3)
    fault = ServerFault("down")
    assert [delay_s(policy, n, fault, highest) for n in range(1, 7)] == [1, 2, 3, 3, None, None]
    assert [delay_s(policy, n, fault, lowest) for n in range(1, 5)] == [0.5, 1, 1.5, 1.5]


def test_attempts_without_number_do_not_overflow() -> None:
    assert delay_s(RetryPolicy(retries=10**9), 10**6, ServerFault("down"), highest) == 16


@pytest.mark.parametrize(
    ("asked", "waited"), [(0.0, 0.0), (2.0, 2.0), (86_400.0, 60.0), (-5.0, 0.0), (4e9, 60.0)]
)
def test_wait_that_the_server_asks_for_is_kept_up_to_the_limit(asked: float, waited: float) -> None:
    fault = RateLimited("busy", retry_after_s=asked)
    assert delay_s(RetryPolicy(), 1, fault, lowest) == waited


def test_wait_that_the_server_asks_for_is_never_cut_short_by_chance() -> None:
    fault = ServerFault("down", retry_after_s=2.0)
    assert delay_s(RetryPolicy(base_s=1), 1, fault, highest) == 2.25


@pytest.mark.parametrize(
    "error",
    [
        AuthenticationFailed("who"),
        RequestRefused("no"),
        ContextOverflow("long"),
        ProviderError("odd"),
        Unreachable("certificate", retryable=False),
    ],
)
def test_what_no_retry_helps_is_given_up_at_once(error: ProviderError) -> None:
    assert delay_s(RetryPolicy(), 1, error) is None
