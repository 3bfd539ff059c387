"""What `hrns exec` does: open a session, send the message, print what comes."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from attrs import evolve, frozen

from ..cancel import Cancel
from ..chunks import Chunk
from ..config import Config, ProviderConfig, choose_provider
from ..context import Mode
from ..errors import Cancelled, HrnsError
from ..journal import Record
from ..journal import tell as tell_story
from ..loop import Limits
from ..nearest import nearest
from ..plugins import load_plugins
from ..providers.base import ModelOptions
from ..session import Session, choose_for_resume, open_session
from . import status
from .common import read_config, tell, working_directory
from .paced import PacedOutput
from .printing import JsonLinesPrinter, Narrator, Printer, TextPrinter
from .result import Outcome, result_json
from .rules import check_rules, rules_of_flags
from .sessions import chosen_record
from .signals import Interrupted, Signals, handled
from .stdin import compose_prompt
from .streams import in_utf8, own_output

if TYPE_CHECKING:
    from .fitting import Fit

__all__ = ["Options", "ask"]

_LISTING_S = 3.0


@frozen
class Options:
    """The options of `hrns exec`, as `hrns exec --help` describes them."""

    words: tuple[str, ...]
    message: str
    provider: str
    model: str
    agent: str
    output_format: str
    json_schema: str | None
    permission_mode: Mode | None
    allow: tuple[str, ...]
    deny: tuple[str, ...]
    strict: bool
    max_turns: int | None
    timeout: float | None
    max_tokens: int | None
    system: str
    append_system: str
    log: str
    quiet: bool
    verbose: bool
    no_stdin: bool
    resume_last: bool
    resume: str
    no_session: bool

    @property
    def streams_text(self) -> bool:
        """Whether the answer is printed as it comes: not if it must be judged first."""
        return self.output_format == "text" and not self.json_schema


def ask(options: Options) -> int:
    """Ask once; returns the exit status.

    Raises:
        HrnsError: something kept the run from beginning.
        OSError: what is to be printed cannot be.
    """
    cancel = Cancel()
    with handled(cancel) as signals, own_output() as out:
        try:
            prompt = compose_prompt(
                options.words, options.message, use_stdin=not options.no_stdin, cancel=cancel
            )
            fit = _fit(options)
            with _session(options, fit) as session:
                signals.raising = False
                return _converse(session, prompt, options, fit=fit, signals=signals, out=out)
        except (Interrupted, Cancelled):
            return signals.status


def _fit(options: Options) -> Fit | None:
    if not options.json_schema:
        return None
    from .fitting import Fit, read_form

    return Fit(read_form(Path(options.json_schema)))


@contextmanager
def _session(options: Options, fit: Fit | None) -> Iterator[Session]:
    """The session; what the plugins warn of is told, also if it cannot be opened."""
    config = _with_log(read_config(), options.log)
    record = chosen_record(options.resume_last, options.resume, options.no_session)
    provider, gone = _provider(config, options, record)
    plugins = load_plugins(os.environ, config.plugins.disabled)
    rules = rules_of_flags(options.allow, options.deny)
    try:
        with open_session(
            config,
            plugins,
            provider,
            cwd=working_directory(),
            agent=options.agent,
            model=options.model,
            mode=options.permission_mode or config.permissions.mode or "all",
            rules=rules,
            limits=_limits(config, options),
            take_back=not options.streams_text,
            system=options.system,
            append_system=_append_system(options, fit),
            save=not options.no_session,
            resume=record,
        ) as session:
            if gone:
                tell(gone)
            check_rules(session, config, rules)
            yield session
    finally:
        for warning in plugins.take_warnings():
            tell(f"warning: {warning}")


def _provider(
    config: Config, options: Options, record: Record | None
) -> tuple[ProviderConfig, str]:
    """The provider to ask, and a notice if that of the session is gone."""
    if record is None:
        return choose_provider(config, options.provider, options.model, os.environ), ""
    story = tell_story(record.branch())
    return choose_for_resume(story, config, options.provider, options.model, os.environ)


def _with_log(config: Config, log: str) -> Config:
    """The configuration with this log in place of its own, if one is named.

    Raises:
        ConfigError: it cannot be written; if the session found that, it would only warn.
    """
    if not log:
        return config
    from ..chunklog import ChunkLog

    ChunkLog(working_directory() / log).close()
    return evolve(config, log=log, document={**config.document, "log": log})


def _limits(config: Config, options: Options) -> Limits:
    return Limits(
        turns=options.max_turns or config.limits.turns,
        seconds=options.timeout or config.limits.seconds,
        tokens=options.max_tokens or config.limits.tokens,
    )


def _append_system(options: Options, fit: Fit | None) -> str:
    instruction = fit.form.instruction if fit else ""
    return "\n\n".join(text for text in (options.append_system, instruction) if text)


def _converse(
    session: Session,
    prompt: str,
    options: Options,
    *,
    fit: Fit | None,
    signals: Signals,
    out: TextIO,
) -> int:
    """Send the message and print what comes; returns the exit status."""
    if session.context.mode == "all" and session.offered and not options.quiet:
        tell("tools run without asking (--permission-mode all)")
    outcome = Outcome()
    if options.output_format != "text":
        in_utf8(out)
    started = time.monotonic()
    with PacedOutput(out) as paced:
        printers = _printers(session, options, paced)
        for chunk in _chunks(session, prompt, fit, signals.cancel):
            outcome.add(chunk)
            for printer in printers:
                printer.show(chunk)
    duration_s = time.monotonic() - started
    if options.output_format == "json":
        result = result_json(session, outcome, duration_s, fit.value if fit else None)
        out.write(f"{result}\n")
    elif options.output_format == "text" and fit and fit.text:
        out.write(f"{fit.text}\n")
    out.flush()
    if outcome.error and outcome.error.http_status == 404 and not signals.number:
        _suggest_models(session)
    return _status(outcome, options, signals)


def _chunks(session: Session, prompt: str, fit: Fit | None, cancel: Cancel) -> Iterable[Chunk]:
    if fit is None:
        return session.send(prompt, cancel=cancel)
    from .fitting import checked

    if not session.offered:
        # Servers that hold a model to a schema from its first token on keep it from calling tools.
        session.use_options(ModelOptions(response_schema=fit.form.schema))
    return checked(session.send(prompt, cancel=cancel), session, fit)


def _printers(session: Session, options: Options, out: PacedOutput) -> Sequence[Printer]:
    progress = options.verbose or sys.stderr.isatty()
    if options.streams_text:
        return [TextPrinter(out, sys.stderr, progress=progress, quiet=options.quiet)]
    narrator = Narrator(sys.stderr, progress=progress, quiet=options.quiet)
    if options.output_format != "stream-json":
        return [narrator]
    head = json.dumps(_head(session), ensure_ascii=False)
    return [JsonLinesPrinter(out, head), narrator]


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


def _suggest_models(session: Session) -> None:
    """Say which model may be meant, where the server has none of the name that was sent."""
    from ..connecting import within

    name = session.entry.name
    try:
        models = [model.id for model in within(_LISTING_S, session.models)]
    except HrnsError:
        models = []
    near = nearest(session.model, models, 3)
    if session.model not in models:
        guess = f"did you mean {' or '.join(near)}? " if near else ""
        tell(f"{guess}`hrns models --provider {name}` lists what there is")


def _status(outcome: Outcome, options: Options, signals: Signals) -> int:
    done = status.of_end(outcome.end, outcome.error, signals.number)
    if done == status.DONE and options.strict and outcome.denied:
        names = ", ".join(call.tool_name for call in outcome.denied)
        tell(f"tool calls were denied: {names} (--strict)")
        return status.NOT_PERMITTED
    return done
