"""Permission questions, put in place: once, for the session, always, no, no with a reason.

Always means the very call, or what a rule says that is shown, and may be changed, before it is
saved.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal, TypeAlias

from hrns.cli.printing import plain
from hrns.errors import ConfigError
from hrns.messages import Diff
from hrns.permissions import Answer, Question, Rule

from .dialogue import LinePrompting
from .diffs import diff_lines
from .screen import Screen
from .wording import one_line

__all__ = [
    "Questions",
    "Widening",
    "describe",
    "edited_rule",
    "no_wider",
    "settled",
    "widening",
]

_DIFF_ROWS = 80
_NO = re.compile(r"no?(?:[\s,:]+(?P<reason>.*))?", re.IGNORECASE | re.DOTALL)
_YES: Mapping[str, Literal["once", "session", "always"]] = {
    "y": "once",
    "yes": "once",
    "s": "session",
    "session": "session",
    "a": "always",
    "always": "always",
}


Widening: TypeAlias = Callable[[Question], str]
"""Gives the rule for calls like the one that is asked about; "" if there is none."""


def no_wider(_question: Question) -> str:
    """Nothing beside the very call."""
    return ""


def widening(cwd: Path, home: Path) -> Widening:
    """Finds rules for a session in a directory, for somebody with that home."""

    def wider(question: Question) -> str:
        from hrns.permissions.widening import wider_rule

        offered = question.verdict.rule
        rule = wider_rule(question.call.name, question.prepared.accesses, cwd, home)
        return rule if offered and rule != offered else ""

    return wider


def edited_rule(text: str, tool: str) -> str:
    """A rule that a person wrote, as it is saved.

    Raises:
        ConfigError: it is none, or none for the tool.
    """
    rule = Rule.parse("allow", text, "what you wrote")
    if rule.tool not in ("*", tool):
        raise ConfigError(f"{rule.text} is no rule for {tool}", hint=f"Write {tool}(PATTERN).")
    return rule.text


class Questions:
    """Asks whether a call may run. Ctrl-D is a no; Ctrl-C is a no that ends the turn.

    Parameters:
        screen: where the call is described.
        prompt: where it is answered.
        save: writes a rule down; raises ConfigError if it cannot.
        wider: finds the rule that is offered beside the very call.
    """

    def __init__(
        self,
        screen: Screen,
        prompt: LinePrompting,
        save: Callable[[str], object],
        wider: Widening = no_wider,
    ) -> None:
        self._screen = screen
        self._prompt = prompt
        self._save = save
        self._wider = wider

    def __call__(self, question: Question) -> Answer:
        """The person's answer."""
        rule, wider = question.verdict.rule, self._wider(question)
        self._screen.say("\n".join([*describe(question), _choices(rule, wider)]))

        def decide() -> Answer:
            while not (answer := self._answer(question, wider)):
                self._screen.say(_choices(rule, wider))
            return answer

        return settled(question, decide, self._save, self._screen.error, self._screen.say)

    def _answer(self, question: Question, wider: str) -> Answer | None:
        """The answer that the next line stands for, or None."""
        given = self._prompt.answer("allow?", question.cancel)
        if not wider or given.strip().casefold() not in ("p", "pattern"):
            return _read(given, question.verdict.rule)
        label = plain(f"rule (Enter for {wider}):")
        text = self._prompt.answer(label, question.cancel).strip() or wider
        try:
            return Answer("always", edited_rule(text, question.call.name))
        except ConfigError as error:
            self._screen.error(str(error))
            return None


def settled(
    question: Question,
    decide: Callable[[], Answer],
    save: Callable[[str], object],
    tell: Callable[[str], object],
    say: Callable[[str], object],
) -> Answer:
    """The answer, once its rule is saved; giving up is a no, and Ctrl-C ends the turn as well.

    Parameters:
        decide: gives the answer; raises EOFError or KeyboardInterrupt if there is none.
        save: saves a rule.
        tell: tells that it could not.
        say: says what is allowed from now on.
    """
    try:
        answer = decide()
    except EOFError:
        return Answer("no")
    except KeyboardInterrupt:
        question.cancel.set()
        return Answer("no")
    kept = _kept(answer, save, tell)
    if kept is answer and (said := _confirmed(answer, question)):
        say(said)
    return kept


def _kept(answer: Answer, save: Callable[[str], object], tell: Callable[[str], object]) -> Answer:
    """The answer, its rule saved if it is for always; for the session if it cannot be."""
    if answer.kind != "always":
        return answer
    try:
        save(answer.rule)
    except ConfigError as error:
        tell(f"{error}\nIt is allowed for this session.")
        return Answer("session", answer.rule)
    return answer


def _confirmed(answer: Answer, question: Question) -> str:
    """What is allowed from now on, and for how long; "" if nothing is."""
    rule = answer.rule or question.verdict.rule
    if not rule or answer.kind not in ("session", "always"):
        return ""
    lasts = "saved" if answer.kind == "always" else "this session"
    return f"from now on allowed: {one_line(rule)} ({lasts})"


def describe(
    question: Question, *, titled: bool = False, more: str = "(and {} more lines)"
) -> list[str]:
    """What would be done, line by line: commands whole, a change of a file as a diff.

    Parameters:
        titled: whether the title of the call comes first, if it has one.
        more: says how many lines of the diff are left out.
    """
    call, prepared = question.call, question.prepared
    named = prepared.title or f"{call.name} {call.arguments}"
    whole = _whole(question, named)
    lines = [whole] if titled or not prepared.title or whole != one_line(named) else []
    lines += [question.verdict.reason] if question.verdict.reason else []
    if isinstance(prepared.preview, Diff):
        lines += diff_lines(prepared.preview, named, _DIFF_ROWS, more)
    return "\n".join(lines).split("\n")


def _whole(question: Question, named: str) -> str:
    """The title with all of each command line that would be run."""
    for access in question.prepared.accesses:
        line = access.subject.strip()
        called = f"{question.call.name} {line}"
        if access.kind == "execute" and line and not named.endswith(f" {line}"):
            in_part = called.startswith(named.removesuffix(" ..."))
            named = called if in_part else f"{named}\n{line}"
    return named


def _choices(rule: str, wider: str) -> str:
    kept = f"   s: session   a: always (rule {rule})" if rule else ""
    kept += f"   p: always, by a pattern (rule {wider}, or another)" if wider else ""
    return f"y: once{kept}   n: no   n WHY: no, because"


def _read(given: str, rule: str) -> Answer | None:
    """The answer that a line stands for, or None."""
    text = given.strip()
    if kind := _YES.get(text.casefold()):
        kind = kind if rule else "once"  # nothing that could be kept
        return Answer(kind, rule if kind == "always" else "")
    if no := _NO.fullmatch(text):
        return Answer("no", reason=(no["reason"] or "").strip())
    return None
