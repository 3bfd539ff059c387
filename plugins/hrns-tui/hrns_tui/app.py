"""The front end: read, run the turn, show it, until the person leaves."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Mapping
from pathlib import Path

from hrns.cancel import Cancel
from hrns.cli import status
from hrns.cli.printing import steady_streams
from hrns.config import add_rule, edit_config
from hrns.errors import Cancelled
from hrns.session import Launch, Session

from .banner import KEYS, banner
from .boot import boot
from .dialogue import Prompt, PromptDialogue
from .dispatch import run_command
from .lines import LinePrompt
from .piped import run_piped
from .questions import Questions
from .screen import Screen, wants_colour
from .signals import leaving_on_signals, turn_signals
from .terminal import echo, is_capable

__all__ = ["App", "run"]


def run(launch: Launch) -> int:
    """Run the front end to its end; returns the exit status.

    Raises:
        ConfigError: what is configured, or named on the command line, cannot be used.
        SystemExit: the program was told to end (SIGTERM, SIGHUP).
    """
    steady_streams()
    try:
        if sys.stdin is None or sys.stdin.closed or not sys.stdin.isatty():
            return run_piped(launch)
        with leaving_on_signals():
            return _run_interactive(launch)
    except (KeyboardInterrupt, Cancelled):
        return status.INTERRUPTED


def _run_interactive(launch: Launch) -> int:
    colour = wants_colour(sys.stdout, launch.environ)
    screen = Screen(sys.stdout, colour=colour)
    prompt = _prompt(launch.environ, colour=colour)
    ask = Questions(
        screen, prompt, lambda rule: edit_config(launch.config.path, add_rule("allow", rule))
    )
    session = boot(launch, PromptDialogue(screen, prompt), ask)
    if session is None:
        return status.INTERRUPTED
    with session:
        App(session, screen, prompt).run()
    return 0


def _prompt(environ: Mapping[str, str], *, colour: bool) -> Prompt:
    """The best prompt that the terminal can show."""
    if not sys.stdout.isatty():
        return LinePrompt(sys.stdin, sys.stderr)
    if not is_capable(environ):
        return LinePrompt(sys.stdin, sys.stdout)
    from .prompt import TerminalPrompt

    return TerminalPrompt(_history_path(environ), colour=colour)


def _history_path(environ: Mapping[str, str]) -> Path:
    """Where what is typed is kept, as the XDG Base Directory Specification has it."""
    data = Path(environ.get("XDG_DATA_HOME", ""))
    base = data if data.is_absolute() else Path.home() / ".local" / "share"
    return base / "hrns" / "history"


class App(PromptDialogue):
    """A session at a prompt; what slash commands are offered as their host."""

    def __init__(self, session: Session, screen: Screen, prompt: Prompt) -> None:
        super().__init__(screen, prompt)
        self.session = session
        self._to_send: deque[str] = deque()
        self._leaving = False
        self._warned = False

    def send(self, text: str) -> None:
        """Send a message to the model when the command is done."""
        self._to_send.append(text)

    def leave(self) -> None:
        """End when the command is done."""
        self._leaving = True

    def run(self) -> None:
        """Read and do, until the person leaves."""
        self.screen.gap()
        self.say(f"{banner(self.session)}\n{KEYS}")
        while not self._leaving:
            try:
                self._step()
            except EOFError:
                self._leaving = True
            except KeyboardInterrupt:
                self._warn_or_leave()

    def _step(self) -> None:
        for notice in self.session.take_notices():
            self.screen.notice(notice)
        self.screen.gap()
        text = self.prompt.message(self.session)
        self._warned = False
        self.screen.prompted()
        self._take(text)

    def _warn_or_leave(self) -> None:
        """Ctrl-C where nothing is to be interrupted: the first time it may be a slip."""
        if self._warned:
            self._leaving = True
        else:
            self._warned = True
            self.say("Ctrl-C once more leaves, and so does Ctrl-D.")

    def _take(self, text: str) -> None:
        """Do what was typed, to its end or until Ctrl-C."""
        try:
            if text.startswith("/"):
                run_command(self, text)
            elif text.strip():
                self.send(text.strip())
            while self._to_send:
                self._turn(self._to_send.popleft())
        except KeyboardInterrupt:
            self._to_send.clear()
            self.screen.notice("interrupted")

    def _turn(self, text: str) -> None:
        cancel = Cancel()
        with turn_signals(cancel), echo(sys.stdin, on=False):
            for chunk in self.session.send(text, cancel=cancel):
                self.screen.show(chunk)
