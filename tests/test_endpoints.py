"""Base URLs in every form that people paste."""

from __future__ import annotations

import pytest

from hrns.errors import ConfigError
from hrns.providers.endpoints import Endpoint, guess_api, read_endpoint


@pytest.mark.parametrize(
    ("pasted", "base"),
    [
        ("https://api.openai.com", "https://api.openai.com/v1"),
        ("https://api.openai.com/", "https://api.openai.com/v1"),
        ("https://api.openai.com/v1", "https://api.openai.com/v1"),
        (" https://api.openai.com/v1// ", "https://api.openai.com/v1"),
        ("<https://API.OpenAI.com/v1>", "https://api.openai.com/v1"),
        ("HTTPS://api.openai.com/v1/chat/completions", "https://api.openai.com/v1"),
        ("https://api.openai.com/v1/chat/completions/", "https://api.openai.com/v1"),
        ("https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1"),
        ("https://host/v1beta/openai/", "https://host/v1beta/openai"),
        ("http://localhost:8080", "http://localhost:8080/v1"),
        ("http://[::1]:8080", "http://[::1]:8080/v1"),
        ("http://127.0.0.1:8080//v1", "http://127.0.0.1:8080/v1"),
    ],
)
def test_chat_endpoint_is_the_same_however_it_is_pasted(pasted: str, base: str) -> None:
    assert read_endpoint(pasted, "openai-chat") == Endpoint(base)


@pytest.mark.parametrize(
    ("api", "pasted", "base"),
    [
        ("openai-responses", "https://api.openai.com/v1/responses", "https://api.openai.com/v1"),
        ("anthropic", "https://api.anthropic.com", "https://api.anthropic.com"),
        ("anthropic", "https://api.anthropic.com/v1", "https://api.anthropic.com"),
        ("anthropic", "https://api.anthropic.com/v1/messages", "https://api.anthropic.com"),
        ("anthropic", "https://host/anthropic", "https://host/anthropic"),
        ("ollama", "http://localhost:11434/api/chat", "http://localhost:11434"),
        ("ollama", "http://localhost:11434/v1", "http://localhost:11434"),
        ("other", "http://localhost:1/x/", "http://localhost:1/x"),
    ],
)
def test_endpoint_of_each_protocol_loses_its_own_path(api: str, pasted: str, base: str) -> None:
    assert read_endpoint(pasted, api) == Endpoint(base)


def test_query_and_user_are_kept_apart_from_the_base() -> None:
    endpoint = read_endpoint("https://me:secret@host/openai?api-version=7", "openai-chat")
    assert endpoint == Endpoint("https://host/openai", "?api-version=7", "me:secret")
    assert endpoint.url("/models") == "https://host/openai/models?api-version=7"
    assert endpoint.url("/models?limit=9") == "https://host/openai/models?limit=9&api-version=7"


@pytest.mark.parametrize(
    ("pasted", "said"),
    [
        ("", "there is no URL"),
        ("localhost:8080/v1", "Write http://localhost:8080/v1"),
        ("127.0.0.1:8080", "Write http://127.0.0.1:8080"),
        ("api.openai.com/v1", "Write https://api.openai.com/v1"),
        ("ftp://host/v1", "'ftp'"),
        ("http://", "names no server"),
        ("http:///v1", "names no server"),
        ("http://::1:8080/v1", r"http://\[::1\]:8080"),
        ("http://[::1:8080/v1", "in brackets"),
        ("http://host:99999/v1", "cannot be read"),
        ("http://host:port/v1", "cannot be read"),
        ("http://my host/v1", "names no server"),
    ],
)
def test_url_that_is_none_is_refused_with_what_to_write(pasted: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        read_endpoint(pasted, "openai-chat")


def test_refusal_of_a_url_repeats_no_secret() -> None:
    for url in (
        "me:hunter2@host/v1?key=hunter2",
        "http://me:hunter2@host:x/v1?key=hunter2#hunter2",
    ):
        with pytest.raises(ConfigError) as caught:
            read_endpoint(url, "openai-chat")
        assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "api"),
    [
        ("https://api.openai.com/v1", "openai-chat"),
        ("https://api.openai.com/v1/responses", "openai-responses"),
        ("https://api.anthropic.com", "anthropic"),
        ("https://api.anthropic.com/v1/chat/completions", "openai-chat"),
        ("https://api.deepseek.com/anthropic", "anthropic"),
        ("http://localhost:8080/v1/messages", "anthropic"),
        ("http://localhost:11434", "ollama"),
        ("localhost:11434", "ollama"),
        ("http://localhost:11434/api", "ollama"),
        ("http://localhost:11434/v1", "openai-chat"),
        ("http://localhost:8080/api/chat", "ollama"),
        ("http://localhost:bad", "openai-chat"),
        ("", "openai-chat"),
    ],
)
def test_protocol_is_guessed_from_the_url(url: str, api: str) -> None:
    assert guess_api(url) == api
