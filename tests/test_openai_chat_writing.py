"""Requests to chat-completions servers: the whole of what is sent."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hrns.errors import (
    BrokenStream,
    ContextOverflow,
    RateLimited,
    RequestRefused,
    ServerFault,
    ToolsRefused,
)
from hrns.messages import (
    AssistantMessage,
    Image,
    Message,
    Opaque,
    Origin,
    Part,
    Reasoning,
    SystemMessage,
    Text,
    ToolCall,
    ToolMessage,
    ToolResult,
    UserMessage,
)
from hrns.providers.base import ModelInfo, ModelOptions, ModelRequest, ToolSpec
from hrns.providers.openai_chat import OpenAIChat
from hrns.providers.quirks import Quirks

HERE = "http://here/v1"
OWN = Origin("openai-chat", HERE, "m")
FOREIGN = Origin("openai-chat", "http://elsewhere/v1", "m")
HI = UserMessage("hi")


def sent(
    *messages: Message,
    codec: OpenAIChat | None = None,
    endpoint: str = HERE,
    tools: tuple[ToolSpec, ...] = (),
    options: ModelOptions | None = None,
) -> dict[str, Any]:
    """The body of the request, parsed."""
    request = ModelRequest("m", messages, tools, options or ModelOptions())
    body = (codec or OpenAIChat()).encode(request, endpoint=endpoint).body
    value: dict[str, Any] = json.loads(body)
    return value


def messages_of(*messages: Message, **more: Any) -> list[dict[str, Any]]:
    value: list[dict[str, Any]] = sent(*messages, **more)["messages"]
    return value


def sent_call(given: str, name: str, arguments: str) -> dict[str, Any]:
    return {"id": given, "type": "function", "function": {"name": name, "arguments": arguments}}


def test_whole_request() -> None:
    spec = ToolSpec("read", "Reads.", {"type": "object", "properties": {}})
    request = ModelRequest("m", (SystemMessage("Be brief."), HI), (spec,))
    encoded = OpenAIChat().encode(request, endpoint=HERE)
    assert (encoded.method, encoded.path) == ("POST", "/chat/completions")
    assert dict(encoded.headers) == {
        "Content-Type": "application/json",
        "Accept": "text/event-stream",
    }
    assert json.loads(encoded.body) == {
        "model": "m",
        "stream": True,
        "stream_options": {"include_usage": True},
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "hi"},
        ],
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "read",
                    "description": "Reads.",
                    "parameters": {"type": "object", "properties": {}},
                },
            }
        ],
    }


def test_options_go_where_the_protocol_has_them() -> None:
    schema = {"type": "object", "properties": {}}
    options = ModelOptions(
        max_tokens=9,
        temperature=0.0,
        reasoning_effort="low",
        tool_choice="read",
        response_schema=schema,
        stop="END",
        seed=1,
        stream=False,
        extra={"top_p": 0.5, "temperature": 1},
    )
    spec = ToolSpec("read", "", {})
    value = sent(HI, options=options, tools=(spec,))
    del value["messages"], value["tools"]
    assert value == {
        "model": "m",
        "max_tokens": 9,
        "temperature": 1,
        "reasoning_effort": "low",
        "tool_choice": {"type": "function", "function": {"name": "read"}},
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer", "schema": schema},
        },
        "stop": ["END"],
        "seed": 1,
        "top_p": 0.5,
    }


def test_closed_schema_is_asked_for_strictly() -> None:
    inner = {"type": "object", "properties": {}, "additionalProperties": False}
    schema = {**inner, "properties": {"a": inner}, "required": ["a"]}
    value = sent(HI, options=ModelOptions(response_schema=schema))
    assert value["response_format"]["json_schema"]["strict"] is True


def test_choice_of_tools_is_left_out_where_there_are_none() -> None:
    assert "tool_choice" not in sent(HI, options=ModelOptions(tool_choice="required"))


def test_openai_itself_is_given_the_newer_name_of_the_limit() -> None:
    options = ModelOptions(max_tokens=9)
    value = sent(HI, options=options, endpoint="https://api.openai.com/v1")
    assert (value["max_completion_tokens"], "max_tokens" in value) == (9, False)


def test_images_of_the_user_are_sent_beside_the_text() -> None:
    parts = (Text("What is this?"), Image("image/png", b"\x89PNG"))
    assert messages_of(UserMessage(parts)) == [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "What is this?"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw=="}},
            ],
        }
    ]


def test_calls_and_results_are_sent() -> None:
    conversation = (
        HI,
        AssistantMessage([ToolCall("c1", "read", '{"a":1}'), ToolCall("c2", "list", "  ")]),
        ToolMessage([ToolResult("one", call_id="c1"), ToolResult("two", call_id="c2")]),
    )
    assert messages_of(*conversation)[1:] == [
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {
                    "id": "c1",
                    "type": "function",
                    "function": {"name": "read", "arguments": '{"a":1}'},
                },
                {"id": "c2", "type": "function", "function": {"name": "list", "arguments": "{}"}},
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "one"},
        {"role": "tool", "tool_call_id": "c2", "content": "two"},
    ]


def test_images_of_results_follow_all_results() -> None:
    shown = ToolResult([Text("see"), Image("image/png", b"x")], call_id="c1", name="look")
    assert messages_of(HI, ToolMessage([shown, ToolResult("two", call_id="c2")]))[1:] == [
        {"role": "tool", "tool_call_id": "c1", "content": "see"},
        {"role": "tool", "tool_call_id": "c2", "content": "two"},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "What look shows:"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,eA=="}},
            ],
        },
    ]


def test_half_characters_are_replaced_in_what_is_sent() -> None:
    body = OpenAIChat().encode(ModelRequest("m", (UserMessage("a \ud83d b"),)), endpoint=HERE).body
    assert json.loads(body)["messages"] == [{"role": "user", "content": "a \ufffd b"}]


def assistant(message: AssistantMessage, **more: Any) -> dict[str, Any]:
    return messages_of(HI, message, **more)[1]


CALL = ToolCall("c1", "f", "{}")
SENT_CALL = sent_call("c1", "f", "{}")


def test_signature_of_a_call_goes_back_to_its_origin_only() -> None:
    native = '{"extra_content":{"google":{"sig":"U0lHMQ=="}},"function":{"x":1}}'
    call = ToolCall("c1", "f", "{}", native)
    assert assistant(AssistantMessage([call], OWN))["tool_calls"] == [
        {
            **SENT_CALL,
            "function": {"name": "f", "arguments": "{}", "x": 1},
            "extra_content": {"google": {"sig": "U0lHMQ=="}},
        }
    ]
    for origin in (FOREIGN, Origin("anthropic", HERE, "m"), None):
        assert assistant(AssistantMessage([call], origin))["tool_calls"] == [SENT_CALL]


def test_unknown_fields_go_back_to_their_origin_only() -> None:
    parts: list[Part] = [Text("Hi"), Opaque('{"extra_content":{"sig":"x"}}')]
    plain = {"role": "assistant", "content": "Hi"}
    assert assistant(AssistantMessage(parts, OWN)) == {**plain, "extra_content": {"sig": "x"}}
    assert assistant(AssistantMessage(parts, FOREIGN)) == plain


def test_reasoning_goes_back_beside_calls_to_its_origin_only() -> None:
    thought = Reasoning("need grep", '{"reasoning_content":null}')
    plain = {"role": "assistant", "content": "", "tool_calls": [SENT_CALL]}
    own = assistant(AssistantMessage([thought, CALL], OWN))
    assert own == {**plain, "reasoning_content": "need grep"}
    assert assistant(AssistantMessage([thought, CALL], FOREIGN)) == plain
    assert assistant(AssistantMessage([thought, Text("Hi")], OWN)) == {
        "role": "assistant",
        "content": "Hi",
    }


def test_reasoning_beside_calls_goes_back_under_both_names() -> None:
    thought = Reasoning("need grep", '{"reasoning":null}')
    own = assistant(AssistantMessage([thought, CALL], OWN))
    assert (own["reasoning"], own["reasoning_content"]) == ("need grep", "need grep")


def test_reasoning_details_go_back_always() -> None:
    thought = Reasoning("plan", '{"reasoning":null,"reasoning_details":[{"data":"eHg="}]}')
    own = assistant(AssistantMessage([thought, Text("Hi")], OWN))
    assert own == {"role": "assistant", "content": "Hi", "reasoning_details": [{"data": "eHg="}]}


def test_thinking_parts_go_back_as_parts() -> None:
    parts: list[Part] = [
        Reasoning("plan", '{"thinking_part":null}'),
        Text("Hi"),
        Opaque('{"content":[{"type":"reference"}]}'),
    ]
    assert assistant(AssistantMessage(parts, OWN))["content"] == [
        {"type": "thinking", "thinking": [{"type": "text", "text": "plan"}]},
        {"type": "text", "text": "Hi"},
        {"type": "reference"},
    ]


def test_reasoning_in_tags_does_not_go_back() -> None:
    message = AssistantMessage([Reasoning("plan"), CALL], OWN)
    assert assistant(message) == {"role": "assistant", "content": "", "tool_calls": [SENT_CALL]}


MISTRAL = "https://api.mistral.ai/v1"


def test_ids_are_made_to_fit_where_a_server_insists() -> None:
    long = "call_0123456789abcdef"
    conversation = (
        HI,
        AssistantMessage([ToolCall(long, "f", "{}"), ToolCall("Abc123xyz", "f", "{}")]),
        ToolMessage([ToolResult("1", call_id=long), ToolResult("2", call_id="Abc123xyz")]),
    )
    _, said, first, second = messages_of(*conversation, endpoint=MISTRAL)
    ids = [call["id"] for call in said["tool_calls"]]
    assert ids == [first["tool_call_id"], second["tool_call_id"]]
    assert ids[1] == "Abc123xyz"
    assert len(ids[0]) == 9
    assert ids[0].isalnum()


def test_id_that_is_too_long_for_openai_is_shortened_alike_in_call_and_result() -> None:
    long = "chatcmpl-tool-" + "0" * 32
    conversation = (
        HI,
        AssistantMessage([ToolCall(long, "f", "{}")]),
        ToolMessage([ToolResult("1", call_id=long)]),
    )
    _, said, result = messages_of(*conversation)
    assert said["tool_calls"][0]["id"] == result["tool_call_id"]
    assert len(result["tool_call_id"]) <= 40


def test_user_does_not_follow_a_tool_where_a_server_insists() -> None:
    results = ToolMessage([ToolResult("1", call_id="Abc123xyz")])
    conversation = (HI, AssistantMessage([ToolCall("Abc123xyz", "f", "{}")]), results, HI)
    roles = [message["role"] for message in messages_of(*conversation, endpoint=MISTRAL)]
    assert roles == ["user", "assistant", "tool", "assistant", "user"]
    roles = [message["role"] for message in messages_of(*conversation)]
    assert roles == ["user", "assistant", "tool", "user"]


def test_instructions_join_the_first_message_where_there_is_no_role_for_them() -> None:
    def codec() -> OpenAIChat:
        return OpenAIChat(Quirks(system_role=False))

    assert messages_of(SystemMessage("Be brief."), HI, HI, codec=codec()) == [
        {"role": "user", "content": "Be brief.\nhi"},
        {"role": "user", "content": "hi"},
    ]
    assert messages_of(HI, codec=codec()) == [{"role": "user", "content": "hi"}]
    assert messages_of(SystemMessage("Be brief."), codec=codec()) == [
        {"role": "user", "content": "Be brief."}
    ]


def test_schemas_are_cut_down_where_a_server_insists() -> None:
    schema = {
        "$defs": {"Kind": {"enum": ["a", "b"], "type": "string", "title": "Kind"}},
        "type": "object",
        "additionalProperties": False,
        "required": ["kind"],
        "properties": {
            "kind": {"$ref": "#/$defs/Kind", "description": "which"},
            "many": {"type": ["array", "null"], "items": {"const": 7}, "uniqueItems": True},
            "maybe": {"anyOf": [{"type": "integer", "exclusiveMinimum": 0}, {"type": "null"}]},
            "either": {"oneOf": [{"type": "integer"}, {"type": "string", "format": "uri"}]},
            "whole": {"allOf": [{"$ref": "#/$defs/Kind"}]},
        },
    }
    spec = ToolSpec("f", "", schema)
    value = sent(HI, tools=(spec,), codec=OpenAIChat(Quirks(plain_schemas=True)))
    assert value["tools"][0]["function"]["parameters"] == {
        "type": "object",
        "required": ["kind"],
        "properties": {
            "kind": {"enum": ["a", "b"], "type": "string", "description": "which"},
            "many": {"type": "array", "items": {"type": "integer", "description": "One of: 7."}},
            "maybe": {"type": "integer"},
            "either": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
            "whole": {"enum": ["a", "b"], "type": "string"},
        },
    }


def test_schema_that_refers_to_itself_has_an_end() -> None:
    schema = {"$defs": {"T": {"properties": {"t": {"$ref": "#/$defs/T"}}}}, "$ref": "#/$defs/T"}
    spec = ToolSpec("f", "", schema)
    value = sent(HI, tools=(spec,), codec=OpenAIChat(Quirks(plain_schemas=True)))
    assert len(json.dumps(value)) < 2000


# What refusals teach


def without(field: str) -> Quirks:
    return Quirks(dropped=frozenset({field}))


LONG_LIMIT = Quirks(limit_field="max_completion_tokens")

FULL = ModelRequest(
    "m",
    (SystemMessage("Be brief."), HI),
    (ToolSpec("f", "", {"type": "object", "$schema": "x"}),),
    ModelOptions(max_tokens=9, temperature=0.5, reasoning_effort="low", seed=1),
)


@pytest.mark.parametrize(
    ("message", "quirks"),
    [
        ("Unknown parameter: stream_options", without("stream_options")),
        (
            "'temperature' does not support 0.5 with this model",
            without("temperature"),
        ),
        (
            "reasoning_effort is not supported by this model",
            without("reasoning_effort"),
        ),
        ("'max_tokens' is not supported. Use 'max_completion_tokens' instead.", LONG_LIMIT),
        (
            "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.",
            Quirks(short_ids=True),
        ),
        ("Unexpected role 'user' after role 'tool'", Quirks(strict_roles=True)),
        ("Conversation roles must alternate user/assistant", Quirks(strict_roles=True)),
        ("System role not supported", Quirks(system_role=False)),
        ("Developer instruction is not enabled for this model", Quirks(system_role=False)),
        (
            "The `reasoning_content` in the thinking mode must be passed back to the API.",
            Quirks(reasoning_back=True),
        ),
        (
            "thinking is enabled but reasoning_content is missing in assistant tool call message",
            Quirks(reasoning_back=True),
        ),
        ("property 'messages.1.reasoning' is unsupported", Quirks(native=False)),
        ("messages.2.extra_content: Extra inputs are not permitted", Quirks(native=False)),
        ("Invalid schema for function 'f': unknown keyword $schema", Quirks(plain_schemas=True)),
        (
            'Unknown name "$schema" at tools[0].function.parameters: Cannot find field.',
            Quirks(plain_schemas=True),
        ),
    ],
)
def test_refusal_that_is_understood_changes_how_requests_are_written(
    message: str, quirks: Quirks
) -> None:
    codec = OpenAIChat(Quirks())
    assert codec.adapt(RequestRefused(message, status=400), FULL)
    assert codec.encode(FULL, endpoint=HERE) == OpenAIChat(quirks).encode(FULL, endpoint=HERE)
    assert codec.adapt(RequestRefused(message, status=400), FULL) is None


@pytest.mark.parametrize(
    "error",
    [
        RequestRefused("the model `x` does not exist"),
        ContextOverflow("messages: unexpected length"),
        ToolsRefused("tools: unsupported"),
        RateLimited("stream_options"),
    ],
)
def test_refusal_that_teaches_nothing_changes_nothing(
    error: RequestRefused | RateLimited,
) -> None:
    assert OpenAIChat().adapt(error, FULL) is None


def test_fields_that_were_not_sent_are_not_blamed() -> None:
    request = ModelRequest("m", (HI,), (), ModelOptions(stream=False))
    assert OpenAIChat().adapt(RequestRefused("bad stream_options"), request) is None


def test_what_is_refused_no_longer_goes_back() -> None:
    codec = OpenAIChat(Quirks())
    message = AssistantMessage([Reasoning("x", '{"reasoning":null}'), CALL], OWN)
    request = ModelRequest("m", (HI, message))
    assert b"reasoning" in codec.encode(request, endpoint=HERE).body
    assert codec.adapt(RequestRefused("'messages.1.reasoning' is unsupported"), request)
    assert b"reasoning" not in codec.encode(request, endpoint=HERE).body


def test_reasoning_is_made_up_where_a_server_insists_on_it() -> None:
    codec = OpenAIChat(Quirks(reasoning_back=True))
    assert assistant(AssistantMessage([CALL], FOREIGN), codec=codec)["reasoning_content"] == ""


# Encoded once


def test_each_message_is_encoded_once() -> None:
    codec = OpenAIChat()
    messages: tuple[Message, ...] = (HI,)
    first = codec.encode(ModelRequest("m", messages), endpoint=HERE).body
    before = codec._messages.texts(messages)[0]
    messages = (*messages, AssistantMessage([Text("a")]), UserMessage("b"))
    codec.encode(ModelRequest("m", messages), endpoint=HERE)
    assert codec._messages.texts(messages)[0] is before
    assert codec.encode(ModelRequest("m", messages[:1]), endpoint=HERE).body == first


def test_conversations_that_take_turns_are_both_kept() -> None:
    codec = OpenAIChat()
    one, two = (UserMessage("one"),), (UserMessage("two"), UserMessage("three"))
    kept = [codec._messages.texts(messages)[0] for messages in (one, two)]
    assert [codec._messages.texts(messages)[0] for messages in (one, two)] == kept
    assert codec._messages.texts(one)[0] is kept[0]


def test_what_is_kept_is_bounded() -> None:
    codec = OpenAIChat()
    for number in range(5000):
        codec._messages.texts((UserMessage(str(number)),))
    assert len(codec._messages._by_id) < 1100


def test_other_endpoint_is_written_to_anew() -> None:
    codec = OpenAIChat()
    message = AssistantMessage([Reasoning("x", '{"reasoning_content":null}'), CALL], OWN)
    assert "reasoning_content" in assistant(message, codec=codec)
    assert "reasoning_content" not in assistant(message, codec=codec, endpoint="http://x/v1")


def test_tools_that_change_are_encoded_anew() -> None:
    codec = OpenAIChat()
    for description in ("one", "two"):
        spec = ToolSpec("f", description, {})
        assert (
            sent(HI, codec=codec, tools=(spec,))["tools"][0]["function"]["description"]
            == description
        )
    same = ToolSpec("f", "two", {"type": "object"})
    assert sent(HI, codec=codec, tools=(same,))["tools"][0]["function"]["parameters"] == {
        "type": "object"
    }


# The list of models


@pytest.mark.parametrize(
    "body",
    [
        {"data": [{"id": "a", "context_length": 9}, {"id": ""}, {"id": None}, {"id": "b"}]},
        {"models": [{"id": "a", "meta": {"n_ctx_train": 9}}, {"id": "b"}]},
        [{"id": "a", "max_model_len": 9}, {"id": "b", "context_window": None}],
    ],
)
def test_models_are_listed(body: object) -> None:
    found = OpenAIChat().read_models(json.dumps(body).encode())
    assert found == [ModelInfo("a", 9), ModelInfo("b")]


def test_no_models_are_an_empty_list() -> None:
    assert OpenAIChat().read_models(b'{"data": []}') == []


@pytest.mark.parametrize("body", [b"", b"<html>", b"7", b'{"data": 7}', b"{}"])
def test_what_is_no_list_of_models_is_refused(body: bytes) -> None:
    with pytest.raises(BrokenStream):
        OpenAIChat().read_models(body)


# Servers that take less than others


def plain(schema: dict[str, Any]) -> dict[str, Any]:
    spec = ToolSpec("f", "", schema)
    value = sent(HI, tools=(spec,), codec=OpenAIChat(Quirks(plain_schemas=True)))
    found: dict[str, Any] = value["tools"][0]["function"]["parameters"]
    return found


@pytest.mark.parametrize("schema", [{}, {"type": "object"}, {"properties": None}])
def test_schema_of_nothing_is_an_object_without_properties(schema: dict[str, Any]) -> None:
    assert plain(schema) == {"type": "object", "properties": {}}


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        ({}, {"type": "string"}),
        (True, {"type": "string"}),
        ({"type": "array"}, {"type": "array", "items": {"type": "string"}}),
        ({"enum": ["", "a", None]}, {"type": "string", "enum": ["a"]}),
        (
            {"enum": [1, 2], "description": "Which."},
            {"type": "integer", "description": "Which. One of: 1, 2."},
        ),
        ({"const": True}, {"type": "boolean", "description": "One of: true."}),
        ({"additionalProperties": {"type": "string"}}, {"type": "object"}),
        (
            {"description": "d", "anyOf": [{"type": "string"}, {"type": "integer"}]},
            {
                "anyOf": [
                    {"description": "d", "type": "string"},
                    {"description": "d", "type": "integer"},
                ]
            },
        ),
        ({"$ref": "#/$defs/A"}, {"type": "integer"}),
        ({"$ref": "#/$defs/missing"}, {"type": "string"}),
        (
            {"allOf": [{"properties": {"a": {}}, "required": ["a"]}, {"properties": {"b": {}}}]},
            {
                "type": "object",
                "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
                "required": ["a"],
            },
        ),
    ],
)
def test_property_is_of_a_form_that_every_server_takes(given: object, taken: object) -> None:
    definitions = {"A": {"$ref": "#/$defs/B"}, "B": {"type": "integer"}}
    schema = {"type": "object", "properties": {"x": given}, "$defs": definitions}
    assert plain(schema)["properties"] == {"x": taken}


def test_property_that_is_not_there_is_not_required() -> None:
    schema = {"type": "object", "properties": {"a": {}}, "required": ["a", "b"]}
    assert plain(schema)["required"] == ["a"]
    assert "required" not in plain({"type": "object", "required": ["b"]})


@pytest.mark.parametrize(
    ("message", "quirks"),
    [
        ("Model does not support parameter reasoningEffort.", without("reasoning_effort")),
        ("body.seed: Extra inputs are not permitted", without("seed")),
        ("'messages[0].role' does not support 'system' with this model", Quirks(system_role=False)),
        ("Function call is missing a thought_signature in its part", Quirks(signed_calls=True)),
        ("The text field in the block at messages.1.content.0 is blank", Quirks(blank_text=False)),
        ("messages: text content blocks must be non-empty", Quirks(blank_text=False)),
        ("max_tokens is too large. The model supports at most 8 tokens", Quirks(token_limit=8)),
        ("function_declarations[0].parameters.x.items: missing field.", Quirks(plain_schemas=True)),
        ("parameters.properties[x].enum: only allowed for STRING", Quirks(plain_schemas=True)),
        ("parameters.required[0]: property is not defined", Quirks(plain_schemas=True)),
        ("schema must be a JSON Schema of type object", Quirks(plain_schemas=True)),
        ("object schema missing properties", Quirks(plain_schemas=True)),
    ],
)
def test_refusal_in_the_words_of_other_servers_is_understood(message: str, quirks: Quirks) -> None:
    codec = OpenAIChat(Quirks())
    assert codec.adapt(RequestRefused(message, status=400), FULL)
    assert codec.quirks == quirks
    assert codec.adapt(RequestRefused(message, status=400), FULL) is None


ASKED = AssistantMessage([Text(" "), ToolCall("c1", "f", "{}")])
EMPTY = ToolMessage([ToolResult("", call_id="c1", name="f")])


def test_empty_text_is_left_out_where_a_server_insists() -> None:
    _, asked, result = messages_of(HI, ASKED, EMPTY, codec=OpenAIChat(Quirks(blank_text=False)))
    assert (asked["content"], result["content"]) == (None, "(nothing)")
    _, asked, result = messages_of(HI, ASKED, EMPTY)
    assert (asked["content"], result["content"]) == (" ", "")


def test_calls_of_other_models_get_a_word_in_place_of_their_signature() -> None:
    codec = OpenAIChat(Quirks(signed_calls=True))
    signed = '{"extra_content":{"google":{"thought_signature":"U0lH"}}}'
    own = AssistantMessage([ToolCall("c1", "f", "{}", signed)], OWN)
    found = [messages_of(HI, asked, codec=codec)[1]["tool_calls"][0] for asked in (own, ASKED)]
    assert [call["extra_content"]["google"]["thought_signature"] for call in found] == [
        "U0lH",
        "skip_thought_signature_validator",
    ]


@pytest.mark.parametrize(
    "message",
    [
        "Failed to parse tool call arguments as JSON: parse error: unexpected end of input",
        """error parsing tool call: raw='{"parameters": {"a"', err=invalid character""",
    ],
)
def test_garbled_call_of_a_model_teaches_nothing_about_requests(message: str) -> None:
    codec = OpenAIChat(Quirks())
    assert codec.adapt(ServerFault(message, status=500), FULL) is None


@pytest.mark.parametrize(
    "message",
    [
        "No endpoints found that support image input",
        "messages[4]: unknown variant `image_url`, expected `text` at line 1 column 9",
        "this model does not support image input",
        "Image input is not supported by this model",
        "the model is not a multimodal model",
    ],
)
def test_model_without_eyes_is_told_where_the_pictures_were(message: str) -> None:
    picture = Image("image/png", b"x")
    asked = AssistantMessage([ToolCall("c1", "look", "{}")])
    shown = ToolMessage([ToolResult((Text("seen"), picture), call_id="c1", name="look")])
    codec = OpenAIChat(Quirks())
    assert codec.adapt(RequestRefused(message, status=404), FULL)
    assert codec.quirks == Quirks(images=False)
    user, _, result = messages_of(UserMessage((Text("a"), picture)), asked, shown, codec=codec)
    word = "(a picture, which this model cannot see)"
    assert (user["content"], result["content"]) == (f"a\n{word}", f"seen\n{word}")


@pytest.mark.parametrize(
    "message",
    [
        "The toolConfig field must be defined when using toolUse and toolResult content blocks.",
        "The backend doesn't support tool calling without `tools=` param specified.",
    ],
)
def test_tools_of_earlier_calls_are_named_where_a_server_insists(message: str) -> None:
    codec = OpenAIChat(Quirks())
    error = codec.error(400, {}, json.dumps({"error": {"message": message}}).encode())
    assert codec.adapt(error, FULL)
    tools = sent(HI, ASKED, EMPTY, ASKED, EMPTY, codec=codec)["tools"]
    assert [tool["function"]["name"] for tool in tools] == ["f"]
    assert "tools" not in sent(HI, codec=codec)


@pytest.mark.parametrize(
    "message",
    [
        "Streaming is not supported when using auto tool choice",
        "Function calls with stream is not supported",
        "Your organization must be verified to stream this model.",
        "This model does not support streaming",
    ],
)
def test_server_that_does_not_stream_is_asked_for_the_whole(message: str) -> None:
    codec = OpenAIChat(Quirks())
    assert codec.adapt(RequestRefused(message, status=400), FULL)
    request = codec.encode(FULL, endpoint=HERE)
    assert dict(request.headers)["Accept"] == "application/json"
    assert not {"stream", "stream_options"} & set(json.loads(request.body))


def test_answer_in_json_beside_tools_is_not_asked_for_where_it_is_refused() -> None:
    codec = OpenAIChat(Quirks())
    message = "json mode cannot be combined with tool/function calling"
    assert codec.adapt(RequestRefused(message, status=400), FULL)
    assert codec.quirks == without("response_format")
