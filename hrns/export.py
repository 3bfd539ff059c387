"""A conversation in forms that others read: Markdown, and the message JSON of two providers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, TypeAlias

from .messages import (
    AssistantMessage,
    Image,
    Message,
    Part,
    Reasoning,
    SystemMessage,
    Text,
    ToolCall,
    ToolMessage,
    ToolResult,
    UserMessage,
)
from .transcript import repair

__all__ = ["FORMATS", "Format", "to_markdown", "to_messages"]

Format: TypeAlias = Literal["markdown", "openai", "anthropic"]
FORMATS: tuple[Format, ...] = ("markdown", "openai", "anthropic")

_RESULT_LINES = 40


def to_messages(messages: Sequence[Message], form: Literal["openai", "anthropic"]) -> list[Any]:
    """The conversation as the `messages` of a request to OpenAI (chat completions) or Anthropic.

    What only one provider can read is left out.
    """
    if form == "openai":
        from .providers.openai_chat import OpenAIChat as Codec
    else:
        from .providers.anthropic import Anthropic as Codec  # type: ignore[assignment]
    codec = Codec()
    encoded = (codec.encode_message(each, model="", endpoint="") for each in repair(messages))
    listed: list[Any] = json.loads(b"[" + b",".join(each for each in encoded if each) + b"]")
    return listed


def to_markdown(messages: Iterable[Message | str], *, title: str = "Session") -> str:
    """The conversation for people: who said what, the calls and their results folded in.

    Parameters:
        messages: the messages; a text between them is a paragraph of its own.
    """
    blocks = [f"# {title}"]
    for message in messages:
        blocks += [message] if isinstance(message, str) else _message(message)
    return "\n\n".join(blocks) + "\n"


def _message(message: Message) -> Iterator[str]:
    match message:
        case SystemMessage():
            return
        case UserMessage(parts):
            yield "## User"
            yield from (_part(part) for part in parts)
        case AssistantMessage(parts):
            yield "## Assistant"
            yield from (_part(part) for part in parts if not _is_silent(part))
        case ToolMessage(results):
            yield from (_result(result) for result in results)


def _is_silent(part: Part) -> bool:
    return isinstance(part, Reasoning) and not part.text.strip()


def _part(part: Part) -> str:
    match part:
        case Text(text):
            return text.strip()
        case Reasoning(text):
            return "\n".join(f"> {line}".rstrip() for line in text.strip().splitlines())
        case ToolCall(name=name, arguments=arguments):
            return f"**{name}**\n\n{_fenced(arguments, 'json')}"
        case Image(media_type, data):
            return f"*(an image, {media_type}, {len(data)} bytes)*"
        case _:
            return ""


def _result(result: ToolResult) -> str:
    lines = result.text.splitlines()
    if len(lines) > _RESULT_LINES:
        left = len(lines) - _RESULT_LINES
        lines = [*lines[:_RESULT_LINES], f"... {left} more lines"]
    head = f"**{result.name}** gave ({result.status}):"
    pictures = [_part(part) for part in result.content if isinstance(part, Image)]
    return "\n\n".join([head, _fenced("\n".join(lines)), *pictures])


def _fenced(text: str, language: str = "") -> str:
    """The text as a code block whose fence is longer than any in it."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"
