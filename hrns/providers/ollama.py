"""Ollama's own protocol, `/api/chat`.

It can what its chat-completions look-alike cannot: be told how long the context is. Left to
itself, Ollama cuts a conversation that is longer than its default, from the head on, without a
word: instructions and tools go first. So a length that holds the conversation is always asked for.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator, Mapping
from typing import Any, assert_never

from ..messages import (
    AssistantMessage,
    Image,
    Message,
    Opaque,
    Reasoning,
    SystemMessage,
    ToolMessage,
    UserMessage,
)
from .base import HttpRequest, ModelInfo, ModelRequest, ToolSpec
from .codec import JSON_HEADERS, WireCodec, is_own, post
from .decoding import CallIds
from .jsontext import dumps, loads
from .model_list import read_model_list
from .ollama_reader import OllamaDecoder
from .quirks import IMAGES, NATIVE, SCHEMAS, Lessons, Quirks
from .schemas import plain_schema

__all__ = ["Ollama", "context_length"]

_TOP_LEVEL = frozenset(
    {"format", "keep_alive", "logprobs", "options", "template", "think", "tools"}
)
"""The fields beside `options`; every other option is one of the model's."""

_SMALLEST_CONTEXT = 8192
_REPLY_TOKENS = 2048
_BYTES_PER_TOKEN = 3
"""Less than there are in most texts, so that an estimate errs on the side of room."""


def context_length(size_bytes: int, max_tokens: int | None) -> int:
    """The tokens of context that hold a request of this size and its reply: a power of two.

    Ollama loads a model anew when the length changes, so it is to change seldom.
    """
    needed = size_bytes // _BYTES_PER_TOKEN + (max_tokens or _REPLY_TOKENS)
    return max(_SMALLEST_CONTEXT, 1 << (needed - 1).bit_length())


class Ollama(WireCodec):
    """The codec of `/api/chat`.

    Parameters:
        quirks: how requests are written; by default what is known of the endpoint's host.
    """

    api = "ollama"
    lessons = Lessons(
        first=(IMAGES,),
        optional=frozenset({"think", "format", "logprobs", "keep_alive"}),
        then=(NATIVE, SCHEMAS),
    )

    def __init__(self, quirks: Quirks | None = None) -> None:
        super().__init__(quirks)
        self._context = 0

    def encode_message(self, message: Message, *, model: str, endpoint: str) -> bytes:  # noqa: ARG002
        """One message as JSON; several, joined by commas, for a message with tool results."""
        match message:
            case SystemMessage(text):
                return dumps({"role": "system", "content": text})
            case UserMessage():
                return dumps(_user(message))
            case AssistantMessage():
                own = self.quirks.native and is_own(message.origin, self.api, endpoint)
                return dumps(_assistant(message, own=own))
            case ToolMessage():
                return b",".join(map(dumps, _tool_messages(message)))
            case _:
                assert_never(message)

    def encode(self, request: ModelRequest, *, endpoint: str) -> HttpRequest:
        """The request that asks for this reply."""
        self.settle(endpoint)
        messages = b",".join(self.texts(request.messages))
        tools = self.tools_text(request.tools) if request.tools else b""
        fields = self.fields(request)
        given = fields["options"].get("num_ctx")
        if given is None:
            size = len(messages) + len(tools) - _image_bytes(request.messages, messages)
            wanted = context_length(size, request.options.max_tokens)
            self._context = max(self._context, wanted)
            fields["options"]["num_ctx"] = self._context
        body = [dumps(fields)[:-1], b',"messages":[', messages, b"]"]
        if tools and "tools" not in fields:
            body += [b',"tools":', tools]
        accept = "application/x-ndjson" if fields["stream"] else "application/json"
        return post("/api/chat", [*body, b"}"], accept=accept)

    def new_decoder(self, ids: CallIds) -> OllamaDecoder:
        """A new decoder for one reply, which has ids for its calls from here."""
        return OllamaDecoder(ids)

    def recognises(self, body: Mapping[str, Any]) -> bool:
        """Whether a whole JSON body is a reply of this protocol."""
        return isinstance(body.get("message"), dict) and "done" in body

    def models_request(self) -> HttpRequest:
        """The request that lists the models."""
        return HttpRequest("GET", "/api/tags", headers=JSON_HEADERS)

    def read_models(self, body: bytes) -> list[ModelInfo]:
        """The models in the answer to it.

        Raises:
            BrokenStream: the body is not of the protocol.
        """
        try:
            value = loads(body)
            named = [{**entry, "id": entry["name"]} for entry in value["models"]]
        except (ValueError, KeyError, TypeError):
            return read_model_list(body)
        return read_model_list(dumps(named))

    def encode_tools(self, tools: tuple[ToolSpec, ...]) -> bytes:
        """The tools on offer as JSON."""
        plain = self.quirks.plain_schemas
        return dumps(
            [
                {
                    "type": "function",
                    "function": {
                        "name": tool.name,
                        "description": tool.description,
                        "parameters": plain_schema(tool.schema) if plain else tool.schema,
                    },
                }
                for tool in tools
            ]
        )

    def fields(self, request: ModelRequest) -> dict[str, Any]:
        """The top-level fields of a request, messages and tools left out."""
        given = request.options
        extra = dict(given.extra)
        options = {
            "num_predict": given.max_tokens,
            "temperature": given.temperature,
            "seed": given.seed,
            "stop": list(given.stop) or None,
        }
        options = {name: value for name, value in options.items() if value is not None}
        options |= {name: value for name, value in extra.items() if name not in _TOP_LEVEL}
        fields = {
            "model": request.model,
            "stream": given.stream,
            "think": _think(given.reasoning_effort),
            "format": given.response_schema,
            **{name: value for name, value in extra.items() if name in _TOP_LEVEL},
            "options": {**options, **extra.get("options", {})},
        }
        dropped = self.quirks.dropped
        return {k: v for k, v in fields.items() if v is not None and k not in dropped}


