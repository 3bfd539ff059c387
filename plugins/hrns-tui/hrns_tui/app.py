"""The front end: read, run the turn, show it, until the person leaves."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Sequence
from copy import copy
from pathlib import Path
from typing import TextIO

from attrs import evolve

from hrns.cancel import Cancel
from hrns.chunks import (
    MessageChunk,
    MessageDoneChunk,
    QueuedChunk,
    ToolCallResultChunk,
    UsageChunk,
)
from hrns.cli import status
from hrns.cli.printing import steady_streams
from hrns.config import add_rule, edit_config, home_directory
from hrns.errors import Cancelled
from hrns.journal import Record
from hrns.messages import AssistantMessage, Terminal, ToolMessage, UserMessage
from hrns.permissions import Ask
from hrns.session import Launch, Session

from .banner import banner, headline
from .dialogue import Listing, Prompt, PromptDialogue, TerminalDialogue, View
from .images import images_in, message_of
from .lines import LinePrompt
from .paint import Theme
from .questions import Questions, Widening, widening
from .screen import Screen, wants_colour
from .signals import leaving_on_signals
from .terminal import is_capable
from .wording import one_line

__all__ = ["App", "run", "run_inline"]


def run(launch: Launch) -> int:
    """Run the front end to its end; returns the exit status.

    Raises:
        ConfigError: what is configured, or named on the command line, cannot be used.
        SystemExit: the program was told to end (SIGTERM, SIGHUP).
    """
    steady_streams()
    try:
        if sys.stdin is None or sys.stdin.closed or not sys.stdin.isatty():
            from .piped import run_piped

            return run_piped(launch)
        if sys.stdout.isatty() and is_capable(launch.environ) and sys.platform != "win32":
            return run_inline(launch, sys.stdin, sys.stdout)
        with leaving_on_signals():
            return _run_lines(launch)
    except (KeyboardInterrupt, Cancelled):
        return status.INTERRUPTED


def run_inline(launch: Launch, source: TextIO, out: TextIO) -> int:
    """Run in a terminal that can move its cursor: the prompt stays, text scrolls above it."""
    from .inline.program import Program
    from .inline.prompt import InlineDialogue, InlineQuestions

    out.write(f"{headline(launch.cwd, home_directory(launch.environ))}\n")
    out.flush()
    program = Program(launch, source, out, colour=wants_colour(out, launch.environ))
    ask = InlineQuestions(
        program.screen, program.prompt, _rule_saver(launch), program.size, _widening(launch)
    )
    dialogue = InlineDialogue(program.screen, program.prompt)
    return program.run(lambda: _converse(launch, program.screen, program.prompt, dialogue, ask))


def _run_lines(launch: Launch) -> int:
    """In any other: line by line."""
    screen = Screen(sys.stdout, colour=wants_colour(sys.stdout, launch.environ))
    out = sys.stdout if sys.stdout.isatty() else sys.stderr
    prompt = LinePrompt(sys.stdin, out)
    ask = Questions(screen, prompt, _rule_saver(launch), _widening(launch))
    screen.say(headline(launch.cwd, home_directory(launch.environ)))
    return _converse(launch, screen, prompt, PromptDialogue(screen, prompt), ask)


def _converse(
    launch: Launch, screen: View, prompt: Prompt, dialogue: TerminalDialogue, ask: Ask
) -> int:
    """Open a session, and hold it until the person leaves; returns the exit status."""
    from .boot import boot  # the prompt stands there before this is imported

    opened: list[Session | None] = []
    try:
        prompt.interruptible(lambda: opened.append(boot(launch, dialogue, ask)))
    except KeyboardInterrupt:
        screen.notice("interrupted")
        return status.INTERRUPTED
    [session] = opened
    if session is None:
        return status.INTERRUPTED
    app = App(launch, session, screen=screen, prompt=prompt, dialogue=dialogue, ask=ask)
    try:
        app.run()
    finally:
        app.session.close()
    if app.session.path is not None:
        screen.say(f"To go on with this session: hrns -r {app.session.id}")
    return status.DONE


_RECALLED = 12
"""Messages that are shown again of a conversation that is gone on with."""


class _RuleSaver:
    """Writes a permission rule down."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __call__(self, rule: str) -> None:
        edit_config(self._path, add_rule("allow", rule))


def _rule_saver(launch: Launch) -> _RuleSaver:
    return _RuleSaver(launch.config.path)


def _widening(launch: Launch) -> Widening:
    return widening(launch.cwd, home_directory(launch.environ))


