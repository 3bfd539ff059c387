"""The chunk log: every chunk of every run, in a file."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hrns.chunklog import ChunkLog
from hrns.chunks import Chunk, EndChunk, MessageChunk
from hrns.errors import ConfigError
from hrns.serial import loads_chunk
from hrns.testing import LoopbackServer, chat_stream

if TYPE_CHECKING:
    from tests.conftest import Hrns


def test_chunks_are_appended_as_lines_that_read_back(tmp_path: Path) -> None:
    path = tmp_path / "chunks.jsonl"
    chunks: list[Chunk] = [MessageChunk("é\n\u2028"), MessageChunk("\ud800"), EndChunk()]
    for chunk in chunks:
        log = ChunkLog(path)
        log(chunk)
        log.close()
    lines = path.read_bytes().split(b"\n")
    assert lines.pop() == b""
    assert [loads_chunk(line) for line in lines] == [chunks[0], MessageChunk("\ufffd"), EndChunk()]
    assert path.stat().st_mode & 0o777 == 0o600


def test_log_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="the log cannot be written: No such file or directory"):
        ChunkLog(tmp_path / "nope" / "chunks.jsonl")


@pytest.mark.skipif(sys.platform != "linux", reason="a device that is always full")
def test_full_disk_is_raised_and_the_file_closed() -> None:
    log = ChunkLog(Path("/dev/full"))
    with pytest.raises(OSError, match="No space left"):
        log(EndChunk())
    with pytest.raises(ValueError, match="closed"):
        log(EndChunk())


@pytest.mark.parametrize("configured", [True, False])
def test_run_is_logged_as_the_flag_or_the_configuration_says(hrns: Hrns, configured: bool) -> None:
    with LoopbackServer(chat_stream("hello")) as server:
        entry = {"url": f"{server.url}/v1", "model": "m"}
        log = "~/chunks.jsonl" if configured else "~/elsewhere.jsonl"
        hrns.configure({"providers": {"home": entry}, "log": log})
        flags = [] if configured else ["--log", f"{hrns.home}/chunks.jsonl"]
        assert hrns.call("exec", *flags, "hi").stdout == "hello\n"
        hrns.call("exec", *flags, "hi")
    lines = (hrns.home / "chunks.jsonl").read_text().splitlines()
    assert [json.loads(line)["type"] for line in lines] == ["message", "message_done", "end"] * 2
    assert not (hrns.home / "elsewhere.jsonl").exists()


def test_log_of_the_configuration_that_cannot_be_written_costs_a_notice(hrns: Hrns) -> None:
    with LoopbackServer(chat_stream("hello")) as server:
        entry = {"url": f"{server.url}/v1", "model": "m"}
        hrns.configure({"providers": {"home": entry}, "log": "nope/chunks.jsonl"})
        done = hrns.call("exec", "hi")
    assert (done.returncode, done.stdout) == (0, "hello\n")
    assert "nope/chunks.jsonl: the log cannot be written" in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="a device that is always full")
def test_log_that_fills_the_disk_costs_a_notice(hrns: Hrns) -> None:
    with LoopbackServer(chat_stream("hello")) as server:
        hrns.use(server.url)
        done = hrns.call("exec", "--log", os.devnull.replace("null", "full"), "hi")
    assert (done.returncode, done.stdout) == (0, "hello\n")
    assert done.stderr.count("No space left") == 1
