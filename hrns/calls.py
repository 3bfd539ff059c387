"""The calls of a reply: checked, prepared, judged, run, answered; chunks tell of each step.

Tools run on daemon threads and talk through one queue that the generator drains, so output is
shown while a tool runs and a stuck tool can be left behind. Whatever happens, every call has
exactly one result.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from functools import partial
from queue import Empty, SimpleQueue
from typing import Literal, TypeAlias

from attrs import evolve, frozen

from .cancel import Cancel
from .chunks import (
    Chunk,
    NoticeChunk,
    ToolCallErrorChunk,
    ToolCallResultChunk,
    ToolCallStartChunk,
    ToolOutputChunk,
)
from .context import AsItIs, Cleaner, SessionContext, ToolContext
from .errors import (
    ArgumentFault,
    Cancelled,
    HrnsError,
    in_words,
)
from .messages import (
    Diff,
    Display,
    Image,
    Terminal,
    Text,
    ToolCall,
    ToolMessage,
    ToolResult,
)
from .misuse import name_of, shown, wrong_field
from .nearest import nearest
from .permissions import Access, Answer, Ask, Policy, Prepared, Question, Verdict, judge
from .records import ToolWrapper
from .tools import Arguments, Tool, parse_arguments, to_result
from .transcript import INTERRUPTED, NEVER_RAN, unanswered
from .workers import Workers

__all__ = ["CANCEL_GRACE_S", "OUTPUT_AHEAD", "RESULT_LIMIT", "Calling", "Calls"]

CANCEL_GRACE_S = 0.6
"""Seconds that cancelled tools have to end by themselves before they are left behind."""

RESULT_LIMIT = 200_000
"""Characters of one result that the model gets; the middle of a longer one is left out."""

OUTPUT_AHEAD = 256
"""Pieces of output that tools may be ahead of who iterates the run; then they wait."""

_OUTPUT_POLL_S = 0.002
_POLL_S = 1.0  # Windows does not interrupt a wait for a queue


@frozen(eq=False)
class _Ready:
    """A call that may run."""

    call: ToolCall
    tool: Tool
    arguments: Arguments
    prepared: Prepared
    output: Cleaner


_Event: TypeAlias = tuple[Literal["output", "done", "wake"], ToolCall | None, object]


class Calling:
    """What is known of the calls of one run.

    Parameters:
        cancel: ends them.
    """

    def __init__(self, cancel: Cancel) -> None:
        self.cancel = cancel
        self.events: SimpleQueue[_Event] = SimpleQueue()
        self.workers = Workers()
        self.running: dict[str, _Ready] = {}
        self.results: dict[str, ToolResult] = {}
        self.stale = 0
        """How many calls in a row brought nothing new."""
        self._seen: set[int] = set()

    def message(self, calls: Sequence[ToolCall]) -> ToolMessage:
        """Exactly one result for each call, in their order."""
        return ToolMessage(
            self.results.get(call.id)
            or unanswered(call, INTERRUPTED if call.id in self.running else NEVER_RAN)
            for call in calls
        )

    def brought_something_new(self, call: ToolCall, result: ToolResult) -> bool:
        """Whether this call with this result is new; how many in a row are not is `stale`."""
        fingerprint = hash((call.name, call.arguments, result.content))
        new = fingerprint not in self._seen
        self._seen.add(fingerprint)
        self.stale = 0 if new else self.stale + 1
        return new


@frozen(eq=False)
class Calls:
    """Answers calls. Its fields are those of `hrns.loop.Loop` that matter here.

    Parameters:
        parallel: how many run side by side.
        repeats: after how many calls in a row that brought nothing new the model is warned.
    """

    tools: Mapping[str, Tool]
    context: SessionContext
    policies: Sequence[Policy]
    ask: Ask | None
    wrappers: Sequence[ToolWrapper]
    redact: Callable[[str], str] | None
    parallel: int
    repeats: int

    def answer(
        self, run: Calling, calls: Sequence[ToolCall], *, cut_off: bool
    ) -> Generator[Chunk, None, None]:
        """Run the calls; afterwards, or when it is closed, `run.message(calls)` has the results."""
        run.results = {}
        with run.cancel.waker(partial(run.events.put, ("wake", None, None))):
            for call in calls:
                yield from self._start(run, call, cut_off=cut_off)
            yield from self._drain(run, below=1)

    def _start(
        self, run: Calling, call: ToolCall, *, cut_off: bool
    ) -> Generator[Chunk, None, None]:
        """Start the call, or answer it; waits for those before it unless all may run together."""
        tool = self.tools.get(call.name)
        beside = tool is not None and tool.parallel_safe
        if not beside or not all(ready.tool.parallel_safe for ready in run.running.values()):
            yield from self._drain(run, below=1)
        yield from self._drain(run, below=self.parallel)
        if run.cancel.is_set():
            yield self._finish(run, call, unanswered(call, NEVER_RAN))
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
        self, run: Calling, call: ToolCall, tool: Tool, arguments: Arguments
    ) -> _Ready | ToolResult:
        """The call ready to run, or its result if the tool answers it without running."""
        if not tool.prepares:
            return _Ready(call, tool, arguments, Prepared(), self._cleaner())
        context = self._tool_context(run, call, tool)
        prepared = self._aside(run, call, partial(tool.prepare, arguments, context))
        if not isinstance(prepared, Prepared):
            return to_result(prepared)
        if name := wrong_field(prepared):
            wrong = TypeError(f"its {name} is {shown(getattr(prepared, name))}")
            return _tool_failed(f"{call.name}: what it prepared cannot be used", wrong)
        return _Ready(call, tool, arguments, prepared, self._cleaner())

    def _tool_context(self, run: Calling, call: ToolCall, tool: Tool) -> ToolContext:
        def output(text: str) -> None:
            while run.events.qsize() >= OUTPUT_AHEAD:
                if run.cancel.is_set():
                    return  # nobody may be there to take it
                time.sleep(_OUTPUT_POLL_S)
            run.events.put(("output", call, to_result(text).text))

        def judge_further(access: Access) -> Verdict:
            return judge(self.policies, call, tool, Prepared([access]))

        return ToolContext(call.id, self.context, run.cancel, output, judge_further, self._cleaner)

    def _aside(self, run: Calling, call: ToolCall, work: Callable[[], object]) -> object:
        """What `work` returns, from a thread that can be left behind."""
        bell: SimpleQueue[object] = SimpleQueue()
        guarded = partial(_guarded, call, work, bell.put, cancelled=NEVER_RAN)
        run.workers.start(f"hrns prepare {call.name}", guarded)
        with run.cancel.waker(lambda: bell.put(unanswered(call, NEVER_RAN))):
            return _get(bell)

    def _denied(self, run: Calling, ready: _Ready) -> ToolResult | None:
        """The result of a call that may not run, or None if it may."""
        verdict = judge(self.policies, ready.call, ready.tool, ready.prepared)
        if verdict.decision == "allow":
            return None
        if verdict.decision == "deny":
            return _denial(verdict.reason or f"denied by {verdict.source}")
        if self.ask is None:
            return _denial(f"{verdict.reason or 'it needs a yes'}, and there is no one to ask")
        answer = self._put(run, self.ask, ready, verdict)
        if run.cancel.is_set():
            return unanswered(ready.call, NEVER_RAN)
        if answer.kind in ("once", "session", "always"):
            return None
        return _denial(answer.reason or "the user said no")

    @staticmethod
    def _put(run: Calling, ask: Ask, ready: _Ready, verdict: Verdict) -> Answer:
        question = Question(ready.call, ready.tool, ready.prepared, verdict, run.cancel)
        try:
            answer = ask(question)
            if not isinstance(answer, Answer):
                raise TypeError(f"{shown(answer)} is no Answer")
            return answer
        except (Exception, SystemExit) as error:  # noqa: BLE001 - what fails is not answered yes
            return Answer("no", reason=f"the question failed: {in_words(error)}")

    def _execute(self, run: Calling, ready: _Ready) -> ToolResult:
        context = self._tool_context(run, ready.call, ready.tool)
        work: Callable[[], ToolResult] = partial(ready.tool.run, ready.arguments, context)
        for wrapper in reversed(self.wrappers):
            work = partial(_wrapped, wrapper, ready, work)
        return work()

    def _work(self, run: Calling, ready: _Ready) -> None:
        """Run the tool on a daemon thread; whatever it raises, its result comes as an event."""

        def done(result: object) -> None:
            run.events.put(("done", ready.call, result))

        work = partial(self._execute, run, ready)
        run.workers.start(f"hrns tool {ready.call.name}", partial(_guarded, ready.call, work, done))

    def _drain(self, run: Calling, *, below: int) -> Generator[Chunk, None, None]:
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
                if text := ready.output.feed(str(value)):
                    yield ToolOutputChunk(call.id, text)
            elif kind == "done":
                if text := ready.output.end():
                    yield ToolOutputChunk(call.id, text)
                del run.running[call.id]
                yield self._finish(run, call, to_result(value))

    def _leave_behind(self, run: Calling) -> Generator[Chunk, None, None]:
        for ready in tuple(run.running.values()):
            del run.running[ready.call.id]
            yield NoticeChunk(f"{ready.call.name} does not stop: it was left running")
            text = "ERROR: interrupted: the tool did not stop and was left running"
            yield self._finish(run, ready.call, unanswered(ready.call, text))

    def _finish(self, run: Calling, call: ToolCall, result: ToolResult) -> ToolCallResultChunk:
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
        if not run.brought_something_new(call, result) and run.stale >= self.repeats:
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
        return self.redact(text) if self.redact else text

    def _cleaner(self) -> Cleaner:
        if self.redact is None:
            return AsItIs()
        pieces: Callable[[], Cleaner] | None = getattr(self.redact, "pieces", None)
        return pieces() if pieces else _Apart(self.redact)

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


class _Apart(AsItIs):
    """Cleans each piece by itself."""

    def __init__(self, redact: Callable[[str], str]) -> None:
        self._redact = redact

    def feed(self, piece: str, /) -> str:
        """The piece without the secrets that are whole in it."""
        return self._redact(piece)


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


def _guarded(
    call: ToolCall,
    work: Callable[[], object],
    done: Callable[[object], object],
    *,
    cancelled: str = INTERRUPTED,
) -> Callable[[], object]:
    """What hands over what `work` gives; a guest's code, whatever it raises, ends no run."""
    try:
        return partial(done, work())
    except Cancelled:
        return partial(done, unanswered(call, cancelled))
    except BaseException as error:  # noqa: BLE001 - SystemExit in a tool is a tool's fault
        return partial(done, _tool_failed(call.name, error))


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
        return _tool_failed(f"{ready.call.name} (in the wrapper {name_of(wrapper)})", error)


def _bounded(text: str) -> str:
    """The text, the middle left out where it is longer than `RESULT_LIMIT`."""
    if len(text) <= RESULT_LIMIT:
        return text
    half = RESULT_LIMIT // 2
    left_out = len(text) - 2 * half
    return f"{text[:half]}\n[... {left_out} characters left out ...]\n{text[-half:]}"
