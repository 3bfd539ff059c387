from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import hrns_skills
import pytest

from hrns import Agent
from hrns.permissions import ALL_EFFECTS

if TYPE_CHECKING:
    from conftest import Site

REVIEWER = """
    ---
    name: Reviewer
    description: Reads changes: finds what is wrong
    tools:
      write_file: false
      "*": true
    effects: [read, network]
    model: big-model
    ---

    You review changes.

    Be kind.
"""


def agents_of(site: Site) -> list[Agent]:
    return list(hrns_skills.hrns_agents(site.context))


def agent_of(site: Site, front_matter: str) -> list[Agent]:
    site.write("project/.hrns/agents/a/AGENT.md", f"---\n{front_matter}\n---\nPrompt.\n")
    return agents_of(site)


def test_agent_file_gives_an_agent(site: Site) -> None:
    file = site.write("project/.hrns/agents/reviewer/AGENT.md", REVIEWER)
    assert agents_of(site) == [
        Agent(
            name="Reviewer",
            description="Reads changes: finds what is wrong",
            prompt="You review changes.\n\nBe kind.",
            tools={"write_file": False, "*": True},
            effects=frozenset({"read", "network"}),
            model="big-model",
            source=str(file),
        )
    ]
    assert site.warnings == []


def test_agent_file_without_front_matter_has_the_name_of_its_directory(site: Site) -> None:
    file = site.write("home/.hrns/agents/poet/AGENT.md", "You write poems.\n")
    assert agents_of(site) == [Agent("poet", prompt="You write poems.", source=str(file))]
    assert site.warnings == []


def test_project_agent_hides_that_of_the_home_without_regard_to_case(site: Site) -> None:
    site.write("home/.hrns/agents/a/AGENT.md", "---\nname: Poet\n---\nhome")
    site.write("home/.hrns/agents/b/AGENT.md", "---\nname: Cook\n---\nhome")
    site.write("project/.hrns/agents/c/AGENT.md", "---\nname: poet\n---\nproject")
    assert [(agent.name, agent.prompt) for agent in agents_of(site)] == [
        ("poet", "project"),
        ("Cook", "home"),
    ]
    assert site.warnings == []


def test_two_agents_of_one_name_in_one_place_warn(site: Site) -> None:
    first = site.write("project/.hrns/agents/a/AGENT.md", "---\nname: Poet\n---\n1")
    second = site.write("project/.hrns/agents/b/AGENT.md", "---\nname: poet\n---\n2")
    assert [agent.prompt for agent in agents_of(site)] == ["1"]
    assert site.warnings == [f"{second}: {first} has the name 'poet' already; rename one"]


@pytest.mark.parametrize(
    ("tools", "expected"),
    [
        ("tools: {write_file: false}", {"write_file": False}),
        ("tools: {a: yes, b: No, c: on, d: OFF}", {"a": True, "b": False, "c": True, "d": False}),
        ("tools: [read_file, list_files]", {"*": False, "read_file": True, "list_files": True}),
        ("tools:\n- read_file", {"*": False, "read_file": True}),
        ("tools: read_file, list_files", {"*": False, "read_file": True, "list_files": True}),
        ('tools: ["*"]', {"*": True}),
        ("tools: []", {"*": False}),
        ("tools:", {}),
        ("x: 1", {}),
    ],
)
def test_tools_are_a_mapping_or_the_list_of_those_that_are_on(
    site: Site, tools: str, expected: dict[str, bool]
) -> None:
    assert [agent.tools for agent in agent_of(site, tools)] == [expected]
    assert site.warnings == []


@pytest.mark.parametrize(
    ("effects", "expected"),
    [
        ("effects: [read]", {"read"}),
        ("effects: read, write", {"read", "write"}),
        ("effects: []", set[str]()),
        ("effects:", ALL_EFFECTS),
    ],
)
def test_effects_are_a_list(site: Site, effects: str, expected: set[str]) -> None:
    assert [agent.effects for agent in agent_of(site, effects)] == [expected]
    assert site.warnings == []


@pytest.mark.parametrize(
    ("front_matter", "line", "message"),
    [
        ("tools: {write_file: never}", 2, "tools: 'write_file' is 'never'; write true or false"),
        ("tools:\n  write_file:", 2, "tools: 'write_file' is ''; write true or false"),
        ("tools: {write_file: [no]}", 2, "tools: 'write_file' is ''; write true or false"),
        ("tools: Read(*)", 2, "'Read(*)' is no name of a tool; write `tools: [read_file]`"),
        ("tools: [[read_file]]", 2, "'' is no name of a tool; write `tools: [read_file]`"),
        ("effects: [fly]", 2, "'fly' is no effect; effects are execute, network, read, write"),
        (
            "allowed-tools: [read_file]",
            2,
            "'allowed-tools' limits nothing here; write `tools: {run_command: false}`",
        ),
        (
            "disallowedTools: Bash",
            2,
            "'disallowedtools' limits nothing here; write `tools: {run_command: false}`",
        ),
        ("Tools: {write_file: never}", 2, "tools: 'write_file' is 'never'; write true or false"),
        ("effects: {a: b}", 2, "'a' is no effect; effects are execute, network, read, write"),
        (
            "description: a: b\ntools:\n  write_file: fal: se",
            3,
            "'write_file:' is no name of a tool; write `tools: [read_file]`",
        ),
    ],
)
def test_agent_whose_limits_are_in_doubt_is_left_out(
    site: Site, front_matter: str, line: int, message: str
) -> None:
    assert agent_of(site, front_matter) == []
    file = site.project / ".hrns/agents/a/AGENT.md"
    assert site.warnings == [f"{file}:{line}: {message}"]


def test_limits_hold_whatever_the_case_of_their_names(site: Site) -> None:
    [agent] = agent_of(site, "Tools: read_file\nEFFECTS: [read]")
    assert agent.tools == {"*": False, "read_file": True}
    assert agent.effects == {"read"}


@pytest.mark.parametrize(("model", "wanted"), [("m", "m"), ("inherit", ""), ("''", "")])
def test_model_that_is_inherited_is_no_model_of_its_own(
    site: Site, model: str, wanted: str
) -> None:
    assert [agent.model for agent in agent_of(site, f"model: {model}")] == [wanted]


def test_agent_whose_limits_are_lost_in_bad_yaml_is_left_out(site: Site) -> None:
    assert agent_of(site, "description: d\n tools: {write_file: false}") == []
    [warning] = site.warnings
    file = site.project / ".hrns/agents/a/AGENT.md"
    assert warning.startswith(f"{file}:3: the front matter is not YAML: mapping values")


def test_bad_agent_files_cost_one_warning_each(site: Site) -> None:
    good = site.write("project/.hrns/agents/good/AGENT.md", "Good.")
    endless = site.write("project/.hrns/agents/endless/AGENT.md", "---\nname: x\n")
    latin = Path(site.project, ".hrns/agents/latin/AGENT.md")
    latin.parent.mkdir()
    latin.write_bytes(b"caf\xe9")
    assert agents_of(site) == [Agent("good", prompt="Good.", source=str(good))]
    assert site.warnings == [
        f"{endless}:1: the front matter that begins here has no end; close it with a line '---'",
        f"{latin}: line 1 is not UTF-8; save it as UTF-8",
    ]
