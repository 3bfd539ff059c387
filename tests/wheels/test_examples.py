"""The example plugins, installed beside hrns from their built files, and used."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

Install = Callable[..., Path]
Run = Callable[..., CompletedProcess[str]]
Ask = Callable[..., dict[str, Any]]

EXAMPLES = Path(__file__).parents[2] / "examples"
each_example = pytest.mark.parametrize("example", ["hrns-chunk-log", "hrns-weather"])


@pytest.fixture
def programs(install: Install) -> Path:
    tools_of_their_authors = ("pytest>=8.2", "mypy>=1.11")
    return install("hrns[tui]", "hrns-chunk-log", "hrns-weather", *tools_of_their_authors)


def test_examples_are_listed_behind_the_bundled(programs: Path, run: Run) -> None:
    done = run(programs, "hrns", "plugins", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    listed = {info["name"]: info for info in json.loads(done.stdout)}
    assert list(listed) == ["core", "tools-fs", "skills", "tui", "chunk-log", "weather"]
    for name, hook in (("chunk-log", "hrns_chunk_sinks"), ("weather", "hrns_tools")):
        info = listed[name]
        assert (info["distribution"], info["version"]) == (f"hrns-{name}", "1.0")
        assert (info["state"], info["hooks"]) == ("loaded", [hook])


def test_weather_is_asked_for_and_told_as_made_up(programs: Path, ask: Ask) -> None:
    asked = ask(programs, ("weather", {"city": "Oslo", "days": 2, "unit": "fahrenheit"}))
    assert asked["status"] == 0
    assert "weather" in asked["offered"]
    (result,) = asked["results"]
    forecast = json.loads(result)
    assert (forecast["city"], forecast["unit"]) == ("Oslo", "fahrenheit")
    assert [day["day"] for day in forecast["days"]] == [1, 2]
    assert "made up" in forecast["note"]


def test_weather_that_does_not_fit_is_told_to_the_model(programs: Path, ask: Ask) -> None:
    asked = ask(programs, ("weather", {"city": "Oslo", "unit": "kelvin"}))
    assert (asked["status"], asked["stdout"]) == (0, "Done.\n")
    (result,) = asked["results"]
    assert result.startswith("ERROR:")
    assert "celsius" in result


def test_chunks_are_logged_as_exec_streams_them(programs: Path, run: Run, work: Path) -> None:
    done = run(
        programs,
        *("hrns", "exec", "--provider", "demo", "--output-format", "stream-json", "list the files"),
        HRNS_CHUNK_LOG="chunks.jsonl",
    )
    assert done.returncode == 0
    head, *streamed = [json.loads(line) for line in done.stdout.splitlines()]
    logged = [json.loads(line) for line in (work / "chunks.jsonl").read_text("utf-8").splitlines()]
    assert head["type"] == "start"
    assert logged == streamed
    assert logged[-1] == {"type": "end", "reason": "done"}
    assert {"message", "tool_call_start", "tool_call_result"} <= {line["type"] for line in logged}


def test_log_is_configured_in_the_file_of_hrns(
    programs: Path, run: Run, work: Path, environ: dict[str, str]
) -> None:
    path = Path(environ["HOME"]) / ".config/hrns/config.json"
    path.parent.mkdir(parents=True)
    path.write_text('{"chunkLog": "here.jsonl"}', encoding="utf-8")
    assert run(programs, "hrns", "exec", "--provider", "demo", "hello").returncode == 0
    assert '{"type": "end", "reason": "done"}' in (work / "here.jsonl").read_text("utf-8")


def test_log_that_cannot_be_written_costs_one_line(programs: Path, run: Run, work: Path) -> None:
    (work / "taken").mkdir()
    done = run(programs, "hrns", "exec", "--provider", "demo", "hello", HRNS_CHUNK_LOG="taken")
    assert done.returncode == 0
    assert "demo" in done.stdout
    about_the_log = [line for line in done.stderr.splitlines() if "hrns-chunk-log" in line]
    assert len(about_the_log) == 1
    assert "taken" in about_the_log[0]


@each_example
def test_their_own_tests_pass(programs: Path, run: Run, work: Path, example: str) -> None:
    shutil.copytree(EXAMPLES / example / "tests", work / "tests")
    done = run(programs, "python", "-m", "pytest", "-q", "-W", "error", "tests")
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout


@each_example
def test_their_author_sees_our_types(programs: Path, run: Run, work: Path, example: str) -> None:
    shutil.copytree(EXAMPLES / example, work, dirs_exist_ok=True)
    done = run(programs, "python", "-m", "mypy", "--strict", ".")
    assert done.returncode == 0, done.stdout
