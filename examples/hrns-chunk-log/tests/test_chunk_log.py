"""The log, written by a session as hrns opens it."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest

import hrns_chunk_log
from hrns import Chunk, EndChunk, MessageChunk, ProviderKind, hookimpl, open_session
from hrns.config import Config, ProviderConfig
from hrns.plugins import Plugins
from hrns.serial import loads_chunk
from hrns.testing import Say, ScriptedProvider


class Model:
    """Brings a model that says one thing."""

    @hookimpl
    def hrns_providers(self) -> ProviderKind:
        return ProviderKind("scripted", build=lambda _entry: ScriptedProvider([Say("Hello.")]))


def chunks_of_a_session(folder: Path, document: dict[str, Any]) -> list[Chunk]:
    plugins = Plugins(strict=True)
    plugins.register("chunk-log", hrns_chunk_log)
    plugins.register("model", Model())
    config = Config(Path("config.json"), document=document)
    entry = ProviderConfig("model", api="scripted", model="m")
    with open_session(config, plugins, entry, cwd=folder) as session:
        return list(session.send("Hi."))


def logged(path: Path) -> list[Chunk]:
    return [loads_chunk(line) for line in path.read_text("utf-8").splitlines()]


def test_every_chunk_is_logged_as_the_consumer_saw_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "logs" / "chunks.jsonl"
    monkeypatch.setenv("HRNS_CHUNK_LOG", str(path))
    seen = chunks_of_a_session(tmp_path, {})
    assert logged(path) == seen
    assert seen[0] == MessageChunk("Hello.")
    assert seen[-1] == EndChunk("done")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_configured_path_is_meant_from_the_session_and_sessions_add_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HRNS_CHUNK_LOG", raising=False)
    document = {"chunkLog": "chunks.jsonl"}
    seen = [*chunks_of_a_session(tmp_path, document), *chunks_of_a_session(tmp_path, document)]
    assert logged(tmp_path / "chunks.jsonl") == seen


def test_nothing_is_logged_unless_somebody_says_where(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HRNS_CHUNK_LOG", raising=False)
    chunks_of_a_session(tmp_path, {})
    assert list(tmp_path.iterdir()) == []


def test_lines_are_plain_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HRNS_CHUNK_LOG", "chunks.jsonl")
    chunks_of_a_session(tmp_path, {})
    first, *_, last = (tmp_path / "chunks.jsonl").read_text("utf-8").splitlines()
    assert json.loads(first) == {"type": "message", "text": "Hello."}
    assert json.loads(last) == {"type": "end", "reason": "done"}
