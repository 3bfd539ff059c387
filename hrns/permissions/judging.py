"""All policies together: the strictest verdict wins."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ..errors import in_words
from ..messages import ToolCall
from ..misuse import shown
from .values import Policy, Prepared, Verdict

if TYPE_CHECKING:
    from ..tools import Tool

__all__ = ["judge", "strictest"]

_STRICTNESS = {"allow": 0, "ask": 1, "deny": 2}


def judge(policies: Iterable[Policy], call: ToolCall, tool: Tool, prepared: Prepared) -> Verdict:
    """The strictest verdict of all policies; `allow` if none has a say.

    Of two that are equally strict the first counts. A policy that raises, or returns something
    else, denies.
    """
    verdicts = [_ask_policy(policy, call, tool, prepared) for policy in policies]
    spoken = [verdict for verdict in verdicts if verdict is not None]
    return strictest(spoken) if spoken else Verdict("allow", source="no policy")


def strictest(verdicts: Sequence[Verdict]) -> Verdict:
    """The strictest of the verdicts; of equals the first."""
    return max(verdicts, key=lambda verdict: _STRICTNESS[verdict.decision])


def _ask_policy(policy: Policy, call: ToolCall, tool: Tool, prepared: Prepared) -> Verdict | None:
    try:
        said: object = policy(call, tool, prepared)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a guest's code; it denies
        return _fault(policy, f"failed: {in_words(error)}")
    if said is None:
        return None
    if isinstance(said, Verdict) and said.decision in tuple(_STRICTNESS):
        return said
    return _fault(policy, f"returned {shown(said)} instead of a Verdict or None")


def _fault(policy: Policy, what: str) -> Verdict:
    source = str(getattr(policy, "source", "") or getattr(policy, "__qualname__", repr(policy)))
    return Verdict("deny", f"the permission policy {source} {what}", source)
