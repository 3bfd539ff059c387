"""Secrets are taken out of texts, however they are spelled."""

from __future__ import annotations

import base64
import json
from itertools import pairwise
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hrns.config import Config, ProviderConfig, config_from
from hrns.config.values import public_url
from hrns.redact import Redactor, redactor_for

KEY = "sk-planted-0123456789"
ODD = 'p"ä\\/+ =%&\n0123456'


def test_key_is_replaced_everywhere_in_a_text() -> None:
    text = f"OPENAI_API_KEY={KEY}\nAuthorization: Bearer {KEY}"
    expected = "OPENAI_API_KEY=[redacted]\nAuthorization: Bearer [redacted]"
    assert Redactor([KEY])(text) == expected


def test_text_without_a_key_is_given_back_as_it_is() -> None:
    text = "nothing secret " * 1000
    assert Redactor([KEY])(text) is text
    assert Redactor()(text) is text


@settings(max_examples=100)
@given(
    st.lists(
        st.sampled_from(
            [KEY, f"{KEY}-more", KEY[:6], KEY[6:], "0123456789-again", "s", "k-", "\n"]
        ),
        max_size=8,
    ),
    st.lists(st.integers(0, 120)),
)
@example([KEY], list(range(len(KEY))))
def test_secrets_are_found_wherever_the_text_is_cut(words: list[str], cuts: list[int]) -> None:
    redactor, text = Redactor([KEY, f"{KEY}-more", "0123456789-again"]), "".join(words)
    pieces = redactor.pieces()
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    given = [pieces.feed(text[start:end]) for start, end in pairwise(places)]
    assert "".join(given) + pieces.end() == redactor(text)


def test_only_what_may_be_a_secret_is_held_back() -> None:
    pieces = Redactor([KEY]).pieces()
    assert [pieces.feed(piece) for piece in ("10 %", " sk-plant", "er\n")] == [
        "10 %",
        " ",
        "sk-planter\n",
    ]


def test_what_was_learned_holds_for_text_that_is_coming() -> None:
    redactor = Redactor()
    pieces = redactor.pieces()
    redactor.learn(Redactor([KEY]))
    assert pieces.feed(f"<{KEY}>") == "<[redacted]>"


@pytest.mark.parametrize(
    "spelled",
    [
        json.dumps(ODD),
        json.dumps(ODD, ensure_ascii=False),
        f"https://h/?key={quote(ODD)}&x=1",
        f"https://h/?key={quote(ODD, safe='')}&x=1",
        f"https://h/?key={quote(ODD, safe='').lower()}&x=1",
        f"key={quote_plus(ODD)}",
    ],
)
def test_json_and_url_spellings_are_replaced(spelled: str) -> None:
    text = Redactor([ODD])(spelled)
    assert "[redacted]" in text
    assert "0123456" not in text


@settings(max_examples=100)
@given(st.text(max_size=9), st.text(max_size=9))
@example("user:", "")
def test_base64_of_a_text_with_the_key_does_not_tell_it(before: str, after: str) -> None:
    data = f"{before}{KEY}{after}".encode("utf-8", "surrogatepass")
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        text = Redactor([KEY])(f"Basic {encode(data).decode()} .")
        # At most two characters at each end are shared with a neighbour: four bits of the key.
        left = text.removeprefix("Basic ").removesuffix(" .").replace("[redacted]", "")
        assert "[redacted]" in text
        assert len(left) <= len(encode(data)) - len(KEY) * 8 // 6 + 1


def test_longer_secret_wins_over_one_that_it_holds() -> None:
    assert Redactor([KEY, f"{KEY}-extended"])(f"<{KEY}-extended>") == "<[redacted]>"


@pytest.mark.parametrize("word", ["", "k", "ollama", "1234567", "not-needed", "lm-studio"])
def test_short_values_and_placeholders_are_no_secrets(word: str) -> None:
    text = f"a text with {word} in it"
    assert Redactor([word])(text) is text


def test_repr_shows_no_secret() -> None:
    assert repr(Redactor([KEY])) == "Redactor()"


ENVIRON = {
    "OPENAI_API_KEY": "environment-openai",
    "XAI_API_KEY": "environment-xai",
    "OLLAMA_HOST": "host-of-ollama:11434",
    "MY_KEY": "environment-mine",
    "MY_TOKEN": "environment-token",
    "UNRELATED_KEY": "environment-unrelated",
}


def _config() -> Config:
    document = {
        "providers": {
            "home": {
                "url": "http://ada:password-in-url@localhost/v1",
                "key": "literal-key",
                "headers": {
                    "Authorization": "Bearer header-key",
                    "X-Team": "harmless-header",
                    "X-Auth-Token": "$MY_TOKEN",
                },
                "options": {"nested": [{"apiKey": "options-key"}], "model": "harmless-option"},
                "models": {"m": {"options": {"secret": "model-secret"}}},
                "future": {"clientSecret": "extra-secret"},
            },
            "work": {"key": "${MY_KEY}"},
            "gone": {"key": "$NOT_SET"},
        },
        "x_team": {"password": ["document-password"], "name": "harmless-name"},
    }
    return config_from(document, Path("/nowhere/config.json"))


@pytest.mark.parametrize(
    "secret",
    [
        "environment-openai",
        "environment-xai",
        "environment-mine",
        "environment-token",
        "password-in-url",
        "literal-key",
        "Bearer header-key",
        "header-key",
        "options-key",
        "model-secret",
        "extra-secret",
        "document-password",
    ],
)
def test_redactor_of_a_config_knows_its_secrets(secret: str) -> None:
    assert redactor_for(_config(), ENVIRON)(f"<{secret}>") == "<[redacted]>"


@pytest.mark.parametrize(
    "harmless",
    [
        "host-of-ollama:11434",
        "environment-unrelated",
        "harmless-header",
        "harmless-option",
        "harmless-name",
        "NOT_SET",
    ],
)
def test_redactor_of_a_config_leaves_the_rest(harmless: str) -> None:
    assert redactor_for(_config(), ENVIRON)(harmless) is harmless


def test_redactor_without_a_config_knows_the_environment() -> None:
    assert redactor_for(None, ENVIRON)("<environment-openai>") == "<[redacted]>"


def test_key_is_known_without_the_quotes_around_it() -> None:
    assert Redactor([f'"{KEY}"'])(f"<{KEY}>") == "<[redacted]>"


def test_keys_in_the_query_of_a_url_are_secret() -> None:
    url = f"https://u:{KEY}1@h/v1?key={KEY}2&alt=sse-events"
    redact = redactor_for(Config(Path("c"), {"p": ProviderConfig("p", url)}), {})
    assert redact(f"{KEY}1 {KEY}2 sse-events") == "[redacted] [redacted] sse-events"
    assert public_url(url) == "https://h/v1?key=...&alt=sse-events"
    assert KEY not in repr(ProviderConfig("p", url))
