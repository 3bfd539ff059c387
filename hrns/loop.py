"""The turn: a generator of chunks around a provider and tools.

One run: request -> deltas, shown as chunks -> assistant message -> its calls -> results -> again,
until a reply has no call. What holds at every moment:

- every call has exactly one result, in call order, whatever happened;
- `message_done` is yielded before any tool runs, so who consumes the chunks has written the
  message down by the time the loop is resumed: the loop itself never touches a disk;
- `end` comes exactly once and last, and `Loop.messages` is complete before it;
- after `cancel`, the run has ended within a second, whatever a tool does.

Tools run on daemon threads and talk through one queue that the generator drains, so output is
shown while a tool runs and a stuck tool can be left behind. Only `cancel` and `queue` may be
called from other threads and signal handlers.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, Literal, TypeAlias

from attrs import Attribute, evolve, field, frozen

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
    ToolCallErrorChunk,
    ToolCallResultChunk,
    ToolCallStartChunk,
    ToolOutputChunk,
    UsageChunk,
)
from .context import SessionContext, ToolContext
from .errors import (
    ArgumentFault,
    BrokenStream,
    Cancelled,
    HrnsError,
    ProviderError,
    UsageError,
    in_words,
)
from .messages import (
    AssistantMessage,
    Diff,
    Display,
    Image,
    Message,
    Origin,
    Terminal,
    Text,
    ToolCall,
    ToolMessage,
    ToolResult,
    Usage,
    UserMessage,
)
from .misuse import callables_of, is_provider, messages_of, of_kind, shown, wrong_field
from .nearest import nearest
from .permissions import Answer, Ask, Policy, Prepared, Question, Verdict, judge
from .providers.base import ModelOptions, ModelRequest, Provider, ProviderNotice, ToolSpec
from .records import RequestEditor, ToolWrapper
from .reply import Fold
from .retry import RetryPolicy, delay_s
from .tools import Arguments, Tool, named, parse_arguments, to_result
from .transcript import extend, repair, sound_reply, unanswered

__all__ = ["Limits", "Loop"]

CANCEL_GRACE_S = 0.6
"""Seconds that cancelled tools have to end by themselves before they are left behind."""

RESULT_LIMIT = 200_000
"""Characters of one result that the model gets; the middle of a longer one is left out."""

OUTPUT_AHEAD = 256
"""Pieces of output that tools may be ahead of who iterates the run; then they wait."""

_OUTPUT_POLL_S = 0.002
_POLL_S = 1.0  # Windows does not interrupt a wait for a queue


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


@frozen(eq=False)
class _Ready:
    """A call that may run."""

    call: ToolCall
    tool: Tool
    arguments: Arguments
    prepared: Prepared


_Event: TypeAlias = tuple[Literal["output", "done", "wake"], ToolCall | None, object]


class _Run:
    """What one run has gathered so far."""

    def __init__(self, messages: Sequence[Message], model: str, cancel: Cancel) -> None:
        self.transcript: list[Message] = list(messages)
        self._sent = list(repair(messages))
        self._unsent: list[Message] = []
        self.model = model
        self.cancel = cancel
        self.turns = 0
        self.usage = Usage()
        self.events: SimpleQueue[_Event] = SimpleQueue()
        self.running: dict[str, _Ready] = {}
        self.results: dict[str, ToolResult] = {}
        self.seen: set[int] = set()
        self.stale = 0

    def append(self, message: Message) -> None:
        self.transcript.append(message)
        self._unsent.append(message)

    def conversation(self) -> tuple[Message, ...]:
        """All of it, as it can be sent."""
        extend(self._sent, self._unsent)
        self._unsent.clear()
        return tuple(self._sent)

    def is_running(self, call: ToolCall) -> bool:
        """Whether this very call runs: its id may have come before, from a thread that lives."""
        ready = self.running.get(call.id)
        return ready is not None and ready.call is call

    def brought_something_new(self, call: ToolCall, result: ToolResult) -> bool:
        fingerprint = hash((call.name, call.arguments, result.content))
        new = fingerprint not in self.seen
        self.seen.add(fingerprint)
        self.stale = 0 if new else self.stale + 1
        return new


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
        redact: takes secrets out of everything that a tool gives.

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
        self._policies: tuple[Policy, ...] = callables_of("policies", policies)
        self._ask: Ask | None = next(iter(callables_of("ask", [ask] if ask else [])), None)
        self._request_editors: list[RequestEditor] = [
            *callables_of("request_editors", request_editors)
        ]
        self._tool_wrappers: tuple[ToolWrapper, ...] = callables_of("tool_wrappers", tool_wrappers)
        self._retry = of_kind(RetryPolicy, "retry", retry or RetryPolicy())
        self._take_back = take_back
        self._context = of_kind(SessionContext, "context", context or SessionContext())
        self._redact = redact
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
                yield from self._answer(run, calls, cut_off=reply.stop == "length")
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
            return EndChunk("limit", f"the limit of {limits.turns} turns is reached")
        if limits.tokens is not None and run.usage.input + run.usage.output >= limits.tokens:
            return EndChunk("limit", f"the limit of {limits.tokens} tokens is reached")
        if run.stale >= 2 * limits.repeats:
            return EndChunk("limit", f"the last {run.stale} tool calls brought nothing new")
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
                fault = _guest_error(f"the request editor {_name(edit)}", error)
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

    # The tools

    def _answer(
        self, run: _Run, calls: Sequence[ToolCall], *, cut_off: bool
    ) -> Generator[Chunk, None, None]:
        """Run the calls; appends exactly one result each, in call order, whatever happens."""
        run.results = {}
        try:
            with run.cancel.waker(partial(run.events.put, ("wake", None, None))):
                for call in calls:
                    yield from self._start(run, call, cut_off=cut_off)
                yield from self._drain(run, below=1)
        finally:
            results = (run.results.get(call.id) or unanswered(call) for call in calls)
            message = ToolMessage(results)
            run.append(message)
        yield MessageDoneChunk(message)

    def _start(self, run: _Run, call: ToolCall, *, cut_off: bool) -> Generator[Chunk, None, None]:
        """Start the call, or answer it; waits for those before it unless all may run together."""
        tool = self.tools.get(call.name)
        beside = tool is not None and tool.parallel_safe
        if not beside or not all(ready.tool.parallel_safe for ready in run.running.values()):
            yield from self._drain(run, below=1)
        yield from self._drain(run, below=self.limits.parallel)
        if run.cancel.is_set():
            yield self._finish(run, call, unanswered(call))
            return
        checked = self._checked(call, tool, cut_off=cut_off)
        if isinstance(checked, ToolResult):
            done = self._finish(run, call, checked)
            yield ToolCallErrorChunk(call.id, call.name, call.arguments, done.text, done.result)
            return
        ready = self._prepared(run, call, *checked)
        title = self._clean(ready.prepared.title) if isinstance(ready, _Ready) else ""
        yield ToolCallStartChunk(call.id, call.name, call.arguments, title)
        answered = ready if isinstance(ready, ToolResult) else self._denied(run, ready)
        if answered is not None:
            yield self._finish(run, call, answered)
        elif isinstance(ready, _Ready):
            run.running[call.id] = ready
            self._work(run, ready)

    def _checked(
        self, call: ToolCall, tool: Tool | None, *, cut_off: bool
    ) -> tuple[Tool, Arguments] | ToolResult:
        """The tool and its arguments, or the result that says why the call cannot be run."""
        if tool is None:
            return _no_such_tool(call.name, self.tools)
        try:
            if cut_off and not call.arguments.strip():
                raise ArgumentFault("there are none")
            return tool, tool.structure(parse_arguments(call.arguments))
        except ArgumentFault as fault:
            why = "the arguments were cut off at the end of the reply: " if cut_off else ""
            return ToolResult(f"ERROR: {why}{fault}", status="error")
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a guest, and it is named
            return _tool_failed(call.name, error)

    def _prepared(
        self, run: _Run, call: ToolCall, tool: Tool, arguments: Arguments
    ) -> _Ready | ToolResult:
        """The call ready to run, or its result if the tool answers it without running."""
        if not tool.prepares:
            return _Ready(call, tool, arguments, Prepared())
        context = self._tool_context(run, call)
        prepared = self._aside(run, call, partial(tool.prepare, arguments, context))
        if not isinstance(prepared, Prepared):
            return to_result(prepared)
        if name := wrong_field(prepared):
            wrong = TypeError(f"its {name} is {shown(getattr(prepared, name))}")
            return _tool_failed(f"{call.name}: what it prepared cannot be used", wrong)
        return _Ready(call, tool, arguments, prepared)

    def _tool_context(self, run: _Run, call: ToolCall) -> ToolContext:
        def output(text: str) -> None:
            while run.events.qsize() >= OUTPUT_AHEAD:
                if run.cancel.is_set():
                    return  # nobody may be there to take it
                time.sleep(_OUTPUT_POLL_S)
            run.events.put(("output", call, to_result(text).text))

        return ToolContext(call.id, self._context, run.cancel, output)

    def _aside(self, run: _Run, call: ToolCall, work: Callable[[], object]) -> object:
        """What `work` returns, from a thread that can be left behind."""
        bell: SimpleQueue[object] = SimpleQueue()

        def target() -> None:
            try:
                bell.put(work())
            except BaseException as error:  # noqa: BLE001 - a guest's code must not end the run
                bell.put(_tool_failed(call.name, error))

        threading.Thread(target=target, name=f"hrns prepare {call.name}", daemon=True).start()
        with run.cancel.waker(lambda: bell.put(unanswered(call))):
            return _get(bell)

    def _denied(self, run: _Run, ready: _Ready) -> ToolResult | None:
        """The result of a call that may not run, or None if it may."""
        verdict = judge(self._policies, ready.call, ready.tool, ready.prepared)
        if verdict.decision == "allow":
            return None
        if verdict.decision == "deny":
            return _denial(verdict.reason or f"denied by {verdict.source}")
        if self._ask is None:
            return _denial(f"{verdict.reason or 'it needs a yes'}, and there is no one to ask")
        answer = self._put(run, self._ask, ready, verdict)
        if run.cancel.is_set():
            return unanswered(ready.call)
        if answer.kind in ("once", "session", "always"):
            return None
        return _denial(answer.reason or "the user said no")

    @staticmethod
    def _put(run: _Run, ask: Ask, ready: _Ready, verdict: Verdict) -> Answer:
        question = Question(ready.call, ready.tool, ready.prepared, verdict, run.cancel)
        try:
            answer = ask(question)
            if not isinstance(answer, Answer):
                raise TypeError(f"{shown(answer)} is no Answer")
            return answer
        except (Exception, SystemExit) as error:  # noqa: BLE001 - what fails is not answered yes
            return Answer("no", reason=f"the question failed: {in_words(error)}")

    def _execute(self, run: _Run, ready: _Ready) -> ToolResult:
        context = self._tool_context(run, ready.call)
        work: Callable[[], ToolResult] = partial(ready.tool.run, ready.arguments, context)
        for wrapper in reversed(self._tool_wrappers):
            work = partial(_wrapped, wrapper, ready, work)
        return work()

    def _work(self, run: _Run, ready: _Ready) -> None:
        """Run the tool on a daemon thread; whatever it raises, its result comes as an event."""
        call = ready.call

        def target() -> None:
            try:
                result = self._execute(run, ready)
            except Cancelled:
                result = unanswered(call)
            except BaseException as error:  # noqa: BLE001 - SystemExit in a tool is a tool's fault
                result = _tool_failed(call.name, error)
            run.events.put(("done", call, result))

        threading.Thread(target=target, name=f"hrns tool {call.name}", daemon=True).start()

    def _drain(self, run: _Run, *, below: int) -> Generator[Chunk, None, None]:
        """Show what the running tools give until fewer than `below` of them run."""
        deadline: float | None = None
        while len(run.running) >= max(1, below):
            if deadline is None and run.cancel.is_set():
                deadline = time.monotonic() + CANCEL_GRACE_S
            event = _event(run.events, deadline)
            if event is None:
                yield from self._leave_behind(run)
                return
            kind, call, value = event
            # By identity: a thread that outlives its call may still talk when its id comes again.
            if (
                call is None
                or (ready := run.running.get(call.id)) is None
                or ready.call is not call
            ):
                continue
            if kind == "output":
                yield ToolOutputChunk(call.id, self._clean(str(value)))
            elif kind == "done":
                del run.running[call.id]
                yield self._finish(run, call, to_result(value))

    def _leave_behind(self, run: _Run) -> Generator[Chunk, None, None]:
        for ready in tuple(run.running.values()):
            del run.running[ready.call.id]
            yield NoticeChunk(f"{ready.call.name} does not stop: it was left running")
            text = "ERROR: interrupted: the tool did not stop and was left running"
            yield self._finish(run, ready.call, unanswered(ready.call, text))

    def _finish(self, run: _Run, call: ToolCall, result: ToolResult) -> ToolCallResultChunk:
        """The result as it is kept: named, cleaned of secrets, of a bounded size."""
        content = tuple(self._clean_part(part) for part in result.content)
        structured = result.structured and self._clean(result.structured)
        result = evolve(
            result,
            call_id=call.id,
            name=call.name,
            content=content,
            structured=structured,
            display=self._clean_display(result.display),
        )
        if not run.brought_something_new(call, result) and run.stale >= self.limits.repeats:
            warning = Text(
                f"NOTICE: the last {run.stale} calls were made before with the same results. "
                "Do something else, or say what stands in the way."
            )
            result = evolve(result, content=(*content, warning))
        run.results[call.id] = result
        return ToolCallResultChunk(
            call.id, call.name, call.arguments, result.text, result.status, result
        )

    def _clean(self, text: str) -> str:
        return self._redact(text) if self._redact else text

    def _clean_display(self, display: Display | None) -> Display | None:
        match display:
            case Terminal(command, output):
                return evolve(display, command=self._clean(command), output=self._clean(output))
            case Diff(_, old, new):
                return evolve(display, old=old and self._clean(old), new=new and self._clean(new))
            case None:
                return None

    def _clean_part(self, part: Text | Image) -> Text | Image:
        if not isinstance(part, Text):
            return part
        return Text(_bounded(self._clean(part.text)))


def _event(events: SimpleQueue[_Event], deadline: float | None) -> _Event | None:
    """The next event, or None at the deadline (in seconds of the monotonic clock)."""
    if deadline is not None and time.monotonic() > deadline:
        return None  # also where there are more: a tool may never stop to talk
    if deadline is None:
        try:
            return events.get(timeout=_POLL_S if sys.platform == "win32" else None)
        except Empty:
            return ("wake", None, None)
    try:
        return events.get(timeout=max(0.0, deadline - time.monotonic()))
    except Empty:
        return None


def _get(bell: SimpleQueue[object]) -> object:
    """The first thing put into the queue."""
    while True:
        try:
            return bell.get(timeout=_POLL_S)
        except Empty:
            continue


@contextmanager
def _clock(seconds: float | None, cancel: Cancel) -> Iterator[None]:
    """Set `cancel` when the time is over."""
    if seconds is None:
        yield
        return
    unit = "second" if seconds == 1 else "seconds"
    reason = f"the limit of {seconds:g} {unit} is reached"
    timer = threading.Timer(min(seconds, threading.TIMEOUT_MAX), cancel.set, (reason,))
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


def _tool_failed(name: str, error: BaseException) -> ToolResult:
    """The result of a tool that raised: what a `HrnsError` says, else also its type."""
    what = str(error) if isinstance(error, HrnsError) else in_words(error)
    return ToolResult(f"ERROR: {name}: {what}", status="error")


def _denial(reason: str) -> ToolResult:
    return ToolResult(f"ERROR: this call was denied: {reason}", status="denied")


def _no_such_tool(name: str, tools: Mapping[str, Tool]) -> ToolResult:
    near = nearest(name, tools, most=3)
    guess = f" Did you mean {' or '.join(near)}?" if near else ""
    offer = f" The tools are: {', '.join(tools)}." if tools else " There are no tools."
    return ToolResult(f"ERROR: the tool {name!r} was not found.{guess}{offer}", status="error")


def _wrapped(wrapper: ToolWrapper, ready: _Ready, run: Callable[[], ToolResult]) -> ToolResult:
    try:
        return to_result(wrapper(ready.call, ready.tool, run))
    except Cancelled:
        raise
    except Exception as error:  # noqa: BLE001 - a guest's code, and it is named
        return _tool_failed(f"{ready.call.name} (in the wrapper {_name(wrapper)})", error)


def _name(function: object) -> str:
    return str(getattr(function, "__qualname__", None) or repr(function))


def _bounded(text: str) -> str:
    """The text, the middle left out where it is longer than `RESULT_LIMIT`."""
    if len(text) <= RESULT_LIMIT:
        return text
    half = RESULT_LIMIT // 2
    left_out = len(text) - 2 * half
    return f"{text[:half]}\n[... {left_out} characters left out ...]\n{text[-half:]}"
