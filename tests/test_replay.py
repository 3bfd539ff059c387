"""A session's runs again, from its file."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from pathlib import Path

import pytest

from hrns.chunks import (
    Chunk,
    DiscardChunk,
    MessageChunk,
    NoticeChunk,
    ReasoningChunk,
    RetryChunk,
    ToolOutputChunk,
)
from hrns.config import Config, ProviderConfig
from hrns.errors import AuthenticationFailed, ToolFailure
from hrns.journal import Journal, read_journal
from hrns.loop import Limits
from hrns.messages import Usage, UserMessage
from hrns.permissions import Rule
from hrns.plugins import Plugins, hookimpl
from hrns.providers.base import Finish, PartNative, PartStart
from hrns.records import ProviderKind
from hrns.replay import replay
from hrns.session import Session, open_session
from hrns.testing import Call, Fail, Reply, Say, ScriptedProvider, Wait
from hrns.tools import Tool, ToolContext, tool


@tool(effects=["write"], prepare=None)
def act(text: str, context: ToolContext) -> str:
    """Act."""
    context.output("working")
    return f"acted: {text}"


@tool(effects=(), parallel_safe=True)
def sleep(seconds: float) -> str:
    """Sleep."""
    time.sleep(seconds)
    return f"slept {seconds}"


@tool(effects=())
def fail() -> str:
    """Fail."""
    raise ToolFailure("no")


def start(home: Path, script: Iterable[Reply], *, limits: Limits | None = None) -> Session:
    class Guest:
        @hookimpl
        def hrns_providers(self) -> ProviderKind:
            return ProviderKind("scripted", lambda _entry: ScriptedProvider(script))

        @hookimpl
        def hrns_tools(self) -> list[Tool]:
            return [act, sleep, fail]

    plugins = Plugins()
    plugins.register("guest", Guest())
    return open_session(
        Config(home / "config.json"),
        plugins,
        ProviderConfig("test", api="scripted", model="m"),
        cwd=Path("/work"),
        environ={"XDG_DATA_HOME": str(home)},
        mode="all",
        rules=[Rule.parse("deny", "fail", "--deny")],
        limits=limits,
        save=True,
    )


def joined(chunks: Iterable[Chunk]) -> list[Chunk]:
    """The chunks without what is not written down, neighbouring text joined."""
    kept: list[Chunk] = []
    for chunk in chunks:
        if isinstance(chunk, ToolOutputChunk | NoticeChunk | RetryChunk | DiscardChunk):
            continue
        last = kept[-1] if kept else None
        if isinstance(chunk, MessageChunk) and isinstance(last, MessageChunk):
            kept[-1] = MessageChunk(last.text + chunk.text)
        elif isinstance(chunk, ReasoningChunk) and isinstance(last, ReasoningChunk):
            kept[-1] = ReasoningChunk(last.text + chunk.text)
        else:
            kept.append(chunk)
    return kept


SCRIPTS: dict[str, list[Reply]] = {
    "answers": [Say("one", reasoning="hm", pieces=2), Say("two")],
    "a call": [
        [Say("Look", pieces=3), Call("act", {"text": "x"}), Usage(5, 6)],
        Say("done"),
        Say("b"),
    ],
    "calls side by side": [
        [Call("sleep", {"seconds": s}) for s in (0.15, 0.1, 0.05)],
        Say("done"),
        [Call("act", {"text": "y"}), Call("sleep", {"seconds": 0}), Call("act", {"text": "z"})],
        Say("b"),
    ],
    "calls that cannot be run": [
        [
            Call("act", '{"text": '),
            Call("atc", {}),
            Call("act", {"txet": 1}),
            Call("act", {"text": "k"}),
        ],
        Say("done"),
        Say("b"),
    ],
    "a denied call": [Call("fail"), Say("done"), Say("b")],
    "ids given twice": [
        [Call("act", {"text": "1"}, id="x"), Call("act", {"text": "2"}, id="x")],
        Say("a"),
        Say("b"),
    ],
    "a refusal": [[Say("no"), Finish("refusal")], Say("b")],
    "a reply cut off": [[Say("half"), Call("act", '{"te'), Finish("length")], Say("a"), Say("b")],
    "an error": [Fail(AuthenticationFailed("bad key", hint="Look at it.", status=401)), Say("b")],
    "parts of the provider's own": [
        [
            PartStart(0, "reasoning"),
            PartNative(0, '{"s": 1}'),
            Say("a"),
            PartStart(9, "opaque"),
            PartNative(9, "{}"),
        ],
        Say("b"),
    ],
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_replay_gives_the_chunks_of_the_session(tmp_path: Path, script: list[Reply]) -> None:
    session = start(tmp_path, script)
    chunks = [*session.send("first"), *session.send("second")]
    assert session.path
    before = session.path.read_bytes()
    assert joined(replay(read_journal(session.path))) == joined(chunks)
    assert session.path.read_bytes() == before


def test_replay_of_an_interrupted_run_is_interrupted(tmp_path: Path) -> None:
    session = start(tmp_path, [[Say("half"), Call("act", '{"te'), Wait()], Say("b")])
    chunks = []
    for chunk in session.send("first"):
        chunks.append(chunk)
        if chunk.type == "message":
            threading.Timer(0.02, session.cancel).start()
    chunks += session.send("second")
    assert session.path
    assert joined(replay(read_journal(session.path))) == joined(chunks)


def test_replay_of_a_limit_ends_at_the_limit(tmp_path: Path) -> None:
    calls = (Call("act", {"text": str(n)}) for n in range(9))
    session = start(tmp_path, calls, limits=Limits(turns=3))
    chunks = list(session.send("go"))
    assert session.path
    assert joined(replay(read_journal(session.path))) == joined(chunks)


def test_replay_of_queued_messages_queues_them(tmp_path: Path) -> None:
    session = start(tmp_path, [Call("act", {"text": "x"}), Say("blue")])
    chunks = []
    for chunk in session.send("go"):
        chunks.append(chunk)
        if chunk.type == "tool_call_start":
            session.queue("make it blue")
    assert session.path
    assert joined(replay(read_journal(session.path))) == joined(chunks)


def test_replay_of_a_run_that_was_killed_ends(tmp_path: Path) -> None:
    session = start(tmp_path, [[Say("Look"), Call("act", {"text": "x"})], Say("b")])
    for chunk in session.send("go"):
        if chunk.type == "tool_call_start":
            break
    assert session.path
    path = tmp_path / "killed.jsonl"
    lines = session.path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:5]))  # as far as the call was started
    chunks = joined(replay(read_journal(path)))
    assert [chunk.type for chunk in chunks] == [
        "message",
        "message_done",
        "tool_call_start",
        "tool_call_result",
        "message_done",
        "end",
    ]


@pytest.mark.parametrize("fields", [{}, {"text": 5, "reason": [], "http_status": "x"}])
def test_replay_of_a_foreign_error_is_an_error(tmp_path: Path, fields: dict[str, object]) -> None:
    journal = Journal.create(tmp_path, "aaaa", tmp_path)
    journal.append("message", message=UserMessage("a"))
    journal.append("error", **fields)
    journal.append("end", reason="error")
    chunks = list(replay(read_journal(journal.path)))
    assert [chunk.type for chunk in chunks] == ["error", "end"]
