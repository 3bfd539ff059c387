"""The policy of a session: its mode and its rules, over everything that a call touches.

A call is judged piece by piece: each path and URL, and each command that a command line would
run. The strictest piece decides. For every piece the order is the same: rules that deny, what the
mode `plan` forbids, rules that ask, the mode `all`, rules that allow, the other modes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import evolve, frozen

from ..context import Mode, SessionContext
from ..messages import ToolCall
from .judging import strictest
from .rules import Rule
from .values import Access, Decision, Effect, Policy, Prepared, Verdict

if TYPE_CHECKING:
    from ..tools import Tool
    from .pieces import Piece
    from .text import Match

__all__ = ["Ruling", "explain", "mode_policy"]

_TOOL_OF_KIND: dict[Effect, str] = {
    "read": "read_file",
    "write": "write_file",
    "network": "web_fetch",
}
"""Whose rules with a pattern speak against every call that does the same."""
_NAMED = 3
"""How many pieces a question names."""


@frozen
class Ruling:
    """What is decided of one piece of a call.

    Parameters:
        piece: the piece, for people: `run git status`, `change /etc/hosts`.
        verdict: what is decided.
    """

    piece: str
    verdict: Verdict


def mode_policy(
    context: SessionContext, rules: Sequence[Rule] = (), own_places: Iterable[Path] = ()
) -> Policy:
    """The policy of the permission mode that the session is in now, and of the rules.

    A rule that allows, allows what the mode would ask about; one that asks or denies holds in
    every mode. What `plan` denies, nothing allows.

    Parameters:
        rules: looked at anew for every call: there may be more by then.
        own_places: files and directories of hrns itself, beside `.hrns/config.json`: writing there
            is asked about as writing outside of the working directory is.
    """
    places = tuple(own_places)

    def policy(_call: ToolCall, tool: Tool, prepared: Prepared) -> Verdict:
        if context.mode == "all" and all(rule.decision == "allow" for rule in rules):
            return Verdict("allow", source="mode all")  # no piece could say otherwise
        rulings = explain(context, tool, prepared, rules, places)
        verdict = strictest([ruling.verdict for ruling in rulings])
        return _about_all(rulings) if verdict.decision == "ask" else verdict

    return policy


def explain(
    context: SessionContext,
    tool: Tool,
    prepared: Prepared,
    rules: Sequence[Rule] = (),
    own_places: Iterable[Path] = (),
) -> list[Ruling]:
    """What mode and rules decide of each piece of a call; one ruling at least.

    The parameters are those of `mode_policy`.

    Raises:
        ValueError, OSError, RuntimeError: the call is about a path that no system has.
    """
    law = _Law(context.mode, rules)
    # A tool with effects that does not say what it touches may touch anything.
    accesses = prepared.accesses or tuple(Access(effect, "") for effect in sorted(tool.effects))
    if not accesses:
        return [Ruling(f"call {tool.name}", law.verdict_on_tool(tool.name))]
    return list(_rulings(law, context.cwd, tool, accesses, own_places))


def _rulings(
    law: _Law, cwd: Path, tool: Tool, accesses: Iterable[Access], own_places: Iterable[Path]
) -> Iterator[Ruling]:
    from .pieces import Surroundings, pieces  # the reader of command lines is not small
    from .places import Place

    own = tuple(Place.of(place, cwd) for place in own_places)
    around = Surroundings(Place.of("", cwd), own)
    for access in accesses:
        for_line = law.rule_for_line(tool.name, access)
        for piece in pieces(tool.name, access, around):
            yield Ruling(piece.shown, law.verdict(piece, for_line))


@frozen
class _Law:
    """A mode, and rules."""

    mode: Mode
    rules: Sequence[Rule]

    def verdict_on_tool(self, tool: str) -> Verdict:
        """What is decided of a tool that touches nothing."""
        for rule in (*self._of("deny", tool), *self._of("ask", tool)):
            if not rule.pattern:
                return _against(rule, f"call {tool}", tool)
        return self._allowed_by_mode()

    def rule_for_line(self, tool: str, access: Access) -> Rule | None:
        """The rule that allows all of a command line: every line, or just this one."""
        if access.kind != "execute":
            return None
        for rule in self._of("allow", tool):
            if not rule.pattern or (rule.tool == tool and _is_line(rule.pattern, access.subject)):
                return rule
        return None

    def verdict(self, piece: Piece, for_line: Rule | None) -> Verdict:
        """What is decided of a piece; `for_line` allows all of the line that it belongs to."""
        denying: dict[Match, Rule] = {}
        for rule in self._against("deny", piece):
            denying.setdefault(_match(rule, piece), rule)
        if "yes" in denying:
            return _against(denying["yes"], piece.shown, piece.rule)
        return (
            self._planned(piece)
            or self._asked(piece)
            or (_doubtful(denying["maybe"], piece) if "maybe" in denying else None)
            or self._allowed(piece, for_line)
            or self._by_mode(piece)
        )

    def _allowed_by_mode(self) -> Verdict:
        return Verdict("allow", source=f"mode {self.mode}")

    def _of(self, decision: Decision, tool: str) -> Iterator[Rule]:
        return (rule for rule in self.rules if rule.decision == decision and _is_for(rule, tool))

    def _against(self, decision: Decision, piece: Piece) -> Iterator[Rule]:
        """The rules that may speak against a piece: those of its tool, and of its kind.

        Who may not read a file by `read_file` may not do so by any other tool either.
        """
        kind = _TOOL_OF_KIND.get(piece.kind, "") if piece.subject else ""
        for rule in self.rules:
            if rule.decision == decision and (
                _is_for(rule, piece.tool) or (rule.pattern and rule.tool == kind)
            ):
                yield rule

    def _planned(self, piece: Piece) -> Verdict | None:
        if self.mode != "plan" or piece.kind in ("read", "network"):
            return None
        reason = (
            f"the mode plan is read only, so nothing may {piece.kind}; "
            "describe what you would do instead"
        )
        return Verdict("deny", reason, "mode plan", piece.rule)

    def _asked(self, piece: Piece) -> Verdict | None:
        for rule in self._against("ask", piece):
            if _match(rule, piece) != "no":
                return _against(rule, piece.shown, piece.rule)
        return None

    def _allowed(self, piece: Piece, for_line: Rule | None) -> Verdict | None:
        if self.mode == "all" or piece.is_aside:
            return self._allowed_by_mode()
        covering = (rule for rule in self._of("allow", piece.tool) if _covers(rule, piece))
        rule = for_line or next(covering, None)
        if rule is None:
            return None
        reason = f"the rule {rule.text} from {rule.source} allows it"
        return Verdict("allow", reason, rule.source, rule.text)

    def _by_mode(self, piece: Piece) -> Verdict:
        if piece.is_inside and not piece.guard and (piece.kind == "read" or self.mode == "edits"):
            return self._allowed_by_mode()
        return Verdict("ask", _why_asked(piece), f"mode {self.mode}", piece.rule)


def _is_for(rule: Rule, tool: str) -> bool:
    return rule.tool in ("*", tool)


def _is_line(pattern: str, line: str) -> bool:
    from .commands import CommandPattern

    return CommandPattern.parse(pattern).is_line(line)


def _match(rule: Rule, piece: Piece) -> Match:
    """Whether a rule for the tool of the piece speaks against it."""
    if not rule.pattern:
        return "yes"
    return piece.named_by(rule.pattern) if rule.tool == "*" else piece.touched_by(rule.pattern)


def _covers(rule: Rule, piece: Piece) -> bool:
    """Whether a rule for the tool of the piece allows it."""
    if not rule.pattern:
        return not piece.guard
    # For all tools a pattern is a path or a URL: as one of commands it would mean something else.
    return (rule.tool != "*" or piece.kind != "execute") and piece.covered_by(rule.pattern)


def _against(rule: Rule, what: str, instead: str) -> Verdict:
    written = f"the rule {rule.text} from {rule.source}"
    if rule.decision == "ask":
        reason = f"it would {what}, and {written} asks each time"
        return Verdict("ask", reason, rule.source)  # no rule that allows would end that
    reason = f"it would {what}, which {written} denies; find another way, or say what you need"
    return Verdict("deny", reason, rule.source, instead)


def _doubtful(rule: Rule, piece: Piece) -> Verdict:
    reason = (
        f"it would {piece.shown}, which may be what the rule {rule.text} from {rule.source} "
        "denies; write out what is meant"
    )
    return Verdict("ask", reason, rule.source)  # no rule that allows would end that


def _about_all(rulings: Iterable[Ruling]) -> Verdict:
    """One question about all pieces that are asked about; a rule is offered if it would end it."""
    asked = [each for each in rulings if each.verdict.decision == "ask"]
    lead = next((each for each in asked if not each.verdict.rule), asked[0])
    others = dict.fromkeys(each.piece for each in asked if each.piece != lead.piece)
    reason = lead.verdict.reason
    if reason == f"it would {lead.piece}":
        reason = f"it would {_in_a_row([lead.piece, *others])}"
    elif others:
        reason += f"; it would also {_in_a_row([*others])}"
    return evolve(lead.verdict, reason=reason)


def _in_a_row(pieces: Sequence[str]) -> str:
    """The first pieces, a verb only where it is another, and how many more there are."""
    named = [pieces[0]]
    for before, piece in pairwise(pieces[:_NAMED]):
        verb, _, subject = piece.partition(" ")
        named.append(subject if before.startswith(f"{verb} ") else piece)
    more = len(pieces) - len(named)
    *firsts, last = [*named, *([f"{more} more"] if more else [])]
    return f"{', '.join(firsts)} and {last}" if firsts else last


def _why_asked(piece: Piece) -> str:
    if piece.guard:
        return f"it would {piece.shown}, and {piece.guard}"
    if piece.kind == "read":
        return f"it would {piece.shown}, outside the working directory"
    return f"it would {piece.shown}"
