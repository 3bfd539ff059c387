"""`hrns agents`: the agents, built in and from files and plugins."""

from __future__ import annotations

import click

__all__ = ["command"]


@click.command("agents")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array.")
def command(as_json: bool) -> None:
    """List the agents; `*` is the one that is used when none is named."""
    from .common import looking_around
    from .tables import pretty, table

    with looking_around() as session:
        agents = session.context.agents
        current = session.agent.name
    if as_json:
        facts = [
            {
                "name": agent.name,
                "description": agent.description,
                "effects": sorted(agent.effects),
                "model": agent.model,
                "source": agent.source,
                "current": agent.name == current,
            }
            for agent in agents
        ]
        click.echo(pretty(facts))
        return
    rows = [
        ("*" if agent.name == current else " ", agent.name, agent.source or "built in",
         agent.description)
        for agent in agents
    ]  # fmt: skip
    click.echo(table((" ", "NAME", "SOURCE", "DESCRIPTION"), rows))
