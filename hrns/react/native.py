"""Native tool calling by hand: whole JSON responses read, results written to go back.

The bodies are read by the codecs of the providers, so what a live stream and what a pasted body
stand for is decided in one place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

from ..errors import ParseError, ProviderError
from ..messages import AssistantMessage
from ..providers.jsontext import loads
from .registry import ToolResult

__all__ = [
    "read_response",
    "tool_results_anthropic",
    "tool_results_ollama",
    "tool_results_openai",
    "tool_results_responses",
]


class _BodyReader(Protocol):
    """The part of a codec that reads whole bodies."""

    def recognises(self, body: Mapping[str, Any]) -> bool: ...

    def read_body(self, body: Mapping[str, Any]) -> AssistantMessage: ...


def _readers() -> Iterator[_BodyReader]:
    from ..providers.anthropic import Anthropic
    from ..providers.ollama import Ollama
    from ..providers.openai_chat import OpenAIChat
    from ..providers.openai_responses import OpenAIResponses

    for codec in (OpenAIChat, OpenAIResponses, Anthropic, Ollama):
        yield codec()


def read_response(body: str | bytes | Mapping[str, Any]) -> AssistantMessage:
    """The message in a response of any of the four protocols.

    Parameters:
        body: the JSON of the whole response, as text, bytes or values.

    Raises:
        ParseError: it is not JSON, or no response of a protocol that is known.
    """
    value = body if isinstance(body, Mapping) else _parsed(body)
    if isinstance(value, Mapping):
        for reader in _readers():
            if reader.recognises(value):
                return _read(reader, value)
    raise ParseError("the body is no response of a protocol that is known", reply=str(body))


def _parsed(body: str | bytes) -> object:
    data = body.encode("utf-8", "surrogatepass") if isinstance(body, str) else body
    try:
        return loads(data)
    except ValueError as error:
        raise ParseError(f"the body is not JSON: {error}", reply=str(body)) from error


def _read(reader: _BodyReader, value: Mapping[str, Any]) -> AssistantMessage:
    try:
        return reader.read_body(value)
    except ProviderError as error:
        raise ParseError(f"the body is no reply: {error}", reply=str(value)) from error


def tool_results_openai(results: Iterable[ToolResult]) -> list[dict[str, Any]]:
    """The messages that give results back in chat completions, one a result."""
    return [
        {"role": "tool", "tool_call_id": result.call_id, "content": result.output}
        for result in results
    ]


def tool_results_responses(results: Iterable[ToolResult]) -> list[dict[str, Any]]:
    """The input items that give results back in OpenAI's Responses, one a result."""
    return [
        {"type": "function_call_output", "call_id": result.call_id, "output": result.output}
        for result in results
    ]


def tool_results_anthropic(results: Iterable[ToolResult]) -> list[dict[str, Any]]:
    """The message that gives results back in Anthropic's Messages: one, with all of them."""
    blocks = [
        {
            "type": "tool_result",
            "tool_use_id": result.call_id,
            "content": result.output,
            **({} if result.success else {"is_error": True}),
        }
        for result in results
    ]
    return [{"role": "user", "content": blocks}] if blocks else []


def tool_results_ollama(results: Iterable[ToolResult]) -> list[dict[str, Any]]:
    """The messages that give results back in Ollama's chat, one a result."""
    return [
        {"role": "tool", "tool_name": result.tool_name, "content": result.output}
        for result in results
    ]
