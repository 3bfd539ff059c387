"""Reads one action, line by line: the name of a tool and its input."""

from __future__ import annotations

import json
import re

from .inputs import Brackets, answer_in, as_json, call_in, split_action, unwrapped
from .labels import label_of
from .steps import Action, FinalAnswer

__all__ = ["ActionReader", "step_in"]

_NO_TOOL = re.compile(
    r"(none|n/?a|no (action|tool)s?)\b( (is )?(needed|required))?[.\s]*(\(.*)?",
    re.IGNORECASE | re.DOTALL,
)
_NOTHING = ("none", "(none)", "n/a")
_ANSWER = re.compile(r"final[ _-]?answer|finish", re.IGNORECASE)
_FENCE = re.compile(r"\s*```\w*\s*")
_BEHIND = " \t\r\n`)."


class ActionReader:
    """An action from its line on.

    Theory of operation: a line `Action: tool(input)` may turn out to be the name alone, for a tool
    may be called anything; that is so as soon as a line `Action Input:` follows. So the line is
    read as tool and input at once, and both are forgotten if that line comes.

    An object or a list is complete where its bracket closes, and what follows is chatter. Other
    input goes on to the next label.

    Parameters:
        line: what stands behind `Action:`.

    Attributes:
        labelled: whether the input has a label of its own.
        outside: what of the line is not inside brackets, and not a bare name.
        complete: whether nothing more belongs to the input.
    """

    def __init__(self, line: str) -> None:
        self._line = line.strip()
        self.labelled = False
        self._tool, rest = split_action(line)
        self._begin(parenthesis=rest.startswith("("))
        self.outside = self.take(rest[1:] if self._parenthesis else rest)

    def _begin(self, *, parenthesis: bool) -> None:
        self._parenthesis = parenthesis
        self._body: list[str] = []
        self._brackets: Brackets | None = None
        self._fenced = False
        self._json: str | None = None

    @property
    def names_none(self) -> bool:
        """Whether the line says that no tool is used."""
        return _NO_TOOL.fullmatch(self._line) is not None

    @property
    def complete(self) -> bool:
        """Whether nothing more belongs to the input."""
        return self._json is not None

    @property
    def in_string(self) -> bool:
        """Whether the next line is inside a string of the input."""
        return self._brackets is not None and not self.complete and self._brackets.in_string

    def take_label(self, rest: str) -> str:
        """The line `Action Input:` came, with this behind it; gives back what `take` does."""
        self._tool = self._line or "".join(self._body).strip()
        self.labelled = True
        self._begin(parenthesis=False)
        return self.take(rest)

    def take(self, line: str) -> str:
        """Take a line of the input; gives back what of it is not inside brackets."""
        if self.complete:
            return line
        if not self._body:
            line = self._head(line)
            if not line:
                return ""
        self._body.append(f"{line}\n")
        if self._brackets is None:
            return line
        end = self._brackets.feed(f"{line}\n")
        return "" if end is None else self._close(end)

    def _head(self, line: str) -> str:
        """The line without what stands before the input; brackets are watched if it has some."""
        if fence := _FENCE.match(line):
            self._fenced = True
            line = line[fence.end() :]
        line = line.lstrip()
        if line.startswith(("{", "[")):
            self._brackets = Brackets()
        return line

    def _close(self, end: int) -> str:
        """The bracket closed at this offset: the input is complete if that is JSON."""
        text = "".join(self._body)
        behind = text[end:]
        if text[0] == "{" or not behind.strip(_BEHIND):
            self._json = as_json(text[:end])
        if self._json is None:
            self._brackets = None  # text that begins with a bracket
        return behind

    def step(self, thought: str) -> Action | FinalAnswer | None:
        """The action, or the answer where it is given as an action; None if no tool is named."""
        if self._tool:
            given = self._input()
            if _ANSWER.fullmatch(self._tool) and given:
                return FinalAnswer(given, thought)
            return Action(self._tool, "" if given.lower() in _NOTHING else given, thought)
        return step_in(self._json, thought) if self._json and not self.labelled else None

    def _input(self) -> str:
        if self._json is not None:
            return self._json
        text = "".join(self._body).strip()
        if self._brackets is not None:
            text = _before_label(text)  # a string that was never closed hid the labels
        if self._fenced:
            text = text.removesuffix("```").strip()
        return unwrapped(f"({text}") if self._parenthesis else text


def _before_label(text: str) -> str:
    lines = text.split("\n")
    end = next((i for i, line in enumerate(lines) if i and label_of(line)), len(lines))
    return "\n".join(lines[:end]).strip()


def step_in(text: str, thought: str) -> Action | FinalAnswer | None:
    """The step that JSON text stands for as a whole; None if it is neither call nor answer."""
    value = json.loads(text)
    found = call_in(value)
    if found is None:
        answer = answer_in(value)
        return FinalAnswer(answer, thought) if answer else None
    if _ANSWER.fullmatch(found[0]):
        return FinalAnswer(found[1], thought)
    return Action(*found, thought)
