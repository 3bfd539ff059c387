"""Key paths into the configuration document."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hrns.config import KeyPath, get_value, parse_key_path, set_value, spell_key_path, unset_value
from hrns.errors import ConfigError

KEY_PATHS = st.lists(st.text() | st.integers(min_value=0)).map(tuple)


@pytest.mark.parametrize(
    ("text", "key_path"),
    [
        ("currentAgent", ("currentAgent",)),
        ("providers.home.url", ("providers", "home", "url")),
        ("$.providers.home.url", ("providers", "home", "url")),
        ("permissions.allow[12]", ("permissions", "allow", 12)),
        ('providers."my.box".model', ("providers", "my.box", "model")),
        ('$.providers["my \\"box\\""].model', ("providers", 'my "box"', "model")),
        ("providers.llama 3:8b.model", ("providers", "llama 3:8b", "model")),
        ("a.0", ("a", "0")),
        ("$", ()),
    ],
)
def test_key_path_is_parsed(text: str, key_path: KeyPath) -> None:
    assert parse_key_path(text) == key_path


@pytest.mark.parametrize("text", ["a..b", "a.", "a[", "a[x]", 'a."b', 'a["b"', "a]"])
def test_text_that_is_no_key_path_is_an_error(text: str) -> None:
    with pytest.raises(ConfigError, match="is not a key path"):
        parse_key_path(text)


@settings(max_examples=100)
@given(KEY_PATHS)
def test_spelled_key_path_is_parsed_back(key_path: KeyPath) -> None:
    assert parse_key_path(spell_key_path(key_path)) == key_path


@settings(max_examples=100)
@given(st.lists(st.text(), min_size=1).map(tuple), st.integers())
def test_value_that_was_set_is_got_and_unset(key_path: KeyPath, value: int) -> None:
    document: dict[str, Any] = {}
    set_value(key_path, value)(document)
    assert get_value(document, key_path) == value
    unset_value(key_path)(document)
    with pytest.raises(ConfigError):
        get_value(document, key_path)


DOCUMENT: dict[str, Any] = {
    "providers": {"home": {"url": "u", "key": None}, "work": {}},
    "permissions": {"allow": ["a", "b"]},
    "log": None,
}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("$", DOCUMENT),
        ("providers.home", {"url": "u", "key": None}),
        ("permissions.allow[1]", "b"),
        ("log", None),
    ],
)
def test_value_is_got(path: str, value: object) -> None:
    assert get_value(DOCUMENT, parse_key_path(path)) == value


@pytest.mark.parametrize(
    ("path", "message", "hint"),
    [
        ("providers.hone.url", "nothing at $.providers.hone", "home, work"),
        ("permissions.allow[2]", "nothing at $.permissions.allow[2]", ""),
        ("providers.home.url.x", "nothing at $.providers.home.url.x", ""),
        ("permissions.allow.x", "nothing at $.permissions.allow.x", ""),
        ("providers[0]", "nothing at $.providers[0]", "home, work"),
    ],
)
def test_missing_value_is_an_error_that_says_what_is_there(
    path: str, message: str, hint: str
) -> None:
    for use in (lambda: get_value(DOCUMENT, parse_key_path(path)), lambda: _unset(path)):
        with pytest.raises(ConfigError) as caught:
            use()
        assert message in caught.value.message
        assert hint in caught.value.hint


def _unset(path: str) -> dict[str, Any]:
    document = copy.deepcopy(DOCUMENT)
    unset_value(parse_key_path(path))(document)
    return document


def _set(path: str, value: object) -> dict[str, Any]:
    document = copy.deepcopy(DOCUMENT)
    set_value(parse_key_path(path), value)(document)
    return document


def test_field_is_set_in_its_place() -> None:
    after = _set("providers.home.url", "v")
    assert json.dumps(after) == json.dumps(DOCUMENT).replace('"u"', '"v"')


def test_objects_and_lists_on_the_way_are_made() -> None:
    assert _set("limits.turns", 3)["limits"] == {"turns": 3}
    assert _set("log.file", "x")["log"] == {"file": "x"}
    assert _set("webFetch.allow[0]", "h")["webFetch"] == {"allow": ["h"]}


def test_list_items_are_replaced_and_appended() -> None:
    assert _set("permissions.allow[0]", "x")["permissions"]["allow"] == ["x", "b"]
    assert _set("permissions.allow[2]", "x")["permissions"]["allow"] == ["a", "b", "x"]


@pytest.mark.parametrize(
    "path",
    ["$", "permissions.allow[3]", "permissions.allow.x", "providers.home.url.x", "providers[0]"],
)
def test_place_where_nothing_can_be_set_is_an_error(path: str) -> None:
    with pytest.raises(ConfigError, match="nothing"):
        _set(path, 1)


def test_way_that_is_missing_is_told_from_the_root() -> None:
    with pytest.raises(ConfigError, match=r"nothing at \$\.permissions\.allow\[3\]"):
        _set("permissions.allow[3].x", 1)


def test_value_is_unset() -> None:
    assert "log" not in _unset("log")
    assert _unset("providers.home.url")["providers"] == {"home": {"key": None}, "work": {}}
    assert _unset("permissions.allow[0]")["permissions"] == {"allow": ["b"]}
    with pytest.raises(ConfigError, match="whole document"):
        _unset("$")
