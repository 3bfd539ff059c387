"""What is judged before a call runs, and what comes of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Literal, TypeAlias

from attrs import field, frozen

from ..cancel import Cancel
from ..messages import Display, ToolCall

if TYPE_CHECKING:
    from ..tools import Tool

__all__ = [
    "ALL_EFFECTS",
    "Access",
    "Answer",
    "Ask",
    "Decision",
    "Effect",
    "Policy",
    "Prepared",
    "Question",
    "Verdict",
]

Effect: TypeAlias = Literal["read", "write", "execute", "network"]
Decision: TypeAlias = Literal["allow", "ask", "deny"]

ALL_EFFECTS: frozenset[Effect] = frozenset({"read", "write", "execute", "network"})
"""What a tool that declares nothing is taken to have."""


@frozen
class Access:
    """One thing that a call is going to touch.

    Parameters:
        kind: what is done.
        subject: to what: an absolute path, a command line, a URL; "" if it is not known.
    """

    kind: Effect
    subject: str


def _accesses(given: Iterable[Access]) -> tuple[Access, ...]:
    return tuple(given)


@frozen
class Prepared:
    """A call that is ready to run: what it will touch, and how people see it.

    Parameters:
        accesses: everything that it will touch; empty if the tool has no effect.
        title: a line for people, such as `read_file src/app.py`.
        preview: what it would change, or None.
    """

    accesses: tuple[Access, ...] = field(default=(), converter=_accesses)
    title: str = ""
    preview: Display | None = None


@frozen
class Verdict:
    """What a policy says of a call.

    Parameters:
        decision: `allow`, `ask` or `deny`.
        reason: why, in words that the model and the person can use.
        source: who says so: `mode plan`, `config.json`, a plugin's name.
        rule: the rule that would allow it for good, offered with a question; or "". Where a rule
            allowed it, that rule.
    """

    decision: Decision
    reason: str = ""
    source: str = ""
    rule: str = ""


@frozen
class Answer:
    """What a person says to a question.

    Parameters:
        kind: `once`, `session`, `always` (write `rule` down), or `no`.
        rule: the rule to keep, with `always`.
        reason: why not, for the model, with `no`.
    """

    kind: Literal["once", "session", "always", "no"]
    rule: str = ""
    reason: str = ""


@frozen(eq=False)
class Question:
    """A call that needs a person's word. Who answers returns at once when `cancel` is set."""

    call: ToolCall
    tool: Tool
    prepared: Prepared
    verdict: Verdict
    cancel: Cancel


Ask: TypeAlias = Callable[[Question], Answer]
"""Puts a question to a person; called in the thread that iterates the run."""

Policy: TypeAlias = "Callable[[ToolCall, Tool, Prepared], Verdict | None]"
