"""A whole command line: what stands in it, and what that runs in turn."""

from __future__ import annotations

import os
import re

from attrs import define, evolve, field

from .grammar import Grammar
from .runners import files_run, inside
from .values import Command, Line, Redirection
from .variables import all_harmless
from .words import DEPTH, Effort, Unclear

__all__ = ["read_line"]


_PLAIN = re.compile(r"[\w ./:=,+@-]*")


def read_line(text: str, *, posix: bool = os.name == "posix") -> Line:
    """All commands that a line would run, also through others, and the files that it redirects.

    Takes time in proportion to the length of the line. Never fails: what cannot be read for
    certain is a command that may be anything.

    Parameters:
        posix: whether a POSIX shell will run it. What another makes of quotes and signs is not
            known here, so then only lines without any are read.
    """
    reading = _Reading()
    if posix or _PLAIN.fullmatch(text):
        reading.script(text, 0, needs_rule=True)
    else:
        reading.commands.append(Command.unknown("what cannot be read: it has quotes or signs"))
    if reading.runs_what_it_writes():
        reading.commands.append(Command.unknown("a script that is written here"))
    return Line(tuple(reading.commands), tuple(reading.redirections))


@define
class _Reading:
    commands: list[Command] = field(factory=list)
    redirections: list[Redirection] = field(factory=list)
    effort: Effort = field(factory=Effort)

    def runs_what_it_writes(self) -> bool:
        """Whether a script may be run that the line itself writes."""
        written = {_name(each.path) for each in self.redirections if each.kind == "write"}
        return any(_name(path) in written for each in self.commands for path in files_run(each))

    def script(self, text: str, depth: int, *, needs_rule: bool) -> None:
        """Read a text as a shell would."""
        grammar = Grammar(text, depth, self.effort)
        try:
            grammar.read()
        except Unclear as unclear:
            grammar.commands.append(Command.unknown(f"what cannot be read: {unclear}"))
        self.redirections += grammar.redirections
        for command in grammar.commands:
            self._command(command, depth, needs_rule=needs_rule)

    def _command(self, command: Command, depth: int, *, needs_rule: bool) -> None:
        """Note a command, and what it runs in turn."""
        if depth > DEPTH:
            command = Command.unknown("what cannot be read: it is nested too deeply")
        found = inside(command)
        aside = found.transparent and all_harmless(command)
        self.commands.append(evolve(command, needs_rule=needs_rule and not aside))
        needs_rule = needs_rule and not found.guessed
        for inner in found.commands:
            if found.guessed:
                self.commands.append(evolve(inner, needs_rule=False))
            else:
                self._command(inner, depth + 1, needs_rule=needs_rule)
        for text in found.scripts:
            self.script(text, depth + 1, needs_rule=needs_rule)


def _name(path: str) -> str:
    return path.rpartition("/")[2]
