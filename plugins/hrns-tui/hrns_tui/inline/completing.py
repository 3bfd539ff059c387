"""Completion at the prompt: commands and their arguments, and files after an `@`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from time import monotonic

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from hrns.cli.printing import plain
from hrns.errors import in_words
from hrns.records import SlashCommand
from hrns.session import Session

from ..files import fuzzy, project_files

__all__ = ["PromptCompleter", "completes"]

_FRESH_S = 5.0
_MENTION = re.compile(r"(?:^|(?<=[\s(\"']))@([^\s@]*)$")


def completes(text_before_cursor: str) -> bool:
    """Whether what is typed can be completed while it is typed."""
    is_command = text_before_cursor.startswith("/") and "\n" not in text_before_cursor
    return is_command or _MENTION.search(text_before_cursor) is not None


class PromptCompleter(Completer):
    """Completes for the session that it was given last."""

    def __init__(self) -> None:
        self.session: Session | None = None
        self._files: list[str] = []
        self._listed_at = -_FRESH_S

    def get_completions(
        self,
        document: Document,
        complete_event: CompleteEvent,  # noqa: ARG002 - the menu and Tab are given the same
    ) -> Iterable[Completion]:
        """The completions of the word at the cursor."""
        text = document.text_before_cursor
        if self.session is None:
            return []
        if mention := _MENTION.search(text):
            return self._mentions(self.session, mention[1])
        if text.startswith("/") and "\n" not in text:
            return _commands(self.session, text[1:])
        return []

    def _mentions(self, session: Session, word: str) -> Iterable[Completion]:
        if monotonic() - self._listed_at > _FRESH_S:
            self._files, self._listed_at = project_files(session.context.cwd), monotonic()
        for name in fuzzy(self._files, word):
            quoted = f'"{name}"' if " " in name else name
            yield Completion(quoted, -len(word), display=plain(name))


def _commands(session: Session, text: str) -> Iterable[Completion]:
    name, space, argument = text.partition(" ")
    if not space:
        for command in session.commands:
            if command.name.startswith(name):
                yield Completion(command.name, -len(name), display_meta=plain(command.help))
        return
    for command in session.commands:
        if command.name == name:
            for word in _words(command, session, argument):
                yield Completion(word, -len(argument), display=plain(word))


def _words(command: SlashCommand, session: Session, argument: str) -> list[str]:
    try:
        return [*command.complete(session, argument)]
    except Exception as error:  # noqa: BLE001 - a guest's code, and the command is named
        session.notice(f"/{command.name} cannot complete its argument: {in_words(error)}")
        return []
