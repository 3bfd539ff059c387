"""`hrns exec`: ask once, let the model use tools, print the answer."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import click
from attrs import define, frozen

from ..cancel import Cancel
from ..chunks import EndChunk, ErrorChunk
from ..config import choose_provider
from ..context import Mode
from ..errors import Cancelled
from ..loop import Limits
from ..permissions import Rule
from ..plugins import load_plugins
from ..session import Session, open_session
from . import status
from .common import read_config, working_directory
from .printing import JsonLinesPrinter, Printer, TextPrinter, steady_streams
from .stdin import compose_prompt

__all__ = ["command"]


@frozen
class _Options:
    words: tuple[str, ...]
    message: str
    provider: str
    model: str
    agent: str
    output_format: str
    permission_mode: Mode | None
    allow: tuple[str, ...]
    deny: tuple[str, ...]
    max_turns: int | None
    timeout: float | None
    max_tokens: int | None
    system: str
    append_system: str
    quiet: bool
    verbose: bool
    no_stdin: bool


@click.command("exec", context_settings={"ignore_unknown_options": False})
@click.argument("words", nargs=-1)
@click.option("-message", "--message", "-m", default="", metavar="TEXT", help="What to ask.")
@click.option("-provider", "--provider", default="", metavar="NAME", help="The provider to use.")
@click.option("-model", "--model", default="", metavar="NAME", help="The model to ask.")
@click.option("-agent", "--agent", default="", metavar="NAME", help="The agent to work as.")
@click.option(
    "--output-format",
    type=click.Choice(["text", "stream-json"]),
    default="text",
    show_default=True,
    help="Plain text, or every chunk as a line of JSON.",
)
@click.option(
    "--permission-mode",
    type=click.Choice(["ask", "edits", "all", "plan"]),
    default=None,
    help="What tools may do; no one can be asked, so what would ask is denied. [default: all]",
)
@click.option("--allow", multiple=True, metavar="RULE", help="A tool that may run; repeatable.")
@click.option("--deny", multiple=True, metavar="RULE", help="A tool that may not; repeatable.")
@click.option("--max-turns", type=click.IntRange(1), help="The most requests to the model.")
@click.option("--timeout", type=click.FloatRange(0, min_open=True), help="The most seconds.")
@click.option("--max-tokens", type=click.IntRange(1), help="The most tokens, read and written.")
@click.option("--system", default="", metavar="TEXT", help="In place of the agent's prompt.")
@click.option("--append-system", default="", metavar="TEXT", help="Behind the system prompt.")
@click.option("-q", "--quiet", is_flag=True, help="Only the answer and errors.")
@click.option("-v", "--verbose", is_flag=True, help="Tell tool calls, also to a file or pipe.")
@click.option("--no-stdin", is_flag=True, help="Do not read standard input.")
def command(**options: Any) -> int:
    """Ask once and print the answer.

    The model works with tools in the current directory until it can answer. The answer goes to
    standard output, everything else to standard error. What is piped in is added to the message;
    `-` as the message is standard input alone.

    \b
    Exit status: 0 answered, 1 refused or cut off, 2 usage, 69 provider unavailable,
    70 a bug in hrns, 75 try again later, 77 key refused, 78 configuration,
    124 a limit was reached, 130 interrupted, 143 terminated.
    """  # noqa: D301 - \b is click's mark for a paragraph that is not re-wrapped
    return _run(_Options(**options))


def _run(options: _Options) -> int:
    steady_streams()
    cancel = Cancel()
    with _signals(cancel) as caught:
        try:
            prompt = compose_prompt(
                options.words, options.message, use_stdin=not options.no_stdin, cancel=cancel
            )
            with _open(options) as session:
                return _ask(session, prompt, options, cancel, caught)
        except Cancelled:
            return 128 + (caught.number or signal.SIGINT)
        except BrokenPipeError:
            from .app import close_quietly

            return close_quietly()


def _open(options: _Options) -> Session:
    config = read_config()
    provider = choose_provider(config, options.provider, options.model, os.environ)
    plugins = load_plugins(os.environ, config.plugins.disabled)
    limits = config.limits
    return open_session(
        config,
        plugins,
        provider,
        cwd=working_directory(),
        agent=options.agent,
        mode=options.permission_mode or config.permissions.mode or "all",
        rules=[
            *(Rule.parse("allow", text, "--allow") for text in options.allow),
            *(Rule.parse("deny", text, "--deny") for text in options.deny),
        ],
        limits=Limits(
            turns=options.max_turns or limits.turns,
            seconds=options.timeout or limits.seconds,
            tokens=options.max_tokens or limits.tokens,
        ),
        take_back=options.output_format != "text",
        system=options.system,
        append_system=options.append_system,
    )


def _ask(session: Session, prompt: str, options: _Options, cancel: Cancel, caught: _Caught) -> int:
    printer = _printer(session, options)
    if session.context.mode == "all" and not options.quiet:
        sys.stderr.write("hrns: tools run without asking (--permission-mode all)\n")
    for notice in session.take_notices():
        sys.stderr.write(f"hrns: {notice}\n")
    sys.stderr.flush()
    error: ErrorChunk | None = None
    end = EndChunk("error")
    for chunk in session.send(prompt, cancel=cancel):
        printer.show(chunk)
        if isinstance(chunk, ErrorChunk):
            error = chunk
        elif isinstance(chunk, EndChunk):
            end = chunk
    if end.reason in ("limit", "refused", "cancelled") and end.text:
        sys.stderr.write(f"hrns: {end.text}\n")
    return status.of_end(end, error, caught.number)


def _printer(session: Session, options: _Options) -> Printer:
    if options.output_format == "stream-json":
        return JsonLinesPrinter(sys.stdout, json.dumps(_head(session), ensure_ascii=False))
    progress = options.verbose or sys.stderr.isatty()
    return TextPrinter(sys.stdout, sys.stderr, progress=progress, quiet=options.quiet)


def _head(session: Session) -> dict[str, object]:
    return {
        "type": "start",
        "version": 1,
        "session": session.id,
        "cwd": str(session.context.cwd),
        "provider": session.entry.name,
        "model": session.model,
        "agent": session.agent.name,
        "mode": session.context.mode,
    }


@define
class _Caught:
    """The signal that came first, or 0."""

    number: int = 0


@contextmanager
def _signals(cancel: Cancel) -> Iterator[_Caught]:
    """SIGINT and SIGTERM set `cancel`; a second SIGINT ends the process at once."""
    caught = _Caught()

    def handle(number: int, _frame: FrameType | None) -> None:
        if caught.number:
            os._exit(128 + number)
        caught.number = number
        cancel.set("interrupted" if number == signal.SIGINT else "terminated")

    numbers = [signal.SIGINT, signal.SIGTERM]
    before = {number: signal.signal(number, handle) for number in numbers}
    try:
        yield caught
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
