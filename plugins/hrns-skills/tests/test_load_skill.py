from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import hrns_skills
import pytest

from hrns import Skill, Text, Tool, ToolContext, ToolResult

if TYPE_CHECKING:
    from conftest import Site


def tool_of(site: Site) -> Tool:
    site.context.skills = tuple(hrns_skills.hrns_skills(site.context))
    [tool] = hrns_skills.hrns_tools(site.context)
    return tool


def load(site: Site, **arguments: Any) -> ToolResult:
    tool = tool_of(site)
    context = ToolContext(session=site.context)
    return tool.run(tool.structure(arguments), context)


def test_tool_is_made_only_if_there_are_skills(site: Site) -> None:
    assert list(hrns_skills.hrns_tools(site.context)) == []


def test_tool_has_no_effects_and_one_required_argument(site: Site) -> None:
    site.skill("project/.agents/skills/plan", "plan")
    tool = tool_of(site)
    assert (tool.name, tool.effects, tool.parallel_safe) == ("load_skill", frozenset(), True)
    assert list(tool.schema["properties"]) == ["name", "resource"]
    assert tool.schema["required"] == ["name"]


def test_load_skill_gives_the_whole_file(site: Site) -> None:
    file = site.skill("project/.agents/skills/plan", "plan")
    assert load(site, name="plan") == ToolResult(file.read_text())


def test_text_that_begins_like_an_error_is_no_error(site: Site) -> None:
    site.write("project/.agents/skills/plan/SKILL.md", "ERROR: is how failures begin.\n")
    assert load(site, name="plan") == ToolResult("ERROR: is how failures begin.\n")


def test_skill_with_other_files_names_them_after_its_text(site: Site) -> None:
    file = site.skill("project/.agents/skills/plan", "plan")
    for name in ("scripts/run.sh", "notes.md", "scripts/SKILL.md", ".git/config", ".hidden"):
        site.write(f"project/.agents/skills/plan/{name}", "x")
    assert load(site, name="plan").content == (
        Text(file.read_text()),
        Text(
            f"[Files of this skill in {file.parent}, to be had with load_skill's resource: "
            "notes.md, scripts/SKILL.md, scripts/run.sh]"
        ),
    )


def test_list_of_files_is_short(site: Site) -> None:
    site.skill("project/.agents/skills/plan", "plan")
    for number in range(120):
        site.write(f"project/.agents/skills/plan/{number:03}.txt", "x")
    assert load(site, name="plan").text.count(".txt") == 50


def test_skills_of_other_plugins_are_loaded(site: Site) -> None:
    site.context.skills = (Skill("release", "d", read=lambda: "How to release."),)
    [tool] = hrns_skills.hrns_tools(site.context)
    context = ToolContext(session=site.context)
    assert tool.run({"name": "release"}, context) == ToolResult("How to release.")
    assert tool.run({"name": "release", "resource": "a.md"}, context) == ToolResult(
        "ERROR: the skill 'release' has no files of its own", status="error"
    )


@pytest.mark.parametrize(
    ("name", "names"),
    [
        ("relase", "release, Review, plan"),
        ("review", "Review, release, plan"),
        ("PLAN", "plan, release, Review"),
        ("../../etc", "Review, release, plan"),
        ("/home/plan", "plan, release, Review"),
    ],
)
def test_unknown_skill_is_answered_with_the_names_nearest_first(
    site: Site, name: str, names: str
) -> None:
    for known in ("plan", "release", "Review"):
        site.skill(f"project/.agents/skills/{known}", known)
    assert load(site, name=name) == ToolResult(
        f"ERROR: there is no skill {name!r}. Skills: {names}", status="error"
    )


@pytest.fixture
def guarded(site: Site, tmp_path: Path) -> Site:
    """A skill `plan` with files, among others that it must not reach."""
    plan = site.skill("project/.agents/skills/plan", "plan").parent
    site.write("project/.agents/skills/plan/docs/a.md", "About a.\n")
    site.write("project/.agents/skills/plan-b/creds.json", "secret")
    (tmp_path / "outside.md").write_text("secret")
    (plan / "out.md").symlink_to(tmp_path / "outside.md")
    (plan / "parent").symlink_to("..")
    (plan / "inside.md").symlink_to("docs/a.md")
    (plan / "loop").symlink_to("loop")
    return site


@pytest.mark.parametrize("resource", ["docs/a.md", "./docs/../docs/a.md", "inside.md"])
def test_resource_of_a_skill_is_given(guarded: Site, resource: str) -> None:
    assert load(guarded, name="plan", resource=resource) == ToolResult("About a.\n")


@pytest.mark.parametrize(
    ("resource", "reason"),
    [
        ("../plan-b/creds.json", "it leads out of "),
        ("docs/../../plan-b/creds.json", "it leads out of "),
        ("out.md", "it leads out of "),
        ("parent/plan-b/creds.json", "it leads out of "),
        ("/etc/passwd", "is not relative to the directory"),
        ("loop", "Too many levels of symbolic links"),
        ("gone.md", "No such file or directory"),
        ("docs", "it is not a file"),
        ("docs/a.md\0.png", "is no path"),
        ("\ud800", "is no path"),
        ("x" * 300, "File name too long"),
    ],
)
def test_resource_outside_or_unusable_is_an_error(
    guarded: Site, resource: str, reason: str
) -> None:
    result = load(guarded, name="plan", resource=resource)
    assert result.status == "error"
    assert result.text.startswith("ERROR: ")
    assert reason in result.text
    assert "secret" not in result.text


def test_resource_of_a_linked_skill_stays_in_the_directory_that_is_meant(
    site: Site, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "SKILL.md").write_text("---\nname: a\n---\n")
    (elsewhere / "more.md").write_text("More.\n")
    (tmp_path / "secret.md").write_text("secret")
    roots = site.project / ".agents/skills"
    roots.mkdir(parents=True)
    (roots / "a").symlink_to(elsewhere)
    assert load(site, name="a", resource="more.md") == ToolResult("More.\n")
    assert load(site, name="a", resource="../elsewhere/more.md") == ToolResult("More.\n")
    assert load(site, name="a", resource="../secret.md") == ToolResult(
        f"ERROR: ../secret.md cannot be loaded: it leads out of {roots / 'a'}",
        status="error",
    )


def test_resource_that_is_no_text_or_too_long_is_an_error(site: Site) -> None:
    directory = site.skill("project/.agents/skills/plan", "plan").parent
    (directory / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (directory / "long.txt").write_text("x" * 300_000)
    assert load(site, name="plan", resource="picture.png") == ToolResult(
        "ERROR: picture.png cannot be loaded: line 1 is not UTF-8",
        status="error",
    )
    assert load(site, name="plan", resource="long.txt") == ToolResult(
        "ERROR: long.txt cannot be loaded: it is larger than 256 KiB", status="error"
    )


def test_skill_that_is_gone_is_an_error(site: Site) -> None:
    file = site.skill("project/.agents/skills/plan", "plan")
    tool = tool_of(site)
    file.unlink()
    assert tool.run({"name": "plan"}, ToolContext(session=site.context)) == ToolResult(
        "ERROR: plan cannot be loaded: No such file or directory", status="error"
    )
