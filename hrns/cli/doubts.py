"""What is doubtful in a configuration that can be read: names of nothing, values of no use now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from attrs import evolve

from ..config import DEMO, Config, KeyPath, find_provider, spell_key_path
from ..errors import ConfigError

__all__ = ["config_schema", "misspelled", "unknown_agent", "unknown_provider", "unusable"]

_OWN = ("x_", "x-")
"""How fields begin that are meant for nobody here."""


def config_schema() -> dict[str, Any]:
    """The JSON Schema of the configuration."""
    from ..schemas import shipped_schema

    return shipped_schema("config")


def misspelled(document: Mapping[str, Any]) -> Iterator[tuple[KeyPath, str]]:
    """The fields that hrns does not know and that look like one that it knows, and the warnings."""
    schema = config_schema()
    yield from _near_misses((), document, schema, schema["$defs"])


def _near_misses(
    at: KeyPath, value: object, schema: Mapping[str, Any], shared: Mapping[str, Any]
) -> Iterator[tuple[KeyPath, str]]:
    schema = shared[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    known = schema.get("properties", {})
    for name, inner in value.items() if isinstance(value, Mapping) else ():
        place = (*at, name)
        described = known.get(name) or schema.get("additionalProperties")
        if described:
            yield from _near_misses(place, inner, described, shared)
        elif near := _near(name, known):
            yield place, f"{spell_key_path(place)} is unknown; did you mean {near}?"


def _near(name: str, known: Mapping[str, Any]) -> str:
    from difflib import get_close_matches

    if name.startswith(_OWN):
        return ""
    by_lower = {each.lower(): each for each in known}
    found = get_close_matches(name.replace("_", "").lower(), by_lower, n=1, cutoff=0.8)
    return by_lower[found[0]] if found else ""


def unknown_provider(config: Config, environ: Mapping[str, str]) -> Iterator[ConfigError]:
    """The fault of the current provider, if there is none of that name."""
    if config.current_provider:
        try:
            find_provider(config, "", environ)
        except ConfigError as error:
            yield error


def unknown_agent(config: Config, environ: Mapping[str, str], cwd: Path) -> Iterator[ConfigError]:
    """The fault of the current agent, if there is none of that name."""
    from ..plugins import load_plugins
    from ..session import find_agent, open_session

    plugins = load_plugins(environ, config.plugins.disabled)
    with open_session(evolve(config, current_agent=""), plugins, DEMO, cwd=cwd) as session:
        agents = session.context.agents
    if config.current_agent:
        try:
            find_agent(agents, config.current_agent)
        except ConfigError as error:
            yield error


def unusable(config: Config, environ: Mapping[str, str]) -> Iterator[ConfigError]:
    """What is configured but would not work now: no such provider, variables that are not set."""
    yield from unknown_provider(config, environ)
    for provider in config.providers.values():
        try:
            provider.resolved_key(environ)
            provider.resolved_headers(environ)
        except ConfigError as error:
            yield error
