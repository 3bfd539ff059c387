"""Skills, agent files, project instructions and custom commands in Markdown for hrns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hrns import hookimpl

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hrns.agents import Agent
    from hrns.context import SessionContext
    from hrns.records import PromptSection, Skill, SlashCommand
    from hrns.tools import Tool


@hookimpl
def hrns_agents(context: SessionContext) -> Iterable[Agent]:
    """The agents of AGENT.md files."""
    from .agents import find_agents

    return find_agents(context)


@hookimpl
def hrns_skills(context: SessionContext) -> Iterable[Skill]:
    """The skills of SKILL.md files."""
    from .skills import find_skills

    return find_skills(context)


@hookimpl
def hrns_tools(context: SessionContext) -> Iterable[Tool]:
    """`load_skill`, if any plugin brings a skill."""
    if context.skills:
        from .load_skill import make_load_skill

        yield make_load_skill(context.skills)


@hookimpl
def hrns_prompt_sections(context: SessionContext) -> Iterable[PromptSection]:
    """The skills, if the agent can load them, and the AGENTS.md files of the project."""
    from .instructions import instructions_section
    from .skills import skills_section

    if any(context.agent is None or context.agent.offers(tool) for tool in hrns_tools(context)):
        yield skills_section(context.skills)
    if section := instructions_section(context):
        yield section


@hookimpl
def hrns_slash_commands(context: SessionContext) -> Iterable[SlashCommand]:
    """The commands of Markdown files."""
    from .commands import find_commands

    return find_commands(context)
