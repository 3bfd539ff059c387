"""How a session begins in the program that hrns began from, row by row: skills, agents, prompt."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import hrns_skills
import hrns_tools_fs
import pytest

from hrns import Agent, ProviderKind, Session, SystemMessage, ToolMessage, hookimpl, open_session
from hrns.config import Config, ProviderConfig
from hrns.plugins import Plugins
from hrns.session import BASE_PROMPT
from hrns.testing import Call, Reply, Say, ScriptedProvider

ENTRY = ProviderConfig("here", api="scripted", model="m")


class Place:
    """A home and a project, and the sessions there."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.project = folder / "project"
        self.project.mkdir()

    def skill(self, root: Path, name: str, text: str = "Do it.") -> Path:
        head = f"---\nname: {name}\ndescription: About {name}.\n---\n"
        return write(root / ".agents/skills" / name / "SKILL.md", head + text)

    def agent(self, root: Path, name: str, prompt: str, head: str = "") -> Path:
        text = f"---\nname: {name}\ndescription: As {name}.\n{head}---\n{prompt}"
        return write(root / ".hrns/agents" / name.lower() / "AGENT.md", text)

    def session(self, *script: Reply, agent: str = "", saved: str = "") -> Session:
        plugins = Plugins(strict=True)
        plugins.register("skills", hrns_skills, distribution="hrns-skills")
        plugins.register("tools-fs", hrns_tools_fs, distribution="hrns-tools-fs")
        plugins.register("model", Model(ScriptedProvider(script)))
        config = Config(self.project / "config.json", current_agent=saved)
        return open_session(config, plugins, ENTRY, cwd=self.project, agent=agent, mode="all")


class Model:
    """A plugin that brings the protocol `scripted`."""

    def __init__(self, provider: ScriptedProvider) -> None:
        self.provider = provider

    @hookimpl
    def hrns_providers(self) -> ProviderKind:
        return ProviderKind("scripted", build=lambda _entry: self.provider)


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    place = Place(tmp_path)
    monkeypatch.setenv("HOME", str(place.home))
    monkeypatch.chdir(place.project)
    return place


def system_prompt(session: Session) -> str:
    (first, *_) = session.messages
    assert isinstance(first, SystemMessage)
    return first.text


def offered(session: Session) -> set[str]:
    return {tool.name for tool in session.offered}


# Skills


def test_skills_are_found_in_home_and_project_and_the_project_wins(place: Place) -> None:
    place.skill(place.home, "release")
    place.skill(place.home, "both", "of the home")
    place.skill(place.project, "both", "of the project")
    session = place.session(Call("load_skill", {"name": "both"}), Say("done"))
    assert {skill.name for skill in session.context.skills} == {"release", "both"}
    assert "load_skill" in offered(session)
    list(session.send("Go."))
    (result,) = [m.results[0] for m in session.messages if isinstance(m, ToolMessage)]
    assert result.text.endswith("of the project")


def test_skill_is_loaded_whole_by_its_exact_name(place: Place) -> None:
    path = place.skill(place.project, "release", "Tag it.\n")
    script = [Call("load_skill", {"name": "release"}), Call("load_skill", {"name": "Release"})]
    session = place.session(*script, Say("done"))
    list(session.send("Go."))
    loaded, missing = [m.results[0] for m in session.messages if isinstance(m, ToolMessage)]
    assert loaded.text == path.read_text("utf-8")
    assert missing.text.startswith("ERROR:")
    assert "release" in missing.text


def test_skill_files_lie_one_directory_below_a_root_and_roots_may_be_missing(place: Place) -> None:
    assert place.session().context.skills == ()
    deep = place.project / ".agents/skills/group/deep/SKILL.md"
    write(deep, "---\nname: deep\ndescription: Too deep.\n---\n")
    session = place.session()
    assert session.context.skills == ()
    assert "load_skill" not in offered(session)


# Agents


def test_four_agents_are_built_in(place: Place) -> None:
    names = [agent.name for agent in place.session().context.agents]
    assert names == ["Builder", "Explorer", "Planner", "Pirate"]


