"""The changes that commands make to the document, for `edit_config`."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any, TypeVar

from ..errors import ConfigError
from .save import Change
from .values import ProviderConfig

if TYPE_CHECKING:
    from ..permissions import Decision

__all__ = [
    "add_rule",
    "put_provider",
    "remove_provider",
    "set_current_agent",
    "set_current_provider",
    "set_model",
]

_KINDS: dict[type, str] = {dict: "an object", list: "a list"}

Container = TypeVar("Container", dict[str, Any], list[Any])


def set_current_provider(name: str) -> Change:
    """Makes a provider the one that is used when none is named."""
    return _put("currentProvider", name)


def set_current_agent(name: str) -> Change:
    """Makes an agent the one that is used when none is named."""
    return _put("currentAgent", name)


def set_model(provider: str, model: str) -> Change:
    """Makes a model the default of a provider; a ConfigError if it has no entry."""

    def change(document: dict[str, Any]) -> None:
        _provider(document, provider)["model"] = model

    return change


def put_provider(provider: ProviderConfig) -> Change:
    """Adds a provider, or updates its entry: what this one does not say stays.

    A field that would say nothing is not added.
    """

    def change(document: dict[str, Any]) -> None:
        entry = _inside(_inside(document, "providers", dict), provider.name, dict)
        entry.update(_provider_entry(provider, entry))

    return change


def remove_provider(name: str) -> Change:
    """Takes a provider out, also as the current one; a ConfigError if it has no entry."""

    def change(document: dict[str, Any]) -> None:
        _provider(document, name)
        del document["providers"][name]
        if document.get("currentProvider") == name:
            del document["currentProvider"]

    return change


def add_rule(decision: Decision, rule: str) -> Change:
    """Adds a permission rule, unless it is there."""

    def change(document: dict[str, Any]) -> None:
        rules = _inside(_inside(document, "permissions", dict), decision, list)
        if rule not in rules:
            rules.append(rule)

    return change


def _put(name: str, value: object) -> Change:
    def change(document: dict[str, Any]) -> None:
        document[name] = value

    return change


def _inside(parent: dict[str, Any], name: str, kind: type[Container]) -> Container:
    """The object or list of this name, made if it is absent or null."""
    if parent.get(name) is None:
        parent[name] = kind()
    value = parent[name]
    if isinstance(value, kind):
        return value
    raise ConfigError(f"{name!r} must be {_KINDS[kind]}")


def _provider(document: dict[str, Any], name: str) -> dict[str, Any]:
    providers = _inside(document, "providers", dict)
    if name not in providers:
        names = ", ".join(providers) or "none"
        raise ConfigError(f"provider {name!r} is not configured", hint=f"Configured: {names}.")
    return _inside(providers, name, dict)


def _provider_entry(provider: ProviderConfig, there: Collection[str]) -> dict[str, Any]:
    """What is said of a provider; of what is not said the fields that are there already."""
    entry = {
        "url": provider.url,
        "key": provider.key,
        "model": provider.model,
        "skipVerify": provider.skip_verify,
        "api": provider.api,
    }
    said = {
        "options": dict(provider.options),
        "headers": dict(provider.headers),
        "toolMode": provider.tool_mode,
        "caFile": provider.ca_file,
    }
    fields = {name: value for name, value in entry.items() if value or name in there}
    return {**fields, **{name: value for name, value in said.items() if value}, **provider.extra}
