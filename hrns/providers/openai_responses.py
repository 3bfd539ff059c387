"""OpenAI's Responses protocol, and the servers that speak it too.

Nothing is stored at the server (`store` is false): the whole conversation goes with each request,
and reasoning items go back with their encrypted content, as a server that stores nothing cannot
look them up by their ids. An item without any content of its own does not go back.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator, Mapping
from typing import Any, assert_never

from attrs import evolve

from ..messages import (
    AssistantMessage,
    Image,
    Message,
    Opaque,
    Part,
    Reasoning,
    SystemMessage,
    Text,
    ToolCall,
    ToolMessage,
    ToolResult,
    UserMessage,
)
from .base import HttpRequest, ModelRequest, ToolSpec
from .codec import JSON_HEADERS, WireCodec, hashed, is_own, post
from .decoding import CallIds
from .jsontext import dumps
from .openai_responses_reader import ResponsesDecoder
from .quirks import IMAGES, NATIVE, SCHEMAS, STREAM, Lesson, Lessons, Quirks
from .schemas import is_strict, plain_schema

__all__ = ["OpenAIResponses"]

_ID_LIMIT = 64


def _without(name: str, quirks: Quirks) -> Quirks:
    return evolve(quirks, dropped=quirks.dropped | {name})


class OpenAIResponses(WireCodec):
    """The codec of Responses.

    Parameters:
        quirks: how requests are written; by default what is known of the endpoint's host.
    """

    api = "openai-responses"
    lessons = Lessons(
        first=(
            IMAGES,
            STREAM,
            Lesson(
                r"item with id.{0,80}not found|encrypted content.{0,600}verif|input\[\d+\]\.id\b"
                "|without its required (following|'?reasoning'?) item",
                lambda quirks, _: evolve(quirks, native=False),
                "the server does not know its own reasoning any more: it does not go back",
            ),
            Lesson(
                "encrypted content is not supported",
                lambda quirks, _: _without("include", quirks),
                "the model has no encrypted reasoning: it is not asked for",
            ),
            Lesson(
                r"reasoning[. ]summar|generate reasoning summaries",
                lambda quirks, _: _without("summary", quirks),
                "the server gives no summaries of reasoning: they are not asked for",
            ),
        ),
        optional=frozenset(
            {"include", "store", "reasoning", "temperature", "tool_choice", "text"}
            | {"max_output_tokens"}
        ),
        then=(
            Lesson(
                r"instructions",
                lambda quirks, _: evolve(quirks, system_role=False),
                "the server does not know instructions: they are a message",
            ),
            NATIVE,
            SCHEMAS,
        ),
    )

    def encode_message(self, message: Message, *, model: str, endpoint: str) -> bytes:  # noqa: ARG002
        """One message as items, joined by commas; b"" if nothing of it can be sent."""
        match message:
            case SystemMessage(text):
                items = iter([_message("system", [{"type": "input_text", "text": text}])])
            case UserMessage():
                items = iter([_message("user", [*_user_parts(message)])])
            case AssistantMessage():
                own = self.quirks.native and is_own(message.origin, self.api, endpoint)
                items = _assistant_items(message, own=own)
            case ToolMessage():
                items = map(_output_item, message.results)
            case _:
                assert_never(message)
        return b",".join(map(dumps, items))

    def encode(self, request: ModelRequest, *, endpoint: str) -> HttpRequest:
        """The request that asks for this reply."""
        self.settle(endpoint)
        fields = self.fields(request)
        texts = self.texts(request.messages)
        if "instructions" in fields:
            texts = texts[1:]
        body = [dumps(fields)[:-1], b',"input":[', b",".join(filter(None, texts)), b"]"]
        if request.tools and "tools" not in fields:
            body += [b',"tools":', self.tools_text(request.tools)]
        accept = "text/event-stream" if fields.get("stream") else "application/json"
        return post("/responses", [*body, b"}"], accept=accept)

    def new_decoder(self, ids: CallIds) -> ResponsesDecoder:
        """A new decoder for one reply, which has ids for its calls from here."""
        return ResponsesDecoder(ids)

    def recognises(self, body: Mapping[str, Any]) -> bool:
        """Whether a whole JSON body is a response of this protocol."""
        return body.get("object") == "response" or isinstance(body.get("output"), list)

    def models_request(self) -> HttpRequest:
        """The request that lists the models."""
        return HttpRequest("GET", "/models", headers=JSON_HEADERS)

    def encode_tools(self, tools: tuple[ToolSpec, ...]) -> bytes:
        """The tools on offer as JSON."""
        plain = self.quirks.plain_schemas
        return dumps(
            [
                {
                    "type": "function",
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": plain_schema(tool.schema) if plain else tool.schema,
                    "strict": False,
                }
                for tool in tools
            ]
        )

    def fields(self, request: ModelRequest) -> dict[str, Any]:
        """The top-level fields of a request, messages and tools left out."""
        options = request.options
        dropped = self.quirks.dropped
        first = request.messages[0] if request.messages else None
        fields: dict[str, Any] = {
            "model": request.model,
            "stream": options.stream or None,
            "store": False,
            "include": ["reasoning.encrypted_content"],
            "max_output_tokens": options.max_tokens,
            "temperature": options.temperature,
            "reasoning": _reasoning(options.reasoning_effort, summary="summary" not in dropped),
            "tool_choice": _tool_choice(options.tool_choice) if request.tools else None,
            "text": _text_format(options.response_schema),
        }
        if isinstance(first, SystemMessage) and self.quirks.system_role:
            fields["instructions"] = first.text
        kept = {k: v for k, v in fields.items() if v is not None and k not in dropped}
        return {**kept, **options.extra}


def _message(role: str, content: list[dict[str, Any]]) -> dict[str, Any]:
    return {"type": "message", "role": role, "content": content}


def _user_parts(message: UserMessage) -> Iterator[dict[str, Any]]:
    for part in message.parts:
        if isinstance(part, Image):
            yield _image(part)
        elif isinstance(part, Text):
            yield {"type": "input_text", "text": part.text}


def _image(image: Image) -> dict[str, Any]:
    url = f"data:{image.media_type};base64,{b64encode(image.data).decode()}"
    return {"type": "input_image", "image_url": url}


def _assistant_items(message: AssistantMessage, *, own: bool) -> Iterator[dict[str, Any]]:
    """The items of a reply in its order; reasoning and items of other kinds to their origin."""
    items: list[dict[str, Any]] = []
    for part in message.parts:
        item = _item(part, own=own)
        if item is None:
            continue
        if item.get("type") == "message" and "content" not in item:
            if items and items[-1].get("type") == "message":
                items[-1].update(item)  # what only the server knows of the message before
        else:
            items.append(item)
    while items and items[-1].get("type") == "reasoning":
        items.pop()  # a thought must be followed by what came of it; this reply was cut off
    return iter(items)


def _item(part: Part, *, own: bool) -> dict[str, Any] | None:
    """What a part of a reply is sent as, or None."""
    native: dict[str, Any]
    match part:
        case Text(text) if text:
            return _message("assistant", [{"type": "output_text", "text": text}])
        case ToolCall():
            return _call_item(part, own=own)
        case Reasoning(_, str(text)) if own:
            native = _without_long_id(json.loads(text))
            return native if native.get("encrypted_content") or native.get("content") else None
        case Opaque(text) if own:
            return _without_long_id(json.loads(text))
        case _:
            return None


def _without_long_id(item: dict[str, Any]) -> dict[str, Any]:
    """The item as it may go back: some servers give ids that they do not take."""
    if len(str(item.get("id") or "")) > _ID_LIMIT:
        return {name: value for name, value in item.items() if name != "id"}
    return item


def _call_item(call: ToolCall, *, own: bool) -> dict[str, Any]:
    item = {
        "type": "function_call",
        "call_id": _wire_id(call.id),
        "name": call.name,
        "arguments": call.arguments.strip() or "{}",
    }
    return {**item, **json.loads(call.native)} if own and call.native else item


def _output_item(result: ToolResult) -> dict[str, Any]:
    output: str | list[dict[str, Any]] = result.text
    if any(isinstance(part, Image) for part in result.content):
        output = [
            _image(part) if isinstance(part, Image) else {"type": "input_text", "text": part.text}
            for part in result.content
        ]
    call_id = _wire_id(result.call_id)
    return {"type": "function_call_output", "call_id": call_id, "output": output}


def _wire_id(call_id: str) -> str:
    return call_id if len(call_id) <= _ID_LIMIT else f"call_{hashed(call_id)[:24]}"


def _reasoning(effort: str | None, *, summary: bool) -> dict[str, Any] | None:
    if effort is None:
        return None
    return {"effort": effort, "summary": "auto"} if summary else {"effort": effort}


def _tool_choice(choice: str | None) -> str | dict[str, Any] | None:
    if choice is None or choice in ("auto", "none", "required"):
        return choice
    return {"type": "function", "name": choice}


def _text_format(schema: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if schema is None:
        return None
    wanted = {"type": "json_schema", "name": "answer", "schema": schema}
    return {"format": {**wanted, "strict": is_strict(schema)}}
