"""Permission questions, put in place: once, for the session, always, no, no with a reason."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from difflib import unified_diff
from itertools import islice
from typing import Literal

from hrns.errors import ConfigError
from hrns.messages import Diff
from hrns.permissions import Answer, Question

from .dialogue import Prompt
from .screen import Screen

__all__ = ["Questions", "describe"]

_DIFF_LINES = 80

_DIFF_LIMIT = 200_000
"""Characters of two files beyond which they are not compared: that takes too long."""

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

    def __init__(self, screen: Screen, prompt: Prompt, save: Callable[[str], object]) -> None:
        self._screen = screen
        self._prompt = prompt
        self._save = save

    def __call__(self, question: Question) -> Answer:
        """The person's answer."""
        rule = question.verdict.rule or question.tool.name
        self._screen.say(f"{describe(question)}\n{_choices(rule)}")
        while True:
            try:
                given = self._prompt.answer("allow?", question.cancel)
            except EOFError:
                return Answer("no")
            except KeyboardInterrupt:
                question.cancel.set()
                return Answer("no")
            if answer := _read(given, rule):
                return self._kept(answer)
            self._screen.say(_choices(rule))

    def _kept(self, answer: Answer) -> Answer:
        """The answer, its rule saved if it is for always; for the session if it cannot be."""
        if answer.kind != "always":
            return answer
        try:
            self._save(answer.rule)
        except ConfigError as error:
            self._screen.error(f"{error}\nIt is allowed for this session.")
            return Answer("session", answer.rule)
        return answer


def describe(question: Question) -> str:
    """What would be done, below the title of the call; a change of a file as a diff."""
    call, prepared = question.call, question.prepared
    lines = [] if prepared.title else [f"{call.name} {call.arguments}"]
    lines += [question.verdict.reason] if question.verdict.reason else []
    lines += _diff(prepared.preview) if isinstance(prepared.preview, Diff) else []
    return "\n".join(lines)


def _diff(change: Diff) -> list[str]:
    old, new = change.old or "", change.new or ""
    if len(old) + len(new) > _DIFF_LIMIT:
        return [f"({change.path}: {len(old)} characters become {len(new)})"]
    lines = unified_diff(old.splitlines(), new.splitlines(), change.path, change.path, lineterm="")
    shown = list(islice(lines, _DIFF_LINES))
    left_out = sum(1 for _ in lines)
    return [*shown, f"(and {left_out} more lines)"] if left_out else shown


def _choices(rule: str) -> str:
    return f"y: once   s: session   a: always (rule {rule})   n: no   n WHY: no, because"


def _read(given: str, rule: str) -> Answer | None:
    """The answer that a line stands for, or None."""
    text = given.strip()
    if kind := _YES.get(text.casefold()):
        return Answer(kind, rule if kind == "always" else "")
    if no := _NO.fullmatch(text):
        return Answer("no", reason=(no["reason"] or "").strip())
    return None
