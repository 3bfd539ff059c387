from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import hrns_skills
import pytest

from hrns import Agent, PromptSection, Skill

if TYPE_CHECKING:
    from conftest import Site


def skills_of(site: Site) -> list[Skill]:
    return list(hrns_skills.hrns_skills(site.context))


def names_of(site: Site) -> list[str]:
    return [skill.name for skill in skills_of(site)]


def test_skill_file_gives_a_skill(site: Site) -> None:
    file = site.write(
        "project/.agents/skills/plan/SKILL.md", "---\nname: p\ndescription: d\n---\nx"
    )
    [skill] = skills_of(site)
    assert skill == Skill("p", "d", skill.read, file.parent, str(file))
    assert skill.read() == "---\nname: p\ndescription: d\n---\nx"


def test_missing_roots_give_no_skills_and_no_warning(site: Site) -> None:
    assert skills_of(site) == []
    assert site.warnings == []


def test_all_roots_are_read_in_a_fixed_order(site: Site) -> None:
    for number, root in enumerate([".claude", ".hrns", ".agents"]):
        site.skill(f"home/{root}/skills/x", f"home-{number}")
        for name in "ba":
            site.skill(f"project/{root}/skills/{name}", f"project-{number}{name}")
    assert names_of(site) == [
        *("project-2a", "project-2b", "project-1a", "project-1b", "project-0a", "project-0b"),
        *("home-2", "home-1", "home-0"),
    ]


def test_skills_are_found_from_the_working_directory_up_to_the_git_root(site: Site) -> None:
    site.skill("project/sub/deep/.agents/skills/x", "deep")
    site.skill("project/sub/.agents/skills/x", "sub")
    site.skill("project/.agents/skills/x", "root")
    site.skill(".agents/skills/x", "above")
    site.skill("home/.agents/skills/x", "home")
    assert names_of(site.session_in("project/sub/deep")) == ["deep", "sub", "root", "home"]
    assert names_of(site) == ["root", "home"]


def test_without_a_git_root_only_the_working_directory_is_the_project(site: Site) -> None:
    (site.project / ".git").rmdir()
    site.skill("project/.agents/skills/x", "above")
    site.skill("project/sub/.agents/skills/x", "here")
    assert names_of(site.session_in("project/sub")) == ["here"]


def test_session_in_the_home_reads_it_once(site: Site) -> None:
    site.skill("home/.agents/skills/x", "x")
    assert names_of(site.session_in("home")) == ["x"]
    assert site.warnings == []


def test_project_skill_hides_the_one_of_the_home(site: Site) -> None:
    site.skill("home/.agents/skills/plan", "plan", "from home")
    site.skill("project/.claude/skills/other", "plan", "from project")
    assert [skill.description for skill in skills_of(site)] == ["from project"]
    assert site.warnings == []


def test_two_skills_of_one_name_in_one_place_warn(site: Site) -> None:
    first = site.skill("project/.agents/skills/a", "plan", "first")
    second = site.skill("project/.agents/skills/b", "plan", "second")
    assert [skill.description for skill in skills_of(site)] == ["first"]
    assert site.warnings == [f"{second}: {first} has the name 'plan' already; rename one"]


def test_copies_and_links_of_one_skill_are_one_without_warning(site: Site) -> None:
    site.skill("project/.agents/skills/plan", "plan", "Plans: work")
    site.skill("project/.hrns/skills/plan", "plan", "Plans: work")
    (site.project / ".claude").mkdir()
    (site.project / ".claude/skills").symlink_to("../.agents/skills")
    assert names_of(site) == ["plan"]
    assert site.warnings == []


def test_only_files_one_directory_below_the_root_count(site: Site) -> None:
    site.skill("project/.agents/skills/group/deeper", "deeper")
    site.skill("project/.agents/skills", "root")
    site.write("project/.agents/skills/README.md", "About these skills.")
    site.write("project/.agents/skills/drafts/notes.md", "No skill.")
    site.write("project/.claude/skills", "not a directory")
    assert skills_of(site) == []
    assert site.warnings == []


