"""The chat-completions protocol of OpenAI, and of all servers that call themselves compatible.

What a server gave that this protocol has no name for (signatures, `reasoning_details`, extra
fields) is kept in `native` and goes back to the same endpoint only.
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
    Reasoning,
    SystemMessage,
    Text,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from .base import HttpRequest, ModelRequest, ToolSpec
from .codec import JSON_HEADERS, WireCodec, hashed, is_own, post
from .decoding import CallIds
from .jsontext import dumps
from .openai_chat_reader import ChatDecoder
from .quirks import IMAGES, LIMIT, NATIVE, SCHEMAS, STREAM, Lesson, Lessons, Quirks, quirks_for
from .schemas import is_strict, plain_schema

__all__ = ["OpenAIChat"]

_ID_LIMIT = 40
"""The longest id of a call that OpenAI takes."""

_UNSIGNED = "skip_thought_signature_validator"
"""What Google documents to stand for the signature of a call that another model made."""

_BRIDGE = b'{"role":"assistant","content":"I have the results."}'
"""Stands between a tool's result and a user message, for servers that insist on it."""


class OpenAIChat(WireCodec):
    """The codec of chat completions.

    Parameters:
        quirks: how requests are written; by default what is known of the endpoint's host.
    """

    api = "openai-chat"
    lessons = Lessons(
        first=(
            IMAGES,
            STREAM,
            LIMIT,
            Lesson(
                r"json (mode|schema|output).{0,60}(tool|function)",
                lambda quirks, _: evolve(quirks, dropped=quirks.dropped | {"response_format"}),
                "the server takes no response_format beside tools: left out",
            ),
            Lesson(
                "max_completion_tokens.{0,40} instead",
                lambda quirks, _: evolve(quirks, limit_field="max_completion_tokens"),
                "the server wants max_completion_tokens in place of max_tokens: it gets that",
            ),
            Lesson(
                r"^(?!.*instead).*(unknown|unrecognized|unsupported|extra|unexpected|not permitted)"
                r".{0,80}max_completion_tokens"
                r"|^(?!.*instead).*max_completion_tokens.{0,80}(not|extra|unsupported)",
                lambda quirks, _: evolve(quirks, limit_field="max_tokens"),
                "the server does not know max_completion_tokens: it gets max_tokens",
            ),
        ),
        optional=frozenset(
            {"stream_options", "reasoning_effort", "temperature", "seed", "stop", "tool_choice"}
            | {"response_format"}
        ),
        then=(
            Lesson(
                r"tool[ _]call[ _]id.{0,80}(length of 9|9 char|a-z)",
                lambda quirks, _: evolve(quirks, short_ids=True),
                "the server wants ids of nine letters and digits: it gets those",
            ),
            Lesson(
                r"(unexpected|expected).{0,40} role|roles? must alternate",
                lambda quirks, _: evolve(quirks, strict_roles=True),
                "the server insists on an order of roles: it gets that order",
            ),
            Lesson(
                r"(system|developer) (role|message|instruction)s?.{0,40}(not|n't|isn't|un)\s?"
                r"(supported|allowed|enabled)"
                r"|(does not|doesn't) support.{0,20}(system|developer)"
                r"(['\"]| (role|message|instruction))",
                lambda quirks, _: evolve(quirks, system_role=False),
                "the model has no role for instructions: they are part of the first message",
            ),
            Lesson(
                r"reasoning(_content)?.{0,80}(must be passed back|(is|are) missing|required)"
                r"|missing.{0,40}reasoning_content",
                lambda quirks, _: evolve(quirks, reasoning_back=True),
                "the server wants the reasoning of each call back: it gets that",
            ),
            Lesson(
                r"toolConfig field must be defined|without .?tools=",
                lambda quirks, _: evolve(quirks, calls_without_tools=False),
                "the server wants the tools of earlier calls named: it gets their names",
            ),
            Lesson(
                r"missing an? .{0,2}thought_?signature",
                lambda quirks, _: evolve(quirks, signed_calls=True),
                "the server wants calls of other models signed: it gets the word for that",
            ),
            Lesson(
                r"text (field|content).{0,80}(blank|empty)|content.{0,30}(non-?empty|not be empty)",
                lambda quirks, _: evolve(quirks, blank_text=False),
                "the server takes no empty text: it gets none",
            ),
            NATIVE,
            SCHEMAS,
        ),
    )

    def encode_message(self, message: Message, *, model: str, endpoint: str) -> bytes:  # noqa: ARG002
        """One message as JSON; several, joined by commas, for a message with tool results."""
        quirks = self._quirks or quirks_for(endpoint)
        match message:
            case SystemMessage(text):
                return dumps({"role": "system", "content": text})
            case UserMessage():
                return dumps({"role": "user", "content": _user_content(message)})
            case AssistantMessage():
                own = quirks.native and is_own(message.origin, self.api, endpoint)
                return dumps(_assistant(message, quirks, own=own))
            case ToolMessage():
                return b",".join(map(dumps, _tool_messages(message, quirks)))
            case _:
                assert_never(message)

    def encode(self, request: ModelRequest, *, endpoint: str) -> HttpRequest:
        """The request that asks for this reply."""
        self.settle(endpoint)
        fields = self.fields(request)
        texts = self._arranged(request.messages)
        body = [dumps(fields)[:-1], b',"messages":[', b",".join(texts), b"]"]
        tools = request.tools
        if not (tools or self.quirks.calls_without_tools):
            tools = _tools_of(request.messages)
        if tools and "tools" not in fields:
            body += [b',"tools":', self.tools_text(tools)]
        accept = "text/event-stream" if fields.get("stream") else "application/json"
        return post("/chat/completions", [*body, b"}"], accept=accept)

    def new_decoder(self, ids: CallIds) -> ChatDecoder:
        """A new decoder for one reply, which has ids for its calls from here."""
        return ChatDecoder(ids)

    def recognises(self, body: Mapping[str, Any]) -> bool:
        """Whether a whole JSON body is a chat completion."""
        choices = body.get("choices")
        return isinstance(choices, list) and all(
            isinstance(choice, dict) and "message" in choice for choice in choices
        )

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
        quirks = self.quirks
        options = request.options
        fields: dict[str, Any] = {
            "model": request.model,
            "stream": options.stream or None,
            "stream_options": {"include_usage": True} if options.stream else None,
            quirks.limit_field: _least(options.max_tokens, quirks.token_limit),
            "temperature": options.temperature,
            "reasoning_effort": options.reasoning_effort,
            "tool_choice": _tool_choice(options.tool_choice) if request.tools else None,
            "response_format": _response_format(options.response_schema),
            "stop": list(options.stop) or None,
            "seed": options.seed,
        }
        fields = {k: v for k, v in fields.items() if v is not None and k not in quirks.dropped}
        return {**fields, **options.extra}

    def _arranged(self, messages: tuple[Message, ...]) -> list[bytes]:
        """The bytes of the messages, arranged as the server wants them."""
        texts = self.texts(messages)
        quirks = self.quirks
        if quirks.system_role and not quirks.strict_roles:
            return texts
        pairs = list(zip(messages, texts, strict=True))
        if not quirks.system_role:
            pairs = self._without_system(pairs)
        return _with_bridges(pairs) if quirks.strict_roles else [text for _, text in pairs]

    def _without_system(self, pairs: list[tuple[Message, bytes]]) -> list[tuple[Message, bytes]]:
        """The messages with the instructions as the beginning of the first user message."""
        system = pairs[0][0] if pairs else None
        if not isinstance(system, SystemMessage):
            return pairs
        first = pairs[1][0] if len(pairs) > 1 else None
        parts = first.parts if isinstance(first, UserMessage) else ()
        joined = UserMessage((Text(system.text), *parts))
        text = self.encoded(joined)
        return [(joined, text), *pairs[2 if parts else 1 :]]


