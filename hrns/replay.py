"""A session's runs again, from its file alone: no model, no network, no tool touches anything.

The journal becomes a provider, which says what the model said, and tools, which return what the
tools returned; the ordinary loop runs between them. The chunks are those of the session, with
neighbouring pieces of text joined. What was never written down does not come again: output of
running tools, notices, retries.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence

from attrs import Factory, define, field

from . import errors
from .cancel import Cancel
from .chunks import Chunk, ToolCallErrorChunk, ToolCallResultChunk
from .errors import ArgumentFault, ProviderError
from .journal import Entry, Record, read_message_of, read_result_of
from .loop import Limits, Loop
from .messages import (
    AssistantMessage,
    Message,
    Opaque,
    Reasoning,
    Text,
    ToolCall,
    ToolMessage,
    ToolResult,
    UserMessage,
)
from .permissions import Prepared
from .providers.base import (
    Delta,
    Finish,
    ModelInfo,
    ModelRequest,
    PartNative,
    PartStart,
    PartText,
)
from .retry import RetryPolicy
from .tools import Arguments, Tool, ToolContext, parse_arguments

__all__ = ["replay"]

_NO_LIMITS = Limits(repeats=1 << 60, parallel=1 << 20)


@define
class _Call:
    """What is known of one call."""

    name: str
    arguments: str
    title: str = ""
    result: ToolResult | None = None
    failed: bool = False
    before: str = ""  # the call whose result came before this one's
    done: threading.Event = Factory(threading.Event)


@define
class _Run:
    """The entries of one run, from what the user said to its end."""

    asked: UserMessage
    replies: list[AssistantMessage] = Factory(list)
    queued: dict[int, list[str]] = Factory(dict)  # behind which reply
    calls: dict[str, _Call] = Factory(dict)
    beside: set[str] = Factory(set)  # the tools that ran side by side with others
    failure: ProviderError | None = None
    end: str = field(default="interrupted")  # its text: why it ended, where it was cut short


def replay(record: Record, leaf: str = "") -> Iterator[Chunk]:
    """The chunks of every run on the branch that ends in `leaf`, by default the last of the file.

    Raises:
        SessionError: there is no such entry.
    """
    runs = list(_runs(record.branch(leaf)))
    messages: tuple[Message, ...] = ()
    for run in runs:
        provider = _Provider(run)
        tools = [_tool(name, run) for name in sorted({call.name for call in run.calls.values()})]
        loop = Loop(provider, tools, limits=_NO_LIMITS, retry=RetryPolicy(retries=0))
        provider.queue = loop.queue
        for chunk in loop.run((*messages, run.asked), provider.model):
            yield chunk
            if isinstance(chunk, ToolCallResultChunk | ToolCallErrorChunk):
                run.calls[chunk.call_id].done.set()
        messages = loop.messages


def _runs(branch: Sequence[Entry]) -> Iterator[_Run]:
    """The runs of a branch; the last may have been cut short."""
    reader: _Reader | None = None
    for entry in branch:
        message = read_message_of(entry) if entry.type == "message" else None
        if reader is not None:
            reader.read(entry, message)
            if entry.type == "end":
                yield reader.run
                reader = None
        elif isinstance(message, UserMessage):
            reader = _Reader(_Run(message))
    if reader is not None:
        yield reader.run


class _Reader:
    """Gathers one run from its entries."""

    def __init__(self, run: _Run) -> None:
        self.run = run
        self._running: list[str] = []
        self._finished = ""

    def read(self, entry: Entry, message: Message | None) -> None:
        match entry.type:
            case "message":
                self._message(message)
            case "started":
                self._started(entry)
            case "result":
                self._result(entry)
            case "error":
                self.run.failure = _failure(entry)
            case "end":
                self.run.end = str(entry.data.get("text") or "interrupted")

    def _message(self, message: Message | None) -> None:
        run = self.run
        match message:
            case UserMessage():
                run.queued.setdefault(len(run.replies) - 1, []).append(message.text)
            case AssistantMessage(calls=calls):
                run.replies.append(message)
                run.calls.update({call.id: _Call(call.name, call.arguments) for call in calls})
            case ToolMessage(results):
                for result in results:
                    if call := run.calls.get(result.call_id):
                        call.result = call.result or result

    def _started(self, entry: Entry) -> None:
        call_id = str(entry.data.get("call_id", ""))
        call = self.run.calls.get(call_id)
        if call is None:
            return
        call.title = str(entry.data.get("title", ""))
        call.arguments = str(entry.data.get("arguments", call.arguments))
        if self._running:
            others = {self.run.calls[other].name for other in self._running}
            self.run.beside |= {call.name, *others}
        self._running.append(call_id)

    def _result(self, entry: Entry) -> None:
        result = read_result_of(entry)
        call = self.run.calls.get(result.call_id) if result else None
        if result is None or call is None:
            return
        call.result, call.before = result, self._finished
        call.arguments = str(entry.data.get("arguments", call.arguments))
        call.failed = bool(entry.data.get("error"))
        if result.call_id in self._running:
            self._running.remove(result.call_id)
        self._finished = result.call_id


def _failure(entry: Entry) -> ProviderError:
    reason = str(entry.data.get("reason", "error"))
    kinds = [kind for kind in vars(errors).values() if _is_provider_error(kind, reason)]
    status = entry.data.get("http_status")
    failure: ProviderError = (kinds or [ProviderError])[0](
        str(entry.data.get("text", "")), status=status if isinstance(status, int) else 0
    )
    failure.__dict__["code"] = reason
    return failure


def _is_provider_error(kind: object, code: str) -> bool:
    return isinstance(kind, type) and issubclass(kind, ProviderError) and kind.code == code


def _say_nothing(_text: str) -> None:
    """Nothing is queued before the loop is there."""


class _Provider:
    """Says what the model said in one run."""

    def __init__(self, run: _Run) -> None:
        self._run = run
        self._next = 0
        self.queue: Callable[[str], None] = _say_nothing

    @property
    def _origin(self) -> tuple[str, str, str]:
        replies = self._run.replies
        reply = replies[min(self._next, len(replies) - 1)] if replies else None
        origin = reply.origin if reply else None
        return (origin.api, origin.endpoint, origin.model) if origin else ("replay", "replay", "")

    @property
    def api(self) -> str:
        return self._origin[0]

    @property
    def endpoint(self) -> str:
        return self._origin[1]

    @property
    def model(self) -> str:
        return self._origin[2]

    def models(self) -> list[ModelInfo]:
        return []

    def reply(self, _request: ModelRequest, cancel: Cancel) -> Iterator[Delta]:
        run, number = self._run, self._next
        self._next += 1
        if number < len(run.replies):
            message = run.replies[number]
            for text in run.queued.get(number, ()):
                self.queue(text)
            yield from _deltas(message, run)
            if message.stop != "interrupted":
                yield Finish(message.stop)
                return
        elif run.failure is not None:
            raise run.failure
        cancel.set(run.end)
        cancel.check()


def _deltas(message: AssistantMessage, run: _Run) -> Iterator[Delta]:
    for index, part in enumerate(message.parts):
        match part:
            case Text(text):
                yield PartStart(index, "text")
                yield PartText(index, text)
            case Reasoning(text, native):
                yield PartStart(index, "reasoning")
                if text:
                    yield PartText(index, text)
                yield from _native(index, native)
            case ToolCall(call_id, name, _, native):
                yield PartStart(index, "tool_call", call_id, name)
                yield PartText(index, run.calls[call_id].arguments)
                yield from _native(index, native)
            case Opaque(native):
                yield PartStart(index, "opaque")
                yield PartNative(index, native)
            case _:
                pass
    if message.usage is not None:
        yield message.usage


def _native(index: int, native: str | None) -> Iterable[PartNative]:
    return () if native is None else (PartNative(index, native),)


def _tool(name: str, run: _Run) -> Tool:
    """A tool that returns what the tool of that name returned, and in the order in which it did."""
    faults = deque(
        call.result.text if call.failed and call.result else None
        for call in run.calls.values()
        if call.name == name and _parses(call.arguments)
    )

    def structure(arguments: Arguments) -> Arguments:
        if (fault := faults.popleft()) is not None:
            raise ArgumentFault(fault.removeprefix("ERROR: "))
        return arguments

    def prepare(_arguments: Arguments, context: ToolContext) -> Prepared:
        return Prepared(title=run.calls[context.call_id].title)

    def answer(_arguments: Arguments, context: ToolContext) -> ToolResult:
        call = run.calls[context.call_id]
        if call.before and call.name in run.beside:
            run.calls[call.before].done.wait()
        if call.result is None:
            context.cancel.set(run.end)
            context.cancel.check()
        return call.result or ToolResult("")

    return Tool(
        name,
        "",
        {"type": "object"},
        answer,
        effects=(),
        parallel_safe=name in run.beside,
        preparer=prepare,
        structure=structure,
    )


def _parses(arguments: str) -> bool:
    try:
        parse_arguments(arguments)
    except ArgumentFault:
        return False
    return True
