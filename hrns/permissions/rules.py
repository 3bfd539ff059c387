"""Rules: `run_command`, `run_command(git *)`, `write_file(src/**)`, `*(~/.ssh/**)`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from attrs import frozen

from ..errors import ConfigError
from ..nearest import nearest
from .values import Decision

if TYPE_CHECKING:
    from ..tools import Tool

__all__ = ["Rule", "unknown_tools"]

_RULE = re.compile(r"(\*|[A-Za-z0-9_-]{1,64})(?:\((.+)\))?", re.DOTALL)


@frozen
class Rule:
    """What is to be decided of a tool's calls, or of those that a pattern fits.

    Parameters:
        decision: `allow`, `ask` or `deny`.
        tool: the tool's name, or `*` for all tools.
        source: where the rule is from: `config.json`, `--deny`, `this session`.
        pattern: what a call touches: a path, a URL, a command line; "" for all calls.
    """

    decision: Decision
    tool: str
    source: str
    pattern: str = ""

    @classmethod
    def parse(cls, decision: Decision, text: str, source: str) -> Rule:
        """The rule that a text such as `run_command(git *)` stands for.

        Raises:
            ConfigError: the text is no rule.
        """
        match = _RULE.fullmatch(text.strip())
        pattern = (match[2] or "").strip() if match else ""
        if match is None or (match[2] and not pattern):
            raise ConfigError(f"{source}: {text!r} is not a rule", hint=_hint(text.strip()))
        return cls(decision, match[1], source, pattern)

    @property
    def text(self) -> str:
        """The rule as it is written."""
        return f"{self.tool}({self.pattern})" if self.pattern else self.tool


def unknown_tools(rules: Iterable[Rule], tools: Iterable[Tool]) -> list[str]:
    """A warning for each rule that names a tool that is not among these.

    A misspelt rule would protect nothing; it may also mean a tool of a plugin that is not here.
    """
    names = [tool.name for tool in tools]
    return list(_warnings((rule for rule in rules if rule.tool not in ("*", *names)), names))


def _warnings(rules: Iterable[Rule], names: Sequence[str]) -> Iterator[str]:
    for rule in rules:
        near = nearest(rule.tool, names)
        guess = f"; did you mean {near[0]}?" if near else ""
        yield f"the rule {rule.text} from {rule.source} names no tool that is here{guess}"


def _hint(text: str) -> str:
    """What to write instead."""
    name, opened, _ = text.partition("(")
    if opened and _RULE.fullmatch(name) and not text.endswith(")"):
        return "A rule with a pattern ends in a closing parenthesis."
    if opened and _RULE.fullmatch(name):
        return f"Put a pattern between the parentheses, or write {name} alone for all its calls."
    return (
        "Write the name of a tool, such as run_command, or * for all tools, and perhaps a pattern "
        "behind it: run_command(git *)."
    )