def test_linked_directories_are_followed_and_cycles_and_dangling_links_end(
    site: Site, tmp_path: Path
) -> None:
    roots = site.project / ".agents/skills"
    roots.mkdir(parents=True)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "SKILL.md").write_text("---\nname: a\ndescription: d\n---\n")
    (roots / "a").symlink_to(elsewhere)
    (roots / "loop").symlink_to("..")
    (roots / "dangling").symlink_to("/nowhere/at/all")
    (roots / "half").mkdir()
    (roots / "half/SKILL.md").symlink_to("gone.md")
    [skill] = skills_of(site)
    assert (skill.name, skill.directory) == ("a", roots / "a")
    assert skill.read() == (elsewhere / "SKILL.md").read_text()
    assert site.warnings == []


def test_link_that_leads_to_itself_costs_one_warning(site: Site) -> None:
    roots = site.project / ".agents/skills"
    roots.mkdir(parents=True)
    (roots / "self").symlink_to("self")
    assert skills_of(site) == []
    assert site.warnings == [f"{roots}/self/SKILL.md: Too many levels of symbolic links"]


def test_skill_file_that_links_out_of_its_directory_is_refused(site: Site, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("key")
    file = site.project / ".agents/skills/spy/SKILL.md"
    file.parent.mkdir(parents=True)
    file.symlink_to(secret)
    assert skills_of(site) == []
    assert site.warnings == [
        f"{file}: it leads out of {file.parent}; copy it, or link the whole directory"
    ]


def test_skill_without_a_name_takes_that_of_its_directory(site: Site) -> None:
    site.write("project/.agents/skills/plan/SKILL.md", "---\ndescription: d\n---\n")
    assert names_of(site) == ["plan"]
    assert site.warnings == []


@pytest.mark.parametrize("text", ["# Plan\n", "---\nname: plan\n---\n", "---\n---\n", ""])
def test_skill_without_a_description_is_loaded_with_a_warning(site: Site, text: str) -> None:
    file = site.write("project/.agents/skills/plan/SKILL.md", text)
    assert [(skill.name, skill.description) for skill in skills_of(site)] == [("plan", "")]
    assert site.warnings == [
        f"{file}:1: no description says when to use the skill; add `description:`"
    ]


def test_description_with_a_colon_is_read_without_a_warning(site: Site) -> None:
    text = "---\nname: demo\ndescription: Plans work: goals, risks\n---\nbody\n"
    site.write("project/.agents/skills/demo/SKILL.md", text)
    [skill] = skills_of(site)
    assert (skill.name, skill.description) == ("demo", "Plans work: goals, risks")
    assert site.warnings == []


def test_front_matter_that_tells_nothing_names_file_and_line(site: Site) -> None:
    file = site.write("project/.agents/skills/demo/SKILL.md", "---\n\n@demo\n---\nbody\n")
    assert names_of(site) == ["demo"]
    [warning] = site.warnings
    assert warning.startswith(f"{file}:3: the front matter is not YAML: found character")
    assert warning.endswith("; put the value in quotes")


def test_case_of_the_file_name_is_no_matter(site: Site) -> None:
    text = "---\nname: low\ndescription: d\n---\nDo it.\n"
    file = site.write("project/.agents/skills/low/skill.md", text)
    [skill] = skills_of(site)
    assert (skill.name, skill.source) == ("low", str(file))
    assert site.warnings == []


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_skill_in_utf_16_is_read(site: Site, encoding: str) -> None:
    file = site.skill("project/.agents/skills/wide", "wide", "für alle")
    mark = "" if encoding == "utf-16" else "\ufeff"
    file.write_bytes((mark + file.read_text()).replace("\n", "\r\n").encode(encoding))
    assert [(skill.name, skill.description) for skill in skills_of(site)] == [("wide", "für alle")]
    assert site.warnings == []


def test_each_bad_file_costs_one_warning_and_no_other_skill(site: Site) -> None:
    good = ["a", "c", "e"]
    for name in good:
        site.skill(f"project/.agents/skills/{name}", name)
    bracket = "---\nname: b\ndescription: d\ntags: [a[b], c]\n---\n"
    site.write("project/.agents/skills/b/SKILL.md", bracket)
    bad = {name: site.project / f".agents/skills/{name}/SKILL.md" for name in ("d1", "d2", "d3")}
    bad["d1"].parent.mkdir()
    bad["d1"].write_bytes(b"---\nname: d\ndescription: caf\xe9\n---\n")
    bad["d2"].mkdir(parents=True)
    site.write("project/.agents/skills/d3/SKILL.md", "---\nname: d3\ndescription: d\n")
    huge = site.skill("project/.agents/skills/d4", "d4")
    huge.write_text(huge.read_text() + "x" * 1024 * 1024)
    assert names_of(site) == ["a", "b", "c", "e"]
    assert site.warnings == [
        f"{bad['d1']}: line 3 is not UTF-8; save it as UTF-8",
        f"{bad['d2']}: it is not a file; move it away",
        f"{bad['d3']}:1: the front matter that begins here has no end; close it with a line '---'",
        f"{huge}: it is larger than 1024 KiB; split it up",
    ]


def test_unreadable_files_cost_one_warning_each(unprivileged_site: Site) -> None:
    site = unprivileged_site
    site.skill("project/.agents/skills/good", "good")
    closed_file = site.skill("project/.agents/skills/file", "file")
    closed_file.chmod(0)
    closed_directory = site.skill("project/.agents/skills/directory", "directory").parent
    closed_directory.chmod(0)
    closed_root = site.skill("project/.hrns/skills/x", "x").parent.parent
    closed_root.chmod(0)
    try:
        assert names_of(site) == ["good"]
        assert site.warnings == [
            f"{closed_root}: Permission denied; nothing in it is used",
            f"{closed_directory}/SKILL.md: Permission denied",
            f"{closed_file}: Permission denied",
        ]
    finally:
        closed_directory.chmod(0o700)
        closed_root.chmod(0o700)


def test_warning_is_said_once_in_a_session(site: Site) -> None:
    site.write("project/.agents/skills/plan/SKILL.md", "# Plan\n")
    for _ in range(3):
        assert names_of(site) == ["plan"]
    assert len(site.warnings) == 1


def test_skill_that_is_gone_when_it_is_loaded_raises(site: Site) -> None:
    file = site.skill("project/.agents/skills/plan", "plan")
    [skill] = skills_of(site)
    file.unlink()
    with pytest.raises(FileNotFoundError):
        skill.read()


def sections_of(site: Site) -> list[PromptSection]:
    return list(hrns_skills.hrns_prompt_sections(site.context))


def test_section_names_all_skills_and_how_to_load_them(site: Site) -> None:
    site.skill("project/.agents/skills/plan", "plan", "Plans work: goals, risks")
    own = Skill("release", "x" * 2000, read=lambda: "text")
    site.context.skills = (*skills_of(site), own, Skill("bare", "", read=lambda: "text"))
    [section] = sections_of(site)
    assert (section.name, section.order) == ("skills", 50)
    head, _, listed = section.text.partition("\n\n- ")
    assert "load_skill" in head
    assert listed.splitlines() == [
        "plan: Plans work: goals, risks",
        f"- release: {'x' * 1023}…",
        "- bare",
    ]
    assert sections_of(site) == [section]


def test_section_is_left_out_without_skills(site: Site) -> None:
    assert sections_of(site) == []


@pytest.mark.parametrize(
    ("agent", "shown"),
    [
        (Agent("Reader", tools={"read_file": True, "*": False}), False),
        (Agent("Loader", tools={"load_skill": True, "*": False}), True),
        (Agent("Bound", effects=frozenset()), True),
    ],
)
def test_section_is_left_out_for_an_agent_that_cannot_load_skills(
    site: Site, agent: Agent, shown: bool
) -> None:
    site.context.skills = (Skill("plan", "d", read=lambda: "text"),)
    site.context.agent = agent
    assert [section.name for section in sections_of(site)] == ["skills"] * shown


def test_a_hundred_long_skills_are_found(site: Site) -> None:
    for number in range(100):
        file = site.skill(f"home/.agents/skills/s{number}", f"s{number}", "Does: things")
        file.write_text(file.read_text() + "A line of instructions.\n" * 200)
    assert len(skills_of(site)) == 100