def _image_bytes(messages: tuple[Message, ...], encoded: bytes) -> int:
    """The bytes of a request that are pictures: they are not read as text."""
    if b'"images":[' not in encoded:
        return 0
    pictures = [
        part
        for message in messages
        for part in (
            message.parts
            if isinstance(message, UserMessage)
            else [p for result in message.results for p in result.content]
            if isinstance(message, ToolMessage)
            else ()
        )
        if isinstance(part, Image)
    ]
    return sum(4 * len(picture.data) // 3 for picture in pictures)


def _user(message: UserMessage) -> dict[str, Any]:
    images = [b64encode(p.data).decode() for p in message.parts if isinstance(p, Image)]
    fields: dict[str, Any] = {"role": "user", "content": message.text}
    return {**fields, "images": images} if images else fields


def _assistant(message: AssistantMessage, *, own: bool) -> dict[str, Any]:
    """An assistant message; what it thought goes back beside calls, to its origin."""
    fields: dict[str, Any] = {"role": "assistant", "content": message.text}
    for part in message.parts if own else ():
        if isinstance(part, Opaque):
            fields.update(json.loads(part.native))
        elif isinstance(part, Reasoning) and part.native and message.calls:
            fields["thinking"] = part.text
    if message.calls:
        fields["tool_calls"] = [
            _call(call.id, call.name, call.arguments, call.native if own else None)
            for call in message.calls
        ]
    return fields


def _call(call_id: str, name: str, arguments: str, native: str | None) -> dict[str, Any]:
    try:
        given = json.loads(arguments)
    except ValueError:
        given = {}
    extra = json.loads(native) if native else {}
    inner = {"name": name, "arguments": given if isinstance(given, dict) else {}}
    return {"id": call_id, **extra, "function": {**inner, **extra.get("function", {})}}


def _tool_messages(message: ToolMessage) -> Iterator[dict[str, Any]]:
    for result in message.results:
        images = [b64encode(p.data).decode() for p in result.content if isinstance(p, Image)]
        fields: dict[str, Any] = {
            "role": "tool",
            "tool_name": result.name,
            "tool_call_id": result.call_id,
            "content": result.text,
        }
        yield {**fields, "images": images} if images else fields


def _think(effort: str | None) -> bool | str | None:
    if effort is None:
        return None
    return False if effort == "none" else {"minimal": "low"}.get(effort, effort)
