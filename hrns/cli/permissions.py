"""`hrns permissions`: what is allowed, asked about and denied here, and why."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click
from attrs import asdict

from ..config import Config, home_directory, load_config, project_config_path
from ..context import Mode
from ..errors import ConfigError, UsageError
from ..nearest import nearest
from ..permissions import (
    Access,
    Decision,
    Prepared,
    Rule,
    Ruling,
    explain,
    own_places,
    unknown_tools,
)
from ..permissions.judging import strictest
from ..permissions.widening import wider_rule
from .common import looking_around, tell, user_config_path, working_directory
from .rules import rules_of_flags
from .tables import pretty, table

if TYPE_CHECKING:
    from ..session import Session
    from ..tools import Tool

__all__ = ["command"]

_DECISIONS: tuple[Decision, ...] = ("deny", "ask", "allow")
_HOOK = "hrns_permission_policies"

_mode = click.option(
    "--permission-mode",
    type=click.Choice(["ask", "edits", "all", "plan"]),
    default=None,
    help="The mode to judge in.  [default: as configured, else ask]",
)
_allow = click.option("--allow", multiple=True, metavar="RULE", help="One more rule; repeatable.")
_deny = click.option("--deny", multiple=True, metavar="RULE", help="One more rule; repeatable.")
_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group("permissions")
def command() -> None:
    """Show the permission rules, and what comes of a call under them."""


@command.command()
@click.argument("call")
@_mode
@_allow
@_deny
@_json
def check(
    call: str,
    permission_mode: Mode | None,
    allow: Sequence[str],
    deny: Sequence[str],
    as_json: bool,
) -> None:
    """Say what comes of CALL, and which rule or mode says so.

    CALL is a tool and what it would touch, written as a rule is:

    \b
        hrns permissions check 'run_command(git status; rm -rf x)'
        hrns permissions check 'write_file(src/app.py)'
        hrns permissions check 'web_fetch(https://example.com/)'
    """  # noqa: D301 - \b is click's mark for a paragraph that is not re-wrapped
    asked = _parsed(call)
    more = rules_of_flags(allow, deny)
    with looking_around() as session:
        config = session.config
        context = session.context
        context.mode = permission_mode or config.permissions.mode or "ask"
        rules = [*_configured(config), *more]
        tool = _find(asked.tool, session.tools)
        prepared = Prepared(_accesses(tool, asked.pattern))
        try:
            rulings = explain(context, tool, prepared, rules, own_places(config.path))
        except (ValueError, OSError, RuntimeError) as error:
            raise UsageError(f"{asked.text} is denied: {error}") from error
        wider = wider_rule(tool.name, prepared.accesses, context.cwd, home_directory(os.environ))
        _warn(unknown_tools(rules, session.tools))
        _warn(f"the plugin {name} judges real calls as well" for name in _with_policies(session))
    if as_json:
        click.echo(pretty({**_facts(asked.text, context.mode, rulings), "wider_rule": wider}))
    else:
        click.echo(_told(asked.text, rulings, wider))


@command.command("list")
@_json
def list_(as_json: bool) -> None:
    """List the rules in the order in which they count, and where each is from."""
    with looking_around() as session:
        rules = list(_configured(session.config))
        mode = session.config.permissions.mode
        guests = _with_policies(session)
        _warn(unknown_tools(rules, session.tools))
    if as_json:
        listed = [
            {"decision": rule.decision, "rule": rule.text, "source": rule.source} for rule in rules
        ]
        click.echo(pretty({"mode": mode, "rules": listed, "plugins": guests}))
    else:
        click.echo(f"mode: {mode or 'not configured (the terminal asks, exec allows all)'}")
        if rules:
            rows = [(rule.decision, rule.text, rule.source) for rule in rules]
            click.echo(table(("DECISION", "RULE", "FROM"), rows))
        for name in guests:
            click.echo(f"the plugin {name} judges calls as well")


def _parsed(call: str) -> Rule:
    """What a call is written as.

    Raises:
        UsageError: it is no tool with what it would touch.
    """
    try:
        return Rule.parse("allow", call, "CALL")
    except ConfigError:
        raise UsageError(
            f"{call!r} is not a call",
            hint="Write a tool and what it would touch: run_command(git status).",
        ) from None


def _configured(config: Config) -> Iterator[Rule]:
    """The rules of the configuration, each from the file that it stands in."""
    users = load_config(user_config_path()).permissions
    project = project_config_path(working_directory())
    for decision in _DECISIONS:
        for text in getattr(config.permissions, decision):
            source = user_config_path() if text in getattr(users, decision) else project
            yield Rule.parse(decision, text, str(source))


def _find(name: str, tools: Sequence[Tool]) -> Tool:
    for tool in tools:
        if tool.name == name:
            return tool
    near = nearest(name, [tool.name for tool in tools])
    guess = f"Did you mean {near[0]}? " if near else ""
    raise UsageError(f"there is no tool {name!r}", hint=f"{guess}`hrns tools` lists all.")


def _accesses(tool: Tool, subject: str) -> list[Access]:
    """What the tool would touch; a tool that runs commands is given a command line."""
    if "execute" in tool.effects:
        return [Access("execute", subject)]
    path = os.path.expanduser(subject)  # noqa: PTH111 - pathlib raises where there is no such user
    return [
        Access(effect, subject if effect == "network" else path) for effect in sorted(tool.effects)
    ]


def _with_policies(session: Session) -> list[str]:
    """The plugins that have policies of their own."""
    return [str(info) for info in session.plugins.infos if _HOOK in info.hooks]


def _facts(call: str, mode: Mode, rulings: Sequence[Ruling]) -> dict[str, object]:
    verdict = strictest([ruling.verdict for ruling in rulings])
    pieces = [{"piece": ruling.piece, **asdict(ruling.verdict)} for ruling in rulings]
    return {"call": call, "mode": mode, **asdict(verdict), "pieces": pieces}


def _told(call: str, rulings: Sequence[Ruling], wider: str) -> str:
    verdict = strictest([ruling.verdict for ruling in rulings])
    rows = [
        (ruling.verdict.decision, ruling.piece, ruling.verdict.reason or ruling.verdict.source)
        for ruling in rulings
    ]
    lines = [f"{call}: {verdict.decision}", table(("DECISION", "TO", "WHY"), rows)]
    if verdict.decision == "ask" and verdict.source.startswith("mode "):
        lines.append(f"to allow it: {verdict.rule}")
        if wider not in ("", verdict.rule):
            lines.append(f"to allow what is like it: {wider}")
    return "\n".join(lines)


def _warn(warnings: Iterator[str] | Sequence[str]) -> None:
    for warning in warnings:
        tell(f"warning: {warning}")
