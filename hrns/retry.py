"""When a failed request is made again: pure, from (attempt, error) to seconds or None."""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen

from .errors import ProviderError

__all__ = ["RetryPolicy", "delay_s"]


@frozen
class RetryPolicy:
    """How often, and how soon, a failed request is made again.

    Parameters:
        retries: how often it is made again; 0 means never.
        base_s: the longest wait before the first retry, in seconds; it doubles each time.
        cap_s: the longest wait that is chosen without the server's word, in seconds.
        limit_s: the longest wait that a server may ask for, in seconds; more is cut to this.
    """

    retries: int = 4
    base_s: float = 1.0
    cap_s: float = 16.0
    limit_s: float = 60.0


def delay_s(
    policy: RetryPolicy,
    attempt: int,
    error: ProviderError,
    chance: Callable[[], float] | None = None,
) -> float | None:
    """Seconds to wait after failed attempt *n* (from 1) before the next, or None to give up.

    Half of a wait of our own choosing is left to chance, so that many clients do not come back
    together. Honours Retry-After (RFC 9110 section 10.2.3): never sooner than the server asks,
    unless it asks for more than `limit_s`.

    Parameters:
        chance: gives numbers in [0, 1); Python's `random.random` if left out.
    """
    if not error.retryable or attempt > policy.retries:
        return None
    if chance is None:
        import random  # 13 ms that a run without a failure does not need

        chance = random.random
    backoff = min(policy.cap_s, policy.base_s * 2.0 ** min(attempt - 1, 60))
    if error.retry_after_s is None:
        return backoff * (0.5 + 0.5 * chance())
    asked = max(0.0, error.retry_after_s) + backoff * 0.25 * chance()
    return min(asked, policy.limit_s)
