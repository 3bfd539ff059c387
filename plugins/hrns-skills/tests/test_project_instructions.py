from __future__ import annotations

from typing import TYPE_CHECKING

import hrns_skills
import pytest

from hrns import PromptSection

if TYPE_CHECKING:
    from conftest import Site

INTRODUCTION = (
    "# Project instructions\n\nWhere two of these files disagree, the later one counts.\n\n"
)


def sections_of(site: Site) -> list[PromptSection]:
    return list(hrns_skills.hrns_prompt_sections(site.context))


def test_instructions_stand_from_the_git_root_down_to_the_working_directory(site: Site) -> None:
    site.write("AGENTS.md", "above")
    site.write("project/AGENTS.md", "Use tabs.\n")
    site.write("project/sub/deep/AGENTS.md", "Use spaces.\n")
    site.write("project/sub/deep/er/AGENTS.md", "below")
    section = PromptSection(
        "project-instructions",
        f"{INTRODUCTION}## AGENTS.md\n\nUse tabs.\n\n## sub/deep/AGENTS.md\n\nUse spaces.",
        order=60,
    )
    assert sections_of(site.session_in("project/sub/deep")) == [section]
    assert site.warnings == []


def test_without_a_git_root_only_the_working_directory_counts(site: Site) -> None:
    (site.project / ".git").rmdir()
    site.write("project/AGENTS.md", "above")
    site.write("project/sub/AGENTS.md", "here")
    [section] = sections_of(site.session_in("project/sub"))
    assert section.text == f"{INTRODUCTION}## AGENTS.md\n\nhere"


@pytest.mark.parametrize("name", ["agents.md", "Agents.md", "AGENTS.MD"])
def test_case_of_the_file_name_is_no_matter(site: Site, name: str) -> None:
    site.write(f"project/{name}", "here")
    [section] = sections_of(site)
    assert section.text.endswith("\n\nhere")
    assert site.warnings == []


def test_git_root_of_a_worktree_is_found(site: Site) -> None:
    site.write("project/tree/.git", "gitdir: elsewhere\n")
    site.write("project/AGENTS.md", "other")
    site.write("project/tree/AGENTS.md", "tree")
    [section] = sections_of(site.session_in("project/tree/sub"))
    assert section.text == f"{INTRODUCTION}## AGENTS.md\n\ntree"


def test_no_or_empty_instructions_give_no_section(site: Site) -> None:
    assert sections_of(site) == []
    site.write("project/AGENTS.md", "\n \n")
    assert sections_of(site) == []
    assert site.warnings == []


def test_long_instructions_are_cut_with_a_note(site: Site) -> None:
    site.write("project/AGENTS.md", "é" * 20_000)
    [section] = sections_of(site)
    assert section.text == (
        f"{INTRODUCTION}## AGENTS.md\n\n{'é' * 16_384}\n"
        "[Cut after 32768 of 40000 bytes; read AGENTS.md for the rest.]"
    )


def test_nearest_instructions_are_kept_before_those_farther_away(site: Site) -> None:
    site.write("project/AGENTS.md", "r" * 100)
    site.write("project/a/AGENTS.md", "a" * 20_000)
    site.write("project/a/b/AGENTS.md", "b" * 20_000)
    [section] = sections_of(site.session_in("project/a/b"))
    assert section.text.partition(INTRODUCTION)[2].split("\n\n") == [
        "## AGENTS.md",
        "[Cut after 0 of 100 bytes; read AGENTS.md for the rest.]",
        "## a/AGENTS.md",
        "a" * 12_768 + "\n[Cut after 12768 of 20000 bytes; read a/AGENTS.md for the rest.]",
        "## a/b/AGENTS.md",
        "b" * 20_000,
    ]


def test_cut_does_not_split_a_character(site: Site) -> None:
    site.write("project/AGENTS.md", "a" + "é" * 20_000)
    [section] = sections_of(site)
    assert f"\na{'é' * 16_383}\n[Cut" in section.text


def test_link_inside_the_project_is_followed_and_one_out_of_it_refused(site: Site) -> None:
    site.write("project/CLAUDE.md", "Rules.")
    (site.project / "AGENTS.md").symlink_to("CLAUDE.md")
    secret = site.write("home/secret", "key")
    below = site.session_in("project/sub")
    link = site.project / "sub/AGENTS.md"
    link.symlink_to(secret)
    assert [section.text for section in sections_of(below)] == [
        f"{INTRODUCTION}## AGENTS.md\n\nRules."
    ]
    assert site.warnings == [
        f"{link}: it leads out of {site.project}; copy it, or link the whole directory"
    ]


def test_bad_instructions_warn_once_and_leave_the_others(site: Site) -> None:
    site.write("project/AGENTS.md", "Rules.")
    below = site.session_in("project/sub")
    bad = site.project / "sub/AGENTS.md"
    bad.write_bytes(b"ok\n\xff\n")
    for _ in range(2):
        [section] = sections_of(below)
        assert section.text == f"{INTRODUCTION}## AGENTS.md\n\nRules."
    assert site.warnings == [f"{bad}: line 2 is not UTF-8; save it as UTF-8"]
