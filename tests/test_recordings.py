"""Recorded replies of many servers, where their folder lies beside the repository.

What each gives is written down here as facts: how it ended, its tokens (read/written, cached,
thought), the length and checksum of its text and reasoning, its calls, and of what kind of thing
only its server knows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from zlib import crc32

import pytest

from hrns.errors import ProviderError
from hrns.messages import AssistantMessage, Opaque, Reasoning
from hrns.providers.anthropic_reader import AnthropicDecoder
from hrns.providers.decoding import EventDecoder
from hrns.providers.openai_chat_reader import ChatDecoder
from hrns.providers.openai_responses_reader import ResponsesDecoder
from hrns.reply import fold

RECORDINGS = Path(__file__).resolve().parents[2] / "shared" / "recordings"

FACTS: dict[str, str] = {
    "alibaba-qwen-tool-call.sse": "tool_calls 295/22 weather(29:9994bfa4)",
    "anthropic-compat-fallback-tool-call.sse": "tool_calls text=11:14510376 read_file(17:3b1068f4)",
    "anthropic-duplicate-message-start.sse": "done 17/227 text=13:ec4ac3d0",
    "anthropic-json-tool.sse": "tool_calls 849/47 json(86:ae3e0309)",
    "anthropic-refusal.sse": "refusal 18/5",
    "anthropic-stream-high-max.sse": "done 20/5 text=1:1ad5be0d",
    "anthropic-stream-redacted-thinking.sse": (
        "done 92/189 text=359:2d3d8d38 reasoning=0:00000000+782:c4d854c2 "
        "reasoning=0:00000000+334:eb22f347"
    ),
    "anthropic-stream-thinking.sse": (
        "done 43/282 text=1021:8cb3d844 reasoning=202:73921f6e+554:31f14394"
    ),
    "anthropic-text.sse": "done 12/30 text=108:9d8cd1f5",
    "anthropic-tool-chain-thinking-1.sse": (
        "tool_calls 598/92 thought=53 reasoning=180:390248ec+574:f92422ac "
        "fixed_version(0:00000000)+"
    ),
    "anthropic-tool-chain-thinking-2.sse": "done 707/89 text=277:5b5da192",
    "anthropic-tool-no-args.sse": "tool_calls 565/48 text=35:1a35f7bb updateIssueList(0:00000000)",
    "azure-model-router.sse": "done 15/78 thought=64 text=19:99da8caa",
    "azure-responses-tool-call.sse": "tool_calls 45/24 weather(28:861177cf)",
    "crusoe-stream.sse": "done 46/14 text=13:1a844f17",
    "deepseek-reasoning.sse": (
        "done 18/219 thought=205 text=42:361d7d03 reasoning=606:3c80ebd3+26:4efec007"
    ),
    "deepseek-responses-stream-tool-1.sse": (
        "tool_calls 366/59 cached=256 thought=14 reasoning=61:59d76641+207:b4a9a735 "
        "get_temperature(17:becb5afc)"
    ),
    "deepseek-responses-stream-tool-2.sse": (
        "done 440/14 cached=384 text=47:a03e870a other=41:feef3241"
    ),
    "deepseek-stream-thinking.sse": (
        "done 6/212 thought=198 text=40:829ded8d reasoning=882:16432259+26:4efec007"
    ),
    "deepseek-tool-call.sse": (
        "tool_calls 339/83 cached=320 thought=39 reasoning=191:02657d81+26:4efec007 "
        "weather(29:9994bfa4)"
    ),
    "groq-stream-tool-use-failed-1.sse": "ServerFault",
    "groq-stream-tool-use-failed-2.sse": (
        "tool_calls 304/49 thought=23 reasoning=92:13d50002+18:8ca085aa "
        "get_something_by_name(18:a9738359)"
    ),
    "groq-stream-tool-use-failed-3.sse": (
        "done 339/58 thought=38 text=57:6a6c96ff reasoning=176:152231b8+18:8ca085aa"
    ),
    "groq-stream-tool-use-failed-text-1.sse": "ServerFault",
    "groq-stream-tool-use-failed-text-2.sse": (
        "tool_calls 343/180 thought=153 reasoning=727:19614c28+18:8ca085aa "
        "final_result(17:070f5e69)"
    ),
    "groq-tool-call.sse": "tool_calls 210/15 weather(2:a3a6bf43)",
    "huggingface-stream-1.json": "BrokenStream",
    "huggingface-stream-2.sse": "done 40/2 text=5:57ede4e6",
    "llamacpp-chat-length.sse": "length text=12:e1f409c5",
    "llamacpp-chat-text.sse": "done 20/13 cached=1 text=53:7db1e1e4",
    "llamacpp-chat-tool.sse": "tool_calls 456/72 cached=443 get_weather(28:d13fb87c)",
    "llamacpp-error-badjson.json": "RequestRefused",
    "llamacpp-error-badtoolchoice.json": "done 456/3 cached=187 text=14:6ba87f1d",
    "llamacpp-error-context.json": "ContextOverflow",
    "llamacpp-messages-tool.sse": (
        "tool_calls 380/64 cached=379 text=15:81a68693 get_weather(16:23a8af0b)"
    ),
    "llamacpp-midstream-error.sse": "ServerFault",
    "llamacpp-responses-tool.sse": (
        "tool_calls 380/71 cached=187 text=47:0394fc92 get_weather(16:d43c9449)"
    ),
    "llamacpp-structured.json": "done 20/16 cached=6 text=15:ee20f8be",
    "lmstudio-responses-basic.sse": "done 31/282 cached=30 text=1384:627d1e2e",
    "lmstudio-responses-tool-call.sse": (
        "tool_calls 182/61 cached=2 thought=48 text=67:186c966e "
        "reasoning=242:cb588e66+378:a29d0a0b weather(28:861177cf)"
    ),
    "mistral-incremental-tool-call.sse": "tool_calls 171/14 cached=128 webSearchTool(35:ccd6c022)",
    "mistral-reasoning.sse": "done 10/46 text=9:36fe14f0 reasoning=60:03171cfc+22:44955dcf",
    "mistral-tool-call.sse": "tool_calls 124/22 weather(29:9994bfa4)",
    "moonshot-stream.sse": "done 9/12 thought=7 text=6:9d2acc56 reasoning=16:bd3a484c+26:4efec007",
    "ollama-cloud-v1-tool-1.json": (
        "done 134/122 text=6:47ea48eb reasoning=490:72118084+18:8ca085aa"
    ),
    "ollama-cloud-v1-tool-2.json": (
        "tool_calls 206/194 reasoning=763:b9496567+18:8ca085aa final_result(35:6bdc1673)"
    ),
    "ollama-local-v1-json.json": "done 136/15 text=40:39950f35 reasoning=508:918e3264+18:8ca085aa",
    "openai-chat-stream-moderation.sse": "done 13/11 text=6:47ea48eb",
    "openai-chat-stream-text-1.sse": "tool_calls 53/15 get_capital(16:f30150bd)",
    "openai-chat-stream-text-2.sse": "done 78/9 text=32:ee7bd6dc",
    "openai-chat-text.sse": "done 16/300 text=1724:95b55e01",
    "openai-chat-two-call-chain-1.json": "BrokenStream",
    "openai-chat-two-call-chain-2.json": "BrokenStream",
    "openai-chat-two-call-chain-3.json": "BrokenStream",
    "openai-compat-tools-stream-a-1.sse": "tool_calls 57/17 llm_version(2:a3a6bf43)",
    "openai-compat-tools-stream-a-2.sse": "done 107/15 text=52:1c5dd735",
    "openai-compat-tools-stream-b-1.sse": "tool_calls 57/17 llm_version(2:a3a6bf43)",
    "openai-compat-tools-stream-b-2.sse": "done 107/15 text=52:1c5dd735",
    "openai-compat-tools-stream-c-1.sse": "tool_calls 56/12 llm_version(2:a3a6bf43)",
    "openai-compat-tools-stream-c-2.sse": "done 105/16 text=63:ccdd8932",
    "openai-compat-tools-stream-d-1.sse": "tool_calls 57/17 llm_version(0:00000000)",
    "openai-compat-tools-stream-d-2.sse": "done 107/15 text=52:1c5dd735",
    "openai-responses-encrypted-reasoning.sse": (
        "tool_calls 134/28 reasoning=163:a73746e4+1375:1c66cb1c calculator(25:6371dbdf) | "
        "tool_calls 221/26 calculator(30:56aed89d) | tool_calls 260/26 "
        "calculator(31:6e42195b) | done 299/12 text=28:8b521071"
    ),
    "openai-responses-error.sse": "RateLimited",
    "openai-responses-parallel-wrapper.sse": "BrokenStream",
    "openai-responses-stream-tool-1.sse": "tool_calls 255/16 get_capital(20:1085ac52)",
    "openai-responses-stream-tool-2.sse": "done 278/9 text=31:17a93cde",
    "openai-responses-stream-usage.sse": (
        "tool_calls 53/469 thought=448 reasoning=0:00000000+4013:61018235 final_result(15:2d696510)"
    ),
    "openai-responses-tool-use-stream-1.sse": "tool_calls 58/23 multiply(19:25a8bc4c)",
    "openai-responses-tool-use-stream-2.sse": "done 94/18 text=27:2503dec1 other=41:feef3241",
    "openrouter-responses-raw-cot.sse": (
        "done 78/37 thought=22 text=1:f3b61b38 reasoning=85:8535ad01+194:fac27222"
    ),
    "openrouter-stream-error.sse": "RequestRefused",
    "openrouter-stream-native.sse": (
        "done 687/187 cached=679 thought=118 text=284:c380b4a5 reasoning=0:00000000+958:e8288e47"
    ),
    "openrouter-stream-reasoning.sse": (
        "done 9/104 text=446:9bf5cd17 reasoning=0:00000000+1330:2b37d745"
    ),
    "snowflake-stream.sse": "done 22/5 text=1:f3b61b38",
    "xai-tool-call.sse": (
        "tool_calls 291/222 cached=290 thought=196 reasoning=18:c95d8675+26:4efec007 "
        "weather(28:861177cf)"
    ),
    "zai-stream-thinking.sse": (
        "done 13/564 thought=561 text=1:f3b61b38 reasoning=2173:f080515f+26:4efec007"
    ),
}


def decoder_for(name: str) -> EventDecoder:
    if "responses" in name:
        return ResponsesDecoder()
    if name.startswith(("anthropic-", "llamacpp-messages")) and "compat" not in name:
        return AnthropicDecoder()
    return ChatDecoder()


def marked(text: str) -> str:
    return f"{len(text)}:{crc32(text.encode()):08x}"


def described(message: AssistantMessage) -> Iterator[str]:
    yield message.stop
    usage = message.usage
    if usage is not None:
        yield f"{usage.input}/{usage.output}"
        yield from (f"cached={n}" for n in [usage.cache_read] if n)
        yield from (f"thought={n}" for n in [usage.reasoning] if n)
    if message.text:
        yield f"text={marked(message.text)}"
    for part in message.parts:
        if isinstance(part, Reasoning):
            native = f"+{marked(part.native)}" if part.native else ""
            yield f"reasoning={marked(part.text)}{native}"
        elif isinstance(part, Opaque):
            yield f"other={marked(part.native)}"
    for call in message.calls:
        yield f"{call.name}({marked(call.arguments)})" + ("+" if call.native else "")


def facts_of(name: str, *blocks: bytes) -> str:
    decoder = decoder_for(name)
    try:
        deltas = [delta for block in blocks for delta in decoder.feed(block)]
        return " ".join(described(fold([*deltas, *decoder.end()])))
    except ProviderError as error:
        return type(error).__name__


def replies(path: Path) -> list[bytes]:
    """The replies in a file: one, unless several Responses follow one another."""
    data = path.read_bytes()
    return [reply for reply in re.split(rb"(?=event: response\.created\n)", data) if reply]


@pytest.fixture(scope="module")
def recordings() -> list[Path]:
    if not RECORDINGS.is_dir():
        pytest.skip("the recordings are not there")
    kinds = (".sse", ".json")
    paths = [p for p in RECORDINGS.iterdir() if p.suffix in kinds and p.name[:6] != "google"]
    return sorted(paths)


def test_each_recording_gives_what_is_written_down(recordings: list[Path]) -> None:
    found = {
        path.name: " | ".join(facts_of(path.name, reply) for reply in replies(path))
        for path in recordings
    }
    assert found == {name: FACTS.get(name, "is not written down") for name in found}


def test_each_recording_gives_the_same_wherever_it_is_cut(recordings: list[Path]) -> None:
    for path in recordings:
        reply = replies(path)[0]
        whole = facts_of(path.name, reply)
        for cut in range(1, len(reply), len(reply) // 15 + 1):
            assert facts_of(path.name, reply[:cut], reply[cut:]) == whole, (path.name, cut)
        pieces = [reply[at : at + 7] for at in range(0, len(reply), 7)]
        assert facts_of(path.name, *pieces) == whole, path.name


@pytest.mark.parametrize("line_end", [b"\r\n", b"\r", b"\n: ping\n"])
def test_each_recorded_stream_gives_the_same_with_other_line_ends(
    recordings: list[Path], line_end: bytes
) -> None:
    for path in recordings:
        if path.suffix == ".sse":
            reply = replies(path)[0]
            other = b"\xef\xbb\xbf: hello\n\n".replace(b"\n", line_end)
            other += reply.replace(b"\n", line_end)
            assert facts_of(path.name, other) == facts_of(path.name, reply), path.name
