"""`hrns tools`: what a model may call here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from ..tools import Tool

__all__ = ["command"]


@click.command("tools")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array, schemas included.")
def command(as_json: bool) -> None:
    """List the tools, what each may do, and the plugin that brings it."""
    from .common import looking_around
    from .tables import pretty, table

    with looking_around() as session:
        tools = session.tools
        owners = session.tool_plugins
    if as_json:
        facts = [
            {
                "name": tool.name,
                "description": tool.description,
                "effects": sorted(tool.effects),
                "plugin": owners[tool.name].name,
                "distribution": owners[tool.name].distribution,
                "schema": tool.schema,
            }
            for tool in tools
        ]
        click.echo(pretty(facts))
        return
    rows = [
        (tool.name, ", ".join(sorted(tool.effects)), str(owners[tool.name]), _first_line(tool))
        for tool in tools
    ]
    click.echo(table(("NAME", "EFFECTS", "PLUGIN", "DESCRIPTION"), rows))


def _first_line(tool: Tool) -> str:
    return tool.description.strip().partition("\n")[0]
