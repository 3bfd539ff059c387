"""Agent files: AGENT.md, whose front matter says what the agent may do and whose body prompts it.

What limits an agent is never read leniently: a file whose limits are in doubt gives no agent.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from hrns.agents import Agent
from hrns.context import SessionContext
from hrns.permissions import ALL_EFFECTS, Effect
from hrns.tools import NAME_PATTERN

from .documents import collect
from .front_matter import Document, Fault, Field
from .places import files_by_place

__all__ = ["find_agents"]

ROOTS = (".hrns/agents",)

_SWITCHES = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
_EFFECTS: Mapping[str, Effect] = {effect: effect for effect in ALL_EFFECTS}
_LIMITS = re.compile(r"\b(tools|effects)\b", re.IGNORECASE)
_OTHER_LIMITS = re.compile(r"(?!tools$)(.*tools?|permission.*)")
"""Names that fields which limit an agent have elsewhere: `allowed-tools`, `disallowedTools`."""


def find_agents(context: SessionContext) -> list[Agent]:
    """The agents of project and home, one of each name without regard to case: the nearest."""
    paths = files_by_place(context, ROOTS, "AGENT.md")
    return collect(context, paths, _agent, key=str.casefold)


def _agent(path: Path, document: Document) -> Agent:
    _refuse_lost_limits(document)
    _refuse_other_limits(document)
    tools, effects = document.fields.get("tools"), document.fields.get("effects")
    return Agent(
        name=document.text("name") or path.parent.name,
        description=document.text("description"),
        prompt=document.body.strip(),
        tools=_tools(tools) if tools else {},
        effects=_effects(effects) if effects else ALL_EFFECTS,
        model="" if document.text("model") == "inherit" else document.text("model"),
        source=str(path),
    )


def _refuse_lost_limits(document: Document) -> None:
    """Raise the fault of front matter that speaks of limits which could not be found in it."""
    lost = {word.lower() for word in _LIMITS.findall(document.block)} - set(document.fields)
    if document.fault and lost:
        raise document.fault


def _refuse_other_limits(document: Document) -> None:
    """Raise a fault if a field seems to limit the agent in a way that is not known here."""
    for name, field in document.fields.items():
        if _OTHER_LIMITS.fullmatch(name):
            what = f"{name!r} limits nothing here; write `tools: {{run_command: false}}`"
            raise Fault(what, field.line)


def _tools(field: Field) -> dict[str, bool]:
    if isinstance(field.value, Mapping):
        return {name: _switch(name, word, field.line) for name, word in field.value.items()}
    names = _words(field.value)
    if wrong := [name for name in names if name != "*" and not NAME_PATTERN.fullmatch(name)]:
        raise Fault(f"{wrong[0]!r} is no name of a tool; write `tools: [read_file]`", field.line)
    return {"*": False} | dict.fromkeys(names, True)


def _switch(name: str, word: str, line: int) -> bool:
    if word.lower() not in _SWITCHES:
        raise Fault(f"tools: {name!r} is {word!r}; write true or false", line)
    return _SWITCHES[word.lower()]


def _effects(field: Field) -> frozenset[Effect]:
    words = _words(field.value)
    if wrong := [word for word in words if word not in _EFFECTS]:
        known = ", ".join(sorted(_EFFECTS))
        raise Fault(f"{wrong[0]!r} is no effect; effects are {known}", field.line)
    return frozenset(_EFFECTS[word] for word in words)


def _words(value: str | Iterable[str]) -> list[str]:
    """The items of a list, or of text that stands for one: `read, write`."""
    return value.replace(",", " ").split() if isinstance(value, str) else list(value)
