"""The turn: a generator of chunks around a provider and tools.

One run: request -> deltas, shown as chunks -> assistant message -> its calls -> results -> again,
until a reply has no call. What holds at every moment:

- every call has exactly one result, in call order, whatever happened;
- `message_done` is yielded before any tool runs, so who consumes the chunks has written the
  message down by the time the loop is resumed: the loop itself never touches a disk;
- `end` comes exactly once and last, and `Loop.messages` is complete before it;
- after `cancel`, the run has ended within a second, whatever a tool does.

The calls of a reply are `hrns.calls`'s matter. Only `cancel` and `queue` may be called from other
threads and signal handlers.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal

from attrs import Attribute, evolve, field, frozen

from .calls import Calling, Calls
from .cancel import Cancel
from .chunks import (
    Chunk,
    DiscardChunk,
    EndChunk,
    ErrorChunk,
    MessageDoneChunk,
    NoticeChunk,
    QueuedChunk,
    RetryChunk,
    UsageChunk,
)
from .context import SessionContext
from .errors import (
    BrokenStream,
    Cancelled,
    HrnsError,
    ProviderError,
    UsageError,
    in_words,
)
from .messages import (
    AssistantMessage,
    Message,
    Origin,
    Usage,
    UserMessage,
)
from .misuse import callables_of, is_provider, messages_of, name_of, of_kind, shown
from .permissions import Ask, Policy
from .providers.base import ModelOptions, ModelRequest, Provider, ProviderNotice, ToolSpec
from .records import RequestEditor, ToolWrapper
from .reply import Fold
from .retry import RetryPolicy, delay_s
from .tools import Tool, named
from .transcript import call_ids, extend, repair, sound_reply

__all__ = ["Limits", "Loop"]


def _amount(_limits: Limits, field: Attribute[Any], value: Any) -> None:
    least = 1 if field.name == "parallel" else 0
    if value is None and field.default is None:
        return
    if not isinstance(value, int | float) or not value >= least:  # NaN is not
        raise UsageError(f"the limit {field.name} must be a number from {least} up, not {value!r}")


@frozen
class Limits:
    """When a run ends although the model would go on; None is no limit.

    Parameters:
        turns: requests to the model in one run.
        seconds: wall time of one run.
        tokens: tokens read and written in one run, as the provider counts them.
        repeats: calls in a row that brought nothing new (the same call with the same result as
            before): after so many the model is warned, after twice as many the run ends.
        parallel: tool calls that run side by side.
    """

    turns: int | None = field(default=None, validator=_amount)
    seconds: float | None = field(default=None, validator=_amount)
    tokens: int | None = field(default=None, validator=_amount)
    repeats: int = field(default=5, validator=_amount)
    parallel: int = field(default=8, validator=_amount)


class _Run:
    """What one run has gathered so far."""

    def __init__(self, messages: Sequence[Message], model: str, cancel: Cancel) -> None:
        self.transcript: list[Message] = list(messages)
        self._sent = list(repair(messages))
        self._ids = call_ids(self._sent)
        self._unsent: list[Message] = []
        self.model = model
        self.cancel = cancel
        self.turns = 0
        self.usage = Usage()
        self.calling = Calling(cancel)

    def append(self, message: Message) -> None:
        self.transcript.append(message)
        self._unsent.append(message)

    def conversation(self) -> tuple[Message, ...]:
        """All of it, as it can be sent."""
        extend(self._sent, self._unsent, self._ids)
        self._unsent.clear()
        return tuple(self._sent)


class Loop:
    """Drives a model through tools until it answers.

    Parameters:
        provider: who answers.
        tools: the tools on offer, by name or as an iterable of named ones.
        model: the model to ask, unless a run names another.
        options: what is asked of the model.
        policies: asked before each call; the strictest verdict counts.
        ask: puts a call to a person whose verdict is `ask`; None: there is no one, so denied.
        request_editors: change each request before it is sent, in order.
        tool_wrappers: run around each tool run; the first is the outermost.
        limits: when a run ends although the model would go on.
        retry: how often and how soon a failed request is made again.
        take_back: whether what was shown can be taken back (`discard`), so that a reply that broke
            in the middle is asked for again; False where it is printed as it comes.
        context: what tools are told about the session.
        redact: takes secrets out of everything that a tool gives. If it has a method `pieces`, as
            `hrns.redact.Redactor` has, that finds the secrets in output also where it is cut.

    Raises:
        UsageError: one of these is not what it should be.
    """

    def __init__(
        self,
        provider: Provider,
        tools: Mapping[str, Tool] | Iterable[Tool] = (),
        *,
        model: str = "",
        options: ModelOptions | None = None,
        policies: Sequence[Policy] = (),
        ask: Ask | None = None,
        request_editors: Sequence[RequestEditor] = (),
        tool_wrappers: Sequence[ToolWrapper] = (),
        limits: Limits | None = None,
        retry: RetryPolicy | None = None,
        take_back: bool = True,
        context: SessionContext | None = None,
        redact: Callable[[str], str] | None = None,
    ) -> None:
        if not is_provider(provider):
            raise UsageError(
                f"{shown(provider)} is no provider",
                hint="It needs api, endpoint and reply(); see hrns.providers.base.Provider.",
            )
        self.provider = provider
        self.tools = named(tools)
        self.model = of_kind(str, "model", model)
        self.options = of_kind(ModelOptions, "options", options or ModelOptions())
        self.limits = of_kind(Limits, "limits", limits or Limits())
        self.messages: tuple[Message, ...] = ()
        self._request_editors: list[RequestEditor] = [
            *callables_of("request_editors", request_editors)
        ]
        self._retry = of_kind(RetryPolicy, "retry", retry or RetryPolicy())
        self._take_back = take_back
        self._context = of_kind(SessionContext, "context", context or SessionContext())
        self._calls = Calls(
            self.tools,
            self._context,
            callables_of("policies", policies),
            next(iter(callables_of("ask", [ask] if ask else [])), None),
            callables_of("tool_wrappers", tool_wrappers),
            redact,
            self.limits.parallel,
            self.limits.repeats,
        )
        self._at_work = False
        self._specs: tuple[ToolSpec, ...] = tuple(tool.spec for tool in self.tools.values())
        self._queued: deque[tuple[str, str]] = deque()
        self._cancel = Cancel()

    def run(
        self, messages: Iterable[Message], model: str = "", *, cancel: Cancel | None = None
    ) -> Generator[Chunk, None, None]:
        """Run to the end of the model's work; yields chunks, the last of which is `end`.

        The messages given are not changed: `self.messages` holds the whole conversation by the
        time `end` is yielded. Weather is an `error` chunk and an `end`.

        Parameters:
            messages: the conversation so far; the last is what is to be answered.
            model: the model to ask, or "" for the loop's own.
            cancel: a flag of the caller's that ends the run as `self.cancel` does.

        Raises:
            UsageError: there is no message to answer, or an earlier run goes on still.
        """
        given = messages_of(messages)
        model = of_kind(str, "model", model) or self.model
        outer = of_kind(Cancel, "cancel", Cancel() if cancel is None else cancel)
        self._refuse_a_second_run()
        self._cancel = Cancel()
        return self._run(_Run(given, model, self._cancel), outer)

    def _refuse_a_second_run(self) -> None:
        if self._at_work:
            raise UsageError(
                "this loop is at work: it does one run at a time",
                hint="End or close() that run first, or make another Loop.",
            )

    def cancel(self, reason: str = "interrupted") -> None:
        """End the run that goes on now; callable from any thread or signal handler."""
        self._cancel.set(reason)

    def queue(self, text: str, when: Literal["now", "after"] = "now") -> None:
        """Add a user message to the run that goes on; callable from any thread.

        `now` is delivered behind the results of the calls that run at the moment, `after` when
        the model would be done.
        """
        self._queued.append((when, text))

    def unqueue(self) -> str | None:
        """Take the last message back that was queued and not delivered; None if there is none."""
        try:
            return self._queued.pop()[1]
        except IndexError:
            return None

    # The turns

    def _run(self, run: _Run, outer: Cancel) -> Generator[Chunk, None, None]:
        self._refuse_a_second_run()  # both may have been made before one of them began
        self._at_work = True
        self._cancel = self._context.cancel = run.cancel
        try:
            with (
                outer.waker(lambda: run.cancel.set(outer.reason)),
                _clock(self.limits.seconds, run.cancel),
            ):
                end = yield from self._turns(run)
        finally:
            run.cancel.set("the run is over")  # whoever still runs for it is told
            run.calling.workers.close()
            self.messages = tuple(run.transcript)
            self._at_work = False
        yield end

    def _turns(self, run: _Run) -> Generator[Chunk, None, EndChunk]:
        while True:
            if end := self._limit(run):
                return end
            run.turns += 1
            reply = yield from self._reply(run)
            if isinstance(reply, EndChunk):
                return reply
            message = sound_reply(reply)
            run.append(message)
            yield MessageDoneChunk(message)
            if reply.usage is not None:
                run.usage += reply.usage
                yield UsageChunk(reply.usage)
            if reply.calls:
                # The ids are those that are kept, the arguments those that were written.
                calls = [
                    evolve(raw, id=kept.id)
                    for raw, kept in zip(reply.calls, message.calls, strict=True)
                ]
                try:
                    yield from self._calls.answer(
                        run.calling, calls, cut_off=reply.stop == "length"
                    )
                finally:  # also when the run is closed: no call goes without its result
                    answers = run.calling.message(calls)
                    run.append(answers)
                yield MessageDoneChunk(answers)
            if run.cancel.is_set():
                return self._cancelled(run)
            delivered = yield from self._deliver(run, last=not reply.calls)
            if not reply.calls and not delivered:
                return (yield from _ending(message))

    def _limit(self, run: _Run) -> EndChunk | None:
        limits = self.limits
        if run.cancel.is_set():
            return self._cancelled(run)
        if limits.turns is not None and run.turns >= limits.turns:
            return EndChunk("limit", _reached(limits.turns, "turn"))
        if limits.tokens is not None and run.usage.input + run.usage.output >= limits.tokens:
            return EndChunk("limit", _reached(limits.tokens, "token"))
        if run.calling.stale >= 2 * limits.repeats:
            return EndChunk("limit", f"the last {run.calling.stale} tool calls brought nothing new")
        return None

    @staticmethod
    def _cancelled(run: _Run) -> EndChunk:
        reason = run.cancel.reason
        return EndChunk("limit" if reason.startswith("the limit") else "cancelled", reason)

    def _deliver(self, run: _Run, *, last: bool) -> Generator[Chunk, None, bool]:
        """Add what was queued to the conversation; returns whether anything was."""
        due = [item for item in self._queued if last or item[0] == "now"]
        for item in due:
            self._queued.remove(item)
            message = UserMessage(item[1])
            run.append(message)
            yield QueuedChunk(item[1])
            yield MessageDoneChunk(message)
        return bool(due)

    # The model

    def _reply(self, run: _Run) -> Generator[Chunk, None, AssistantMessage | EndChunk]:
        """The model's reply, shown as it comes; an end if there is none to be had."""
        request = yield from self._request(run)
        origin = Origin(self.provider.api, self.provider.endpoint, request.model)
        attempt = 0
        while True:
            attempt += 1
            fold = Fold(origin)
            try:
                yield from self._stream(request, fold, run.cancel)
                return fold.message()
            except Cancelled:
                return (yield from self._interrupted(run, fold))
            except ProviderError as error:
                fault = error
            except HrnsError as error:
                return (yield from _failed(error))
            except (Exception, SystemExit) as error:  # noqa: BLE001 - a guest, and it is named
                name = type(self.provider).__name__
                return (yield from _failed(_guest_error(f"the provider {name}", error)))
            wait = delay_s(self._retry, attempt, fault) if fault.retryable else None
            if fold.shown and not self._take_back:
                wait = None
            if wait is None:
                return (yield from _failed(fault))
            if fold.shown:
                yield DiscardChunk(fault.message)
            yield RetryChunk(attempt, wait, fault.message)
            if run.cancel.wait(wait):
                return self._cancelled(run)

    def _request(self, run: _Run) -> Generator[Chunk, None, ModelRequest]:
        request = ModelRequest(run.model, run.conversation(), self._specs, self.options)
        for edit in tuple(self._request_editors):
            try:
                edited = edit(request)
                if not isinstance(edited, ModelRequest):
                    raise TypeError(f"returned {shown(edited)} instead of a ModelRequest")
                request = edited
            except (Exception, SystemExit) as error:  # noqa: BLE001 - a guest; named and dropped
                self._request_editors.remove(edit)
                fault = _guest_error(f"the request editor {name_of(edit)}", error)
                yield NoticeChunk(f"{fault.message}; it is not used any more")
        return request

    def _stream(
        self, request: ModelRequest, fold: Fold, cancel: Cancel
    ) -> Generator[Chunk, None, None]:
        cancel.check()
        deltas = self.provider.reply(request, cancel)
        try:
            for delta in deltas:
                chunk = fold.add(delta)
                if chunk is not None:
                    yield chunk
                elif isinstance(delta, ProviderNotice):
                    yield NoticeChunk(delta.text)
                cancel.check()
        finally:
            if isinstance(deltas, Generator):
                deltas.close()
        if fold.stop is None:
            raise BrokenStream("the reply ended without a word that it is complete")

    def _interrupted(self, run: _Run, fold: Fold) -> Generator[Chunk, None, EndChunk]:
        """Keep what was shown, without its unfinished calls."""
        if message := fold.interrupted():
            kept = sound_reply(message)
            run.append(kept)
            yield MessageDoneChunk(kept)
        return self._cancelled(run)


