"""The demo as a provider: its turns, streamed in small pieces."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import count

from ...cancel import Cancel
from ...messages import (
    AssistantMessage,
    Message,
    SystemMessage,
    Text,
    ToolCall,
    ToolMessage,
    Usage,
    UserMessage,
)
from ..base import Delta, Finish, ModelInfo, ModelRequest, PartStart, PartText
from .conversation import Turn, next_turn

__all__ = ["DemoProvider"]

_MOST_PIECES = 200
_CHARACTERS_A_TOKEN = 4


class DemoProvider:
    """Answers five forms of request with real tool calls, and anything else with what they are.

    Parameters:
        pause_s: seconds between two pieces of a reply, so that streaming is seen.
    """

    api = "demo"
    endpoint = "demo"

    def __init__(self, *, pause_s: float = 0.004) -> None:
        self._pause_s = pause_s

    def reply(self, request: ModelRequest, cancel: Cancel) -> Iterator[Delta]:
        """The next turn, in pieces: reasoning first, then calls or the answer.

        Raises:
            Cancelled: `cancel` was set.
        """
        offered = [tool.name for tool in request.tools]
        if request.options.tool_choice == "none":
            offered = []
        turn = next_turn(request.messages, offered)
        for delta in _deltas(turn, _new_ids(request.messages)):
            if isinstance(delta, PartText) and self._pause_s:
                cancel.wait(self._pause_s)
            cancel.check()
            yield delta
        yield _usage(request, turn)
        yield Finish("tool_calls" if turn.calls else "done")

    def models(self) -> Sequence[ModelInfo]:
        """The one model, `demo`."""
        return (ModelInfo("demo"),)


def _deltas(turn: Turn, ids: Iterator[str]) -> Iterator[Delta]:
    yield PartStart(0, "reasoning")
    yield from (PartText(0, piece) for piece in _pieces(turn.thought))
    if turn.answer:
        yield PartStart(1, "text")
        yield from (PartText(1, piece) for piece in _pieces(turn.answer))
    for index, task in enumerate(turn.calls, 1):
        yield PartStart(index, "tool_call", next(ids), task.tool)
        arguments = json.dumps(task.arguments, ensure_ascii=False)
        yield from (PartText(index, piece) for piece in _pieces(arguments))


def _pieces(text: str) -> Iterator[str]:
    """The text word by word; several words a piece where it is long."""
    words = re.findall(r"\S+\s*|\s+", text)
    size = -(-len(words) // _MOST_PIECES) or 1
    return ("".join(words[start : start + size]) for start in range(0, len(words), size))


def _new_ids(messages: Sequence[Message]) -> Iterator[str]:
    """Ids for calls, none of which is in the conversation."""
    taken = {
        call.id
        for message in messages
        if isinstance(message, AssistantMessage)
        for call in message.calls
    }
    return (new for n in count(len(taken) + 1) if (new := f"demo_{n}") not in taken)


def _usage(request: ModelRequest, turn: Turn) -> Usage:
    """An estimate: nobody counts the tokens of a model that there is not."""
    thought = len(turn.thought)
    written = thought + len(turn.answer) + sum(len(str(task.arguments)) for task in turn.calls)
    return Usage(
        input=sum(map(_size, request.messages)) // _CHARACTERS_A_TOKEN,
        output=written // _CHARACTERS_A_TOKEN,
        reasoning=thought // _CHARACTERS_A_TOKEN,
    )


def _size(message: Message) -> int:
    """The characters of a message."""
    match message:
        case SystemMessage(text):
            return len(text)
        case UserMessage():
            return len(message.text)
        case ToolMessage(results):
            return sum(len(result.text) for result in results)
        case AssistantMessage(parts):
            texts = [part.text for part in parts if isinstance(part, Text)]
            texts += [part.arguments for part in parts if isinstance(part, ToolCall)]
            return sum(map(len, texts))