def test_agent_files_are_found_and_replace_a_built_in_of_their_name(place: Place) -> None:
    place.agent(place.home, "Reviewer", "You review at home.")
    place.agent(place.project, "Reviewer", "You review here.")
    place.agent(place.home, "Pirate", "You are a quiet pirate.")
    agents = {agent.name: agent for agent in place.session().context.agents}
    assert list(agents) == ["Builder", "Explorer", "Planner", "Pirate", "Reviewer"]
    assert agents["Reviewer"].prompt.strip() == "You review here."
    assert agents["Pirate"].prompt.strip() == "You are a quiet pirate."
    assert agents["Reviewer"].description == "As Reviewer."


def test_exact_name_decides_over_the_star_whether_a_tool_is_offered(place: Place) -> None:
    place.agent(place.project, "Reader", "You read.", 'tools:\n  read_file: true\n  "*": false\n')
    place.agent(place.project, "Writer", "You write.", "tools:\n  run_command: false\n")
    assert offered(place.session(agent="Reader")) == {"read_file"}
    writer = offered(place.session(agent="Writer"))
    assert "run_command" not in writer
    assert {"read_file", "write_file"} <= writer


@pytest.mark.parametrize("name", ["Explorer", "Planner"])
def test_agents_that_change_nothing_have_no_tool_that_could(place: Place, name: str) -> None:
    session = place.session(agent=name)
    assert {"write_file", "run_command"}.isdisjoint(offered(session))
    assert {"read_file", "list_files", "web_fetch"} <= offered(session)
    effects: set[str] = set().union(*(tool.effects for tool in session.offered))
    assert effects <= {"read", "network"}


def test_tool_that_is_off_cannot_be_called_either(place: Place) -> None:
    session = place.session(
        Call("run_command", {"command": "touch ran"}), Say("sorry"), agent="Planner"
    )
    list(session.send("Go."))
    (result,) = [m.results[0] for m in session.messages if isinstance(m, ToolMessage)]
    assert "not found" in result.text
    assert not (place.project / "ran").exists()


def test_agent_may_be_limited_in_effects_whatever_its_tools_are_called(place: Place) -> None:
    place.agent(place.project, "Careful", "You look.", "effects: [read]\n")
    session = place.session(agent="Careful")
    assert all(tool.effects <= {"read"} for tool in session.offered)
    assert "read_file" in offered(session)


# The agent that a session begins with


@pytest.mark.parametrize(("saved", "used"), [("Planner", "Planner"), ("", "Builder")])
def test_saved_agent_is_used_and_builder_where_none_is_saved(
    place: Place, saved: str, used: str
) -> None:
    session = place.session(saved=saved)
    assert session.agent.name == used
    assert session.take_notices() == ()


def test_saved_agent_that_is_gone_is_told_and_replaced(place: Place) -> None:
    session = place.session(saved="Ghost")
    assert session.agent.name == "Builder"
    (notice,) = session.take_notices()
    assert "Ghost" in notice
    assert "Builder" in notice


# The system message


def test_system_message_is_the_prompt_of_the_agent_then_the_skills(place: Place) -> None:
    place.skill(place.project, "release")
    session = place.session(agent="Pirate")
    text = system_prompt(session)
    assert text.startswith(session.agent.prompt)
    told = text[len(session.agent.prompt) :]
    assert "release" in told
    assert "About release." in told
    assert "load_skill" in told


def test_system_message_without_skills_does_not_speak_of_them(place: Place) -> None:
    assert "skill" not in system_prompt(place.session()).casefold()


def test_agent_without_a_prompt_has_the_base_prompt(place: Place) -> None:
    place.agent(place.project, "Plain", "")
    assert system_prompt(place.session(agent="Plain")).startswith(BASE_PROMPT)


def test_agent_is_a_plain_record() -> None:
    fields: dict[str, Any] = {"name": "A", "description": "d", "prompt": "p", "tools": {"*": False}}
    agent = Agent(**fields)
    assert {name: getattr(agent, name) for name in fields} == fields
