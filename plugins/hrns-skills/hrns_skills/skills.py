"""Skills: SKILL.md files, and the section of the system prompt that names them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from hrns.context import SessionContext
from hrns.records import PromptSection, Skill

from .documents import collect, read_text, warn
from .front_matter import Document
from .places import files_by_place

__all__ = ["find_skills", "skills_section"]

ROOTS = (".agents/skills", ".hrns/skills", ".claude/skills")
DESCRIPTION_CHARS = 1024  # the most that the skill format allows

_INTRODUCTION = """\
# Skills

Instructions for particular kinds of tasks. When a task fits a description, call load_skill with \
the exact name before you begin, and do as it says.
"""


def find_skills(context: SessionContext) -> list[Skill]:
    """The skills of project and home, one of each name: the nearest."""
    paths = files_by_place(context, ROOTS, "SKILL.md")
    return collect(context, paths, partial(_skill, context))


def _skill(context: SessionContext, path: Path, document: Document) -> Skill:
    name, description = document.text("name"), document.text("description")
    if document.fault and not (name and description):
        warn(context, f"{path}:{document.fault.line}: {document.fault.message}")
    elif not description:
        warn(context, f"{path}:1: no description says when to use the skill; add `description:`")
    directory = path.parent
    return Skill(
        name=name or directory.name,
        description=description,
        read=partial(read_text, path, directory),
        directory=directory,
        source=str(path),
    )


def skills_section(skills: Sequence[Skill]) -> PromptSection:
    """The section that tells a model which skills there are, and how to load one."""
    return PromptSection("skills", "\n".join([_INTRODUCTION, *map(_line, skills)]), order=50)


def _line(skill: Skill) -> str:
    if not skill.description:
        return f"- {skill.name}"
    if len(skill.description) <= DESCRIPTION_CHARS:
        return f"- {skill.name}: {skill.description}"
    return f"- {skill.name}: {skill.description[: DESCRIPTION_CHARS - 1]}…"
