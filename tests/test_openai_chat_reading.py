"""Replies of chat-completions servers, in every dialect, wherever the stream is cut."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hrns.errors import (
    BrokenStream,
    ContextOverflow,
    ProviderError,
    RateLimited,
    RequestRefused,
    ServerFault,
)
from hrns.messages import (
    AssistantMessage,
    Opaque,
    Reasoning,
    Text,
    ToolCall,
    ToolMessage,
    ToolResult,
    Usage,
)
from hrns.providers.base import Delta, Finish, PartText, ProviderNotice
from hrns.providers.openai_chat import OpenAIChat
from hrns.providers.openai_chat_reader import ChatDecoder, usage_of
from hrns.reply import fold
from hrns.testing import sse


def deltas_of(*blocks: bytes) -> list[Delta]:
    decoder = ChatDecoder()
    deltas = [delta for block in blocks for delta in decoder.feed(block)] + decoder.end()
    assert [type(delta) for delta in deltas].index(Finish) == len(deltas) - 1
    assert decoder.finishing
    return deltas


def read(stream: bytes) -> AssistantMessage:
    """The message in a stream: the same wherever it is cut, which is tried at every byte."""
    message = fold(deltas_of(stream))
    for cut in range(1, len(stream)):
        assert fold(deltas_of(stream[:cut], stream[cut:])) == message, cut
    assert fold(deltas_of(*(bytes([byte]) for byte in stream))) == message
    return message


def event(delta: object = None, finish: str | None = None, **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta if delta is not None else {}, "finish_reason": finish}
    return {"id": "chatcmpl-1", "choices": [choice], **more}


def calls(*entries: dict[str, Any]) -> dict[str, Any]:
    return event({"tool_calls": list(entries)})


def entry(
    name: str | None = None, arguments: object = None, given: str | None = None, **more: Any
) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    fields = {"id": given, "function": {k: v for k, v in function.items() if v is not None}, **more}
    return {k: v for k, v in fields.items() if v is not None}


END = event(finish="tool_calls")


def calls_of(*events: dict[str, Any]) -> list[tuple[str, str, str]]:
    """The calls in a stream of these events."""
    message = read(sse(*events, "[DONE]"))
    assert message.stop == "tool_calls"
    return [(call.id, call.name, call.arguments) for call in message.calls]


# Text


def test_text_comes_in_the_pieces_that_the_server_sent() -> None:
    stream = sse(event({"role": "assistant", "content": ""}), event({"content": "Hel"}))
    stream += sse(event({"content": "lo"}), event(finish="stop"), "[DONE]")
    found = [delta.text for delta in deltas_of(stream) if isinstance(delta, PartText)]
    assert found == ["Hel", "lo"]
    assert read(stream) == AssistantMessage([Text("Hello")])


def test_comments_and_keep_alives_are_ignored() -> None:
    stream = b": PROCESSING\n\n:\n\n: ping - 1\n\n" + sse(event({"content": "ok"}, "stop"))
    assert read(stream + b": cost=0.1\ndata: [DONE]\n\n").text == "ok"


def test_lines_may_end_in_any_way_and_need_no_space() -> None:
    text = b'data:{"choices":[{"delta":{"content":"a"}}]}\r\n\r\ndata:[DONE]\r\n\r\n'
    assert read(text).text == "a"
    assert read(text.replace(b"\r\n", b"\r")).text == "a"


def test_last_event_without_an_empty_line_is_read() -> None:
    assert read(sse(event({"content": "a"})) + b"data: [DONE]").text == "a"
    assert read(sse(event({"content": "a"}, "stop")).rstrip()).text == "a"


def test_characters_cut_by_the_network_are_whole() -> None:
    assert read(sse(event({"content": "你😀"}, "stop"))).text == "你😀"


def test_characters_whose_halves_come_apart_are_joined() -> None:
    stream = b'data: {"choices":[{"delta":{"content":"a"}}]}\n\n'
    stream += b'data: {"choices":[{"delta":{"content":"\\ud83d"}}]}\n\n'
    stream += b'data: {"choices":[{"delta":{"content":"\\uDE00 b \\ud83c\\udf78"}}]}\n\n'
    assert read(stream + b"data: [DONE]\n\n").text == "a😀 b 🍸"


def test_half_a_character_becomes_the_replacement_character() -> None:
    stream = b'data: {"choices":[{"delta":{"content":"a \\ud83d b \\udc88 c \\ud83d"}}]}\n\n'
    assert read(stream + b"data: [DONE]\n\n").text == "a \ufffd b \ufffd c \ufffd"


def test_line_separators_inside_text_end_no_line() -> None:
    assert read(sse(event({"content": "a\u2028b\u0085c"}, "stop"))).text == "a\u2028b\u0085c"


def test_content_may_be_a_list_of_parts() -> None:
    thought = [{"type": "text", "text": "two "}, {"type": "text", "text": "plus"}]
    message = read(
        sse(
            event({"content": [{"type": "thinking", "thinking": thought}]}),
            event({"content": [{"type": "thinking", "thinking": " two"}]}),
            event({"content": [{"type": "text", "text": "fo"}, "ur"]}),
            event({"content": [{"type": "reference", "reference_ids": [1]}]}, "stop"),
        )
    )
    assert message.parts == (
        Reasoning("two plus two", '{"thinking_part":null}'),
        Text("four"),
        Opaque('{"content":[{"type":"reference","reference_ids":[1]}]}'),
    )


def test_refusal_is_shown_and_named() -> None:
    stream = sse(event({"refusal": "I will "}), event({"refusal": "not."}), event(finish="stop"))
    assert read(stream) == AssistantMessage([Text("I will not.")], stop="refusal")


# Reasoning


@pytest.mark.parametrize("field", ["reasoning", "reasoning_content", "reasoning_text", "thinking"])
def test_reasoning_is_told_from_text_in_every_spelling(field: str) -> None:
    stream = sse(event({field: "need "}), event({field: "grep"}), event({"content": "Hi"}, "stop"))
    assert read(stream).parts == (Reasoning("need grep", f'{{"{field}":null}}'), Text("Hi"))


def test_delta_with_both_gives_both_reasoning_first() -> None:
    stream = sse(event({"content": "text", "reasoning": "thought"}, "stop"))
    assert read(stream).parts == (Reasoning("thought", '{"reasoning":null}'), Text("text"))


def test_reasoning_that_is_sent_in_two_fields_is_shown_once() -> None:
    stream = sse(event({"reasoning": "a", "reasoning_content": "a"}), event({"content": "b"}))
    native = '{"reasoning":null,"reasoning_content":null}'
    assert read(stream + sse("[DONE]")).parts == (Reasoning("a", native), Text("b"))


def test_reasoning_details_are_joined_for_the_way_back() -> None:
    stream = sse(
        event({"reasoning_details": [{"type": "reasoning.text", "text": "pl", "index": 0}]}),
        event({"reasoning_details": [{"type": "reasoning.text", "text": "an", "index": 0}]}),
        event(
            {
                "content": "",
                "reasoning_details": [
                    {"type": "reasoning.text", "index": 0, "signature": "c2ln"},
                    {"type": "reasoning.encrypted", "data": "eHg=", "index": 1},
                ],
            }
        ),
        event({"content": "Hi"}, "stop"),
    )
    message = read(stream)
    reasoning = message.parts[0]
    assert isinstance(reasoning, Reasoning)
    assert reasoning.text == "plan"
    assert json.loads(reasoning.native or "") == {
        "reasoning_details": [
            {"type": "reasoning.text", "text": "plan", "index": 0, "signature": "c2ln"},
            {"type": "reasoning.encrypted", "data": "eHg=", "index": 1},
        ]
    }


def test_encrypted_reasoning_without_text_is_kept() -> None:
    details = [{"type": "reasoning.encrypted", "data": "eHg=", "index": 0}]
    message = read(sse(event({"reasoning": None, "reasoning_details": details}, "stop")))
    assert message.parts == (
        Reasoning(
            "",
            '{"reasoning_details":[{"type":"reasoning.encrypted","data":"eHg=","index":0}]}',
        ),
    )


def test_reasoning_in_tags_is_told_from_text() -> None:
    pieces = ["<thi", "nk>plan", "</th", "ink>\n", "Done, `<think>`."]
    stream = sse(*(event({"content": piece}) for piece in pieces), event(finish="stop"))
    assert read(stream).parts == (Reasoning("plan"), Text("Done, `<think>`."))


def test_closing_tag_behind_reasoning_in_a_field_is_dropped() -> None:
    stream = sse(event({"reasoning_content": "plan"}), event({"content": "</think>Done."}, "stop"))
    assert read(stream).parts == (Reasoning("plan", '{"reasoning_content":null}'), Text("Done."))


def test_text_that_might_have_become_a_tag_is_not_lost() -> None:
    assert read(sse(event({"content": "<th"}), "[DONE]")).parts == (Text("<th"),)


def test_empty_reasoning_field_beside_calls_is_remembered() -> None:
    message = read(
        sse(event({"reasoning_content": ""}), calls(entry("f", "{}", "c1", index=0)), "[DONE]")
    )
    assert Reasoning("", '{"reasoning_content":null}') in message.parts


def test_empty_reasoning_field_beside_text_is_nothing() -> None:
    stream = sse(event({"reasoning_content": ""}), event({"content": "Hi"}, "stop"))
    assert read(stream).parts == (Text("Hi"),)


# Tool calls


def test_call_comes_in_pieces() -> None:
    assert calls_of(
        calls(entry("read", "", "c1", index=0, type="function")),
        calls(entry(None, '{"path":', index=0)),
        calls(entry(None, ' "a"}', index=0)),
        END,
    ) == [("c1", "read", '{"path": "a"}')]


def test_parallel_calls_may_be_interleaved() -> None:
    assert calls_of(
        calls(entry("a", "", "c1", index=0), entry("b", "", "c2", index=1)),
        calls(entry(None, '{"x":', index=0), entry(None, '{"y":', index=1)),
        calls(entry(None, "2}", index=1), entry(None, "1}", index=0)),
        END,
    ) == [("c1", "a", '{"x":1}'), ("c2", "b", '{"y":2}')]


def test_calls_without_index_are_told_apart_by_their_ids() -> None:
    assert calls_of(
        calls(entry("read", '{"path":"a"}', "c1")),
        calls(entry("read", '{"path":"b"}', "c2")),
        END,
    ) == [("c1", "read", '{"path":"a"}'), ("c2", "read", '{"path":"b"}')]


def test_arguments_without_index_continue_the_last_call() -> None:
    assert calls_of(
        calls(entry("read", "", "c1", index=None)),
        calls(entry(None, '{"path":')),
        calls(entry(None, '"a"}')),
        calls(entry("list", "", "c2")),
        calls(entry(None, "{}")),
        END,
    ) == [("c1", "read", '{"path":"a"}'), ("c2", "list", "{}")]


def test_calls_with_and_without_index_may_be_mixed() -> None:
    assert calls_of(
        calls(entry("a", "{}", "c1", index=0)),
        calls(entry("b", "{}", "c2")),
        calls(entry("c", "{}", "c3", index=1)),
        END,
    ) == [("c1", "a", "{}"), ("c2", "b", "{}"), ("c3", "c", "{}")]


def test_whole_calls_in_one_list_without_index_and_id_are_told_apart() -> None:
    found = calls_of(calls(entry("a", '{"x":1}'), entry("a", '{"x":1}'), entry("b", {})), END)
    assert [call[1:] for call in found] == [("a", '{"x":1}'), ("a", '{"x":1}'), ("b", "{}")]
    assert len({call[0] for call in found}) == 3
    assert all(call[0].startswith("call_") for call in found)


def test_new_name_without_index_and_id_is_a_new_call() -> None:
    found = calls_of(calls(entry("a", '{"x":1}')), calls(entry("b", '{"y":2}')), END)
    assert [call[1:] for call in found] == [("a", '{"x":1}'), ("b", '{"y":2}')]


def test_whole_calls_that_share_an_index_are_told_apart() -> None:
    assert calls_of(
        calls(entry("read", '{"path":"a"}', "c1", index=0)),
        calls(entry("read", '{"path":"b"}', "c2", index=0)),
        calls(entry("list", "", "c3", index=0)),
        calls(entry("list", "", "c4", index=0)),
        END,
    ) == [
        ("c1", "read", '{"path":"a"}'),
        ("c2", "read", '{"path":"b"}'),
        ("c3", "list", ""),
        ("c4", "list", ""),
    ]


def test_id_that_changes_in_the_middle_of_a_call_is_no_new_call() -> None:
    assert calls_of(
        calls(entry("read", '{"path"', "c1", index=0)),
        calls(entry(None, ":", "c2", index=0)),
        calls(entry("read", '"a"}', "c3", index=0)),
        END,
    ) == [("c1", "read", '{"path":"a"}')]


def test_name_sent_again_with_each_piece_is_one_name() -> None:
    assert calls_of(
        calls(entry("list_files", "", "c1", index=0)),
        calls(entry("list_files", '{"path":', index=0)),
        calls(entry("list_files", '"."}', index=0)),
        calls(entry("", "", "", index=0)),
        END,
    ) == [("c1", "list_files", '{"path":"."}')]


def test_name_in_pieces_is_joined() -> None:
    assert calls_of(
        calls(entry("run_com", "", "c1", index=0)),
        calls(entry("mand", '{"command":"ls"}', index=0)),
        END,
    ) == [("c1", "run_command", '{"command":"ls"}')]


def test_name_that_grows_is_taken_as_it_last_was() -> None:
    assert calls_of(
        calls(entry("run", "", "c1", index=0)),
        calls(entry("run_command", "{}", index=0)),
        END,
    ) == [("c1", "run_command", "{}")]


def test_whole_call_sent_twice_is_one_call() -> None:
    whole = calls(entry("read", '{"path":"a"}', "c1", index=0))
    assert calls_of(whole, whole, END) == [("c1", "read", '{"path":"a"}')]
    unindexed = calls(entry("read", '{"path":"a"}', "c1"))
    assert calls_of(unindexed, unindexed, END) == [("c1", "read", '{"path":"a"}')]


def test_two_calls_with_one_id_get_two_ids() -> None:
    found = calls_of(
        calls(entry("read", '{"path":"a"}', "0", index=0)),
        calls(entry("read", '{"path":"b"}', "0", index=1)),
        END,
    )
    assert [call[1:] for call in found] == [("read", '{"path":"a"}'), ("read", '{"path":"b"}')]
    assert found[0][0] == "0"
    assert found[1][0].startswith("call_")


def test_id_of_an_earlier_call_is_not_given_again() -> None:
    earlier = (
        AssistantMessage([ToolCall("0", "read", "{}")]),
        ToolMessage([ToolResult("x", call_id="0", name="read")]),
    )
    decoder = OpenAIChat().decoder(earlier)
    stream = sse(calls(entry("read", "{}", "0", index=0)), END, "[DONE]")
    (call,) = fold(decoder.feed(stream)).calls
    assert call.id.startswith("call_")


def test_id_that_comes_late_is_taken() -> None:
    assert calls_of(
        calls(entry("read", "", index=0)), calls(entry(None, "{}", "c9", index=0)), END
    ) == [("c9", "read", "{}")]


@pytest.mark.parametrize("arguments", ["", "  ", None])
def test_no_arguments_are_left_as_they_are(arguments: str | None) -> None:
    found = calls_of(calls(entry("list", arguments, "c1", index=0)), END)
    assert found == [("c1", "list", arguments or "")]


def test_arguments_may_be_an_object() -> None:
    assert calls_of(calls(entry("read", {"path": "a"}, "c1", index=0)), END) == [
        ("c1", "read", '{"path":"a"}')
    ]


def test_old_function_call_is_a_call() -> None:
    stream = sse(
        event({"function_call": {"name": "read", "arguments": ""}}),
        event({"function_call": {"arguments": "{}"}}),
        event(finish="function_call"),
    )
    (call,) = read(stream).calls
    assert (call.name, call.arguments) == ("read", "{}")


def test_calls_decide_over_the_finish_reason() -> None:
    for finish in ("stop", "other", "", None):
        message = read(
            sse(
                event({"content": "Looking."}),
                calls(entry("read", "{}", "c1", index=0)),
                event(finish=finish),
                "[DONE]",
            )
        )
        assert message.stop == "tool_calls"
        assert message.parts == (Text("Looking."), ToolCall("c1", "read", "{}"))


def test_cut_arguments_stay_cut() -> None:
    piece = '{"path":"r.md","content":"# Title\\nfirst ha'
    for finish, stop in (("length", "length"), ("tool_calls", "tool_calls")):
        message = read(sse(calls(entry("write", piece, "c1", index=0)), event(finish=finish)))
        assert message == AssistantMessage([ToolCall("c1", "write", piece)], stop=stop)  # type: ignore[arg-type]


def test_unknown_fields_of_calls_and_messages_are_kept() -> None:
    signed = entry("grep", "{}", "c1", index=0, extra_content={"google": {"sig": "U0lHMQ=="}})
    stream = sse(
        event({"extra_content": {"x": 1}, "annotations": [], "obscure": None}),
        calls(signed),
        event({"extra_content": {"x": 2}}),
        event(finish="stop"),
    )
    assert read(stream).parts == (
        ToolCall("c1", "grep", "{}", '{"extra_content":{"google":{"sig":"U0lHMQ=="}}}'),
        Opaque('{"extra_content":{"x":2}}'),
    )


# Chunks without text, usage, the end


def test_chunks_without_choices_or_delta_are_skipped() -> None:
    stream = sse(
        {"id": "", "choices": [], "prompt_filter_results": [{"prompt_index": 0}]},
        {"choices": None, "usage": {"prompt_tokens": 3, "completion_tokens": 1}},
        {"choices": [{"index": 0, "finish_reason": None}]},
        {"choices": [{"index": 0, "delta": None}]},
        {},
        "null",
        event({"content": "Hi"}, "stop"),
    )
    assert read(stream) == AssistantMessage([Text("Hi")], usage=Usage(3, 1))


def test_other_choices_are_left_aside() -> None:
    second = {"choices": [{"index": 1, "delta": {"content": "no"}}]}
    stream = sse(event({"content": "a"}), second, event({"content": "b"}), second, "[DONE]")
    assert read(stream).text == "ab"


@pytest.mark.parametrize(
    ("reported", "usage"),
    [
        ({"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}, Usage(9, 4)),
        ({"input_tokens": 9, "output_tokens": 4}, Usage(9, 4)),
        ({"total_tokens": 9}, Usage(9, 0)),
        (
            {
                "prompt_tokens": 9,
                "completion_tokens": 4,
                "prompt_tokens_details": {"cached_tokens": 8, "cache_write_tokens": 1},
                "completion_tokens_details": {"reasoning_tokens": 3},
            },
            Usage(9, 4, 8, 1, 3),
        ),
        (
            {"prompt_tokens": 9, "completion_tokens": 4, "prompt_cache_hit_tokens": 5},
            Usage(9, 4, 5),
        ),
        ({"prompt_tokens": 9, "completion_tokens": 4, "cached_tokens": 5}, Usage(9, 4, 5)),
        ({"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 20}, Usage(9, 11)),
        ({"prompt_tokens": float("inf"), "completion_tokens": float("nan")}, Usage()),
        ({"prompt_tokens": None, "completion_tokens": -1, "prompt_tokens_details": None}, Usage()),
        ({}, None),
        (None, None),
    ],
)
def test_usage_is_read_in_every_dialect(
    reported: dict[str, Any] | None, usage: Usage | None
) -> None:
    assert usage_of(reported) == usage


def test_usage_is_the_last_that_was_said_and_never_a_sum() -> None:
    stream = sse(
        event({"content": "a"}, usage={"total_tokens": 6}),
        event({"content": "b"}, usage=None),
        event({"content": "c"}, usage={"total_tokens": 8}),
        event(finish="stop"),
        {"choices": [], "usage": {"total_tokens": 9}},
        "[DONE]",
    )
    assert read(stream) == AssistantMessage([Text("abc")], usage=Usage(9))
    assert sum(isinstance(delta, Usage) for delta in deltas_of(stream)) == 1


@pytest.mark.parametrize("place", ["chunk", "choice", "x_groq"])
def test_usage_is_found_wherever_it_stands(place: str) -> None:
    usage = {"prompt_tokens": 3, "completion_tokens": 1}
    last = event(finish="stop")
    if place == "choice":
        last["choices"][0]["usage"] = usage
    else:
        last.update({"usage": usage} if place == "chunk" else {"x_groq": {"usage": usage}})
    assert read(sse(event({"content": "a"}), last)).usage == Usage(3, 1)


@pytest.mark.parametrize(
    ("finish", "stop"),
    [
        ("stop", "done"),
        ("eos", "done"),
        ("length", "length"),
        ("MAX_TOKENS", "length"),
        ("model_length", "length"),
        ("content_filter", "filter"),
        ("SAFETY", "filter"),
        ("refusal", "refusal"),
    ],
)
def test_finish_reason_says_how_it_ended(finish: str, stop: str) -> None:
    assert read(sse(event({"content": "a"}), event(finish=finish))).stop == stop


def test_mark_of_the_end_suffices() -> None:
    assert read(sse(event({"content": "a"}), "[DONE]")) == AssistantMessage([Text("a")])


def test_finish_reason_suffices() -> None:
    assert read(sse(event({"content": "a"}, "stop"))) == AssistantMessage([Text("a")])


def test_what_comes_behind_the_mark_of_the_end_is_ignored() -> None:
    stream = sse(event({"content": "a"}), "[DONE]", event({"content": "b"}), "garbage")
    assert read(stream).text == "a"


def test_reasoning_alone_is_a_message_without_text() -> None:
    message = read(sse(event({"reasoning_content": "hm"}), event({"content": ""}, "stop")))
    assert (message.text, message.stop) == ("", "done")


def error_of(*blocks: bytes) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        deltas_of(*blocks)
    return caught.value


def fault_of(stream: bytes) -> ProviderError:
    """The error in a stream; of the same kind wherever it is cut."""
    error = error_of(stream)
    for cut in range(1, len(stream)):
        assert type(error_of(stream[:cut], stream[cut:])) is type(error), cut
    return error


@pytest.mark.parametrize(
    "stream",
    [
        b"",
        b"\n\n",
        b": ping\n\n",
        sse(event({"content": "par"})),
        sse(event({"content": "par"}))[:-10],
        sse(calls(entry("read", "{}", "c1", index=0))),
    ],
)
def test_stream_that_just_ends_is_broken(stream: bytes) -> None:
    assert type(fault_of(stream)) is BrokenStream


def test_text_in_place_of_a_reply_is_told() -> None:
    error = fault_of(b"upstream\nconnect error")
    assert error.message.endswith("is no reply: 'upstream connect error'")


@pytest.mark.parametrize(
    "data",
    [
        "garbage",
        "{",
        "[1]",
        '"text"',
        "7",
        '{"choices": 7}',
        '{"choices": [7]}',
        '{"choices": [{"delta": 7}]}',
        '{"choices": [{"delta": {"content": 7}}]}',
        '{"choices": [{"delta": {"content": [7]}}]}',
        '{"choices": [{"delta": {"refusal": 7}}]}',
        '{"choices": [{"delta": {"tool_calls": 7}}]}',
        '{"choices": [{"delta": {"tool_calls": [7]}}]}',
        '{"choices": [{"delta": {"tool_calls": [{"function": 7}]}}]}',
        '{"choices": [{"delta": {"reasoning_details": 7}}]}',
        '{"choices": [], "usage": 7}',
        '{"choices": [], "x_groq": 7}',
        "[" * 100_000,
    ],
)
def test_event_that_does_not_fit_the_protocol_is_a_broken_stream(data: str) -> None:
    for before in (b"", sse(event({"content": "a"}))):
        with pytest.raises(BrokenStream):
            deltas_of(before + sse(data, "[DONE]"))


@pytest.mark.parametrize(
    ("failure", "kind"),
    [
        ({"choices": [], "error": {"code": 502, "message": "worker limit"}}, ServerFault),
        ({"error": {"message": "worker limit"}}, ServerFault),
        ({"error": "worker limit"}, ServerFault),
        ({"object": "error", "message": "worker limit", "code": 500}, ServerFault),
        ({**event({"content": "x"}), "error": {"message": "worker limit"}}, ServerFault),
        ({"error": {"message": "worker limit", "code": 429}}, RateLimited),
        ({"error": {"message": "worker limit", "type": "invalid_request_error"}}, RequestRefused),
        (
            {"error": {"message": "worker limit", "code": "context_length_exceeded"}},
            ContextOverflow,
        ),
    ],
)
def test_error_inside_a_stream_is_the_servers_error(
    failure: dict[str, Any], kind: type[ProviderError]
) -> None:
    for before in (b"", sse(event({"content": "par"}))):
        error = fault_of(before + sse(failure))
        assert type(error) is kind
        assert "worker limit" in error.message
        assert "worker limit" in error.body


def test_event_called_error_is_an_error() -> None:
    named = fault_of(b'event: error\ndata: {"message": "worker limit"}\n\n')
    assert (type(named), "worker limit" in named.message) == (ServerFault, True)
    plain = fault_of(sse(event({"content": "a"})) + b"event: error\ndata: worker limit\n\n")
    assert (type(plain), "worker limit" in plain.message) == (ServerFault, True)


@pytest.mark.parametrize(
    "finish", ["error", "insufficient_system_resource", "MALFORMED_FUNCTION_CALL"]
)
def test_finish_reason_may_be_an_error(finish: str) -> None:
    assert type(fault_of(sse(event({"content": "a"}, finish), "[DONE]"))) is ServerFault


# A whole body


BODY = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "choices": [
        {
            "index": 0,
            "finish_reason": "stop",
            "message": {
                "role": "assistant",
                "content": "<think>hm</think>Hi",
                "tool_calls": [
                    {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}},
                    {"id": "c2", "type": "function", "function": {"name": "f", "arguments": "{}"}},
                ],
            },
        }
    ],
    "usage": {"prompt_tokens": 3, "completion_tokens": 1},
}
BODY_MESSAGE = AssistantMessage(
    [Reasoning("hm"), Text("Hi"), ToolCall("c1", "f", "{}"), ToolCall("c2", "f", "{}")],
    stop="tool_calls",
    usage=Usage(3, 1),
)


def test_whole_body_where_a_stream_was_asked_for_is_read() -> None:
    assert read(json.dumps(BODY).encode()) == BODY_MESSAGE
    assert read(b"\xef\xbb\xbf\n " + json.dumps(BODY, indent=1).encode() + b"\n") == BODY_MESSAGE


def test_body_given_by_hand_is_read() -> None:
    assert OpenAIChat().recognises(BODY)
    assert OpenAIChat().read_body(BODY) == BODY_MESSAGE


@pytest.mark.parametrize("body", [{}, {"choices": 1}, {"choices": [{"delta": {}}]}, {"output": []}])
def test_body_of_another_kind_is_not_recognised(body: dict[str, Any]) -> None:
    assert not OpenAIChat().recognises(body)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ({"error": {"message": "m", "code": 500}}, ServerFault),
        ([{"error": {"message": "m", "code": 429}}], RateLimited),
        ({"detail": "m"}, ServerFault),
        ({"choices": []}, BrokenStream),
        ({"choices": [{"message": 7}]}, BrokenStream),
        ({"id": "x"}, BrokenStream),
    ],
)
def test_whole_body_that_is_no_reply_is_an_error(body: object, kind: type[ProviderError]) -> None:
    assert type(fault_of(json.dumps(body).encode())) is kind


def test_body_that_is_cut_off_is_broken() -> None:
    data = json.dumps(BODY).encode()
    for cut in range(1, len(data)):
        with pytest.raises(BrokenStream):
            deltas_of(data[:cut])


# Any stream


DELTAS = st.fixed_dictionaries(
    {},
    optional={
        "role": st.just("assistant"),
        "content": st.one_of(
            st.none(), st.text(max_size=8), st.just("<think>"), st.just("</think>")
        ),
        "reasoning_content": st.text(max_size=4),
        "tool_calls": st.lists(
            st.fixed_dictionaries(
                {
                    "function": st.fixed_dictionaries(
                        {},
                        optional={
                            "name": st.sampled_from(["a", "b", ""]),
                            "arguments": st.sampled_from(["", "{}", '{"x":', "1}"]),
                        },
                    )
                },
                optional={"index": st.integers(0, 1), "id": st.sampled_from(["c1", "c2", ""])},
            ),
            max_size=2,
        ),
    },
)
NOISE = st.sampled_from([b"", b": ping\n\n", b":\n", b"id: 3\n", b"\n"])


@settings(max_examples=80)
@given(
    st.lists(st.tuples(NOISE, DELTAS), max_size=6),
    st.sampled_from([b"\n", b"\r\n", b"\r"]),
    st.booleans(),
    st.integers(1, 40),
)
def test_message_is_the_same_however_the_stream_is_written_and_cut(
    events: list[tuple[bytes, dict[str, Any]]], line_end: bytes, mark: bool, size: int
) -> None:
    plain = sse(*(event(delta) for _, delta in events), event(finish="stop"), "[DONE]")
    noisy = b"".join(noise + sse(event(delta)) for noise, delta in events)
    noisy += sse(event(finish="stop"), "[DONE]")
    noisy = (b"\xef\xbb\xbf" if mark else b"") + noisy.replace(b"\n", line_end)
    blocks = [noisy[start : start + size] for start in range(0, len(noisy), size)]
    assert fold(deltas_of(*blocks)) == fold(deltas_of(plain))


# Dialects that are further from the protocol


@pytest.mark.parametrize(
    "stream",
    [
        sse("data: " + json.dumps(event({"content": "Hi"}, "stop")), "data: [DONE]"),
        sse(event({"content": "Hi"}, "stop"), '"[DONE]"'),
        sse(event({"content": "Hi"}, "stop"), "DONE"),
        b"event: ping\ndata: ping\n\n" + sse(event({"content": "Hi"}, "stop"), "[DONE]"),
        sse(event({"content": "H"}), "ping", event({"content": "i"}, "stop"), "keep-alive"),
        sse({"choices": [None]}, event({"content": "Hi"}, "stop"), "[DONE]"),
        sse({"choices": [{"text": "Hi", "index": 0, "finish_reason": "stop"}]}, "[DONE]"),
        sse({"choices": [{"index": 1, "delta": {"content": "Hi"}, "finish_reason": "stop"}]}),
        sse(event({"content": {"type": "text", "text": "Hi"}}, "stop")),
    ],
)
def test_streams_of_odd_forms_are_read(stream: bytes) -> None:
    assert read(stream) == AssistantMessage([Text("Hi")])


def test_events_that_no_empty_line_parts_are_told_apart() -> None:
    lines = sse(event({"content": "a"}), event({"content": "b"}, "stop"), "[DONE]")
    assert read(lines.replace(b"\n\n", b"\n")).text == "ab"
    decoder = ChatDecoder()
    decoder.feed(b'data: {"choices": [{"delta": {"content": "a"}}]}\ndata: {"choi')
    shown = decoder.feed(b'ces": [{"delta": {"content": "b"}}]}\n')
    assert shown[1:] == [PartText(0, "a")]  # as soon as the line behind it is there
    assert decoder.feed(b"data: [DONE]\n") == [PartText(0, "b")]


@pytest.mark.parametrize("between", ["\n", "", "\r\n\r\n"])
def test_objects_without_any_framing_are_a_stream_too(between: str) -> None:
    objects = [event({"content": "a"}), event({"content": "b"}, "stop")]
    assert read(between.join(map(json.dumps, objects)).encode()).text == "ab"


def test_tab_inside_a_string_is_a_tab() -> None:
    stream = sse(event({"content": "a?b"}, "stop")).replace(b"?", b"\t")
    assert read(stream).text == "a\tb"


def whole(content: str, **more: Any) -> dict[str, Any]:
    return {"index": 0, "message": {"role": "assistant", "content": content}, **more}


def test_whole_message_beside_or_behind_the_deltas_is_not_read_twice() -> None:
    beside = [
        {"choices": [whole("He", delta={"content": "He"})]},
        {"choices": [whole("Hello", delta={"content": "llo"})]},
        {"choices": [whole("Hello", delta={}, finish_reason="stop")]},
    ]
    behind = [event({"content": "Hello"}), {"choices": [whole("Hello", finish_reason="stop")]}]
    assert read(sse(*beside)).text == read(sse(*behind)).text == "Hello"


def test_messages_in_place_of_deltas_are_pieces() -> None:
    pieces = [{"choices": [whole("He")]}, {"choices": [whole("llo", finish_reason="stop")]}]
    assert read(sse(*pieces)).text == "Hello"


@pytest.mark.parametrize("delta", [None, {}, {"role": None, "content": None}])
def test_message_of_a_body_is_read_beside_an_empty_delta(delta: object) -> None:
    body = {"choices": [whole("Hi", delta=delta, finish_reason="stop")]}
    assert read(json.dumps(body).encode()).text == "Hi"


def test_choice_that_a_body_has_in_two_is_one() -> None:
    called = {"role": "assistant", "tool_calls": [entry("f", "{}", "c1")]}
    for index in (0, 1):
        body = {
            "choices": [
                whole("I look.", finish_reason="tool_calls"),
                {"index": index, "message": called, "finish_reason": "tool_calls"},
            ]
        }
        assert read(json.dumps(body).encode()) == AssistantMessage(
            [Text("I look."), ToolCall("c1", "f", "{}")], stop="tool_calls"
        )


@pytest.mark.parametrize("empty", ["{}", {}, "null"])
def test_empty_object_before_the_arguments_is_none_of_them(empty: object) -> None:
    assert calls_of(
        calls(entry("f", empty, "c1", index=0)),
        calls(entry(None, '{"x"', index=0)),
        calls(entry(None, ":1}", index=0)),
        END,
    ) == [("c1", "f", '{"x":1}')]
    assert calls_of(
        calls(entry("f", empty, "c1", index=0)),
        calls(entry("f", '{"x":1}', "c1", index=0)),
        END,
    ) == [("c1", "f", '{"x":1}')]


def test_empty_object_alone_is_the_arguments() -> None:
    assert calls_of(
        calls(entry("f", "{}", "c1", index=0)), calls(entry("f", "{}", "c2", index=0)), END
    ) == [("c1", "f", "{}"), ("c2", "f", "{}")]


def test_whole_arguments_behind_their_pieces_are_not_read_twice() -> None:
    pieces = [calls(entry("f", '{"x"', "c1", index=0)), calls(entry(None, ":1}", index=0))]
    for call_id in (None, "c1"):
        again = calls(entry(None, '{"x":1}', call_id, index=0))
        assert calls_of(*pieces, again, END) == [("c1", "f", '{"x":1}')]


def test_pieces_of_calls_that_share_an_index_are_told_apart_by_their_ids() -> None:
    assert calls_of(
        calls(entry("f", '{"x"', "c1", index=0)),
        calls(entry("g", '{"y"', "c2", index=0)),
        calls(entry(None, ":1}", "c1", index=0)),
        calls(entry(None, ":2}", "c2", index=0)),
        END,
    ) == [("c1", "f", '{"x":1}'), ("c2", "g", '{"y":2}')]


def test_index_may_be_text() -> None:
    assert calls_of(
        calls(entry("f", "", "c1", index="0")), calls(entry(None, '{"x":1}', index=0)), END
    ) == [("c1", "f", '{"x":1}')]


@pytest.mark.parametrize(
    "given",
    [
        [{"id": "c1", "name": "f", "arguments": {"x": 1}}],
        {"id": "c1", "function": {"name": "f", "arguments": '{"x":1}'}},
        [None, {"id": "c1", "function": {"name": "f", "arguments": '{"x":1}'}}],
    ],
)
def test_list_of_calls_may_have_another_form(given: object) -> None:
    assert calls_of(event({"tool_calls": given}), END) == [("c1", "f", '{"x":1}')]


def test_call_that_is_said_but_not_there_is_told() -> None:
    stream = sse(event({"content": "I look."}), event({"tool_calls": []}, "tool_calls"), "[DONE]")
    assert read(stream) == AssistantMessage([Text("I look.")])
    (notice,) = (d.text for d in deltas_of(stream) if isinstance(d, ProviderNotice))
    assert "there is no call" in notice


def test_thinking_blocks_are_joined_for_the_way_back() -> None:
    def block(thought: str, signature: str | None = None) -> dict[str, Any]:
        fields = {"type": "thinking", "thinking": thought, "signature": signature}
        return event({"thinking_blocks": [fields], "reasoning_content": thought})

    events = [block("need "), block("grep"), block("", "SIG"), block("and"), block("", "TWO")]
    message = read(sse(*events, calls(entry("f", "{}", "c1", index=0)), END))
    assert message.parts[0] == Reasoning(
        "need grepand",
        '{"reasoning_content":null,"thinking_blocks":['
        '{"type":"thinking","thinking":"need grep","signature":"SIG"},'
        '{"type":"thinking","thinking":"and","signature":"TWO"}]}',
    )


def test_encrypted_details_of_two_calls_are_not_joined() -> None:
    details = [
        {"type": "reasoning.encrypted", "data": "AA", "id": "c1", "index": 0},
        {"type": "reasoning.encrypted", "data": "BB", "id": "c2", "index": 0},
    ]
    events = [event({"reasoning_details": details}), calls(entry("f", "{}", "c1", index=0)), END]
    (thought,) = (part for part in read(sse(*events)).parts if isinstance(part, Reasoning))
    assert json.loads(thought.native or "") == {"reasoning_details": details}


def test_word_that_a_piece_is_a_thought_does_not_go_back() -> None:
    extra = {"google": {"thought": True}}
    signed = {"google": {"thought": False, "thought_signature": "U0lH"}}
    message = read(
        sse(
            event({"content": "<thought>plan", "extra_content": extra}),
            event({"content": "</thought>Hi", "extra_content": signed}, "stop"),
        )
    )
    native = '{"extra_content":{"google":{"thought_signature":"U0lH"}}}'
    assert message.parts == (Reasoning("plan"), Text("Hi"), Opaque(native))


@pytest.mark.parametrize(
    ("finish", "stop"),
    [
        ("end_turn", "done"),
        ("eos_token", "done"),
        ("model_context_window_exceeded", "length"),
        ("max_length", "length"),
        ("incomplete", "length"),
        ("BLOCKLIST", "filter"),
        ("SPII", "filter"),
        ("content_filtered", "filter"),
        ("guardrail_intervened", "filter"),
        ("ERROR_TOXIC", "filter"),
    ],
)
def test_finish_reason_in_the_words_of_other_servers(finish: str, stop: str) -> None:
    assert read(sse(event({"content": "a"}), event(finish=finish))).stop == stop


@pytest.mark.parametrize(
    "finish", ["server_error", "timeout", "cancelled", "MALFORMED_RESPONSE", "unexpected_tool_call"]
)
def test_finish_reason_of_a_server_that_gave_up_is_an_error(finish: str) -> None:
    error = fault_of(sse(event({"content": "a"}), event(finish=finish), "[DONE]"))
    assert (type(error), error.message.rpartition(": ")[2]) == (ServerFault, finish)


@pytest.mark.parametrize(
    ("failure", "kind"),
    [
        (sse({"choices": [{"delta": {}, "finish_reason": "error", "error": "E1"}]}), ServerFault),
        (sse({"choices": [{"delta": {"content": ""}, "error": {"message": "E1"}}]}), ServerFault),
        (sse({"type": "error", "message": "E1"}), ServerFault),
        (sse({"message": "E1", "code": 429}), RateLimited),
        (sse({"detail": "E1"}), ServerFault),
        (b'error: {"message": "E1", "code": 503}\n\n', ServerFault),
        (b'{"error": {"message": "E1", "code": 429}}\n', RateLimited),
        (sse({"error": {"message": '{"error": {"code": 400, "message": "E1"}}'}}), RequestRefused),
        (sse("E1 is not JSON"), BrokenStream),
    ],
)
def test_error_of_any_form_inside_a_stream_is_told(
    failure: bytes, kind: type[ProviderError]
) -> None:
    error = fault_of(sse(event({"content": "par"})) + failure)
    assert type(error) is kind
    assert "E1" in error.message


def test_error_beside_an_answer_that_ended_well_takes_nothing_away() -> None:
    odd = event({"content": "Hi"}, "stop")
    odd["choices"][0]["error"] = {"message": "late"}
    assert read(sse(odd)).text == "Hi"


def test_error_in_place_of_a_reply_is_told_also_before_the_mark_of_the_end() -> None:
    error = fault_of(sse({"detail": "no such model"}, "[DONE]"))
    assert "no such model" in error.message


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"choices": None, "base_resp": {"status_code": 1004, "status_msg": "who"}}, "who"),
        ({"error_code": 17, "error_msg": "daily limit"}, "daily limit"),
        ({"choices": [{"message": {"content": ""}, "error": {"message": "up"}}]}, "up"),
        ({"odd": "thing"}, '{"odd":"thing"}'),
    ],
)
def test_what_a_body_says_that_is_no_reply_is_told(body: dict[str, Any], said: str) -> None:
    assert fault_of(json.dumps(body).encode()).message.endswith(f": {said}")


def test_stream_of_another_protocol_is_named_as_it_began() -> None:
    error = fault_of(b'data: {"type": "message_start"}\n\n')
    assert error.message.endswith("""it says 'data: {"type": "message_start"}'""")
