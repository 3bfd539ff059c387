"""What the plugins bring to a session: asked once, at its start, each record with one owner."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from .agents import Agent
from .config import Config
from .context import SessionContext
from .messages import ToolCall
from .permissions import (
    Decision,
    Policy,
    Prepared,
    Rule,
    Verdict,
    mode_policy,
)
from .plugins import Owned, PluginInfo, Plugins, first_owners
from .tools import NAME_PATTERN, Tool

__all__ = ["gather_agents", "gather_callables", "gather_policies", "gather_tools", "rules_of"]


def rules_of(config: Config) -> list[Rule]:
    """The rules of the configuration file.

    Raises:
        ConfigError: one of them is none.
    """
    decisions: tuple[Decision, ...] = ("allow", "ask", "deny")
    return [
        Rule.parse(decision, text, config.path.name)
        for decision in decisions
        for text in getattr(config.permissions, decision)
    ]


def gather_agents(plugins: Plugins, context: SessionContext) -> tuple[Agent, ...]:
    """All agents: one of a later plugin replaces an earlier one of its name, in its place."""
    by_name: dict[str, Owned[Agent]] = {}
    for each in plugins.collect("hrns_agents", Agent, context=context):
        name = each.record.name.casefold()
        earlier = by_name.get(name)
        if earlier is None or earlier.plugin != each.plugin:
            by_name[name] = each
    return tuple(each.record for each in by_name.values())


def gather_tools(plugins: Plugins, context: SessionContext) -> list[Owned[Tool]]:
    """All tools of distinct names that providers take."""
    owned: list[Owned[Tool]] = []
    for each in plugins.collect("hrns_tools", Tool, context=context):
        if why := _unfit(each.record):
            name = each.record.name
            plugins.warn(f"the tool {name!r} of plugin {each.plugin} is left out: {why}")
        else:
            owned.append(each)
    # Of two of one name: who says `replaces` wins, then who is bundled, then who came first.
    ranked = sorted(owned, key=lambda each: (not each.record.replaces, not each.plugin.bundled))
    used = {id(each) for each in first_owners(plugins, "tool", ranked, lambda tool: tool.name)}
    return [each for each in owned if id(each) in used]


def _unfit(tool: Tool) -> str:
    """Why a tool cannot be offered, or "": one that a server refuses would fail every request."""
    if not NAME_PATTERN.fullmatch(tool.name):
        return "its name may have letters, digits, _ and -, 64 at most"
    if tool.schema.get("type", "object") != "object":
        return "its schema is no object, as the arguments of a call are"
    try:
        told = [tool.description, dict(tool.schema)]
        json.dumps(told, ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        return f"its description or schema is no JSON: {error}"
    return ""


def gather_policies(
    plugins: Plugins, context: SessionContext, rules: Sequence[Rule], own: Sequence[Path]
) -> tuple[Policy, ...]:
    """The mode and the rules, then the plugins' policies; a hook that broke denies."""
    collected = plugins.collect_callables("hrns_permission_policies", context=context)
    broken = [_closed_door(info) for info in plugins.failed("hrns_permission_policies")]
    return (mode_policy(context, rules, own), *broken, *(each.record for each in collected))


def _closed_door(info: PluginInfo) -> Policy:
    """Denies every call with an effect: whoever should have judged it could not."""

    def policy(_call: ToolCall, tool: Tool, _prepared: Prepared) -> Verdict | None:
        if not tool.effects:
            return None
        return Verdict("deny", f"the permission policies of plugin {info} failed", str(info))

    return policy


def gather_callables(
    plugins: Plugins, hook: str, context: SessionContext
) -> tuple[Callable[..., Any], ...]:
    """The plain callables that a hook gives, in order."""
    return tuple(each.record for each in plugins.collect_callables(hook, context=context))
