"""The commands that say what the session has: tools, skills, plugins, permissions, context."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

from hrns.context import Mode
from hrns.messages import AssistantMessage, SystemMessage, Usage
from hrns.records import CommandHost, SlashCommand
from hrns.session import Session

from .listed import context_window
from .tables import marked, table

__all__ = ["INFORMING", "MODES"]

MODES: dict[Mode, str] = {
    "ask": "what changes something is asked about",
    "edits": "files inside the directory may be changed, all else is asked about",
    "all": "everything is allowed that no rule denies",
    "plan": "nothing may be changed",
}
"""What each permission mode means, in the order in which they are cycled through."""


def _context(host: CommandHost, _argument: str) -> None:
    session = host.session
    used = _last_usage(session)
    window = context_window(session)
    taken = used.input + used.output
    share = f" of {window} ({100 * taken // window} %)" if window else ""
    rows = [
        ("messages", str(sum(not isinstance(each, SystemMessage) for each in session.messages))),
        ("system prompt", f"{len(session.system_prompt())} characters"),
        ("tools offered", str(len(session.offered))),
        ("context used", f"{taken} tokens{share}" if taken else "not told by the provider yet"),
        ("from the cache", f"{used.cache_read} tokens"),
    ]
    host.say(table(rows))


def _last_usage(session: Session) -> Usage:
    answers = (each for each in session.messages if isinstance(each, AssistantMessage))
    return next((each.usage for each in reversed([*answers]) if each.usage), Usage())


def _tools(host: CommandHost, _argument: str) -> None:
    session = host.session
    offered = {tool.name for tool in session.offered}
    rows = [
        (
            marked(tool.name, tool.name if tool.name in offered else ""),
            ", ".join(sorted(tool.effects)) or "no effect",
            str(session.tool_plugins[tool.name]),
        )
        for tool in session.tools
    ]
    host.say(f"{table(rows)}\n\n* offered to {session.agent.name}" if rows else "There are none.")


def _skills(host: CommandHost, _argument: str) -> None:
    rows = [(skill.name, skill.description) for skill in host.session.context.skills]
    host.say(table(rows) or "There are no skills.")


def _plugins(host: CommandHost, _argument: str) -> None:
    rows = [(str(each), each.version, each.state) for each in host.session.plugins.infos]
    host.say(table(rows) or "There are no plugins.")


def _permissions(host: CommandHost, _argument: str) -> None:
    session = host.session
    said = session.config.permissions
    rows = [
        (decision, rule)
        for decision, rules in (("deny", said.deny), ("ask", said.ask), ("allow", said.allow))
        for rule in rules
    ]
    mode = session.context.mode
    rules = table(rows) or f"No rules are saved in {session.config.path}."
    host.say(f"mode {mode}: {MODES[mode]}\n{rules}")


def _mode(host: CommandHost, argument: str) -> None:
    mode = next((each for each in MODES if each == argument), None)
    if mode is None:
        rows = [(marked(each, host.session.context.mode), text) for each, text in MODES.items()]
        host.error(f"there is no mode {argument!r}\n{table(rows)}")
        return
    host.session.context.mode = mode
    host.say(f"mode {mode}: {MODES[mode]}")


def _modes(_session: Session, word: str) -> Iterator[str]:
    return (mode for mode in get_args(Mode) if mode.startswith(word))


INFORMING = (
    SlashCommand(
        "context",
        "Says what the conversation takes of the model's context.",
        _context,
        at_once=True,
    ),
    SlashCommand(
        "tools", "Lists the tools, and which of them the agent is offered.", _tools, at_once=True
    ),
    SlashCommand("skills", "Lists the skills.", _skills, at_once=True),
    SlashCommand("plugins", "Lists the plugins.", _plugins, at_once=True),
    SlashCommand(
        "permissions", "Says what is allowed, asked about and denied.", _permissions, at_once=True
    ),
    SlashCommand(
        "mode",
        "Changes the permission mode, for this session.",
        _mode,
        usage="NAME",
        complete=_modes,
        needs_argument=True,
        at_once=True,
    ),
)
"""In the order in which `/help` lists them."""
