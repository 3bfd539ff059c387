"""`hrns plugins`: what is installed, what it brings, what is wrong with it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence

import click
from attrs import asdict

from ..plugins import PluginInfo, load_plugins
from .common import read_config

__all__ = ["command"]


@click.command("plugins")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array.")
def command(as_json: bool) -> None:
    """List the plugins: name, distribution, version, state, import time, hooks."""
    plugins = load_plugins(os.environ, read_config().plugins.disabled)
    if as_json:
        click.echo(json.dumps([asdict(info) for info in plugins.infos], indent=2))
    else:
        click.echo(_table(plugins.infos))
    for warning in plugins.take_warnings():
        sys.stderr.write(f"hrns: warning: {warning}\n")


def _table(infos: Sequence[PluginInfo]) -> str:
    rows = [("NAME", "DISTRIBUTION", "VERSION", "STATE", "LOAD MS", "HOOKS")]
    rows += [
        (
            info.name,
            info.distribution or "-",
            info.version or "-",
            info.state,
            f"{info.load_ms:.1f}",
            ", ".join(hook.removeprefix("hrns_") for hook in info.hooks) or info.error or "-",
        )
        for info in infos
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    return "\n".join(
        "  ".join((*(cell.ljust(w) for cell, w in zip(row, widths, strict=False)), row[5]))
        for row in rows
    )
