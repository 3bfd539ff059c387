"""What a name or URL stands for, and waiting for an answer."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from hrns.config import Config, ProviderConfig
from hrns.connecting import api_of, ask_a_word, entry_for, name_for, within
from hrns.errors import AuthenticationFailed, Unreachable
from hrns.plugins import Plugins, hookimpl
from hrns.records import ProviderKind
from hrns.testing import Fail, Say, ScriptedProvider

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
