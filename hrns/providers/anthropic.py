"""Anthropic's Messages protocol, and the servers that speak it too.

Signed and redacted thoughts go back byte for byte, in their order, to the endpoint that they came
from; a thought whose signature never came does not. What stays the same from request to request is
marked, so that the server may keep it in its cache.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
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
    ToolResult,
    UserMessage,
)
from .anthropic_reader import AnthropicDecoder
from .base import HttpRequest, ModelRequest, ToolSpec
from .codec import JSON_HEADERS, WireCodec, hashed, is_own, post
from .decoding import CallIds
from .jsontext import dumps
from .quirks import IMAGES, LIMIT, NATIVE, SCHEMAS, Lesson, Lessons
from .schemas import plain_schema

__all__ = ["Anthropic"]

MAX_TOKENS = 32_000
"""Tokens of a reply where nothing is said: the protocol insists on a number."""

_BUDGETS = {"minimal": 1024, "low": 2048, "medium": 8192, "high": 16_384, "xhigh": 24_576}
_EFFORTS = {"minimal": "low"}
_THOUGHTS = ("thinking", "redacted_thinking")
_MARK = b',"cache_control":{"type":"ephemeral"}'
_USER = b'{"role":"user","content":['
_END = b"]}"


class Anthropic(WireCodec):
    """The codec of Messages.

    Parameters:
        quirks: how requests are written; by default what is known of the endpoint's host.
    """

    api = "anthropic"
    lessons = Lessons(
        first=(
            IMAGES,
            LIMIT,
            Lesson(
                r"cache_control",
                lambda quirks, _: evolve(quirks, cache_marks=False),
                "the server does not know marks for its cache: they are left out",
            ),
            Lesson(
                r"(thinking|reasoning_content).{0,80}(must be passed back|(is|are) missing)",
                lambda quirks, _: evolve(quirks, reasoning_back=True),
                "the server wants the thoughts of each call back, signed or not: it gets them",
            ),
            Lesson(
                r"signature|thinking.{0,80}cannot be modified|cannot be .{0,3}thinking",
                lambda quirks, _: evolve(quirks, native=False),
                "the server does not know its own signatures any more: thoughts do not go back",
            ),
            Lesson(
                r"adaptive.{0,60}(not|n't|un)\s?supported|output_config|effort"
                r"|thinking.{0,40}(does not match|input tag 'adaptive')",
                lambda quirks, _: evolve(quirks, budgets=True),
                "the model is told how much to think in tokens rather than in words",
            ),
        ),
        optional=frozenset({"thinking", "output_config", "temperature", "tool_choice"}),
        then=(NATIVE, SCHEMAS),
    )

    def encode_message(self, message: Message, *, model: str, endpoint: str) -> bytes:  # noqa: ARG002
        """One message as JSON; b"" if nothing of it can be sent.

        Instructions are no message in this protocol: they give the block that goes into `system`.
        """
        match message:
            case SystemMessage(text):
                return dumps({"type": "text", "text": text})
            case UserMessage():
                return _message("user", _user_blocks(message))
            case AssistantMessage():
                own = self.quirks.native and is_own(message.origin, self.api, endpoint)
                blocks = list(_assistant_blocks(message, own=own))
                blocks.sort(key=lambda block: block["type"] == "tool_use")  # results follow at once
                if self.quirks.reasoning_back:
                    blocks = _with_thought(blocks, message)
                return _message("assistant", _without_last_thoughts(blocks))
            case ToolMessage():
                return _message("user", map(_result_block, message.results))
            case _:
                assert_never(message)

    def encode(self, request: ModelRequest, *, endpoint: str) -> HttpRequest:
        """The request that asks for this reply."""
        self.settle(endpoint)
        fields = self.fields(request)
        marks = self.quirks.cache_marks
        system, texts = self._split(request.messages)
        body = [dumps(fields)[:-1]]
        if system:
            body += [b',"system":[', _marked(system) if marks else system, b"]"]
        if request.tools and "tools" not in fields:
            tools = self.tools_text(request.tools)
            body += [b',"tools":', _marked_tools(tools) if marks and not system else tools]
        if marks:
            texts = _marked_messages(texts)
        body += [b',"messages":[', b",".join(texts), b"]}"]
        accept = "text/event-stream" if fields.get("stream") else "application/json"
        return post("/v1/messages", body, accept=accept)

    def new_decoder(self, ids: CallIds) -> AnthropicDecoder:
        """A new decoder for one reply, which has ids for its calls from here."""
        return AnthropicDecoder(ids)

    def recognises(self, body: Mapping[str, Any]) -> bool:
        """Whether a whole JSON body is a message of this protocol."""
        return body.get("type") == "message" and isinstance(body.get("content"), list)

    def models_request(self) -> HttpRequest:
        """The request that lists the models."""
        return HttpRequest("GET", "/v1/models?limit=1000", headers=JSON_HEADERS)

    def encode_tools(self, tools: tuple[ToolSpec, ...]) -> bytes:
        """The tools on offer as JSON."""
        plain = self.quirks.plain_schemas
        return dumps(
            [
                {
                    "name": tool.name,
                    "description": tool.description,
                    "input_schema": {
                        "type": "object",
                        **(plain_schema(tool.schema) if plain else tool.schema),
                    },
                }
                for tool in tools
            ]
        )

    def fields(self, request: ModelRequest) -> dict[str, Any]:
        """The top-level fields of a request, messages, instructions and tools left out."""
        options = request.options
        limit = options.max_tokens or MAX_TOKENS
        choice = _tool_choice(options.tool_choice) if request.tools else None
        forced = choice is not None and choice["type"] in ("any", "tool")
        effort = None if forced else options.reasoning_effort  # the two exclude each other
        fields: dict[str, Any] = {
            "model": request.model,
            "max_tokens": min(limit, self.quirks.token_limit or limit),
            "stream": options.stream or None,
            **_thinking(effort, limit, budgets=self.quirks.budgets),
            "temperature": options.temperature if effort in (None, "none") else None,
            "tool_choice": choice,
            "stop_sequences": list(options.stop) or None,
        }
        if options.response_schema is not None:
            wanted = {"type": "json_schema", "schema": options.response_schema}
            fields["output_config"] = {**fields.get("output_config", {}), "format": wanted}
        dropped = self.quirks.dropped
        return {k: v for k, v in fields.items() if v is not None and k not in dropped} | dict(
            options.extra
        )

    def _split(self, messages: tuple[Message, ...]) -> tuple[bytes, list[bytes]]:
        """The instructions as blocks, and the messages, neighbours of one role joined."""
        system: list[bytes] = []
        joined: list[bytes] = []
        for message, text in zip(messages, self.texts(messages), strict=True):
            if isinstance(message, SystemMessage):
                system.append(text)
            elif joined and text.startswith(_USER) and joined[-1].startswith(_USER):
                joined[-1] = joined[-1][: -len(_END)] + b"," + text[len(_USER) :]
            elif text:
                joined.append(text)
        return b",".join(system), joined


def _message(role: str, blocks: Iterable[dict[str, Any]]) -> bytes:
    content = list(blocks)
    return dumps({"role": role, "content": content}) if content else b""


def _marked(blocks: bytes) -> bytes:
    """Blocks, the last of them marked for the cache."""
    return blocks[:-1] + _MARK + b"}"


def _marked_tools(tools: bytes) -> bytes:
    return _marked(tools[:-1]) + b"]" if tools != b"[]" else tools


def _marked_messages(texts: list[bytes]) -> list[bytes]:
    """The messages, the last two of the user marked: up to them a next request is the same."""
    users = [index for index, text in enumerate(texts) if text.startswith(_USER)][-2:]
    marked = list(texts)
    for index in users:
        marked[index] = _marked(texts[index][: -len(_END)]) + _END
    return marked


def _user_blocks(message: UserMessage) -> Iterator[dict[str, Any]]:
    for part in message.parts:
        if isinstance(part, Image):
            yield _image(part)
        elif isinstance(part, Text) and part.text.strip():
            yield {"type": "text", "text": part.text}


def _image(image: Image) -> dict[str, Any]:
    data = b64encode(image.data).decode()
    source = {"type": "base64", "media_type": image.media_type, "data": data}
    return {"type": "image", "source": source}


def _result_block(result: ToolResult) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "tool_result", "tool_use_id": _wire_id(result.call_id)}
    if any(isinstance(part, Image) for part in result.content):
        block["content"] = [
            _image(part) if isinstance(part, Image) else {"type": "text", "text": part.text}
            for part in result.content
            if isinstance(part, Image) or part.text.strip()
        ]
        return block  # an error may hold nothing but text, so it is not called one
    block["content"] = result.text
    if result.status != "ok":
        block["is_error"] = True
        block["content"] = result.text if result.text.strip() else "ERROR"
    return block


def _assistant_blocks(message: AssistantMessage, *, own: bool) -> Iterator[dict[str, Any]]:
    """The blocks of a reply in its order; thoughts and blocks of other kinds to their origin.

    Nothing if thoughts would be all.
    """
    if not any(isinstance(p, ToolCall) or _is_visible(p) for p in message.parts):
        return
    for part in message.parts:
        match part:
            case Text(text) if text.strip():
                yield {"type": "text", "text": text}
            case ToolCall():
                yield _call_block(part, own=own)
            case Reasoning(text, native) if own and native:
                block = json.loads(native)
                yield {**block, "thinking": text} if "thinking" in block else block
            case Opaque(native) if own:
                yield json.loads(native)
            case _:
                pass


def _with_thought(blocks: list[dict[str, Any]], message: AssistantMessage) -> list[dict[str, Any]]:
    """The blocks of a reply with calls, with what was thought, even if nothing signed it."""
    if not message.calls or any(block["type"] in _THOUGHTS for block in blocks):
        return blocks
    thought = "".join(part.text for part in message.parts if isinstance(part, Reasoning))
    return [{"type": "thinking", "thinking": thought, "signature": ""}, *blocks]


def _without_last_thoughts(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The blocks without thoughts at the end, as they are in a reply that was cut off there."""
    end = len(blocks)
    while end and blocks[end - 1]["type"] in _THOUGHTS:
        end -= 1
    return blocks[:end]


