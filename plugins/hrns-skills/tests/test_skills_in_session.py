from __future__ import annotations

from typing import TYPE_CHECKING

import hrns_skills
import pytest

from hrns import ProviderKind, Session, SystemMessage, ToolMessage, hookimpl, open_session
from hrns.config import Config, ProviderConfig
from hrns.plugins import Plugins
from hrns.testing import Call, Say, ScriptedProvider

if TYPE_CHECKING:
    from conftest import Site


class ScriptPlugin:
    """Brings the protocol `script`, spoken by one scripted provider."""

    def __init__(self, provider: ScriptedProvider) -> None:
        self.provider = provider

    @hookimpl
    def hrns_providers(self) -> ProviderKind:
        return ProviderKind("script", build=lambda _entry: self.provider)


@pytest.fixture
def provider() -> ScriptedProvider:
    """A model that loads the skill `plan`, asks for one of its files, and is done."""
    return ScriptedProvider(
        [
            Call("load_skill", {"name": "plan"}),
            Call("load_skill", {"name": "plan", "resource": "../../../secret"}),
            Say("Done."),
        ]
    )


def session_on(site: Site, provider: ScriptedProvider, agent: str = "") -> Session:
    plugins = Plugins(strict=True)
    plugins.register("skills", hrns_skills, distribution="hrns-skills")
    plugins.register("script", ScriptPlugin(provider))
    config = Config(site.home / "config.json")
    entry = ProviderConfig("p", api="script", model="scripted")
    return open_session(
        config, plugins, entry, cwd=site.project, environ={}, agent=agent, mode="plan"
    )


def test_model_is_told_of_skills_and_loads_one_in_the_strictest_mode(
    site: Site, provider: ScriptedProvider
) -> None:
    file = site.skill("project/.agents/skills/plan", "plan", "Plans work")
    site.write("project/secret", "secret")
    site.write("project/AGENTS.md", "Use tabs.")
    session = session_on(site, provider)
    assert [chunk.type for chunk in session.send("Plan it.")][-1] == "end"
    system = provider.requests[0].messages[0]
    assert isinstance(system, SystemMessage)
    assert system.text.index("- plan: Plans work") < system.text.index("Use tabs.")
    results = [
        result
        for message in provider.requests[-1].messages
        if isinstance(message, ToolMessage)
        for result in message.results
    ]
    assert [(result.name, result.status) for result in results] == [
        ("load_skill", "ok"),
        ("load_skill", "error"),
    ]
    assert results[0].text == file.read_text()
    assert "it leads out of" in results[1].text
    assert session.take_notices() == ()


def test_agent_file_takes_the_place_of_a_built_in_agent(
    site: Site, provider: ScriptedProvider
) -> None:
    site.skill("project/.agents/skills/plan", "plan")
    text = "---\nname: explorer\ntools: {load_skill: false}\n---\nYou look around.\n"
    site.write("home/.hrns/agents/mine/AGENT.md", text)
    session = session_on(site, provider, agent="Explorer")
    names = [agent.name for agent in session.context.agents]
    assert names == ["Builder", "explorer", "Planner", "Pirate"]
    assert session.offered == ()
    assert session.system_prompt().startswith("You look around.")
    assert "load_skill" not in session.system_prompt()
    session.use_agent("Builder")
    assert "load_skill" in session.system_prompt()


def test_tools_that_an_agent_names_and_that_are_not_there_are_told(
    site: Site, provider: ScriptedProvider
) -> None:
    site.skill("project/.agents/skills/plan", "plan")
    site.write("project/.hrns/agents/a/AGENT.md", "---\nname: a\ntools: Grep, loda_skill\n---\n")
    off = "---\nname: b\ntools: {load_skil: false, Grep: false, '*': true}\n---\n"
    site.write("project/.hrns/agents/b/AGENT.md", off)
    session = session_on(site, provider, agent="a")
    assert session.take_notices() == (
        "The agent a names a tool Grep that is not there",
        "The agent a names a tool loda_skill that is not there; is load_skill meant?",
    )
    session.use_agent("b")
    assert session.take_notices() == (
        "The agent b names a tool load_skil that is not there; is load_skill meant?",
    )


def test_bad_file_is_a_notice_of_the_session(site: Site, provider: ScriptedProvider) -> None:
    file = site.write("project/.agents/skills/bad/SKILL.md", "---\nname: bad\n")
    session = session_on(site, provider)
    session.new()
    assert session.take_notices() == (
        f"{file}:1: the front matter that begins here has no end; close it with a line '---'",
    )