def _tools_of(messages: tuple[Message, ...]) -> tuple[ToolSpec, ...]:
    """The tools that were called in a conversation, by their names alone."""
    calls = (c for m in messages if isinstance(m, AssistantMessage) for c in m.calls)
    nothing = {"type": "object", "properties": {}}
    return tuple(ToolSpec(name, "", nothing) for name in dict.fromkeys(c.name for c in calls))


def _least(wanted: int | None, limit: int) -> int | None:
    return min(wanted, limit) if wanted and limit else wanted


def _with_bridges(pairs: list[tuple[Message, bytes]]) -> list[bytes]:
    """The texts with a word of the assistant between tool results and a user message."""
    texts: list[bytes] = []
    before: Message | None = None
    for message, text in pairs:
        if isinstance(before, ToolMessage) and isinstance(message, UserMessage):
            texts.append(_BRIDGE)
        texts.append(text)
        before = message
    return texts


def _user_content(message: UserMessage) -> str | list[dict[str, Any]]:
    """The content of a user message: text where it is text only, as not all take parts."""
    if not any(isinstance(part, Image) for part in message.parts):
        return message.text
    return [
        _image(part) if isinstance(part, Image) else {"type": "text", "text": part.text}
        for part in message.parts
        if isinstance(part, Image | Text)
    ]


