from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

import hrns_skills
import pluggy
import pytest

from hrns import hookspecs

if TYPE_CHECKING:
    from conftest import Site


def test_plugin_fits_the_hooks() -> None:
    manager = pluggy.PluginManager("hrns")
    manager.add_hookspecs(hookspecs)
    manager.register(hrns_skills)
    manager.check_pending()
    callers = manager.get_hookcallers(hrns_skills) or []
    assert sorted(caller.name for caller in callers) == [
        "hrns_agents",
        "hrns_prompt_sections",
        "hrns_skills",
        "hrns_slash_commands",
        "hrns_tools",
    ]


def test_plugin_is_found_by_its_entry_point() -> None:
    [entry_point] = entry_points(group="hrns", name="skills")
    assert entry_point.load() is hrns_skills


HOOKS = """
import sys
from pathlib import Path
import hrns_skills
from hrns.context import SessionContext

before = [name for name in sys.modules if name.startswith("hrns_skills.")]
context = SessionContext(cwd=Path(sys.argv[1]), warn=print)
agents = list(hrns_skills.hrns_agents(context))
context.skills = tuple(hrns_skills.hrns_skills(context))
list(hrns_skills.hrns_tools(context))
list(hrns_skills.hrns_prompt_sections(context))
list(hrns_skills.hrns_slash_commands(context))
print(before, len(agents), len(context.skills), "yaml" in sys.modules)
"""


@pytest.mark.parametrize("with_files", [False, True])
def test_yaml_is_loaded_only_for_front_matter(site: Site, with_files: bool) -> None:
    site.write("project/AGENTS.md", "Rules.")
    site.write("project/.hrns/commands/tidy.md", "Tidy up.")
    site.write("project/.hrns/agents/poet/AGENT.md", "You write poems.")
    if with_files:
        site.skill("project/.agents/skills/plan", "plan")
    command = [sys.executable, "-c", HOOKS, str(site.project)]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ended.stdout == f"[] 1 {int(with_files)} {with_files}\n"
