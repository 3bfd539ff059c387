"""Command lines of a POSIX shell, read for what they would run and write.

Theory of operation. `reader` follows the grammar of the shell (POSIX.1-2017, section 2.10, and
what bash adds to it) through a line and notes every simple command and every redirection, in
whatever nesting they stand: lists, pipes, groups, `if`, `for`, functions, `$(...)`, backquotes,
here-documents. Nothing is expanded: a word with a variable, a glob or braces in it is known as
far as its beginning. `runners` knows the commands that run other commands (`env`, `xargs`,
`find -exec`, `sh -c`) and reads on inside of them.

Two shells may read one line in two ways (`/bin/sh` is dash here and bash there). Where they
differ, and wherever the reader is not sure, it does not guess: it notes a command that may be
anything (`Command.unknown`), and the rules see to it that nobody mistakes that for a harmless one.
More commands than the shell would run may be noted, never fewer.
"""

from __future__ import annotations

from .lines import read_line
from .runners import program, runs_others
from .values import Command, Line, Redirection, Word

__all__ = ["Command", "Line", "Redirection", "Word", "program", "read_line", "runs_others"]
