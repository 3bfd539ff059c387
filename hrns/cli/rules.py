"""Permission rules of the command line, and rules that speak of no tool there is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..config import Config
from ..errors import UsageError
from ..gathering import rules_of
from ..nearest import nearest
from ..permissions import Rule
from ..session import Session
from .common import tell

__all__ = ["check_rules", "rules_of_flags"]


_ELSEWHERE = {
    "bash": "run_command",
    "shell": "run_command",
    "exec": "run_command",
    "grep": "search_files",
    "glob": "list_files",
    "ls": "list_files",
    "fetch": "web_fetch",
}
"""What other programs call the tools that people write rules for."""


def rules_of_flags(allow: Iterable[str], deny: Iterable[str]) -> list[Rule]:
    """The rules that `--allow` and `--deny` stand for.

    Raises:
        ConfigError: one of them is none.
    """
    return [
        *(Rule.parse("allow", text, "--allow") for text in allow),
        *(Rule.parse("deny", text, "--deny") for text in deny),
    ]


def check_rules(session: Session, config: Config, flags: Sequence[Rule]) -> None:
    """Look for rules that name no tool of the session: a misspelt one would protect nothing.

    In the configuration, what looks misspelt is told: it may also mean a plugin that is not here.

    Raises:
        UsageError: a rule of the command line looks misspelt.
    """
    names = [tool.name for tool in session.tools]
    for rule in flags:
        if not _is_known(rule, names):
            _refuse(rule, names)
    for rule in rules_of(config):
        near = _near(rule, names)
        if near and not _is_known(rule, names):
            tell(f"warning: a rule in {rule.source} names {rule.tool}; is {near} meant?")


def _is_known(rule: Rule, names: Sequence[str]) -> bool:
    return rule.tool == "*" or rule.tool in names


def _near(rule: Rule, names: Sequence[str]) -> str:
    """The tool that is meant by a rule that names none, or ""."""
    elsewhere = _ELSEWHERE.get(rule.tool.lower(), "")
    return elsewhere if elsewhere in names else next(iter(nearest(rule.tool, names)), "")


def _refuse(rule: Rule, names: Sequence[str]) -> None:
    near = _near(rule, names)
    if near:
        raise UsageError(
            f"{rule.source} {rule.tool}: there is no such tool",
            hint=f"Did you mean {near}? `hrns tools` lists all.",
        )
    tell(f"warning: {rule.source} {rule.tool}: there is no such tool")
