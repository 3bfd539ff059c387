"""The configuration: reading, choosing a provider."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hrns.config import (
    ENVIRONMENT_PROVIDERS,
    Config,
    LimitsConfig,
    ModelConfig,
    PermissionsConfig,
    PluginsConfig,
    ProviderConfig,
    WebFetchConfig,
    choose_provider,
    config_path,
    find_provider,
    home_directory,
    load_config,
)
from hrns.config.syntax import line_and_column, offset_of
from hrns.errors import ConfigError

KEY = "sk-planted-0123456789"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "config.json"


@pytest.fixture
def load(path: Path) -> Callable[[str | bytes | dict[str, Any]], Config]:
    """Loads a file with this content."""

    def load_content(content: str | bytes | dict[str, Any]) -> Config:
        if isinstance(content, dict):
            content = json.dumps(content)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return load_config(path)

    return load_content


Load = Callable[[str | bytes | dict[str, Any]], Config]


def test_config_path_is_under_home_by_default() -> None:
    assert config_path({}, Path("/home/ada")) == Path("/home/ada/.config/hrns/config.json")


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"HRNS_CONFIG": "/etc/hrns.json", "XDG_CONFIG_HOME": "/xdg"}, "/etc/hrns.json"),
        ({"HRNS_CONFIG": "~/mine.json"}, "/home/ada/mine.json"),
        ({"HRNS_CONFIG": "", "XDG_CONFIG_HOME": "/xdg"}, "/xdg/hrns/config.json"),
        ({"XDG_CONFIG_HOME": "relative"}, "/home/ada/.config/hrns/config.json"),
        ({"XDG_CONFIG_HOME": ""}, "/home/ada/.config/hrns/config.json"),
    ],
)
def test_config_path_honours_the_environment(environ: dict[str, str], expected: str) -> None:
    assert config_path(environ, Path("/home/ada")) == Path(expected)


def test_home_that_nobody_knows_is_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    assert home_directory({}) == Path.home()
    monkeypatch.setattr(Path, "home", classmethod(_no_home))
    assert home_directory({}) == Path("/")
    assert home_directory({"HOME": "/home/ada"}) == Path("/home/ada")


def _no_home(_class: type[Path]) -> Path:
    raise RuntimeError("Could not determine home directory.")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"stop": 5}, "must be a list, not a number @ $.options.stop"),
        ({"stop": [1]}, "must be text, not a number @ $.options.stop[0]"),
        ({"extra": 5}, "must be an object, not a number @ $.options.extra"),
        ({"stream": "no"}, "must be true or false, not text @ $.options.stream"),
        ({"response_schema": []}, "must be an object, not a list @ $.options.response_schema"),
    ],
)
def test_option_that_is_looked_into_has_its_type(load: Load, options: Any, says: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(says)):
        load({"options": options})


def test_option_that_is_null_is_not_said_and_others_go_as_they_are(load: Load) -> None:
    options = {"stop": None, "stream": None, "top_k": None, "temperature": "hot"}
    assert load({"options": options}).options == {"top_k": None, "temperature": "hot"}


def test_number_of_thousands_of_digits_is_a_fault_of_the_file(load: Load) -> None:
    with pytest.raises(ConfigError, match="digits"):
        load('{"limits": {"turns": ' + "9" * 6000 + "}}")


@pytest.mark.skipif(sys.platform == "win32", reason="devices of POSIX")
def test_file_that_never_ends_is_no_configuration() -> None:
    with pytest.raises(ConfigError, match="100 MB"):
        load_config(Path("/dev/zero"))


def test_absent_file_gives_an_empty_config(path: Path) -> None:
    assert load_config(path) == Config(path=path)
    assert load_config(path / "below") == Config(path=path / "below")


def test_file_under_a_file_counts_as_absent(path: Path) -> None:
    path.write_text("{}")
    assert load_config(path / "hrns" / "config.json").providers == {}


def test_whole_file_is_read(load: Load, path: Path) -> None:
    provider = {
        "url": " http://localhost:8080/v1 ",
        "key": KEY,
        "model": "small",
        "skipVerify": True,
        "api": "openai-responses",
        "options": {"temperature": 0.2},
        "headers": {"X-Team": "blue", "Authorization": "Bearer secret-word"},
        "toolMode": "react",
        "caFile": "/etc/ca.pem",
        "models": {"large": {"options": {"seed": 3}, "toolMode": "native", "contextWindow": 9000}},
        "future_flag": True,
    }
    config = load(
        {
            "providers": {"home": provider},
            "currentProvider": "home",
            "currentAgent": "Planner",
            "permissions": {"mode": "plan", "allow": ["a"], "ask": ["b"], "deny": ["c"]},
            "plugins": {"disabled": ["noisy"]},
            "limits": {"turns": 5, "seconds": 1.5, "tokens": 1000, "retries": 0},
            "webFetch": {"allow": ["intranet.example"]},
            "options": {"max_tokens": 100},
            "log": "/tmp/chunks.jsonl",  # noqa: S108
            "frontend": "tui",
            "trustedProjects": ["/work"],
            "x_team": {"a": 1},
        }
    )
    assert config == Config(
        path=path,
        providers={
            "home": ProviderConfig(
                name="home",
                url="http://localhost:8080/v1",
                key=KEY,
                model="small",
                skip_verify=True,
                api="openai-responses",
                options={"temperature": 0.2},
                headers={"X-Team": "blue", "Authorization": "Bearer secret-word"},
                tool_mode="react",
                ca_file="/etc/ca.pem",
                models={"large": ModelConfig({"seed": 3}, "native", 9000)},
                extra={"future_flag": True},
            )
        },
        current_provider="home",
        current_agent="Planner",
        permissions=PermissionsConfig("plan", ("a",), ("b",), ("c",)),
        plugins=PluginsConfig(("noisy",)),
        limits=LimitsConfig(5, 1.5, 1000, 0),
        web_fetch=WebFetchConfig(("intranet.example",)),
        options={"max_tokens": 100},
        log="/tmp/chunks.jsonl",  # noqa: S108
        frontend="tui",
        trusted_projects=("/work",),
        document=config.document,
    )
    assert config.document["x_team"] == {"a": 1}
    assert config.document["providers"]["home"]["future_flag"] is True


def test_file_of_the_original_program_loads(load: Load) -> None:
    config = load(
        '{\n  "providers": {\n    "local": {\n      "url": "http://localhost:11434/v1",\n'
        '      "key": "k",\n      "model": "m",\n      "skipVerify": false\n    }\n  },\n'
        '  "currentProvider": "local",\n  "currentAgent": "Builder"\n}'
    )
    assert config.providers == {
        "local": ProviderConfig("local", "http://localhost:11434/v1", "k", "m")
    }
    assert (config.current_provider, config.current_agent) == ("local", "Builder")


@pytest.mark.parametrize(
    "content",
    [
        '{"providers": null, "currentProvider": null, "permissions": null}',
        '{"providers": {}, "log": ""}',
    ],
)
def test_null_and_empty_values_count_as_absent(load: Load, content: str) -> None:
    config = load(content)
    assert (config.providers, config.current_provider, config.log) == ({}, "", "")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
def test_byte_order_mark_and_wide_encodings_are_read(load: Load, encoding: str) -> None:
    assert load('{"currentAgent": "Künstler"}'.encode(encoding)).current_agent == "Künstler"


@pytest.mark.parametrize(
    ("content", "line", "column", "message", "hint"),
    [
        ("", 0, 0, "the file is empty", "{}"),
        (" \n\n", 0, 0, "the file is empty", "{}"),
        ('{"a": 1,\n}', 1, 8, "a trailing comma", "out"),
        ('{"a": [1,\n2 ,\n ]}', 2, 3, "a trailing comma", "out"),
        ('{\n"a": 1 // one\n}', 2, 8, "a comment", "no comments"),
        ('{\n"a": 1, // one\n"b": 2}', 2, 9, "a comment", "no comments"),
        ('# mine\n{"a": 1}', 1, 1, "a comment", "no comments"),
        ('{/* mine */"a": 1}', 1, 2, "a comment", "no comments"),
        ("{'a': 1}", 1, 2, "the wrong quotes", "double quotes"),
        ('{"a": \N{LEFT DOUBLE QUOTATION MARK}b"}', 1, 7, "the wrong quotes", "double quotes"),
        ("{\n  providers: {}}", 2, 3, "a name without quotes", "double quotes"),
        ('{"a": True}', 1, 7, "a word of Python", "true"),
        ('{"b": "NaN",\n"a": NaN}', 2, 6, "NaN is not JSON", "number"),
        ('{"b": "1e999",\n"a": [1, -1e999]}', 2, 10, "-1e999 is too large", "number"),
        ('{"a": -Infinity}', 1, 7, "-Infinity is not JSON", "number"),
        ('{"a": {"b": 1}\n\n', 1, 15, "the file ends too early", "bracket"),
        ('{"a": "b}', 1, 7, "a text that is not closed", "double quote"),
        ('{"a" 1}', 1, 6, "a colon is missing before this", ""),
        ('{"a": 1\n "b": 2}', 2, 2, "a comma or a closing bracket is missing before this", ""),
        ('{"a": 1}}', 1, 9, "something follows the end of the document", "left over"),
        ('{"a": "C:\\x"}', 1, 10, "a backslash that escapes nothing", "\\\\"),
        ('{"a": "b\nc"}', 1, 9, "a line break or tab inside a text", "\\n"),
        ('{"a": 1,, "b": 2}', 1, 9, "this is not JSON", "expected"),
        ('["a"]', 1, 1, "the file is not a JSON object", "providers"),
        ('{"a": 1,\n "a" : 2}', 2, 2, "the name 'a' is written twice in one object", "Take"),
        ('{"a": "\xff"}'.encode("latin-1"), 1, 0, "not UTF-8 text", "UTF-8"),
        ("[" * 100_000, 0, 0, "nested too deeply", ""),
    ],
)
def test_file_that_does_not_parse_is_an_error_with_place_and_advice(
    *, load: Load, path: Path, content: str | bytes, line: int, column: int, message: str, hint: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        load(content)
    error = caught.value
    place = ":".join(str(part) for part in (path, line, column) if part)
    assert error.message == f"{place}: {message}"
    assert (error.path, error.line, error.column) == (path, line, column)
    assert hint in error.hint


@pytest.mark.parametrize(
    ("content", "line", "column", "key_path", "message"),
    [
        ('{"providers": []}', 1, 15, "$.providers", "must be an object, not a list"),
        (
            '{"providers": {"home": {\n  "key": "k", "url": 7}}}',
            2,
            22,
            "$.providers.home.url",
            "must be text, not a number",
        ),
        (
            '{"providers": {"my home": {"key": ["sk-planted-0123456789"]}}}',
            1,
            35,
            '$.providers["my home"].key',
            "must be text, not a list",
        ),
        (
            '{"providers": {"a": {"headers": {"X": 1}}}}',
            1,
            39,
            "$.providers.a.headers.X",
            "must be text, not a number",
        ),
        (
            '{"providers": {"a": {"skipVerify": "yes"}}}',
            1,
            36,
            "$.providers.a.skipVerify",
            "must be true or false, not text",
        ),
        (
            '{"providers": {"a": {"toolMode": "magic"}}}',
            1,
            34,
            "$.providers.a.toolMode",
            "must be one of native, react, auto",
        ),
        (
            '{"permissions": {"allow": ["a",\n 2]}}',
            2,
            2,
            "$.permissions.allow[1]",
            "must be text, not a number",
        ),
        (
            '{"permissions": {"mode": "al"}}',
            1,
            26,
            "$.permissions.mode",
            "must be one of ask, edits, all, plan",
        ),
        ('{"limits": {"turns": 0}}', 1, 22, "$.limits.turns", "must be 1 or more"),
        (
            '{"limits": {"turns": true}}',
            1,
            22,
            "$.limits.turns",
            "must be a whole number, not true or false",
        ),
        (
            '{"limits": {"turns": 1.5}}',
            1,
            22,
            "$.limits.turns",
            "must be a whole number, not a number",
        ),
        (
            '{"limits": {"turns": 1e-3}}',
            1,
            22,
            "$.limits.turns",
            "must be a whole number, not a number",
        ),
        ('{"limits": {"seconds": 0}}', 1, 24, "$.limits.seconds", "must be more than 0"),
    ],
)
def test_value_of_the_wrong_type_is_an_error_with_key_path_and_place(
    *, load: Load, path: Path, content: str, line: int, column: int, key_path: str, message: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        load(content)
    error = caught.value
    assert error.message == f"{path}:{line}:{column}: {message} @ {key_path}"
    assert (error.line, error.column, error.key_path) == (line, column, key_path)
    assert KEY not in str(error)


def test_directory_in_place_of_the_file_is_an_error(path: Path) -> None:
    path.mkdir()
    with pytest.raises(ConfigError, match="cannot be read: Is a directory"):
        load_config(path)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def _places(value: Any, key_path: tuple[str | int, ...] = ()) -> list[tuple[Any, ...]]:
    children: list[tuple[str | int, Any]] = []
    if isinstance(value, dict):
        children = list(value.items())
    elif isinstance(value, list):
        children = list(enumerate(value))
    below = [place for key, child in children for place in _places(child, (*key_path, key))]
    return [(key_path, value), *below]


@settings(max_examples=60)
@given(JSON, st.sampled_from([None, 2]), st.booleans())
def test_offset_of_finds_every_value(document: Any, indent: int | None, ascii_only: bool) -> None:
    text = json.dumps(document, indent=indent, ensure_ascii=ascii_only)
    for key_path, value in _places(document):
        offset = offset_of(text, key_path)
        assert json.JSONDecoder().raw_decode(text, offset)[0] == value
        line, column = line_and_column(text, offset)
        before = text.split("\n")[: line - 1]
        assert sum(len(part) + 1 for part in before) + column - 1 == offset


SECRETS = {
    "providers": {
        "home": {
            "url": "http://ada:pass-in-url@localhost/v1",
            "key": KEY,
            "headers": {"Authorization": "Bearer planted-header", "X-Team": "blue"},
            "options": {"temperature": 1, "nested": [{"apiKey": "planted-option"}]},
            "future": {"accessToken": "planted-extra"},
        }
    },
    "x_team": {"a": 1},
}


def test_repr_and_document_show_no_secret(load: Load) -> None:
    config = load(SECRETS)
    shown = f"{config!r} {config.providers!r} {json.dumps(config.document)}"
    for secret in (KEY, "pass-in-url", "planted-header", "planted-option", "planted-extra"):
        assert secret not in shown
    assert config.document == {
        "providers": {
            "home": {
                "url": "http://localhost/v1",
                "headers": {"X-Team": "blue"},
                "options": {"temperature": 1, "nested": [{}]},
                "future": {},
            }
        },
        "x_team": {"a": 1},
    }
    assert config.providers["home"].key == KEY


def test_repr_shows_which_variable_a_key_is_taken_from() -> None:
    assert "key='$MY_KEY'" in repr(ProviderConfig("a", key="$MY_KEY"))
    assert "key=''" in repr(ProviderConfig("a"))
    assert "key='[redacted]'" in repr(ProviderConfig("a", key="$literal-key"))


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("$MY_KEY", KEY),
        ("${MY_KEY}", KEY),
        ("env:MY_KEY", KEY),
        (" $MY_KEY\n", KEY),
        ("literal\n", "literal"),
        ("", ""),
        ("$", "$"),
        ("$MY_KEY-2", "$MY_KEY-2"),
        ("'literal'", "literal"),
        ('"literal"\n', "literal"),
        ("'", "'"),
        ("\"literal'", "\"literal'"),
        ("a$MY_KEY", "a$MY_KEY"),
    ],
)
def test_resolved_key_understands_references(key: str, expected: str) -> None:
    environ = {"MY_KEY": f"{KEY}\n"}
    assert ProviderConfig("home", key=key).resolved_key(environ) == expected


def test_whole_number_may_be_written_with_an_exponent(load: Load) -> None:
    limits = load('{"limits": {"turns": 1e3, "retries": 2.0}}').limits
    assert (limits.turns, limits.retries) == (1000, 2)
    assert type(limits.turns) is int


def test_quotes_around_the_key_in_a_variable_are_no_part_of_it() -> None:
    environ = {"MY_KEY": f'"{KEY}"'}
    assert ProviderConfig("home", key="$MY_KEY").resolved_key(environ) == KEY


@pytest.mark.parametrize("environ", [{}, {"MY_KEY": ""}, {"MY_KEY": " "}])
def test_reference_to_a_missing_variable_is_an_error_that_names_it(
    environ: dict[str, str],
) -> None:
    with pytest.raises(ConfigError, match=r"key of provider 'home' .* variable MY_KEY"):
        ProviderConfig("home", key="env:MY_KEY").resolved_key(environ)


def test_resolved_headers_understand_references() -> None:
    provider = ProviderConfig("home", headers={"X-Team": "blue", "X-Api-Key": "$TEAM_KEY"})
    assert provider.resolved_headers({"TEAM_KEY": KEY}) == {"X-Team": "blue", "X-Api-Key": KEY}
    with pytest.raises(ConfigError, match=r"header X-Api-Key of provider 'home' .* TEAM_KEY"):
        provider.resolved_headers({})


def test_model_settings_stand_on_top_of_the_providers() -> None:
    provider = ProviderConfig(
        "home",
        options={"seed": 1, "temperature": 0},
        tool_mode="native",
        models={"odd": ModelConfig({"seed": 2}, "react")},
    )
    assert provider.options_for("odd") == {"seed": 2, "temperature": 0}
    assert provider.options_for("other") == {"seed": 1, "temperature": 0}
    assert provider.tool_mode_for("odd") == "react"
    assert provider.tool_mode_for("other") == "native"
    assert ProviderConfig("plain").tool_mode_for("any") == "auto"


HOME = ProviderConfig("home", "http://localhost/v1", KEY, "small")
WORK = ProviderConfig("work", "http://work.example/v1", KEY, "large")
NOWHERE = Path("/nowhere/config.json")


def _config(*providers: ProviderConfig, current: str = "") -> Config:
    return Config(
        NOWHERE, {provider.name: provider for provider in providers}, current_provider=current
    )


@pytest.mark.parametrize(
    ("config", "name", "expected"),
    [
        (_config(HOME, WORK, current="work"), "home", HOME),
        (_config(HOME, WORK, current="work"), "", WORK),
        (_config(HOME), "", HOME),
        (_config(HOME, current="openai"), "home", HOME),
    ],
)
def test_provider_is_the_named_else_the_current_else_the_only_one(
    config: Config, name: str, expected: ProviderConfig
) -> None:
    assert choose_provider(config, name, "", {"OPENAI_API_KEY": KEY}) == expected


@pytest.mark.parametrize("number", range(len(ENVIRONMENT_PROVIDERS)))
def test_environment_is_searched_in_order(number: int) -> None:
    variables = [candidate.variable for candidate in ENVIRONMENT_PROVIDERS]
    assert variables == [
        "OPENAI_API_KEY",
        "ANTHROPIC_API_KEY",
        "GEMINI_API_KEY",
        "MISTRAL_API_KEY",
        "GROQ_API_KEY",
        "OPENROUTER_API_KEY",
        "DEEPSEEK_API_KEY",
        "XAI_API_KEY",
        "OLLAMA_HOST",
    ]
    environ = dict.fromkeys(reversed(variables[number:]), "value") | {variables[0]: " "}
    environ |= {variables[number]: "value"}
    provider = choose_provider(_config(), "", "m", environ)
    assert provider.name == ENVIRONMENT_PROVIDERS[number].name
    assert provider.model == "m"


def test_provider_of_the_environment_keeps_its_key_as_a_reference() -> None:
    environ = {"ANTHROPIC_API_KEY": KEY, "HRNS_MODEL": "large"}
    provider = choose_provider(_config(), "", "", environ)
    assert provider == ProviderConfig(
        "anthropic",
        "https://api.anthropic.com/v1",
        "$ANTHROPIC_API_KEY",
        "large",
        api="anthropic",
    )
    assert provider.resolved_key(environ) == KEY


def test_base_url_of_the_environment_is_honoured() -> None:
    environ = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": "http://gateway/v1"}
    assert find_provider(_config(), "", environ).url == "http://gateway/v1"
    assert find_provider(_config(), "openai", environ).url == "http://gateway/v1"


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:11434"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        (":8000", "http://127.0.0.1:8000"),
        ("box:8000/", "http://box:8000"),
        ("http://box", "http://box:80"),
        ("https://box/ollama/", "https://box:443/ollama"),
        ("[::]:8000", "http://[::1]:8000"),
    ],
)
def test_ollama_host_may_lack_scheme_host_or_port(host: str, url: str) -> None:
    provider = choose_provider(_config(), "", "m", {"OLLAMA_HOST": host})
    assert provider == ProviderConfig("ollama", url, model="m", api="ollama")


def test_ollama_host_that_is_no_address_is_an_error() -> None:
    with pytest.raises(ConfigError, match="OLLAMA_HOST is not an address"):
        choose_provider(_config(), "", "m", {"OLLAMA_HOST": "box:port"})


def test_several_providers_and_none_current_falls_to_the_environment() -> None:
    config = _config(HOME, WORK)
    assert find_provider(config, "", {"GROQ_API_KEY": KEY}).name == "groq"
    with pytest.raises(ConfigError, match="none is current: home, work"):
        find_provider(config, "", {})


def test_no_provider_is_an_error_that_says_how_to_get_one() -> None:
    with pytest.raises(ConfigError, match="no provider is configured") as caught:
        choose_provider(_config(), "", "", {})
    assert "hrns connect" in caught.value.hint
    assert "--provider demo" in caught.value.hint


def test_unknown_provider_is_an_error_that_lists_the_names() -> None:
    with pytest.raises(ConfigError, match="there is no provider 'hone'") as caught:
        choose_provider(_config(HOME, WORK), "hone", "", {"XAI_API_KEY": KEY})
    assert "Did you mean home?" in caught.value.hint
    assert "demo, home, work, xai" in caught.value.hint


def test_known_provider_without_its_variable_is_an_error_that_names_it() -> None:
    with pytest.raises(ConfigError, match="GROQ_API_KEY is not set"):
        choose_provider(_config(HOME), "groq", "", {})


def test_stale_current_provider_is_an_error_that_lists_the_names() -> None:
    with pytest.raises(ConfigError, match="current provider 'gone' is not configured") as caught:
        choose_provider(_config(HOME, WORK, current="gone"), "", "", {})
    assert "demo, home, work" in caught.value.hint
    assert (caught.value.path, caught.value.key_path) == (NOWHERE, "$.currentProvider")


def test_demo_is_built_in_unless_configured() -> None:
    demo = ProviderConfig("demo", model="demo", api="demo")
    assert choose_provider(_config(HOME), "demo", "", {}) == demo
    assert choose_provider(_config(HOME, current="demo"), "", "", {}) == demo
    mine = ProviderConfig("demo", "http://demo.example/v1", model="m")
    assert choose_provider(_config(mine), "demo", "", {}) == mine


@pytest.mark.parametrize(
    ("asked", "saved", "environ", "expected"),
    [
        ("asked", "saved", {"HRNS_MODEL": "env"}, "asked"),
        ("", "saved", {"HRNS_MODEL": "env"}, "saved"),
        ("", "", {"HRNS_MODEL": "env"}, "env"),
        (" asked\n", "saved", {}, "asked"),
        (" ", " saved ", {}, "saved"),
    ],
)
def test_model_is_the_asked_else_the_saved_else_that_of_the_environment(
    asked: str, saved: str, environ: dict[str, str], expected: str
) -> None:
    config = _config(ProviderConfig("home", "http://localhost/v1", model=saved))
    assert choose_provider(config, "", asked, environ).model == expected


def test_no_model_is_an_error_only_when_one_is_needed() -> None:
    config = _config(ProviderConfig("home", "http://localhost/v1"))
    assert find_provider(config, "", {}).model == ""
    with pytest.raises(ConfigError, match="no model is named for provider 'home'") as caught:
        choose_provider(config, "", "", {})
    assert "--model" in caught.value.hint
    assert "hrns models" in caught.value.hint


@pytest.mark.parametrize(
    ("api", "url"),
    [
        ("openai-chat", "https://api.openai.com/v1"),
        ("openai-responses", "https://api.openai.com/v1"),
        ("anthropic", "https://api.anthropic.com/v1"),
        ("ollama", "http://127.0.0.1:11434"),
        ("from-a-plugin", ""),
    ],
)
def test_provider_without_url_gets_that_of_its_protocol(api: str, url: str) -> None:
    provider = ProviderConfig("home", api=api, model="m")
    assert choose_provider(_config(provider), "", "", {}).url == url


def test_options_for_all_providers_stand_beneath_the_providers_own() -> None:
    provider = ProviderConfig("home", model="m", options={"seed": 1})
    config = Config(NOWHERE, {"home": provider}, options={"seed": 0, "temperature": 0})
    assert choose_provider(config, "", "", {}).options == {"seed": 1, "temperature": 0}


def test_import_is_cheap() -> None:
    program = "import sys, hrns.config; print(*sorted(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.split())
    costly = {"asyncio", "cattrs", "click", "difflib", "httpx", "pluggy", "rich", "tempfile"}
    assert "hrns.config" in loaded
    assert not loaded & costly