def _is_visible(part: object) -> bool:
    return isinstance(part, Text) and bool(part.text.strip())


def _call_block(call: ToolCall, *, own: bool) -> dict[str, Any]:
    try:
        given = json.loads(call.arguments)
    except ValueError:
        given = {}
    block = {
        "type": "tool_use",
        "id": _wire_id(call.id),
        "name": call.name,
        "input": given if isinstance(given, dict) else {},
    }
    return {**block, **json.loads(call.native)} if own and call.native else block


def _wire_id(call_id: str) -> str:
    """The id of a call as the server takes it: letters, digits, _ and -, 64 at most."""
    plain = call_id.replace("_", "").replace("-", "")
    if plain.isascii() and plain.isalnum() and len(call_id) <= 64:
        return call_id
    return f"toolu_{hashed(call_id)[:24]}"


def _thinking(effort: str | None, limit: int, *, budgets: bool) -> dict[str, Any]:
    """The fields that ask for thinking; nothing where it is left to the server."""
    if effort is None:
        return {}
    if effort == "none":
        return {"thinking": {"type": "disabled"}}
    if not budgets:
        return {
            "thinking": {"type": "adaptive"},
            "output_config": {"effort": _EFFORTS.get(effort, effort)},
        }
    budget = min(_BUDGETS.get(effort, _BUDGETS["xhigh"]), limit - 1)
    return {"thinking": {"type": "enabled", "budget_tokens": budget}} if budget >= 1024 else {}


def _tool_choice(choice: str | None) -> dict[str, Any] | None:
    if choice is None:
        return None
    if choice in ("auto", "none"):
        return {"type": choice}
    return {"type": "any"} if choice == "required" else {"type": "tool", "name": choice}