def _reached(limit: float, unit: str) -> str:
    """That a limit of so many units is reached."""
    return f"the limit of {limit:.12g} {unit}{'' if limit == 1 else 's'} is reached"


@contextmanager
def _clock(seconds: float | None, cancel: Cancel) -> Iterator[None]:
    """Set `cancel` when the time is over."""
    if seconds is None:
        yield
        return
    reason = (_reached(seconds, "second"),)
    timer = threading.Timer(min(seconds, threading.TIMEOUT_MAX), cancel.set, reason)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _ending(message: AssistantMessage) -> Generator[Chunk, None, EndChunk]:
    """The end of a run whose last reply has no calls."""
    match message.stop:
        case "length":
            yield ErrorChunk("the reply was cut off at the most tokens it may have", "length")
            return EndChunk("error", "length")
        case "filter":
            yield ErrorChunk("the reply was stopped by the provider's content filter", "filter")
            return EndChunk("refused", "filter")
        case "refusal":
            return EndChunk("refused", "the model refused")
        case _:
            if not message.text.strip():
                yield NoticeChunk("the model gave no answer")
            return EndChunk("done")


def _failed(error: HrnsError) -> Generator[Chunk, None, EndChunk]:
    yield ErrorChunk(str(error), error.code, getattr(error, "status", 0))
    return EndChunk("error", error.code)


def _guest_error(who: str, error: BaseException) -> HrnsError:
    return HrnsError(f"{who} failed: {in_words(error)}")
