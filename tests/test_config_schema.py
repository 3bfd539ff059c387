"""The shipped JSON Schema says what the reader says."""

from __future__ import annotations

import copy
import json
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from hrns.config import (
    ENVIRONMENT_PROVIDERS,
    KeyPath,
    config_from,
    set_value,
    spell_key_path,
)
from hrns.errors import ConfigError

jsonschema = pytest.importorskip("jsonschema")

SCHEMA = json.loads(files("hrns").joinpath("schemas/config.schema.json").read_text("utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)

FULL: dict[str, Any] = {
    "$schema": "https://example.org/config.schema.json",
    "providers": {
        "home": {
            "url": "http://localhost:8080/v1",
            "key": "$HOME_KEY",
            "model": "small",
            "skipVerify": False,
            "api": "anthropic",
            "options": {"temperature": 0.5},
            "headers": {"X-Team": "blue"},
            "toolMode": "react",
            "caFile": "/etc/ca.pem",
            "models": {"large": {"options": {}, "toolMode": "auto", "contextWindow": 8192}},
            "future": 1,
        }
    },
    "currentProvider": "home",
    "currentAgent": "Builder",
    "permissions": {"mode": "edits", "allow": ["a"], "ask": ["b"], "deny": ["c"]},
    "plugins": {"disabled": ["noisy"]},
    "limits": {"turns": 50, "seconds": 600.5, "tokens": 1_000_000},
    "webFetch": {"allow": ["10.0.0.0/8"]},
    "options": {"seed": 1},
    "log": "/var/log/hrns.jsonl",
    "frontend": "tui",
    "trustedProjects": ["~/src/mine"],
}


def _key_paths(value: Any, key_path: KeyPath = ()) -> list[KeyPath]:
    children = value.items() if isinstance(value, dict) else enumerate(value)
    return [
        found
        for key, child in children
        for found in (
            (*key_path, key),
            *(_key_paths(child, (*key_path, key)) if isinstance(child, dict | list) else ()),
        )
    ]


VALUES = [None, True, 0, -1, 1, 0.0, 1.5, "", "ask", "native", "x", [], ["x"], [1], {}, {"x": 1}]


def _loads(document: dict[str, Any]) -> bool:
    try:
        config_from(document, Path("/nowhere/config.json"))
    except ConfigError:
        return False
    return True


def test_schema_is_a_schema() -> None:
    VALIDATOR.check_schema(SCHEMA)


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"providers": None, "currentProvider": ""},
        {"providers": {"p": {"url": "u", "key": "k", "model": "m", "skipVerify": True}}},
        FULL,
    ],
)
def test_schema_takes_what_loads(document: dict[str, Any]) -> None:
    assert _loads(document)
    assert VALIDATOR.is_valid(document)


@pytest.mark.parametrize("key_path", _key_paths(FULL), ids=spell_key_path)
def test_schema_and_reader_agree_on_every_field(key_path: KeyPath) -> None:
    for value in VALUES:
        document = copy.deepcopy(FULL)
        set_value(key_path, value)(document)
        assert VALIDATOR.is_valid(document) is _loads(document), value


PAGE = (Path(__file__).parent.parent / "docs" / "configuration.md").read_text("utf-8")
EXAMPLES = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("example", EXAMPLES)
def test_examples_in_the_documentation_load(example: str) -> None:
    document = json.loads(example)
    assert config_from(document, Path("/nowhere/config.json")).document.keys() == document.keys()
    assert VALIDATOR.is_valid(document)


def test_documentation_names_every_field_and_variable() -> None:
    described = {
        path[-1]
        for path in _key_paths(SCHEMA)
        if len(path) > 1 and path[-2] == "properties" and isinstance(path[-1], str)
    }
    variables = {candidate.variable for candidate in ENVIRONMENT_PROVIDERS}
    words = set(re.findall(r"\w+", PAGE))
    assert len(EXAMPLES) == 4
    assert (described | variables) - words == set()
