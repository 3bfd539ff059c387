"""The labels that lines of a ReAct reply begin with, as models write them."""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from attrs import frozen

__all__ = ["Label", "LabelKind", "label_of", "may_become_label"]

LabelKind: TypeAlias = Literal["thought", "action", "input", "observation", "answer"]

_HEAD = r"[ \t]*+#*+[ \t]*+"  # possessive: a line of blanks must not be tried in every way
_CHINESE = {
    "\u601d\u8003": "thought",
    "\u60f3\u6cd5": "thought",
    "\u884c\u52a8\u8f93\u5165": "action input",
    "\u52a8\u4f5c\u8f93\u5165": "action input",
    "\u884c\u52a8": "action",
    "\u52a8\u4f5c": "action",
    "\u89c2\u5bdf": "observation",
    "\u6700\u7ec8\u7b54\u6848": "final answer",
    "\u6700\u7ec8\u56de\u7b54": "final answer",
}
"""The labels as models translate them that are talked to in Chinese."""

_WORD = "|".join((r"thoughts?|action[ _-]?input|action|observations?|final[ _-]?answer", *_CHINESE))
_LABEL = re.compile(
    rf"{_HEAD}(?P<open>\*++)?[ \t]*+(?P<word>{_WORD})[ \t]*+\d*+[ \t]*+"
    r"(?P<close>\**+)[ \t]*+[:\uff1a][ \t]*(?(open)(?P<after>\**))[ \t]*",
    re.IGNORECASE,
)
_HEADING = re.compile(
    rf"[ \t]*+(?:#++[ \t]*+\**+|\*\*)[ \t]*+(?P<word>{_WORD})[ \t]*+\d*+[ \t]*+\**+[ \t]*+",
    re.IGNORECASE,
)
"""A label that is a heading, and needs no colon."""
_DECORATION = re.compile(rf"{_HEAD}\**+[ \t]*+")
_BEFORE_COLON = re.compile(
    rf"(thoughts?|action ?input|action|observations?|final ?answer|{'|'.join(_CHINESE)})"
    r"[ \t]*+\d*+[ \t]*+\**+[ \t]*+"
)
_SPELLINGS = (
    "thoughts",
    "action input",
    "actioninput",
    "observations",
    "final answer",
    "finalanswer",
    *_CHINESE,
)
_KINDS: dict[str, LabelKind] = {"t": "thought", "o": "observation", "f": "answer", "a": "action"}


@frozen
class Label:
    """A label at the head of a line.

    Parameters:
        kind: what it introduces.
        end: the offset behind it.
        stars: the asterisks that are open behind it: they close at the end of the line.
    """

    kind: LabelKind
    end: int
    stars: str = ""

    def rest(self, line: str) -> str:
        """What of the line stands behind the label."""
        text = line[self.end :]
        return text.rstrip().removesuffix(self.stars) if self.stars else text


def label_of(line: str) -> Label | None:
    """The label that a line begins with; None if it has none.

    Any case, numbered or not, `Action_Input` and `Thoughts` too, with `#` and `*` around it.
    """
    match = _LABEL.match(line)
    if match is None:
        heading = _HEADING.fullmatch(line)
        return Label(_kind(heading["word"]), len(line)) if heading else None
    kind = _kind(match["word"])
    closed = match["close"] or match["after"]
    return Label(kind, match.end(), "" if closed else match["open"] or "")


def _kind(word: str) -> LabelKind:
    word = _CHINESE.get(word, word).lower()
    return "input" if word.endswith("input") else _KINDS[word[0]]


def may_become_label(line: str) -> bool:
    """Whether the beginning of a line may still become a label."""
    decoration = _DECORATION.match(line)
    rest = line[decoration.end() if decoration else 0 :].lower()
    if not rest:
        return True
    rest = rest.replace("_", " ").replace("-", " ")
    if any(spelling.startswith(rest) for spelling in _SPELLINGS):
        return True
    return _BEFORE_COLON.fullmatch(rest) is not None
