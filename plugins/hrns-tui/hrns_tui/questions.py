"""Permission questions, put in place: once, for the session, always, no, no with a reason."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Literal

from hrns.errors import ConfigError
from hrns.messages import Diff
from hrns.permissions import Answer, Question

from .dialogue import LinePrompting
from .diffs import diff_lines
from .screen import Screen

__all__ = ["Questions", "describe", "kept"]

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


class Questions:
    """Asks whether a call may run. Ctrl-D is a no; Ctrl-C is a no that ends the turn.

    Parameters:
        screen: where the call is described.
        prompt: where it is answered.
        save: writes a rule down; raises ConfigError if it cannot.
    """

    def __init__(
        self, screen: Screen, prompt: LinePrompting, save: Callable[[str], object]
    ) -> None:
        self._screen = screen
        self._prompt = prompt
        self._save = save

    def __call__(self, question: Question) -> Answer:
        """The person's answer."""
        rule = question.verdict.rule
        self._screen.say("\n".join([*describe(question), _choices(rule)]))
        while True:
            try:
                given = self._prompt.answer("allow?", question.cancel)
            except EOFError:
                return Answer("no")
            except KeyboardInterrupt:
                question.cancel.set()
                return Answer("no")
            if answer := _read(given, rule):
                return kept(answer, self._save, self._screen.error)
            self._screen.say(_choices(rule))


def kept(answer: Answer, save: Callable[[str], object], tell: Callable[[str], object]) -> Answer:
    """The answer, its rule saved if it is for always; for the session if it cannot be."""
    if answer.kind != "always":
        return answer
    try:
        save(answer.rule)
    except ConfigError as error:
        tell(f"{error}\nIt is allowed for this session.")
        return Answer("session", answer.rule)
    return answer


def describe(
    question: Question, *, titled: bool = False, more: str = "(and {} more lines)"
) -> list[str]:
    """What would be done, line by line; a change of a file as a diff.

    Parameters:
        titled: whether the title of the call comes first, if it has one.
        more: says how many lines of the diff are left out.
    """
    call, prepared = question.call, question.prepared
    named = prepared.title or f"{call.name} {call.arguments}"
    lines = [named] if titled or not prepared.title else []
    lines += [question.verdict.reason] if question.verdict.reason else []
    if isinstance(prepared.preview, Diff):
        lines += diff_lines(prepared.preview, named, _DIFF_ROWS, more)
    return "\n".join(lines).split("\n")


def _choices(rule: str) -> str:
    kept = f"   s: session   a: always (rule {rule})" if rule else ""
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
