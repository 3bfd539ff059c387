"""What a run came to, as one JSON object: `--output-format json`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import Factory, define

from ..chunks import (
    Chunk,
    EndChunk,
    ErrorChunk,
    MessageChunk,
    MessageDoneChunk,
    ReasoningChunk,
    ToolCallErrorChunk,
    ToolCallResultChunk,
    UsageChunk,
)
from ..messages import AssistantMessage, Usage

if TYPE_CHECKING:
    from ..session import Session

__all__ = ["Outcome", "result_json", "result_schema"]


@define
class Outcome:
    """What the chunks of a run say, gathered as they come.

    Parameters:
        text: the text of the last message.
        turns: how many messages the model wrote.
        usage: the tokens of all requests.
        calls: the tool calls that were answered, each as its last chunk.
        error: what failed, or None.
        end: the last chunk; until it comes, the run counts as failed.
    """

    text: str = ""
    turns: int = 0
    usage: Usage = Factory(Usage)
    calls: list[ToolCallResultChunk | ToolCallErrorChunk] = Factory(list)
    error: ErrorChunk | None = None
    end: EndChunk = Factory(lambda: EndChunk("error"))

    def add(self, chunk: Chunk) -> None:
        """Take in the next chunk."""
        match chunk:
            case MessageChunk() | ReasoningChunk():
                pass  # most are, so they come first
            case MessageDoneChunk(AssistantMessage() as message):
                self.text = message.text
                self.turns += 1
            case UsageChunk(usage):
                self.usage += usage
            case ToolCallResultChunk() | ToolCallErrorChunk():
                self.calls.append(chunk)
            case ErrorChunk():
                self.error = chunk
            case EndChunk():
                self.end = chunk
            case _:
                pass

    @property
    def denied(self) -> list[ToolCallResultChunk | ToolCallErrorChunk]:
        """The calls that were not allowed to run."""
        return [call for call in self.calls if call.result.status == "denied"]


def result_json(session: Session, outcome: Outcome, duration_s: float, value: object) -> str:
    """The object of `--output-format json`, as one line; `result_schema` describes it.

    Parameters:
        duration_s: seconds that the run took.
        value: the answer as JSON, where a schema was given for it; else None.
    """
    from ..serial import dumps

    error = outcome.error
    return dumps(
        {
            "version": 1,
            "result": outcome.text,
            "value": value,
            "session": session.id,
            "provider": session.entry.name,
            "model": session.model,
            "agent": session.agent.name,
            "usage": outcome.usage,
            "turns": outcome.turns,
            "duration_s": round(duration_s, 3),
            "end": {"reason": outcome.end.reason, "text": outcome.end.text},
            "error": error
            and {"reason": error.reason, "text": error.text, "http_status": error.http_status},
            "tool_calls": [_call(call) for call in outcome.calls],
            "denied_calls": [{**_call(call), "reason": call.text} for call in outcome.denied],
        }
    )


def _call(call: ToolCallResultChunk | ToolCallErrorChunk) -> dict[str, Any]:
    return {
        "call_id": call.call_id,
        "name": call.tool_name,
        "arguments": call.tool_args,
        "status": call.result.status,
    }


def result_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of the object of `--output-format json`."""
    from ..schemas import shipped_schema

    return shipped_schema("result")
