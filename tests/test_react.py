"""The ReAct loop that is driven by hand: registry, runner, history, state."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from attrs import asdict
from hypothesis import given, settings
from hypothesis import strategies as st

from hrns.cancel import Cancel
from hrns.context import SessionContext, ToolContext
from hrns.errors import Cancelled, HrnsError, ToolFailure
from hrns.loop import Loop
from hrns.messages import (
    AssistantMessage,
    Image,
    Message,
    Part,
    SystemMessage,
    Text,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from hrns.messages import ToolResult as LoopResult
from hrns.permissions import Prepared
from hrns.react import (
    Action,
    Agent,
    AgentConfig,
    ConversationHistory,
    Final,
    FinalAnswer,
    HistoryOverflow,
    InvalidToolSignature,
    LoopRunner,
    MaxIterationsExceeded,
    Observation,
    ParseError,
    ReactError,
    Serialization,
    Thought,
    Timeout,
    ToolCalls,
    ToolFailed,
    ToolNotFound,
    ToolRegistry,
    ToolResult,
    ToolSpec,
    system_prompt,
    tool_results_anthropic,
    tool_results_ollama,
    tool_results_openai,
    tool_results_responses,
)
from hrns.react.history import estimated_tokens
from hrns.testing import Call, Say, ScriptedProvider
from hrns.tools import Tool, tool

OBJECT = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


def capital(country: str) -> ToolResult:
    known = {"France": "Paris", "Peru": "Lima"}
    return ToolResult("capital", known.get(country, "unknown"), country in known)


def weather(given: str) -> ToolResult:
    return ToolResult("weather", f"sunny {given}")


def registry() -> ToolRegistry:
    tools = ToolRegistry()
    tools.register(ToolSpec("capital", "The capital of a country.", '{"type": "string"}'), capital)
    tools.register(ToolSpec("weather", "The weather of a city.", OBJECT), weather)
    return tools


def runner(**config: Any) -> LoopRunner:
    return LoopRunner(AgentConfig(**config), registry())


def texts(messages: tuple[Message, ...]) -> list[str]:
    """Each message as a word and its text."""
    return [
        f"{type(message).__name__}: "
        + (message.results[0].text if isinstance(message, ToolMessage) else message.text)
        for message in messages
    ]


# AgentConfig


def test_config_has_the_defaults_that_are_told() -> None:
    config = AgentConfig()
    assert (config.max_iterations, config.context_token_limit, config.timeout_ms) == (
        10,
        8192,
        30000,
    )
    assert (config.model, config.recover_from_errors) == ("", False)


# ToolRegistry


def test_empty_name_is_an_invalid_signature() -> None:
    for name in ("", " ", " a", "a\nb", "a\r"):
        with pytest.raises(InvalidToolSignature):
            ToolRegistry().register(ToolSpec(name, ""), weather)


def test_tool_of_the_same_name_replaces_the_first_in_its_place() -> None:
    tools = registry()
    tools.register(ToolSpec("capital", "Another.", "{}"), lambda _: "Rome")
    assert tools.tool_names() == ["capital", "weather"]
    assert tools.tool_count() == 2
    assert tools.spec("capital") == ToolSpec("capital", "Another.", "{}")
    assert tools.spec("nothing") is None
    assert tools.dispatch("capital", "") == ToolResult("capital", "Rome")


def test_dispatch_gives_the_handler_the_text_as_it_is() -> None:
    assert registry().dispatch("weather", ' {"city"') == ToolResult("weather", 'sunny  {"city"')


def test_dispatch_of_an_unknown_tool_names_the_nearest() -> None:
    with pytest.raises(ToolNotFound, match="Did you mean capital") as caught:
        registry().dispatch("capitol", "")
    assert caught.value.name == "capitol"
    with pytest.raises(ToolNotFound, match=r"'x' was not found\.$"):
        ToolRegistry().dispatch("x", "")


def test_handler_that_raises_is_a_failed_tool() -> None:
    tools = ToolRegistry()
    tools.register(ToolSpec("boom", "", "{}"), lambda text: dict[str, str]()[text])
    with pytest.raises(ToolFailed, match="boom failed: KeyError: 'x'") as caught:
        tools.dispatch("boom", "x")
    assert (caught.value.name, caught.value.reason) == ("boom", "KeyError: 'x'")
    assert isinstance(caught.value.__cause__, KeyError)


def test_handler_may_return_anything_that_a_tool_may() -> None:
    tools = ToolRegistry()
    values: dict[str, object] = {"a": "x", "b": {"k": [1]}, "c": None, "d": "ERROR: no"}
    for name in values:
        tools.register(ToolSpec(name, ""), lambda given: values[given])
    assert [tools.dispatch(name, name) for name in tools.tool_names()] == [
        ToolResult("a", "x"),
        ToolResult("b", '{"k": [1]}'),
        ToolResult("c", ""),
        ToolResult("d", "ERROR: no", success=False),
    ]


def test_handler_that_is_stopped_stops_the_loop() -> None:
    cancel = Cancel()
    cancel.set()
    agent = Agent()
    agent.tools.register(ToolSpec("wait", ""), lambda _: cancel.check())
    with pytest.raises(Cancelled):
        agent.step("Action: wait")
    assert agent.history.messages == ()


def call(name: str, arguments: str) -> ToolResult:
    return registry().dispatch_call(ToolCall("c1", name, arguments))


def test_call_of_an_object_tool_passes_the_arguments_unchanged() -> None:
    given = '{ "city":"Oslo", "x" : 1e2 }'
    assert call("weather", given) == ToolResult("weather", f"sunny {given}", True, "c1")
    assert call("weather", "") == ToolResult("weather", "sunny {}", True, "c1")


def test_call_of_any_other_tool_unwraps_the_input() -> None:
    assert call("capital", '{"input": "Peru"}') == ToolResult("capital", "Lima", True, "c1")
    tools = ToolRegistry()
    tools.register(ToolSpec("echo", "", '{"type": "array"}'), lambda text: text)
    for value in ('["a", 1]', "12", "null", '{"a": true}'):
        given = ToolCall("c1", "echo", f'{{"input": {value}}}')
        assert tools.dispatch_call(given) == ToolResult("echo", value, True, "c1")


@pytest.mark.parametrize("arguments", ["{", "Peru", "[1]", '"Peru"', '{"input": "Peru"}{}'])
@pytest.mark.parametrize("name", ["capital", "weather"])
def test_call_with_arguments_that_are_not_json_is_a_failed_result(
    name: str, arguments: str
) -> None:
    result = call(name, arguments)
    assert (result.tool_name, result.success, result.call_id) == (name, False, "c1")
    assert result.output.startswith("Error: the parameters are not valid")


def test_call_without_the_input_is_a_failed_result() -> None:
    result = call("capital", '{"country": "Peru"}')
    assert result == ToolResult("capital", "Error: required field missing @ $.input", False, "c1")


def test_call_of_an_unknown_tool_is_not_found() -> None:
    with pytest.raises(ToolNotFound):
        call("nothing", "{}")


def test_arrays_are_those_of_each_api() -> None:
    wrapped = {
        "type": "object",
        "properties": {"input": {"type": "string"}},
        "required": ["input"],
    }
    told = [("capital", "The capital of a country.", wrapped)]
    told.append(("weather", "The weather of a city.", OBJECT))
    functions = [{"name": n, "description": d, "parameters": s} for n, d, s in told]
    tools = registry()
    assert tools.openai_tools() == [{"type": "function", "function": each} for each in functions]
    assert tools.ollama_tools() == tools.openai_tools()
    assert tools.responses_tools() == [
        {"type": "function", "strict": False, **each} for each in functions
    ]
    assert tools.anthropic_tools() == [
        {"name": n, "description": d, "input_schema": s} for n, d, s in told
    ]


def test_schema_that_is_no_json_cannot_be_shown_to_an_api() -> None:
    tools = ToolRegistry()
    tools.register(ToolSpec("say", "", "any text"), lambda text: text)
    assert tools.dispatch_text("say", "hello") == ToolResult("say", "hello")
    for array in (tools.openai_tools, tools.anthropic_tools, tools.tools):
        with pytest.raises(Serialization, match="'say' is not JSON"):
            array()


def test_tools_prompt_lists_name_description_and_schema() -> None:
    assert registry().tools_prompt() == (
        "- capital: The capital of a country.\n"
        '  Input: {"type": "string"}\n'
        "- weather: The weather of a city.\n"
        f"  Input: {json.dumps(OBJECT)}"
    )
    assert registry().tools_prompt() in system_prompt(registry())


# The same tools in both loops


@tool(effects=["read"])
def area(width: int, height: int = 1) -> str:
    "The area of a rectangle."
    return str(width * height)


def test_tool_of_the_loop_is_a_tool_of_the_registry() -> None:
    tools = ToolRegistry([area])
    assert tools.spec("area") == ToolSpec("area", "The area of a rectangle.", area.schema)
    assert tools.dispatch("area", '{"width": 3, "height": 4}') == ToolResult("area", "12")
    assert tools.tools() == (area,)


def test_tool_of_the_loop_is_shown_to_an_api_as_it_is() -> None:
    schema = {"type": "object", "properties": {"a": {}}}
    bare = Tool("bare", "Anything.", schema, lambda given, _: given)
    (shown,) = ToolRegistry([bare]).openai_tools()
    assert shown["function"]["parameters"] == schema
    result = ToolRegistry([bare]).dispatch_call(ToolCall("c1", "bare", '{"a": 1}'))
    assert result == ToolResult("bare", '{"a": 1}', True, "c1")


def test_tool_of_the_loop_tells_what_is_wrong_with_its_input() -> None:
    tools = ToolRegistry([area])
    result = tools.dispatch_text("area", '{"width": "3", "hight": 1}')
    assert not result.success
    assert "an integer is needed" in result.output
    assert 'did you mean "height"' in result.output
    assert "not valid JSON" in tools.dispatch_text("area", "3 x 4").output


def test_tool_of_the_loop_runs_in_its_context_and_after_its_preparation() -> None:
    def prepare(arguments: Any, _context: ToolContext) -> Prepared | LoopResult:
        return LoopResult("ERROR: not now", status="denied") if arguments else Prepared()

    where = Tool(
        "where", "", {"type": "object"}, lambda _, context: context.cwd.name, preparer=prepare
    )
    tools = ToolRegistry()
    tools.add(where, ToolContext(session=SessionContext(cwd=SessionContext().cwd / "here")))
    assert tools.dispatch_text("where", "") == ToolResult("where", "here")
    assert tools.dispatch("where", '{"a": 1}') == ToolResult("where", "ERROR: not now", False)


def test_pictures_of_a_tool_are_named_where_only_text_goes() -> None:
    shot = Tool(
        "shot",
        "",
        {"type": "object"},
        lambda *_: LoopResult([Text("Here:"), Image("image/png", b"1")]),
    )
    assert ToolRegistry([shot]).dispatch("shot", "") == ToolResult(
        "shot", "Here:\n[1 picture that cannot be shown here]"
    )


def test_spec_and_handler_become_a_tool_of_the_loop() -> None:
    provider = ScriptedProvider(
        [
            [
                Call("capital", {"input": "Peru"}),
                Call("capital", {"input": "Mars"}),
                Call("weather", {"city": "Lima"}),
                Call("capital", {"country": "Peru"}),
            ],
            Say("Done."),
        ]
    )
    loop = Loop(provider, registry().tools(effects=["read"]))
    list(loop.run([UserMessage("Go.")]))
    results = loop.messages[2]
    assert isinstance(results, ToolMessage)
    assert [(result.text, result.status) for result in results.results] == [
        ("Lima", "ok"),
        ("unknown", "error"),
        ('sunny {"city": "Lima"}', "ok"),
        ("ERROR: required field missing @ $.input", "error"),
    ]
    assert [each.effects for each in registry().tools(effects=[])] == [frozenset(), frozenset()]
    assert "execute" in registry().tools()[0].effects  # nothing is known of it


# LoopRunner: the prompt and the question


def test_system_prompt_stands_first_also_when_the_question_came_before() -> None:
    loop = runner()
    loop.ask("What is the capital of Peru?")
    assert loop.with_system_prompt() is loop
    prompt = SystemMessage(system_prompt(loop.registry))
    assert loop.history.messages == (prompt, UserMessage("What is the capital of Peru?"))


def test_system_prompt_is_renewed_and_not_doubled() -> None:
    agent = Agent().with_system_prompt()
    agent.tools.register(ToolSpec("weather", "", OBJECT), weather)
    agent.with_system_prompt()
    assert agent.history.messages == (SystemMessage(system_prompt(agent.tools)),)
    assert agent.history.total_tokens == estimated_tokens(agent.history.messages[0])


# LoopRunner: step


def test_step_runs_the_action_and_keeps_reply_and_observation() -> None:
    loop = runner()
    loop.ask("Where?")
    assert loop.step("Thought: hm\nAction: capital(Peru)") == Action("capital", "Peru")
    assert loop.history.messages == (
        UserMessage("Where?"),
        AssistantMessage([Text("Thought: hm\nAction: capital(Peru)")]),
        ToolMessage([LoopResult("Lima", name="capital")]),
    )
    assert loop.step("Final Answer: Lima") == FinalAnswer("Lima")
    assert texts(loop.history.messages)[-1] == "AssistantMessage: Final Answer: Lima"
    assert loop.iteration_count == 2


def test_step_keeps_a_thought_alone() -> None:
    loop = runner()
    assert loop.step("Thought: hm") == Thought("hm")
    assert texts(loop.history.messages) == ["AssistantMessage: Thought: hm"]


def test_step_runs_the_first_action_with_a_real_observation() -> None:
    loop = runner()
    loop.step(
        "Thought: t\nAction: capital\nAction Input: Peru\nObservation: Cusco\nFinal Answer: Cusco"
    )
    assert texts(loop.history.messages) == [
        "AssistantMessage: Thought: t\nAction: capital\nAction Input: Peru",
        "ToolMessage: Lima",
    ]


@pytest.mark.parametrize(
    ("reply", "output"),
    [
        ("Action: capital(Peru)", "Lima"),
        ('Action: capital\nAction Input: "Peru"', "Lima"),
        ("Action: `capital`\nAction Input: Peru", "Lima"),
        ("Action: weather", "sunny {}"),
        ("Action: weather\nAction Input: null", "sunny {}"),
        ("Action: weather\nAction Input: {'city': 'Lima'}", 'sunny {"city": "Lima"}'),
        ("Action: weather(in Lima)", "sunny in Lima"),
    ],
)
def test_step_gives_the_handler_what_its_schema_says(reply: str, output: str) -> None:
    loop = runner()
    loop.step(reply)
    assert texts(loop.history.messages)[1] == f"ToolMessage: {output}"


def test_step_with_broken_json_for_an_object_tool_is_a_failed_result() -> None:
    loop = runner()
    loop.step('Action: weather\nAction Input: {"city": "Li')
    message = loop.history.messages[-1]
    assert isinstance(message, ToolMessage)
    assert message.results[0].status == "error"
    assert message.results[0].text.startswith("Error: the parameters are not valid JSON")


def test_step_tells_the_model_what_the_handler_raised() -> None:
    agent = Agent()
    agent.tools.register(ToolSpec("boom", ""), lambda text: 1 / len(json.loads(text)))

    def refuse(_text: str) -> str:
        raise ToolFailure("closed on Sundays")

    agent.tools.register(ToolSpec("shop", ""), refuse)
    agent.step("Action: boom")
    agent.step("Action: shop")
    assert texts(agent.history.messages)[1::2] == [
        "ToolMessage: Error: boom failed: ZeroDivisionError: division by zero",
        "ToolMessage: Error: shop failed: closed on Sundays",
    ]


@pytest.mark.parametrize(
    ("reply", "error"), [("Action: nothing(x)", ToolNotFound), ("Hello.", ParseError)]
)
def test_step_that_raises_counts_and_leaves_the_history_as_it_was(
    reply: str, error: type[ReactError]
) -> None:
    loop = runner()
    loop.ask("Where?")
    with pytest.raises(error):
        loop.step(reply)
    assert (loop.iteration_count, loop.history.messages) == (1, (UserMessage("Where?"),))


def test_step_past_the_most_iterations_is_refused() -> None:
    loop = runner(max_iterations=2)
    loop.step("Thought: a")
    loop.step("Thought: b")
    for _ in range(2):
        with pytest.raises(MaxIterationsExceeded, match="its 2 replies") as caught:
            loop.step("Final Answer: c")
    assert caught.value.limit == 2
    assert (loop.iteration_count, len(loop.history)) == (2, 2)


# LoopRunner: recover_from_errors


def test_unknown_tool_becomes_an_observation_that_the_model_can_correct() -> None:
    loop = runner(recover_from_errors=True)
    assert loop.step("Action: capitol(Peru)") == Action("capitol", "Peru")
    assert texts(loop.history.messages)[1] == (
        "ToolMessage: Error: the tool 'capitol' was not found. Did you mean capital? "
        "The tools are: capital, weather."
    )
    loop.step("Action: capital(Peru)")
    assert texts(loop.history.messages)[3] == "ToolMessage: Lima"


def test_unreadable_reply_becomes_an_observation_with_the_format() -> None:
    loop = runner(recover_from_errors=True)
    step = loop.step(" The capital is Lima. ")
    assert isinstance(step, Observation)
    assert step.content.startswith(
        "Error: the reply has neither an action nor a final answer. Your reply was not in the form"
    )
    assert texts(loop.history.messages) == [
        "AssistantMessage: The capital is Lima.",
        f"ToolMessage: {step.content}",
    ]


def test_nothing_else_is_recovered() -> None:
    loop = runner(recover_from_errors=True, max_iterations=2, timeout_ms=5)
    loop.step_at("Thought: a", 0)
    with pytest.raises(Timeout):
        loop.step_at("Thought: b", 6)
    with pytest.raises(MaxIterationsExceeded):
        loop.step("Thought: c")
    fresh = runner(recover_from_errors=True)
    with pytest.raises(ParseError):
        fresh.step_response("<html>")


# LoopRunner: step_at


def test_clock_starts_with_the_first_step_at_and_never_with_step() -> None:
    loop = runner(timeout_ms=100)
    loop.step("Thought: a")
    loop.step_at("Thought: b", 5_000)
    loop.step_at("Thought: c", 5_100)
    with pytest.raises(Timeout) as caught:
        loop.step_at("Action: capital(Peru)", 5_100.5)
    assert (caught.value.elapsed_ms, caught.value.limit_ms) == (100.5, 100)
    assert (loop.iteration_count, len(loop.history)) == (4, 3)
    assert loop.step("Thought: d") == Thought("d")


def test_no_timeout_is_no_limit() -> None:
    loop = runner(timeout_ms=None)
    loop.step_at("Thought: a", 0)
    assert loop.step_at("Thought: b", 1e15) == Thought("b")


# LoopRunner: step_response


def chat(*calls: tuple[str, str, str], text: str | None = None) -> dict[str, Any]:
    entries = [
        {"id": i, "type": "function", "function": {"name": n, "arguments": a}} for i, n, a in calls
    ]
    message = {"role": "assistant", "content": text, **({"tool_calls": entries} if calls else {})}
    return {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}


RESPONSES: dict[str, Any] = {
    "object": "response",
    "status": "completed",
    "output": [
        {
            "type": "function_call",
            "call_id": "c1",
            "name": "capital",
            "arguments": '{"input": "Peru"}',
        },
        {"type": "function_call", "call_id": "c2", "name": "weather", "arguments": "{}"},
    ],
}
ANTHROPIC: dict[str, Any] = {
    "type": "message",
    "role": "assistant",
    "stop_reason": "tool_use",
    "content": [
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "c1", "name": "capital", "input": {"input": "Peru"}},
        {"type": "tool_use", "id": "c2", "name": "weather", "input": {}},
    ],
}
OLLAMA: dict[str, Any] = {
    "model": "m",
    "message": {
        "role": "assistant",
        "content": "",
        "tool_calls": [
            {"id": "c1", "function": {"name": "capital", "arguments": {"input": "Peru"}}},
            {"id": "c2", "function": {"name": "weather", "arguments": {}}},
        ],
    },
    "done": True,
    "done_reason": "stop",
}
CHAT = chat(("c1", "capital", '{"input": "Peru"}'), ("c2", "weather", "{}"))


@pytest.mark.parametrize("body", [CHAT, RESPONSES, ANTHROPIC, OLLAMA])
@pytest.mark.parametrize("form", ["values", "text", "bytes"])
def test_response_runs_its_calls_in_order_and_keeps_their_ids(
    body: dict[str, Any], form: str
) -> None:
    loop = runner()
    text = json.dumps(body)
    given: dict[str, Any] = {"values": body, "text": text, "bytes": text.encode()}
    assert loop.step_response(given[form]) == ToolCalls(
        (ToolResult("capital", "Lima", True, "c1"), ToolResult("weather", "sunny {}", True, "c2"))
    )
    reply, results = loop.history.messages
    assert isinstance(reply, AssistantMessage)
    assert [(each.id, each.name) for each in reply.calls] == [("c1", "capital"), ("c2", "weather")]
    assert results == ToolMessage(
        [
            LoopResult("Lima", call_id="c1", name="capital"),
            LoopResult("sunny {}", call_id="c2", name="weather"),
        ]
    )
    assert loop.iteration_count == 1


@pytest.mark.parametrize(
    "body",
    [
        chat(text="Lima."),
        {"output": [{"type": "message", "content": [{"type": "output_text", "text": "Lima."}]}]}
        | {"status": "completed", "object": "response"},
        {"type": "message", "content": [{"type": "text", "text": "Lima."}]}
        | {"role": "assistant", "stop_reason": "end_turn"},
        {"message": {"role": "assistant", "content": "Lima."}, "done": True, "model": "m"},
    ],
)
def test_response_without_a_call_is_final(body: dict[str, Any]) -> None:
    loop = runner()
    step = loop.step_response(body)
    assert (step, step.is_final) == (Final("Lima."), True)
    assert texts(loop.history.messages) == ["AssistantMessage: Lima."]


@pytest.mark.parametrize(
    "body",
    ["", "<html>", "[]", "3", "{}", '{"error": {"message": "no"}}', b"\xff", '{"choices": []}'],
)
def test_body_that_is_no_response_is_a_parse_error(body: str | bytes) -> None:
    loop = runner()
    with pytest.raises(ParseError):
        loop.step_response(body)
    assert (loop.iteration_count, loop.history.messages) == (1, ())


def test_all_names_are_checked_before_any_call_runs() -> None:
    ran: list[str] = []
    agent = Agent()
    agent.tools.register(ToolSpec("first", ""), ran.append)
    with pytest.raises(ToolNotFound, match="'second'"):
        agent.step_response(chat(("c1", "first", "{}"), ("c2", "second", "{}")))
    assert (ran, agent.history.messages, agent.iteration_count) == ([], (), 1)


def test_unknown_tool_in_a_response_is_a_result_where_errors_are_recovered() -> None:
    loop = runner(recover_from_errors=True)
    step = loop.step_response(chat(("c1", "capitol", "{}"), ("c2", "capital", '{"input": "Peru"}')))
    assert isinstance(step, ToolCalls)
    assert [(each.call_id, each.success) for each in step.results] == [("c1", False), ("c2", True)]
    assert step.results[0].output.startswith("Error: the tool 'capitol' was not found.")


def test_response_past_the_most_iterations_is_refused() -> None:
    loop = runner(max_iterations=0)
    with pytest.raises(MaxIterationsExceeded):
        loop.step_response(CHAT)


RESULTS = (ToolResult("capital", "Lima", True, "c1"), ToolResult("weather", "no", False, "c2"))


def test_results_go_back_in_the_form_of_each_api() -> None:
    assert tool_results_openai(RESULTS) == [
        {"role": "tool", "tool_call_id": "c1", "content": "Lima"},
        {"role": "tool", "tool_call_id": "c2", "content": "no"},
    ]
    assert tool_results_responses(RESULTS) == [
        {"type": "function_call_output", "call_id": "c1", "output": "Lima"},
        {"type": "function_call_output", "call_id": "c2", "output": "no"},
    ]
    good = {"type": "tool_result", "tool_use_id": "c1", "content": "Lima"}
    bad = {"type": "tool_result", "tool_use_id": "c2", "content": "no", "is_error": True}
    assert tool_results_anthropic(RESULTS) == [{"role": "user", "content": [good, bad]}]
    assert tool_results_ollama(RESULTS) == [
        {"role": "tool", "tool_name": "capital", "content": "Lima"},
        {"role": "tool", "tool_name": "weather", "content": "no"},
    ]


def test_no_results_are_no_messages() -> None:
    assert tool_results_openai([]) == tool_results_anthropic([]) == []
    assert tool_results_responses([]) == tool_results_ollama([]) == []


# LoopRunner: run_scripted, transcript


def test_scripted_run_gives_the_final_answer() -> None:
    loop = runner()
    replies = ["Thought: hm", "Action: capital(Peru)", "Final Answer: Lima", "Thought: unused"]
    assert loop.run_scripted(replies) == "Lima"
    assert loop.iteration_count == 3


def test_script_without_an_answer_exceeds_the_iterations() -> None:
    with pytest.raises(MaxIterationsExceeded, match="none of the 2 replies"):
        runner().run_scripted(["Thought: a", "Thought: b"])
    with pytest.raises(MaxIterationsExceeded, match="its 10 replies"):
        runner().run_scripted(["Thought: a"] * 20)


def test_transcript_has_each_message_as_it_is_and_results_as_observations() -> None:
    loop = runner(recover_from_errors=True).with_system_prompt()
    loop.ask("Which is the capital of Peru?")
    loop.step("Thought: hm\nAction: capital(Peru)")
    loop.step("Final Answer: Lima")
    assert loop.transcript() == (
        f"{system_prompt(loop.registry)}\n"
        "Which is the capital of Peru?\n"
        "Thought: hm\nAction: capital(Peru)\n"
        "Observation: Lima\n"
        "Final Answer: Lima"
    )


def test_transcript_of_native_calls_is_the_text_of_the_same_steps() -> None:
    loop = runner()
    loop.ask("Where?")
    loop.step_response(ANTHROPIC)
    loop.ask("And?")
    assert loop.messages == (
        UserMessage("Where?"),
        AssistantMessage(
            [Text('Thought: I look.\nAction: capital\nAction Input: {"input":"Peru"}')]
        ),
        UserMessage("Observation: Lima"),
        AssistantMessage([Text("Action: weather\nAction Input: {}")]),
        UserMessage([Text("Observation: sunny {}"), Text("And?")]),
    )
    assert loop.transcript().endswith("Observation: sunny {}\nAnd?")


# ConversationHistory


def user(size: int) -> UserMessage:
    """A message of so many tokens."""
    return UserMessage("x" * 4 * size)


def test_estimate_is_a_quarter_of_the_length() -> None:
    assert estimated_tokens(UserMessage("12345678")) == 2
    assert estimated_tokens(UserMessage("123")) == 0
    assert estimated_tokens(SystemMessage("1234")) == 1
    parts: list[Part] = [
        Text("12"),
        ToolCall("id", "name", '{"a": 1}'),
        Image("image/png", b"123456"),
    ]
    assert estimated_tokens(AssistantMessage(parts)) == 3
    assert estimated_tokens(ToolMessage([LoopResult("1234"), LoopResult("5678")])) == 2


def test_push_raises_where_there_is_no_room() -> None:
    history = ConversationHistory(10)
    history.push(user(6))
    history.push(user(4))
    with pytest.raises(HistoryOverflow) as caught:
        history.push(user(1))
    assert (caught.value.size, caught.value.limit) == (11, 10)
    assert list(history.messages) == [user(6), user(4)]
    assert history.total_tokens == 10


def test_eviction_drops_the_oldest_but_no_system_message() -> None:
    history = ConversationHistory(10)
    system = SystemMessage("s" * 16)
    for message in (user(1), system, user(2), user(3)):
        history.push(message)
    history.push_with_eviction(user(3))
    assert list(history.messages) == [system, user(3), user(3)]
    assert history.total_tokens == 10
    history.push_with_eviction(user(20))
    assert list(history.messages) == [system, user(20)]


def test_clear_keeps_the_system_messages() -> None:
    history = ConversationHistory(10, [SystemMessage("rule"), user(2), SystemMessage("more")])
    history.clear_non_system()
    assert history.messages == (SystemMessage("rule"), SystemMessage("more"))
    assert history.total_tokens == 2


def exchange(number: int, size: int) -> list[Message]:
    """A call and its result."""
    call_id = f"c{number}"
    reply = AssistantMessage([ToolCall(call_id, "f", "x" * 4 * size)])
    return [reply, ToolMessage([LoopResult("y" * 4 * size, call_id=call_id)])]


def halves(messages: tuple[Message, ...]) -> list[str]:
    """The ids of calls without a result, and of results without a call."""
    calls = {c.id for m in messages if isinstance(m, AssistantMessage) for c in m.calls}
    results = {r.call_id for m in messages if isinstance(m, ToolMessage) for r in m.results}
    return sorted(calls ^ results)


@settings(max_examples=100)
@given(
    st.integers(1, 40),
    st.lists(st.tuples(st.sampled_from("sue"), st.integers(0, 9)), max_size=12),
)
def test_eviction_never_keeps_half_of_a_call_and_its_result(
    limit: int, pushed: list[tuple[str, int]]
) -> None:
    history = ConversationHistory(limit)
    systems = 0
    for number, (kind, size) in enumerate(pushed):
        messages: list[Message] = [user(size)]
        if kind == "s":
            messages, systems = [SystemMessage("s" * 4 * size)], systems + 1
        elif kind == "e":
            messages = exchange(number, size)
        for message in messages:
            history.push_with_eviction(message)
        assert history.messages[-len(messages) :] == tuple(messages)
        assert halves(history.messages) == []
        kept = history.messages
        assert sum(isinstance(message, SystemMessage) for message in kept) == systems
        assert history.total_tokens == sum(map(estimated_tokens, kept))
        free = [m for m in kept[: -len(messages)] if not isinstance(m, SystemMessage)]
        assert history.total_tokens <= limit or not free


def test_runner_keeps_its_history_within_the_limit() -> None:
    loop = runner(context_token_limit=40, max_iterations=100).with_system_prompt()
    for _ in range(20):
        loop.ask("Which is the capital of Peru, please?")
        loop.step("Thought: hm\nAction: capital(Peru)")
    assert texts(loop.history.messages) == [
        f"SystemMessage: {system_prompt(loop.registry)}",
        "AssistantMessage: Thought: hm\nAction: capital(Peru)",
        "ToolMessage: Lima",
    ]


# State


def test_state_in_mid_loop_goes_on_with_the_same_result() -> None:
    replies = [
        "Thought: one\nAction: capital(Peru)",
        "no form",
        'Action: weather\nAction Input: {"city": "Lima \ud83d"}',
        "Final Answer: \U0001f307",
    ]
    config = {"recover_from_errors": True, "timeout_ms": 50, "max_iterations": 6, "model": "m"}
    whole = runner(**config).with_system_prompt()
    parted = runner(**config).with_system_prompt()
    for now, reply in enumerate(replies):
        whole.step_at(reply, now)
        parted.step_at(reply, now)
        parted = LoopRunner.from_json(parted.to_json(), registry())
    for loop in (whole, parted):
        loop.step_response(CHAT)
    assert parted.to_json() == whole.to_json()
    assert parted.config == whole.config
    assert parted.iteration_count == whole.iteration_count == 5
    assert parted.transcript() == LoopRunner.from_json(whole.to_json(), registry()).transcript()
    with pytest.raises(Timeout):
        parted.step_at("Thought: late", 51)


def test_state_is_json_that_may_be_given_as_values() -> None:
    agent = Agent(AgentConfig(model="m"), registry())
    agent.step("Action: capital(Peru)")
    values = json.loads(agent.to_json())
    again = Agent.from_json(values, registry())
    assert type(again) is Agent
    assert again.history.messages == agent.history.messages
    assert values["messages"][1]["results"][0]["content"][0]["text"] == "Lima"


@pytest.mark.parametrize(
    "change",
    [
        {"version": 2},
        {"config": {}},
        {"config": {**asdict(AgentConfig()), "max_iterations": "3"}},
        {"config": {**asdict(AgentConfig()), "recover_from_errors": 1}},
        {"messages": [{"role": "robot"}]},
        {"messages": 3},
        {"iterations": None},
        {"iterations": True},
        {"started_ms": "now"},
    ],
)
def test_state_that_is_off_is_refused(change: dict[str, Any]) -> None:
    values = {**json.loads(runner().to_json()), **change}
    with pytest.raises(Serialization):
        LoopRunner.from_json(values, registry())


@pytest.mark.parametrize("state", ["", "[]", "null", "{}", '{"version": 1}', "[" * 100_000])
def test_text_that_is_no_state_is_refused(state: str) -> None:
    with pytest.raises(Serialization):
        LoopRunner.from_json(state, registry())


# Agent, errors, imports


def test_agent_brings_what_it_is_not_given() -> None:
    first, second = Agent(), Agent()
    assert first.config == AgentConfig()
    first.tools.register(ToolSpec("capital", "", '{"type": "string"}'), capital)
    assert second.tools.tool_count() == 0
    assert first.run_scripted(["Action: capital(Peru)", "Final Answer: Lima"]) == "Lima"


def test_agent_keeps_an_empty_registry_that_it_is_given() -> None:
    tools = ToolRegistry()
    agent = Agent(registry=tools)
    tools.register(ToolSpec("capital", "", '{"type": "string"}'), capital)
    agent.step("Action: capital(Peru)")
    assert agent.tools is tools


def test_errors_of_the_loop_are_one_family() -> None:
    family: set[type[ReactError]] = {MaxIterationsExceeded, ToolNotFound, ToolFailed, ParseError}
    family |= {Timeout, HistoryOverflow, Serialization, InvalidToolSignature}
    assert set(ReactError.__subclasses__()) == family
    assert issubclass(ReactError, HrnsError)
    assert len({ReactError.code, *(error.code for error in family)}) == 9


def test_react_loads_no_network_disk_or_plugin_code() -> None:
    program = (
        "import sys, hrns.react, hrns.react.reader; agent = hrns.react.Agent();"
        "agent.tools.register(hrns.react.ToolSpec('f', ''), str); agent.step('Action: f');"
        "agent.step_response({'choices': [{'message': {'content': 'x'}}]}); agent.to_json();"
        "print([name for name in ('httpx', 'pluggy', 'click', 'asyncio', 'hrns.transport',"
        " 'hrns.config', 'hrns.plugins', 'hrns.session', 'hrns.loop') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
