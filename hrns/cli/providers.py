"""`hrns providers`: the providers that can be named here."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from ..config import Config, ProviderConfig

__all__ = ["command", "known_providers", "shown_key"]


@click.command("providers")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array.")
def command(as_json: bool) -> None:
    """List the providers; `*` is the one that is used when none is named."""
    from .common import read_config
    from .tables import pretty, table

    config = read_config()
    current = _current(config)
    facts = [
        {
            "name": entry.name,
            "url": _shown_url(entry),
            "api": entry.api,
            "model": entry.model,
            "key": shown_key(entry.key),
            "source": source,
            "current": entry.name == current,
        }
        for entry, source in known_providers(config, os.environ)
    ]
    if as_json:
        click.echo(pretty(facts))
        return
    fields = ("name", "model", "api", "url", "key", "source")
    rows = [
        ("*" if fact["current"] else " ", *(str(fact[field]) for field in fields)) for fact in facts
    ]
    click.echo(table((" ", *(field.upper() for field in fields)), rows))


def known_providers(
    config: Config, environ: Mapping[str, str]
) -> Iterator[tuple[ProviderConfig, str]]:
    """Every provider that can be named, and where it comes from; keys stay references."""
    from ..config import DEMO, ENVIRONMENT_PROVIDERS, find_provider

    for name in config.providers:
        yield find_provider(config, name, environ), "configuration"
    for known in ENVIRONMENT_PROVIDERS:
        if environ.get(known.variable, "").strip() and known.name not in config.providers:
            yield known.config(environ), known.variable
    if DEMO.name not in config.providers:
        yield DEMO, "built in"


def _current(config: Config) -> str:
    from ..config import find_provider
    from ..errors import ConfigError

    try:
        return find_provider(config, "", os.environ).name
    except ConfigError:
        return ""


def _shown_url(entry: ProviderConfig) -> str:
    from ..config.values import public_url

    return public_url(entry.url)


def shown_key(key: str) -> str:
    """A reference to a variable as it is; `set` for a key itself, "" for none."""
    from ..config import resolve_reference
    from ..errors import ConfigError

    try:
        return "set" if resolve_reference(key, {}, what="the key") else ""
    except ConfigError:  # no variable is set in an empty environment
        return key