class App:
    """A session at a prompt; what slash commands are offered as their host."""

    def __init__(
        self,
        launch: Launch,
        session: Session,
        *,
        screen: View,
        prompt: Prompt,
        dialogue: TerminalDialogue,
        ask: Ask,
    ) -> None:
        self.session = session
        self.screen = screen
        self.prompt = prompt
        self._launch = launch
        self.tell_through(dialogue)
        self._ask = ask
        self._to_send: deque[str] = deque()
        self._leaving = False
        self._warned = False
        self._shown = session.id

    def tell_through(self, dialogue: TerminalDialogue) -> None:
        """Tell and ask by this dialogue."""
        self.say = dialogue.say
        self.error = dialogue.error
        self._dialogue = dialogue

    @property
    def keys(self) -> Sequence[tuple[str, str]]:
        """The keys of the prompt."""
        return self.prompt.keys

    def ask(self, prompt: str, *, default: str = "", secret: bool = False) -> str | None:
        """Ask for a line of text."""
        return self._dialogue.ask(prompt, default=default, secret=secret)

    def pick(self, title: str, options: Sequence[tuple[str, str]]) -> str | None:
        """Let the person choose."""
        return self._dialogue.pick(title, options)

    def pick_from(self, title: str, lists: Sequence[Listing]) -> str | None:
        """Let the person choose an option of one of the lists."""
        return self._dialogue.pick_from(title, lists)

    def send(self, text: str) -> None:
        """Send a message to the model when the command is done."""
        self._to_send.append(text)

    def leave(self) -> None:
        """End when the command is done."""
        self._leaving = True

    def resume(self, record: Record) -> None:
        """Go on with another session; this one is closed."""
        from .boot import resumed

        session = self.session
        launch = evolve(
            self._launch,
            config=session.config,
            provider="",
            model="",
            agent="",
            mode=session.context.mode,
        )
        opened = resumed(launch, record, self._ask)
        self.session.close()
        self.session, self._shown = opened, opened.id
        self.say(banner(opened))
        self._recall()

    def copy(self, text: str) -> None:
        """Put text on the clipboard of the terminal."""
        self.screen.copy(text)

    def wipe(self) -> None:
        """Empty the screen."""
        self.screen.wipe()

    def use_theme(self, theme: Theme) -> None:
        """Show what comes for a dark or a light background."""
        self.screen.use_theme(theme)

    def edit(self) -> None:
        """Open the next message in an editor."""
        self.prompt.edit()

    def refill(self, text: str) -> None:
        """Put a message back into the prompt."""
        self.prompt.refill(text)

    def recount(self) -> None:
        """Count what the conversation takes of the context as it is now."""
        self.screen.clear()
        for message in self.session.messages:
            if isinstance(message, AssistantMessage) and message.usage:
                self.screen.show(UsageChunk(message.usage))

    def _recall(self) -> None:
        """Show the end of a conversation that is gone on with, and what all of it took."""
        from .recalling import gone_on_with, titles_of_calls

        self.recount()
        if self.session.path is not None:
            self.say(gone_on_with(self.session))
        titles = titles_of_calls(self.session)
        calls: dict[str, str] = {}
        for message in self.session.messages[-_RECALLED:]:
            match message:
                case UserMessage():
                    self.screen.gap()
                    self.screen.recall(message.text)
                case AssistantMessage():
                    self.screen.show(MessageChunk(message.text))
                    self.screen.show(MessageDoneChunk(message))
                    calls |= {
                        each.id: titles.get(each.id) or f"{each.name} {each.arguments}"
                        for each in message.calls
                    }
                case ToolMessage(results):
                    rows = [(calls.get(r.call_id, r.name), r.status) for r in results]
                    self.say("\n".join(f"* {one_line(call, 60)}  {how}" for call, how in rows))
                case _:
                    pass

    def run(self) -> None:
        """Read and do, until the person leaves."""
        self.screen.gap()
        self.say(f"{banner(self.session)}\n{self.prompt.hint}")
        self._recall()
        while not self._leaving:
            try:
                self._step()
            except EOFError:
                self._leaving = True
            except KeyboardInterrupt:
                self._warn_or_leave()

    def _step(self) -> None:
        if self._shown != self.session.id:
            self._shown = self.session.id
            self.screen.clear()
        for notice in self.session.take_notices():
            self.screen.notice(notice)
        self.screen.gap()
        typed = self.prompt.message(self.session)
        self._warned = False
        self.screen.prompted(typed.shown)
        self._take(typed.text)

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
                from .dispatch import run_command

                self.prompt.interruptible(lambda: run_command(self, text.rstrip()))
            elif text.startswith("!"):
                self._shell(text[1:].strip())
            elif text.strip():
                self.send(text.strip())
            while self._to_send:
                self._turn(self._to_send.popleft())
        except KeyboardInterrupt:
            self._to_send.clear()
            self.screen.notice("interrupted")

    def _meanwhile(self, line: str) -> Callable[[TerminalDialogue], object] | None:
        """What runs a command while the model works, if it need not wait."""
        from .dispatch import may_run_at_once, run_command

        if not may_run_at_once(line, self.session):
            return None

        def run(dialogue: TerminalDialogue) -> None:
            host = copy(self)
            host.tell_through(dialogue)
            run_command(host, line.rstrip())

        return run

    def _turn(self, text: str) -> None:
        session = self.session
        if pictures := images_in(text, session.context.cwd):
            self.say(f"goes along: {', '.join(path.name for path in pictures)}")
        with self.prompt.working(session, self._meanwhile) as cancel:
            for chunk in session.send(message_of(text, session.context.cwd), cancel=cancel):
                if isinstance(chunk, QueuedChunk):
                    self.prompt.delivered(chunk.text)
                self.screen.show(chunk)

    def _shell(self, command: str) -> None:
        """Run a shell command of the person's, whose output goes along with the next message."""
        if not command:
            self.error("`!` runs a shell command: !git status")
            return
        from .shell import shell_report

        with self.prompt.working(meanwhile=self._meanwhile) as cancel:
            shown = self._show_shell(command, cancel)
        if shown is not None:
            self.prompt.attach(f"the output of {command}", shell_report(shown))

    def _show_shell(self, command: str, cancel: Cancel) -> Terminal | None:
        from .shell import run_shell

        session = self.session
        shown: Terminal | None = None
        for chunk in run_shell(command, session.context.cwd, session.environ, cancel):
            self.screen.show(chunk)
            if isinstance(chunk, ToolCallResultChunk) and isinstance(
                chunk.result.display, Terminal
            ):
                shown = chunk.result.display
        return shown
