"""Standard input that is no terminal: all of it is one message or one command, then the end."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from hrns.cancel import Cancel
from hrns.chunks import EndChunk, ErrorChunk
from hrns.cli import status
from hrns.cli.printing import TextPrinter, plain
from hrns.cli.stdin import compose_prompt
from hrns.errors import PromptMissing, UsageError
from hrns.session import Launch, Session

from .boot import boot_unattended
from .dispatch import run_command
from .signals import turn_signals

__all__ = ["run_piped"]


def run_piped(launch: Launch) -> int:
    """Answer what is piped in: the text on standard output, everything else on standard error.

    Nobody is there to be asked, so what needs a yes is denied. Returns the status that
    `hrns exec` has for the same end.

    Raises:
        ConfigError: no provider can be used, or the agent is unknown.
        Cancelled: interrupted while input was awaited.
        UsageError: a session is to be picked, which takes a person.
    """
    if launch.pick:
        raise UsageError(
            "a session can be picked at a terminal only",
            hint="Name it, hrns -r ID, or go on with the last one, hrns -c.",
        )
    with boot_unattended(launch) as session:
        host = _Host(session)
        for notice in session.take_notices():
            host.tell(notice)
        text = _read()
        if text.startswith("/"):
            run_command(host, text.rstrip())
        elif text:
            host.send(text)
        else:
            host.tell("standard input is empty: nothing was asked")
        host.answer()
        return host.status


def _read() -> str:
    """What is piped in; "" if there is nothing in it."""
    cancel = Cancel()
    with turn_signals(cancel):
        try:
            return compose_prompt((), "", use_stdin=True, cancel=cancel)
        except PromptMissing:
            return ""


class _Host:
    """What a command is offered where nobody is there to be asked."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.status = status.DONE
        self._to_send: list[str] = []

    def tell(self, text: str) -> None:
        """Say something that is no part of an answer."""
        sys.stderr.write(plain(f"hrns: {text}\n"))

    def say(self, text: str) -> None:
        """Print the text."""
        sys.stdout.write(plain(f"{text}\n"))

    def error(self, text: str) -> None:
        """Say what went wrong; the exit status tells of it as well."""
        self.tell(f"error: {text}")
        self.status = status.FAILED

    def ask(self, prompt: str, *, default: str = "", secret: bool = False) -> None:
        """Nobody answers."""

    def pick(self, title: str, options: Sequence[tuple[str, str]]) -> None:
        """Nobody chooses."""

    def send(self, text: str) -> None:
        """Send a message with `answer`."""
        self._to_send.append(text)

    def leave(self) -> None:
        """Nothing more is read anyway."""

    def answer(self) -> None:
        """Send what is to be sent, and print what comes."""
        for text in self._to_send:
            self._turn(text)

    def _turn(self, text: str) -> None:
        printer = TextPrinter(sys.stdout, sys.stderr, progress=sys.stderr.isatty(), quiet=False)
        end, error = EndChunk("error"), None
        cancel = Cancel()
        with turn_signals(cancel):
            for chunk in self.session.send(text, cancel=cancel):
                printer.show(chunk)
                if isinstance(chunk, ErrorChunk):
                    error = chunk
                elif isinstance(chunk, EndChunk):
                    end = chunk
        self.status = status.of_end(end, error, 0)
