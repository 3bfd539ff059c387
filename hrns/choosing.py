"""Which provider and which agent a session begins with, or goes on with."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence

from attrs import evolve

from .agents import DEFAULT_AGENT, Agent
from .config import Config, ProviderConfig, choose_provider, find_provider
from .errors import ConfigError, HrnsError, in_words
from .journal import (
    Story,
)
from .misuse import is_provider, shown
from .nearest import nearest
from .plugins import Owned, Plugins, first_owners
from .providers.base import Provider
from .providers.tool_mode import with_tool_mode
from .records import ProviderKind

__all__ = [
    "build_provider",
    "choose_agent",
    "choose_for_resume",
    "find_agent",
    "misnamed_tools",
    "offering_tools",
]


def build_provider(plugins: Plugins, entry: ProviderConfig, environ: Mapping[str, str]) -> Provider:
    """The provider that an entry of the configuration stands for.

    Raises:
        ConfigError: no plugin brings its `api`, or the entry does not do for it; a factory that
            fails is told with its plugin.
    """
    kinds = first_owners(
        plugins,
        "provider kind",
        plugins.collect("hrns_providers", ProviderKind),
        lambda kind: kind.api,
    )
    by_api = {each.record.api: each for each in kinds}
    if entry.api not in by_api:
        raise ConfigError(
            f"provider {entry.name!r} speaks {entry.api!r}, which nothing here does",
            hint=f"Known are: {', '.join(sorted(by_api))}.",
        )
    secret = evolve(entry, key=entry.resolved_key(environ), headers=entry.resolved_headers(environ))
    return _built(by_api[entry.api], secret)


def _built(owned: Owned[ProviderKind], entry: ProviderConfig) -> Provider:
    who = f"plugin {owned.plugin}"
    try:
        provider = owned.record.build(entry)
    except HrnsError:
        raise
    except (Exception, SystemExit) as error:
        raise ConfigError(
            f"{who} cannot make the provider {entry.name!r}: {in_words(error)}",
            hint="Look at its entry in the configuration, or update the plugin.",
        ) from error
    if not is_provider(provider):
        raise ConfigError(f"{who} gave {shown(provider)} as the provider {entry.name!r}")
    return provider


def offering_tools(plugins: Plugins, entry: ProviderConfig, environ: Mapping[str, str]) -> Provider:
    """The provider of an entry, its models offered tools as the entry's `toolMode` says."""
    return with_tool_mode(build_provider(plugins, entry, environ), entry.tool_mode_for)


def choose_agent(agents: Sequence[Agent], wanted: str, saved: str) -> tuple[Agent, str]:
    """The agent to start with, and a notice if the saved one is gone ("" otherwise).

    Parameters:
        wanted: the name that was asked for now, or "".
        saved: the name in the configuration, or "".

    Raises:
        ConfigError: there is no agent of the name that was asked for.
    """
    if wanted:
        return find_agent(agents, wanted), ""
    with contextlib.suppress(ConfigError):
        return find_agent(agents, saved), ""
    agent = next((each for each in agents if each.name == DEFAULT_AGENT), agents[0])
    if not saved:
        return agent, ""
    return agent, f"The agent {saved!r} does not exist any more; {agent.name} is used."


def find_agent(agents: Sequence[Agent], name: str) -> Agent:
    """The agent of that name, whatever its case.

    Raises:
        ConfigError: there is none; the names there are, are named.
    """
    by_name = {agent.name.casefold(): agent for agent in agents}
    if found := by_name.get(name.casefold()):
        return found
    near = nearest(name, (agent.name for agent in agents))
    guess = f"Did you mean {near[0]}? " if near else ""
    names = ", ".join(agent.name for agent in agents)
    raise ConfigError(f"there is no agent {name!r}", hint=f"{guess}The agents are: {names}.")


def misnamed_tools(agent: Agent, tools: Iterable[str]) -> list[str]:
    """What is to be said of tools that an agent names and that are not there.

    One that is off and like none that is there may be a plugin's that is not here: no harm done.
    """
    known, said = list(tools), []
    for name, on in agent.tools.items():
        near = nearest(name, known)
        if name != "*" and name not in known and (on or near):
            guess = f"; is {near[0]} meant?" if near else ""
            said.append(f"The agent {agent.name} names a tool {name} that is not there{guess}")
    return said


def choose_for_resume(
    story: Story, config: Config, provider: str, model: str, environ: Mapping[str, str]
) -> tuple[ProviderConfig, str]:
    """The provider and model to go on with, and a notice if the session's own is gone.

    Parameters:
        story: what the session's file tells.
        provider: the provider that was asked for now, or "".
        model: the model that was asked for now, or "".

    Raises:
        ConfigError: as `hrns.config.choose_provider`.
    """
    if provider or not story.provider:
        return choose_provider(config, provider, model, environ), ""
    try:
        found = find_provider(config, story.provider, environ)
    except ConfigError:
        chosen = choose_provider(config, "", model, environ)
        gone = f"The provider {story.provider!r} of this session does not exist any more"
        return chosen, f"{gone}; {chosen.name} is used."
    return evolve(found, model=model or story.model or found.model), ""
