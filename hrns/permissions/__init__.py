"""Who may do what: accesses, verdicts, modes, rules; the strictest verdict wins.

A policy is a callable `(call, tool, prepared) -> Verdict or None`. A policy that raises denies:
a guard that breaks must not stand open.

`values` says what is judged and what comes of it, `judging` asks all policies, `rules` reads
rules, and `law` is the policy of a session: its mode and its rules. What rules are matched
against is read when it is needed: `paths`, `urls`, and command lines (`shell`, `commands`); so is
`widening`, which finds a rule for calls that are like one.
"""

from __future__ import annotations

from .judging import judge
from .law import Ruling, explain, mode_policy
from .places import own_places
from .rules import Rule, unknown_tools
from .values import (
    ALL_EFFECTS,
    Access,
    Answer,
    Ask,
    Decision,
    Effect,
    Policy,
    Prepared,
    Question,
    Verdict,
)

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
    "Ruling",
    "Verdict",
    "explain",
    "judge",
    "mode_policy",
    "own_places",
    "unknown_tools",
]
