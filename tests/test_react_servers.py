"""ReAct with real servers, where the scripts that start them lie beside the repository."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from hrns.chunks import EndChunk, MessageChunk, NoticeChunk, ReasoningChunk, ToolCallResultChunk
from hrns.loop import Loop
from hrns.messages import SystemMessage, ToolMessage, UserMessage
from hrns.providers.base import ModelOptions, ModelRequest
from hrns.providers.http import build
from hrns.providers.tool_mode import with_tool_mode
from hrns.react import (
    Agent,
    Final,
    ToolCalls,
    ToolResult,
    ToolSpec,
    tool_results_anthropic,
    tool_results_ollama,
    tool_results_openai,
    tool_results_responses,
)
from hrns.tools import tool

SERVERS = Path(__file__).resolve().parents[2] / "shared" / "servers"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hrns-servers"
START_S = 50.0

pytestmark = [pytest.mark.server, pytest.mark.timeout(120)]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


@contextmanager
def serving(command: Sequence[str], port: int) -> Iterator[str]:
    """The URL of a server that this command starts; it and its children end afterwards."""
    if not Path(command[0]).exists():
        pytest.skip(f"{command[0]} is not there")
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        deadline = time.monotonic() + START_S
        while not answers(port):
            if process.poll() is not None or time.monotonic() > deadline:
                pytest.skip(f"{command[0]} does not start")
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.fixture(scope="module")
def llama() -> Iterator[str]:
    port = free_port()
    with serving([str(SERVERS / "llama.sh"), str(port)], port) as url:
        yield url


@pytest.fixture(scope="module")
def toolless_llama(llama: str) -> Iterator[str]:  # noqa: ARG001 - that one installs the server
    """The same server without the templates that tools need: it refuses them."""
    program = (SERVERS / "llama_serve.py").read_text()
    assert "p.use_jinja = True" in program
    program = program.replace("p.use_jinja = True", "p.use_jinja = False")
    home, port = CACHE / "llama", free_port()
    python = str(home / "venv/bin/python")
    arguments = [str(home / "tiny.gguf"), "--port", str(port), "--ctx", "8192"]
    with serving([python, "-c", program, *arguments], port) as url:
        yield url


@pytest.fixture(scope="module")
def aimock() -> Iterator[str]:
    port = free_port()
    with serving([str(SERVERS / "aimock.sh"), str(port)], port) as url:
        yield url


# A model without tool calling


@tool(effects=["read"])
def list_files(folder: str) -> str:
    "Lists the files of a folder."
    return f"{folder}/a.txt"


# The model writes at random, so a grammar makes it keep to the form. What stands behind the action
# is for the parser to cut: the server's own stop sequence does not match it.
WORDS = '\nwords ::= [a-z]{1,8} (" " [a-z]{1,8}){1,4}'
ACTION = r"""root ::= (
 "Thought: " words "\nAction: list_files\nAction Input: {\"folder\": \"" [a-z]{1,12} "\"}"
 "\nObservation 1: " words "\nFinal Answer: " words
)"""
ANSWER = r'root ::= "Thought: " words "\nFinal Answer: " words'


def constrained(request: ModelRequest) -> ModelRequest:
    """The request with the grammar of the step that is due."""
    acted = any(isinstance(message, ToolMessage) for message in request.messages)
    extra = {"grammar": (ANSWER if acted else ACTION) + WORDS}
    return evolve(request, options=evolve(request.options, extra=extra))


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("mode", ["auto", "react"])
def test_run_with_a_real_server_that_refuses_tools_uses_them_and_answers(
    toolless_llama: str, mode: str, stream: bool
) -> None:
    provider = build(url=toolless_llama)
    options = ModelOptions(max_tokens=400, seed=7, stream=stream)
    loop = Loop(
        with_tool_mode(provider, mode),
        [list_files],
        model="tiny",
        options=options,
        request_editors=[constrained],
    )
    chunks = list(loop.run([SystemMessage("Be brief."), UserMessage("Which files are there?")]))
    (result,) = [chunk for chunk in chunks if isinstance(chunk, ToolCallResultChunk)]
    assert result.status == "ok"
    assert result.text == f"{json.loads(result.tool_args)['folder']}/a.txt"
    assert chunks[-1] == EndChunk("done")
    thought = "".join(chunk.text for chunk in chunks if isinstance(chunk, ReasoningChunk))
    answer = "".join(chunk.text for chunk in chunks if isinstance(chunk, MessageChunk))
    assert len(thought.split()) >= 4
    assert len(answer.split()) >= 2
    assert "Observation" not in thought + answer
    notices = [chunk.text for chunk in chunks if isinstance(chunk, NoticeChunk)]
    assert len(notices) == (mode == "auto")
    provider.close()


# By hand


def weather_agent() -> Agent:
    agent = Agent()
    schema = {
        "type": "object",
        "properties": {"city": {"type": "string"}, "unit": {"enum": ["C", "F"]}},
        "required": ["city", "unit"],
    }

    def tell(text: str) -> ToolResult:
        arguments = json.loads(text)
        return ToolResult("get_weather", f"It is 21 {arguments['unit']} in {arguments['city']}.")

    agent.tools.register(ToolSpec("get_weather", "Tells the weather.", schema), tell)
    return agent


def post(url: str, body: dict[str, Any]) -> dict[str, Any]:
    request = urllib.request.Request(  # noqa: S310 - a server of the test's own
        url,
        json.dumps(body).encode(),
        {"Content-Type": "application/json", "Authorization": "Bearer planted"},
    )
    with urllib.request.urlopen(request, timeout=60) as response:  # noqa: S310 - the same
        value: dict[str, Any] = json.load(response)
        return value


def chat_turns(reply: dict[str, Any], results: Sequence[ToolResult]) -> list[dict[str, Any]]:
    return [reply["choices"][0]["message"], *tool_results_openai(results)]


def response_turns(reply: dict[str, Any], results: Sequence[ToolResult]) -> list[dict[str, Any]]:
    return [*reply["output"], *tool_results_responses(results)]


def message_turns(reply: dict[str, Any], results: Sequence[ToolResult]) -> list[dict[str, Any]]:
    said = {"role": "assistant", "content": reply["content"]}
    return [said, *tool_results_anthropic(results)]


def ollama_turns(reply: dict[str, Any], results: Sequence[ToolResult]) -> list[dict[str, Any]]:
    return [reply["message"], *tool_results_ollama(results)]


PROTOCOLS = {
    "chat": ("/v1/chat/completions", "messages", "openai_tools", {}, chat_turns),
    "responses": ("/v1/responses", "input", "responses_tools", {}, response_turns),
    "anthropic": ("/v1/messages", "messages", "anthropic_tools", {}, message_turns),
    "ollama": ("/api/chat", "messages", "ollama_tools", {"stream": False}, ollama_turns),
}
CHOICES: dict[str, Any] = {"anthropic": {"type": "any"}}


@pytest.mark.parametrize("name", ["chat", "responses", "anthropic"])
def test_calls_of_a_real_model_are_dispatched_by_hand(llama: str, name: str) -> None:
    path, field, array, more, turns = PROTOCOLS[name]
    agent = weather_agent()
    messages: list[dict[str, Any]] = [{"role": "user", "content": "What is the weather?"}]
    body = {"model": "tiny", "max_tokens": 300, "seed": 7, **more}
    body["tools"] = getattr(agent.tools, array)()
    choice = CHOICES.get(name, "required")
    reply = post(llama + path, {**body, field: messages, "tool_choice": choice})
    step = agent.step_response(reply)
    assert isinstance(step, ToolCalls)
    assert step.results
    assert all(result.success and result.call_id for result in step.results)
    back = post(llama + path, {**body, field: [*messages, *turns(reply, step.results)]})
    agent.step_response(back)  # it is taken, whatever the model makes of it
    assert agent.iteration_count == 2


@pytest.mark.parametrize("name", sorted(PROTOCOLS))
def test_answer_of_a_scripted_server_of_others_is_reached_by_hand(aimock: str, name: str) -> None:
    path, field, array, more, turns = PROTOCOLS[name]
    agent = weather_agent()
    messages: list[dict[str, Any]] = [{"role": "user", "content": "What is the weather?"}]
    body = {"model": "m", "max_tokens": 300, **more, "tools": getattr(agent.tools, array)()}
    while isinstance(
        step := agent.step_response(reply := post(aimock + path, {**body, field: messages})),
        ToolCalls,
    ):
        assert [result.output for result in step.results] == ["It is 21 C in Paris."]
        messages += turns(reply, step.results)
    assert step == Final("It is 21 C in Paris.")
    assert agent.iteration_count == 2
