"""What a name or URL stands for, and waiting for an answer."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from hrns.config import Config, ProviderConfig
from hrns.connecting import (
    api_of,
    ask_a_word,
    checked_name,
    entry_for,
    full_url,
    list_models,
    name_for,
    within,
)
from hrns.errors import AuthenticationFailed, ConfigError, RequestRefused, Unreachable, UsageError
from hrns.plugins import Plugins, hookimpl
from hrns.providers.http import build
from hrns.records import ProviderKind
from hrns.testing import Fail, LoopbackServer, Say, ScriptedProvider, json_answer

HOME = ProviderConfig("home", "http://h/v1", key="k", model="m")
CONFIG = Config(Path("config.json"), providers={"home": HOME})


@pytest.mark.parametrize(
    ("name", "environ", "entry"),
    [
        ("home", {}, HOME),
        ("nope", {}, None),
        (
            "groq",
            {},
            ProviderConfig("groq", "https://api.groq.com/openai/v1", key="$GROQ_API_KEY"),
        ),
        ("ollama", {}, ProviderConfig("ollama", "http://127.0.0.1:11434", api="ollama")),
        (
            "ollama",
            {"OLLAMA_HOST": "box"},
            ProviderConfig("ollama", "http://box:11434", api="ollama"),
        ),
    ],
)
def test_name_stands_for_what_is_configured_or_known(
    name: str, environ: dict[str, str], entry: ProviderConfig | None
) -> None:
    assert entry_for(name, CONFIG, environ) == entry


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://api.openai.com/v1", "openai"),
        ("https://api.groq.com/openai/v1/", "groq"),
        ("http://localhost:8080/v1", "local"),
        ("http://[::1]:8080", "local"),
        ("http://10.1.2.3:8000/v1", "10.1.2.3"),
        ("https://llm.work.example/v1", "example"),
        ("https://api.example.com", "example"),
        ("https://home", "home-2"),
    ],
)
def test_provider_is_named_for_its_host(url: str, name: str) -> None:
    assert name_for(url, ["home"]) == name


@pytest.mark.parametrize(
    ("text", "url"),
    [
        (" https://h/v1 ", "https://h/v1"),
        ("127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("localhost:1234/v1", "http://localhost:1234/v1"),
        ("localhost", "http://localhost"),
        ("[::1]:8080", "http://[::1]:8080"),
        ("0.0.0.0:11434", "http://0.0.0.0:11434"),
        ("192.168.1.5/v1", "http://192.168.1.5/v1"),
        ("100.64.0.1:8000", "http://100.64.0.1:8000"),
        ("box:8080", "http://box:8080"),
        ("llm.lan/v1", "http://llm.lan/v1"),
        ("api.example.com/v1", "https://api.example.com/v1"),
        ("me:pw@api.example.com", "https://me:pw@api.example.com"),
        ("8.8.8.8:8080", "https://8.8.8.8:8080"),
        ("", ""),
    ],
)
def test_url_without_a_scheme_gets_one(text: str, url: str) -> None:
    assert full_url(text) == url


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("?", "A URL is such as"),
        ("what now.", "A URL is such as"),
        (":8080", "A URL is such as"),
        ("[::1", "A URL is such as"),
        ("opnai", "Did you mean openai?"),
    ],
)
def test_text_that_is_no_url_is_refused(text: str, hint: str) -> None:
    with pytest.raises(ConfigError, match="neither a known name nor a URL") as caught:
        full_url(text)
    assert hint in caught.value.hint


def test_password_of_what_is_no_url_is_not_shown() -> None:
    with pytest.raises(ConfigError) as caught:
        full_url("me:hunter2@a b")
    assert "hunter2" not in str(caught.value)


def test_name_of_a_provider_is_one_word() -> None:
    assert [checked_name(name) for name in ("home", "a.b-2", "x/y")] == ["home", "a.b-2", "x/y"]
    for name in ("", "?", "my box", "-x", "a\nb"):
        with pytest.raises(UsageError):
            checked_name(name)


@pytest.mark.parametrize(
    ("path", "api", "hint"),
    [
        ("/foo", "openai-chat", "The base path /foo is probably wrong: most end in /v1, such as"),
        ("/v1", "openai-chat", "Is the base path /v1 right, and does this server list its models?"),
        ("", "ollama", "Is the base path / right, and does this server list its models?"),
    ],
)
def test_list_that_is_not_there_is_a_question_of_the_path(path: str, api: str, hint: str) -> None:
    with LoopbackServer(json_answer({"error": "no"}, 404)) as server:
        provider = build(url=f"{server.url}{path}", api=api)
        with pytest.raises(RequestRefused) as caught:
            list_models(provider)
    assert caught.value.hint.startswith(hint)


def test_names_that_are_taken_are_counted_on() -> None:
    taken = ["local", "local-2"]
    assert name_for("http://localhost", taken) == "local-3"


def test_plugin_recognises_its_urls_before_all_others() -> None:
    class Guest:
        @hookimpl
        def hrns_providers(self) -> ProviderKind:
            return ProviderKind(
                "morse", lambda _entry: ScriptedProvider([]), recognises=lambda url: "morse" in url
            )

    plugins = Plugins()
    plugins.register("guest", Guest())
    assert api_of("http://morse.example", plugins) == "morse"
    assert api_of("https://api.anthropic.com", plugins) == "anthropic"
    assert api_of("http://localhost:11434", plugins) == "ollama"
    assert api_of("http://localhost:8080/v1", plugins) == "openai-chat"


def test_what_answers_in_time_is_returned_or_raised() -> None:
    assert within(5, lambda: 3) == 3
    with pytest.raises(ValueError, match="invalid literal"):
        within(5, lambda: int("x"))


def test_what_takes_longer_is_left_behind() -> None:
    with pytest.raises(Unreachable, match=r"no answer within 0\.05 s"):
        within(0.05, lambda: time.sleep(5))


def test_word_is_asked_for_to_the_end_of_the_reply() -> None:
    provider = ScriptedProvider([Say("Hello"), Fail(AuthenticationFailed("no"))])
    ask_a_word(provider, "m")
    with pytest.raises(AuthenticationFailed):
        ask_a_word(provider, "m")
    assert [request.model for request in provider.requests] == ["m", "m"]
    assert provider.requests[0].options.max_tokens == 16


def test_plugin_that_cannot_tell_whose_a_url_is_is_named_and_passed_over() -> None:
    def fail(_url: str) -> bool:
        raise KeyError("x")

    class Guest:
        @hookimpl
        def hrns_providers(self) -> ProviderKind:
            return ProviderKind("odd", lambda _entry: ScriptedProvider([]), fail)

    plugins = Plugins()
    plugins.register("guest", Guest())
    assert api_of("http://h/v1", plugins) == "openai-chat"
    assert plugins.take_warnings() == ("plugin guest cannot tell whose URL this is: KeyError: 'x'",)
