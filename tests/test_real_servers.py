"""Whole runs against real servers, where the scripts that start them lie beside the repository."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from hrns.cancel import Cancel
from hrns.chunks import EndChunk, NoticeChunk, ToolCallResultChunk
from hrns.errors import AuthenticationFailed, ContextOverflow, RequestRefused
from hrns.loop import Limits, Loop
from hrns.messages import SystemMessage, ToolMessage, UserMessage
from hrns.providers.base import ModelOptions, ModelRequest
from hrns.providers.http import HttpProvider, build
from hrns.tools import SimpleTool, Tool, ToolArgument

SERVERS = Path(__file__).resolve().parents[2] / "shared" / "servers"
START_S = 50.0

pytestmark = [pytest.mark.server, pytest.mark.timeout(120)]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("servers")


def serving(script: str, ready: bytes, log: Path, *arguments: str) -> Iterator[str]:
    """The URL of a server that this script starts; it and its children end afterwards.

    It is there when it has printed `ready`.
    """
    path = SERVERS / script
    if not path.exists():
        pytest.skip(f"{script} is not there")
    port = free_port()
    log = log / f"{port}.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [str(path), str(port), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            deadline = time.monotonic() + START_S
            while ready not in log.read_bytes():
                if process.poll() is not None or time.monotonic() > deadline:
                    pytest.skip(f"{script} does not start")
                time.sleep(0.1)
            yield f"http://127.0.0.1:{port}"
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@pytest.fixture(scope="module")
def llama(log: Path) -> Iterator[str]:
    yield from serving("llama.sh", b"READY", log)


@pytest.fixture(scope="module")
def locked_llama(log: Path) -> Iterator[str]:
    yield from serving("llama.sh", b"READY", log, "--api-key", "planted")


@pytest.fixture(scope="module")
def aimock(log: Path) -> Iterator[str]:
    yield from serving("aimock.sh", b"listening", log)


def weather() -> Tool:
    def tell(arguments: Mapping[str, Any]) -> str:
        return f"It is 21 {arguments['unit']} in {arguments['city']}."

    arguments = [ToolArgument("city", "string"), ToolArgument("unit", "string")]
    return SimpleTool("Tells the weather.", arguments, tell)


PROTOCOLS = ["openai-chat", "openai-responses", "anthropic"]


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("api", PROTOCOLS)
def test_calls_of_a_real_model_are_run(llama: str, api: str, stream: bool) -> None:
    provider = build(url=llama, api=api)
    options = ModelOptions(max_tokens=300, tool_choice="required", stream=stream)
    loop = Loop(
        provider, {"weather": weather()}, model="tiny", options=options, limits=Limits(turns=2)
    )
    chunks = list(loop.run([SystemMessage("Be brief."), UserMessage("What is the weather?")]))
    results = [chunk for chunk in chunks if isinstance(chunk, ToolCallResultChunk)]
    assert results
    assert all(chunk.text.startswith("It is 21 ") for chunk in results)
    assert isinstance(chunks[-1], EndChunk)
    assert chunks[-1].reason == "limit"
    assert not any(isinstance(chunk, NoticeChunk) for chunk in chunks)
    assert isinstance(loop.messages[-1], ToolMessage)
    provider.close()


@pytest.mark.parametrize("api", PROTOCOLS)
def test_models_of_a_real_server_are_listed(llama: str, api: str) -> None:
    provider = build(url=llama, api=api)
    assert [(model.id, model.context_window) for model in provider.models()] == [("tiny", 8192)]
    provider.close()


def ask(provider: HttpProvider, text: str) -> None:
    request = ModelRequest("tiny", (UserMessage(text),), (), ModelOptions(max_tokens=20))
    list(provider.reply(request, Cancel()))


@pytest.mark.parametrize("api", PROTOCOLS)
def test_conversation_too_long_for_a_real_model_is_told_as_such(llama: str, api: str) -> None:
    provider = build(url=llama, api=api)
    with pytest.raises(ContextOverflow):
        ask(provider, "word " * 20_000)
    provider.close()


@pytest.mark.parametrize("api", PROTOCOLS)
def test_key_of_a_real_server_is_asked_for(locked_llama: str, api: str) -> None:
    for key in ("", "wrong"):
        provider = build(url=locked_llama, api=api, key=key)
        with pytest.raises(AuthenticationFailed):
            ask(provider, "hi")
        provider.close()
    provider = build(url=locked_llama, api=api, key="planted")
    ask(provider, "hi")
    provider.close()


def test_path_that_a_real_server_does_not_have_is_refused(llama: str) -> None:
    provider = build(url=f"{llama}/nowhere")
    with pytest.raises(RequestRefused) as caught:
        ask(provider, "hi")
    assert caught.value.status == 404
    provider.close()


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("api", ["ollama", *PROTOCOLS])
def test_run_with_a_scripted_server_of_others_ends_in_its_answer(
    aimock: str, api: str, stream: bool
) -> None:
    provider = build(url=aimock, api=api, key="planted")
    options = ModelOptions(stream=stream)
    loop = Loop(provider, {"get_weather": weather()}, model="m", options=options)
    chunks = list(loop.run([UserMessage("What is the weather?")]))
    (result,) = [chunk for chunk in chunks if isinstance(chunk, ToolCallResultChunk)]
    assert result.text == "It is 21 C in Paris."
    assert chunks[-1] == EndChunk("done")
    assert loop.messages[-1].text == "It is 21 C in Paris."  # type: ignore[union-attr]
    provider.close()
