"""What a run emits: chunks, one class and one `type` string each.

The first seven types are for ever. More types may come: a consumer ignores what it does not know,
and the reader (`hrns.serial`) keeps it as `Unknown`. A run's last chunk is `End`, exactly once.

::

    for chunk in loop.run(messages):
        match chunk:
            case MessageChunk(text):
                print(text, end="", flush=True)
            case ErrorChunk(text):
                print(text, file=sys.stderr)
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, TypeAlias

from attrs import frozen

from .messages import AssistantMessage, Status, ToolMessage, ToolResult, Usage, UserMessage

__all__ = [
    "Chunk",
    "DiscardChunk",
    "EndChunk",
    "EndReason",
    "ErrorChunk",
    "MessageChunk",
    "MessageDoneChunk",
    "NoticeChunk",
    "QueuedChunk",
    "ReasoningChunk",
    "RetryChunk",
    "SubagentChunk",
    "ToolCallErrorChunk",
    "ToolCallResultChunk",
    "ToolCallStartChunk",
    "ToolOutputChunk",
    "Unknown",
    "UsageChunk",
    "is_tool_chunk",
]

EndReason: TypeAlias = Literal["done", "error", "cancelled", "limit", "refused"]


@frozen
class MessageChunk:
    """A piece of the visible reply."""

    text: str
    type: ClassVar[Literal["message"]] = "message"


@frozen
class ReasoningChunk:
    """A piece of what the model thinks."""

    text: str
    type: ClassVar[Literal["reasoning"]] = "reasoning"


@frozen
class ErrorChunk:
    """Something failed; `end` follows.

    Parameters:
        text: what is wrong and what to try.
        reason: the `code` of the error (`hrns.errors`): `unreachable`, `rate_limited` ...
        http_status: the status that the server answered with, or 0.
    """

    text: str
    reason: str = "error"
    http_status: int = 0
    type: ClassVar[Literal["error"]] = "error"


@frozen
class ToolCallStartChunk:
    """A tool is about to run (or to be denied). `title` says for people what it will do."""

    call_id: str
    tool_name: str
    tool_args: str
    title: str = ""
    type: ClassVar[Literal["tool_call_start"]] = "tool_call_start"


@frozen
class ToolCallErrorChunk:
    """A call that cannot be run: no such tool, arguments that are not JSON or do not fit."""

    call_id: str
    tool_name: str
    tool_args: str
    text: str
    result: ToolResult
    type: ClassVar[Literal["tool_call_error"]] = "tool_call_error"


@frozen
class ToolCallResultChunk:
    """A call was answered; `text` is what the model gets, `status` how it went."""

    call_id: str
    tool_name: str
    tool_args: str
    text: str
    status: Status
    result: ToolResult
    type: ClassVar[Literal["tool_call_result"]] = "tool_call_result"


@frozen
class ToolOutputChunk:
    """A piece of output of a tool that is still running."""

    call_id: str
    text: str
    type: ClassVar[Literal["tool_output"]] = "tool_output"


@frozen
class MessageDoneChunk:
    """A message is complete and part of the transcript: to be written down before going on."""

    message: AssistantMessage | ToolMessage | UserMessage
    type: ClassVar[Literal["message_done"]] = "message_done"


@frozen
class RetryChunk:
    """The request failed with nothing shown, and is made again after `delay_s` seconds."""

    attempt: int
    delay_s: float
    text: str
    type: ClassVar[Literal["retry"]] = "retry"


@frozen
class DiscardChunk:
    """What was shown of the current reply is void."""

    text: str
    type: ClassVar[Literal["discard"]] = "discard"


@frozen
class UsageChunk:
    """The tokens of the request that just ended."""

    usage: Usage
    type: ClassVar[Literal["usage"]] = "usage"


@frozen
class NoticeChunk:
    """Something that a person should know and that is no error."""

    text: str
    type: ClassVar[Literal["notice"]] = "notice"


@frozen
class QueuedChunk:
    """A message that was queued while the run went on is now part of the conversation."""

    text: str
    type: ClassVar[Literal["queued"]] = "queued"


@frozen
class SubagentChunk:
    """A chunk of a run inside the tool call `call_id`."""

    call_id: str
    chunk: Chunk
    type: ClassVar[Literal["subagent"]] = "subagent"


@frozen
class EndChunk:
    """The run is over. `text` says more where the reason alone does not (which limit)."""

    reason: EndReason = "done"
    text: str = ""
    type: ClassVar[Literal["end"]] = "end"


@frozen(hash=False)
class Unknown:
    """A chunk of a type that this version does not know, as it was read."""

    type: str
    data: dict[str, Any]


Chunk: TypeAlias = (
    MessageChunk
    | ReasoningChunk
    | ErrorChunk
    | ToolCallStartChunk
    | ToolCallErrorChunk
    | ToolCallResultChunk
    | ToolOutputChunk
    | MessageDoneChunk
    | RetryChunk
    | DiscardChunk
    | UsageChunk
    | NoticeChunk
    | QueuedChunk
    | SubagentChunk
    | EndChunk
    | Unknown
)


def is_tool_chunk(chunk: Chunk) -> bool:
    """Whether the chunk tells of a tool call: start, error or result."""
    return chunk.type in ("tool_call_start", "tool_call_error", "tool_call_result")
