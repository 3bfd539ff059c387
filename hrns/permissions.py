"""Who may do what: accesses, verdicts, modes, rules; the strictest verdict wins.

A policy is a callable `(call, tool, prepared) -> Verdict or None`. A policy that raises denies:
a guard that breaks must not stand open.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from attrs import field, frozen

from .cancel import Cancel
from .context import Mode, SessionContext
from .errors import ConfigError
from .messages import Display, ToolCall

if TYPE_CHECKING:
    from .tools import Tool

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
    "Rule",
    "Verdict",
    "judge",
    "mode_policy",
    "rules_policy",
]

Effect: TypeAlias = Literal["read", "write", "execute", "network"]
Decision: TypeAlias = Literal["allow", "ask", "deny"]

ALL_EFFECTS: frozenset[Effect] = frozenset({"read", "write", "execute", "network"})
"""What a tool that declares nothing is taken to have."""

_STRICTNESS = {"allow": 0, "ask": 1, "deny": 2}


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
        source: who says so: `mode plan`, `rule run_command in config.json`, a plugin's name.
        rule: the rule that would allow it for good, offered with a question; or "".
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


def judge(policies: Iterable[Policy], call: ToolCall, tool: Tool, prepared: Prepared) -> Verdict:
    """The strictest verdict of all policies; `allow` if none has a say.

    Of two that are equally strict the first counts. A policy that raises, or returns something
    else, denies.
    """
    verdicts = [_ask_policy(policy, call, tool, prepared) for policy in policies]
    spoken = [verdict for verdict in verdicts if verdict is not None]
    return _strictest(spoken) if spoken else Verdict("allow", source="no policy")


def _strictest(verdicts: Sequence[Verdict]) -> Verdict:
    """The strictest of the verdicts; of equals the first."""
    return max(verdicts, key=lambda verdict: _STRICTNESS[verdict.decision])


def _ask_policy(policy: Policy, call: ToolCall, tool: Tool, prepared: Prepared) -> Verdict | None:
    try:
        said: object = policy(call, tool, prepared)
    except Exception as error:  # noqa: BLE001 - a guest's code; whatever it raises denies
        return _fault(policy, f"failed: {type(error).__name__}: {error}")
    if said is None:
        return None
    if isinstance(said, Verdict) and said.decision in tuple(_STRICTNESS):
        return said
    return _fault(policy, f"returned {said!r} instead of a Verdict or None")


def _fault(policy: Policy, what: str) -> Verdict:
    source = str(getattr(policy, "source", "") or getattr(policy, "__qualname__", repr(policy)))
    return Verdict("deny", f"the permission policy {source} {what}", source)


@frozen
class Rule:
    """A rule from a file or a flag: a tool's name, or `*` for all tools."""

    decision: Decision
    tool: str
    source: str

    @classmethod
    def parse(cls, decision: Decision, text: str, source: str) -> Rule:
        """The rule that a text such as `run_command` stands for.

        Raises:
            ConfigError: the text is no rule.
        """
        if not re.fullmatch(r"\*|[A-Za-z0-9_-]{1,64}", text.strip()):
            raise ConfigError(
                f"{source}: {text!r} is not a rule",
                hint="Write the name of a tool, such as run_command, or * for all tools.",
            )
        return cls(decision, text.strip(), source)

    def matches(self, tool: Tool) -> bool:
        """Whether the rule speaks of this tool."""
        return self.tool in ("*", tool.name)


def rules_policy(rules: Sequence[Rule]) -> Policy:
    """The policy that rules stand for: deny before ask before allow."""

    def policy(_call: ToolCall, tool: Tool, _prepared: Prepared) -> Verdict | None:
        decisions = {rule.decision: rule for rule in reversed(rules) if rule.matches(tool)}
        for decision in ("deny", "ask", "allow"):
            if rule := decisions.get(decision):
                reason = f"the rule {rule.tool!r} in {rule.source} says {decision}"
                return Verdict(decision, reason, rule.source, rule.tool)
        return None

    return policy


def mode_policy(context: SessionContext, rules: Sequence[Rule] = ()) -> Policy:
    """The policy of the permission mode that the session is in now, and of the rules.

    A rule that allows, allows what the mode would ask about; one that asks or denies holds in
    every mode. What `plan` denies, nothing allows.
    """
    by_rule = rules_policy(rules)

    def policy(call: ToolCall, tool: Tool, prepared: Prepared) -> Verdict | None:
        ruled = by_rule(call, tool, prepared)
        verdict = _mode_verdict(context.mode, context.cwd, tool, prepared)
        if ruled is None:
            return verdict
        if ruled.decision == "allow":
            return ruled if verdict.decision == "ask" else verdict
        return _strictest((ruled, verdict))

    return policy


def _mode_verdict(mode: Mode, cwd: Path, tool: Tool, prepared: Prepared) -> Verdict:
    source = f"mode {mode}"
    if mode == "all":
        return Verdict("allow", source=source)
    # A tool with effects that does not say what it touches may touch anything.
    accesses = prepared.accesses or tuple(Access(effect, "") for effect in sorted(tool.effects))
    verdicts = [Verdict("allow", source=source)]
    for access in accesses:
        decision, reason = _access_decision(mode, cwd, access)
        verdicts.append(Verdict(decision, reason, source, tool.name))
    return _strictest(verdicts)


def _access_decision(mode: Mode, cwd: Path, access: Access) -> tuple[Decision, str]:
    subject = access.subject or "something it does not name"
    if access.kind == "read":
        if access.subject and _inside(cwd, access.subject):
            return "allow", ""
        return "ask", f"reading {subject} is reading outside the working directory"
    if mode == "plan" and access.kind != "network":
        return "deny", (
            f"the mode plan is read only, so nothing may {access.kind}; "
            "describe what you would do instead"
        )
    if mode == "edits" and access.kind == "write" and access.subject:
        if _inside(cwd, access.subject):
            return "allow", ""
        return "ask", f"{subject} is outside the working directory"
    verb = {"write": "change", "execute": "run", "network": "reach"}[access.kind]
    return "ask", f"it would {verb} {subject}"


def _inside(directory: Path, subject: str) -> bool:
    """Whether a path lies in a directory, symbolic links followed on both sides."""
    return (directory / subject).resolve().is_relative_to(directory.resolve())
