"""`hrns plugins`: what is installed, what it brings, what is wrong with it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from ..plugins import PluginInfo

__all__ = ["command"]


@click.command("plugins")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array.")
def command(as_json: bool) -> None:
    """List the plugins: name, distribution, version, state, import time, hooks.

    A hook that does not exist is marked with `?`.
    """
    from attrs import asdict

    from ..plugins import load_plugins
    from .common import read_config, tell
    from .tables import pretty, table

    plugins = load_plugins(os.environ, read_config().plugins.disabled)
    if as_json:
        click.echo(pretty([asdict(info) for info in plugins.infos]))
    else:
        head = ("NAME", "DISTRIBUTION", "VERSION", "STATE", "LOAD MS", "HOOKS")
        rows = [
            (
                info.name,
                info.distribution,
                info.version,
                info.state,
                f"{info.load_ms:.1f}",
                _hooks(info) or info.error,
            )
            for info in plugins.infos
        ]
        click.echo(table(head, rows))
    for warning in plugins.take_warnings():
        tell(f"warning: {warning}")


def _hooks(info: PluginInfo) -> str:
    from .. import hookspecs

    marked = (hook if hasattr(hookspecs, hook) else f"{hook}?" for hook in info.hooks)
    return ", ".join(hook.removeprefix("hrns_") for hook in marked)
