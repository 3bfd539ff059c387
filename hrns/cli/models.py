"""`hrns models`: what a provider offers."""

from __future__ import annotations

import os

import click

from .completing import provider_names

__all__ = ["command"]


@click.command("models")
@click.option(
    "-provider",
    "--provider",
    metavar="NAME",
    default="",
    shell_complete=provider_names,
    help="The provider to ask; the current one if left out.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array.")
def command(provider: str, as_json: bool) -> None:
    """List the models that a provider offers; `*` is its default."""
    from attrs import asdict

    from ..config import find_provider
    from ..connecting import list_models
    from ..plugins import load_plugins
    from ..session import build_provider
    from .common import read_config
    from .tables import pretty, table

    config = read_config()
    entry = find_provider(config, provider, os.environ)
    plugins = load_plugins(os.environ, config.plugins.disabled)
    models = list_models(build_provider(plugins, entry, os.environ))
    if as_json:
        click.echo(pretty([asdict(model) for model in models]))
        return
    rows = [
        ("*" if model.id == entry.model else " ", model.id, str(model.context_window or ""))
        for model in models
    ]
    click.echo(table((" ", "MODEL", "CONTEXT"), rows))