def _image(image: Image) -> dict[str, Any]:
    url = f"data:{image.media_type};base64,{b64encode(image.data).decode()}"
    return {"type": "image_url", "image_url": {"url": url}}


def _assistant(message: AssistantMessage, quirks: Quirks, *, own: bool) -> dict[str, Any]:
    """An assistant message. The text is never left out: some servers insist on it beside calls."""
    fields: dict[str, Any] = {"role": "assistant", "content": message.text}
    calls = message.calls
    if own:
        _add_native(fields, message)
    if calls:
        fields["tool_calls"] = [_call(call, quirks, own=own) for call in calls]
        if not quirks.blank_text and not message.text.strip():
            fields["content"] = None
        if quirks.reasoning_back:
            thought = "".join(p.text for p in message.parts if isinstance(p, Reasoning))
            fields.setdefault("reasoning_content", thought)
    return fields


def _add_native(fields: dict[str, Any], message: AssistantMessage) -> None:
    """Add what this server gave with the message, in the fields that it gave it in.

    Reasoning as text goes back beside calls only, where servers may insist on it; elsewhere they
    ignore it. A `null` in `native` stands for the text of the part.
    """
    for part in message.parts:
        if isinstance(part, Opaque):
            own = json.loads(part.native)
            more = own.pop("content", None)
            fields.update(own)
            if more:
                fields["content"] = [*_as_parts(fields["content"]), *more]
        elif isinstance(part, Reasoning) and part.native:
            own = json.loads(part.native)
            if "thinking_part" in own:
                thought = {"type": "text", "text": part.text}
                thinking = {"type": "thinking", "thinking": [thought]}
                fields["content"] = [thinking, *_as_parts(fields["content"])]
            elif message.calls:
                fields.update((k, part.text if v is None else v) for k, v in own.items())
                if "reasoning" in own:
                    fields.setdefault("reasoning_content", fields["reasoning"])
            elif "reasoning_details" in own:
                fields["reasoning_details"] = own["reasoning_details"]


def _as_parts(content: str | list[dict[str, Any]]) -> list[dict[str, Any]]:
    if isinstance(content, list):
        return content
    return [{"type": "text", "text": content}] if content else []


def _call(call: ToolCall, quirks: Quirks, *, own: bool) -> dict[str, Any]:
    function = {"name": call.name, "arguments": call.arguments.strip() or "{}"}
    fields: dict[str, Any] = {
        "id": _wire_id(call.id, quirks),
        "type": "function",
        "function": function,
    }
    if own and call.native:
        extra = json.loads(call.native)
        function.update(extra.pop("function", {}))
        fields.update(extra)
    if quirks.signed_calls:
        fields.setdefault("extra_content", {"google": {"thought_signature": _UNSIGNED}})
    return fields


def _wire_id(call_id: str, quirks: Quirks) -> str:
    """The id of a call as the server takes it; the same for the call and its result."""
    if quirks.short_ids:
        fits = len(call_id) == 9 and call_id.isascii() and call_id.isalnum()
        return call_id if fits else hashed(call_id)[:9]
    return call_id if len(call_id) <= _ID_LIMIT else f"call_{hashed(call_id)[:24]}"


def _tool_messages(message: ToolMessage, quirks: Quirks) -> Iterator[dict[str, Any]]:
    """One `tool` message a result; then the images, which only a user message may hold."""
    for result in message.results:
        yield {
            "role": "tool",
            "tool_call_id": _wire_id(result.call_id, quirks),
            "content": result.text if quirks.blank_text or result.text.strip() else "(nothing)",
        }
    for result in message.results:
        images = [_image(part) for part in result.content if isinstance(part, Image)]
        if images:
            if quirks.strict_roles:
                yield json.loads(_BRIDGE)
            said = {"type": "text", "text": f"What {result.name or 'the tool'} shows:"}
            yield {"role": "user", "content": [said, *images]}


def _tool_choice(choice: str | None) -> str | dict[str, Any] | None:
    if choice is None or choice in ("auto", "none", "required"):
        return choice
    return {"type": "function", "function": {"name": choice}}


def _response_format(schema: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if schema is None:
        return None
    described: dict[str, Any] = {"name": "answer", "schema": schema}
    if is_strict(schema):
        described["strict"] = True
    return {"type": "json_schema", "json_schema": described}
