"""Custom commands: Markdown files whose text is sent when their name is typed after a slash."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

from hrns.context import SessionContext
from hrns.records import CommandHost, SlashCommand

from .documents import collect
from .front_matter import Document, Fault
from .places import entries_by_place

__all__ = ["expand", "find_commands"]

ROOTS = (".hrns/commands", ".claude/commands")

_ARGUMENTS = re.compile(r"\$ARGUMENTS\b")


def find_commands(context: SessionContext) -> list[SlashCommand]:
    """The commands of project and home, one of each name: the nearest."""
    paths = (
        [entry for entry in entries if entry.suffix.lower() == ".md"]
        for entries in entries_by_place(context, ROOTS)
    )
    return collect(context, paths, _command)


def _command(path: Path, document: Document) -> SlashCommand:
    template = document.body.strip()
    if len(path.stem.split()) != 1:
        raise Fault(f"a command is called by one word; rename {path.name!r}", 1)
    if not template:
        raise Fault("the file has no text to send; write some below the front matter", 1)
    return SlashCommand(
        name=path.stem,
        help=document.text("description") or f"Sends the text of {path.name}.",
        run=partial(_send, template),
        usage=document.text("argument-hint"),
    )


def _send(template: str, host: CommandHost, arguments: str) -> None:
    host.send(expand(template, arguments))


def expand(template: str, arguments: str) -> str:
    """The template with each `$ARGUMENTS` replaced; where it has none they follow at the end."""
    if _ARGUMENTS.search(template):
        return _ARGUMENTS.sub(lambda _: arguments, template)
    return f"{template}\n\n{arguments}" if arguments else template
