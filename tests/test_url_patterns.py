"""Patterns of URLs in rules."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hrns.permissions.text import Match
from hrns.permissions.urls import Url, UrlPattern


def covers(pattern: str, url: str) -> bool:
    return UrlPattern.parse(pattern).covers(url)


def touches(pattern: str, url: str) -> Match:
    return UrlPattern.parse(pattern).touches(url)


@pytest.mark.parametrize(
    ("pattern", "url"),
    [
        ("example.com", "https://example.com"),
        ("example.com", "http://example.com:8080/a?b#c"),
        ("EXAMPLE.com", "https://Example.COM./"),
        ("*.example.com", "https://a.b.example.com/x"),
        ("*", "https://anything.example/"),
        ("localhost:8000", "http://localhost:8000/x"),
        ("localhost:*", "http://localhost:1/x"),
        ("example.com:443", "https://example.com/"),
        ("https://example.com", "https://example.com/any/path"),
        ("https://example.com", "https://example.com:443/"),
        ("https://example.com:8443", "https://example.com:8443/"),
        ("example.com/docs/*", "http://example.com/docs/a/b?c=d"),
        ("https://example.com/docs*", "https://example.com/docs"),
        ("https://example.com/docs*", "https://example.com/docs/a"),
        ("https://*.example.com/v?/*", "https://a.example.com/v?/x"),
        ("https://example.com/a b", "https://example.com/a%20b"),
        ("https://example.com/caf%C3%A9", "https://example.com/café"),
        ("bücher.example", "https://xn--bcher-kva.example/"),
        ("xn--bcher-kva.example", "https://BÜCHER.example/"),
        ("[::1]:80", "http://[::1]/"),
        ("127.0.0.1", "http://127.0.0.1:9/"),
    ],
)
def test_pattern_fits(pattern: str, url: str) -> None:
    assert (covers(pattern, url), touches(pattern, url)) == (True, "yes")


@pytest.mark.parametrize(
    ("pattern", "url"),
    [
        ("example.com", "https://example.com.evil.net/"),
        ("example.com", "https://evilexample.com/"),
        ("example.com", "https://evil.net/example.com"),
        ("example.com", "https://evil.net/?https://example.com"),
        ("*.example.com", "https://example.com/"),
        ("*.example.com", "https://evil.net/.example.com"),
        ("localhost:8000", "http://localhost:8001/"),
        ("https://example.com", "http://example.com/"),
        ("https://example.com", "https://example.com:8443/"),
        ("example.com/docs/*", "https://example.com/other"),
        ("example.com/docs/*", "https://example.com/x/docs/a"),
        ("https://example.com/docs", "https://example.com/documents"),
        ("http://", "http://example.com/"),
        ("[oops", "http://oops/"),
    ],
)
def test_pattern_does_not_fit(pattern: str, url: str) -> None:
    assert (covers(pattern, url), touches(pattern, url)) == (False, "no")


@pytest.mark.parametrize(
    ("pattern", "url"),
    [
        ("example.com", "https://www.example.com/"),
        ("https://example.com/admin", "https://example.com/admin/users"),
        ("https://example.com/admin", "https://example.com/admin?x=1"),
        ("https://example.com/admin/", "https://example.com/admin/users"),
    ],
)
def test_rule_that_denies_holds_below_a_host_and_a_path(pattern: str, url: str) -> None:
    assert (covers(pattern, url), touches(pattern, url)) == (False, "yes")


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.net\\@example.com/",
        "https://example.com@evil.net/",
        "https://user:pass@example.com/",
        "https://example.com\t.evil.net/",
        "https://exa mple.com/",
        "https://example.com:port/",
        "https:///example.com",
        "https://[example.com/",
        "example.com/",
        "//example.com/",
        f"https://{'ü' * 70}.example.com/",
    ],
)
def test_url_that_may_be_read_in_two_ways_is_not_allowed_and_perhaps_denied(url: str) -> None:
    assert (covers("example.com", url), touches("example.com", url)) == (False, "maybe")
    assert covers("*", url)
    assert covers(url, url)


@pytest.mark.parametrize(
    "path",
    [
        "docs/../admin",
        "docs/./a",
        "docs//a",
        "docs/%2e%2e/a",
        "docs/a%2fb",
        "docs/a%5cb",
        "docs/%00",
    ],
)
def test_path_that_servers_read_in_two_ways_is_not_allowed(path: str) -> None:
    url = f"https://example.com/{path}"
    assert not covers("example.com/docs/*", url)
    assert covers("example.com", url)
    assert touches("example.com/admin", url) == "maybe"


@given(st.from_regex(r"https?://[a-z0-9.-]{1,20}(:[0-9]{1,5})?(/[ -~]{0,20})?", fullmatch=True))
def test_server_of_a_url_covers_it(text: str) -> None:
    url = Url.parse(text)
    if url is not None:
        assert covers(url.server, text)
        assert not covers(f"x{url.server}", text)


@given(st.text(max_size=30), st.text(max_size=30))
def test_any_text_is_a_pattern_and_may_be_a_url(pattern: str, text: str) -> None:
    for url in (text, f"http://{text}", f"http://h/{text}"):
        assert not covers(pattern, url) or touches(pattern, url) == "yes"
