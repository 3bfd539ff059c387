"""What a command line consists of."""

from __future__ import annotations

import re
from typing import Literal

from attrs import field, frozen

__all__ = [
    "ASSIGNMENT",
    "DEVICES",
    "Command",
    "Line",
    "Redirection",
    "Word",
    "holds_code",
    "names",
]

DEVICES = frozenset(
    {"/dev/null", "/dev/zero", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty"}
)
"""Where redirections may go without touching a file."""


def names(text: str) -> frozenset[str]:
    """The names in a text, blanks between them."""
    return frozenset(text.split())


ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)(?:\[[^\]]*\])?\+?=", re.ASCII)
"""How a word begins that sets a variable where it stands before a command."""


def holds_code(text: str) -> bool:
    """Whether a text, with the quotes taken off, has a substitution in it.

    Where bash computes with a variable, it runs the `$(...)` in `a[$(...)]` that the variable has.
    """
    return "$(" in text or "`" in text


@frozen
class Word:
    """One word, with the quotes taken off.

    Parameters:
        text: what is known of it, from its beginning.
        exact: whether that is all of it; else the rest may be anything.
        many: whether it may become several words, or none.
        source: as it is written; not compared.
        plain: whether nothing in it is quoted.
        code: whether what is quoted in it has a substitution, which bash may come to run.
    """

    text: str
    exact: bool = True
    many: bool = False
    source: str = field(default="", eq=False, repr=False)
    plain: bool = field(default=True, eq=False, repr=False)
    code: bool = field(default=False, eq=False, repr=False)


ANYTHING = Word("", exact=False, many=True, source="...")


@frozen
class Command:
    """A simple command.

    Parameters:
        words: the command and its arguments.
        assignments: the words before it that set variables.
        script: what it is known to read from its standard input, or None.
        needs_rule: whether a rule that allows must hold for it: not for one that only runs others.
        note: why it may be anything, or "".
    """

    words: tuple[Word, ...]
    assignments: tuple[Word, ...] = ()
    script: str | None = field(default=None, repr=False)
    needs_rule: bool = True
    note: str = ""

    @classmethod
    def unknown(cls, note: str) -> Command:
        """A command that may be anything."""
        return cls((ANYTHING,), note=note)

    @property
    def shown(self) -> str:
        """The command for people, as it is written."""
        words = (*self.assignments, *self.words)
        return self.note or " ".join(word.source or word.text for word in words)


@frozen
class Redirection:
    """A file that a line reads or writes by `<`, `>` and the like; `path` is "" if not known."""

    kind: Literal["read", "write"]
    path: str


@frozen
class Line:
    """All that a command line would run, and the files that it redirects."""

    commands: tuple[Command, ...] = ()
    redirections: tuple[Redirection, ...] = ()
