"""The tools of the program that hrns began from, row by row: strings in, a string out."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from hrns_tools_fs import hrns_tools

from hrns import SessionContext, Tool, ToolMessage, UserMessage
from hrns.loop import Loop
from hrns.testing import Answer, Call, LoopbackServer, Say, ScriptedProvider


class Tools:
    """The bundled tools in a directory, called by a scripted model."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.context = SessionContext(cwd=folder, config={"webFetch": {"allow": ["127.0.0.1"]}})
        self.tools: dict[str, Tool] = {tool.name: tool for tool in hrns_tools()}

    def __call__(self, name: str, **arguments: str) -> str:
        provider = ScriptedProvider([Call(name, arguments), Say("done")])
        loop = Loop(provider, self.tools, context=self.context)
        list(loop.run([UserMessage("Do it.")]))
        message = loop.messages[2]
        assert isinstance(message, ToolMessage)
        return message.results[0].text

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path


@pytest.fixture
def tools(tmp_path: Path) -> Tools:
    return Tools(tmp_path)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("read_file", {"fileName"}),
        ("list_files", {"dir", "globPattern"}),
        ("write_file", {"fileName", "oldString", "newString"}),
        ("run_command", {"command"}),
        ("web_fetch", {"url"}),
    ],
)
def test_tool_takes_these_arguments_as_text(tools: Tools, name: str, arguments: set[str]) -> None:
    schema = tools.tools[name].schema
    assert set(schema["required"]) == arguments
    assert {schema["properties"][each]["type"] for each in arguments} == {"string"}


def test_read_file_gives_the_whole_file(tools: Tools) -> None:
    tools.write("a.txt", "one\ntwo\n")
    assert tools("read_file", fileName="a.txt") == "one\ntwo\n"


def test_list_files_gives_the_matches_as_a_json_array_of_paths(tools: Tools) -> None:
    for name in ("src/a.py", "src/b.py", "src/c.txt"):
        tools.write(name, "")
    assert json.loads(tools("list_files", dir="src", globPattern="*.py")) == [
        "src/a.py",
        "src/b.py",
    ]


def test_write_file_creates_a_file_that_is_absent(tools: Tools) -> None:
    assert tools("write_file", fileName="a.txt", oldString="", newString="hello") == "OK"
    assert (tools.folder / "a.txt").read_text("utf-8") == "hello"


def test_write_file_replaces_the_old_text(tools: Tools) -> None:
    path = tools.write("a.txt", "one two three")
    assert tools("write_file", fileName="a.txt", oldString="two", newString="2") == "OK"
    assert path.read_text("utf-8") == "one 2 three"


def test_write_file_that_does_not_find_the_old_text_is_an_error(tools: Tools) -> None:
    path = tools.write("a.txt", "one")
    assert tools("write_file", fileName="a.txt", oldString="two", newString="2").startswith(
        "ERROR:"
    )
    assert path.read_text("utf-8") == "one"


@pytest.mark.skipif(sys.platform == "win32", reason="the commands are those of a POSIX shell")
def test_run_command_gives_both_outputs_together_through_the_shell(tools: Tools) -> None:
    output = tools("run_command", command="echo out; echo err >&2")
    assert sorted(output.split()[:2]) == ["err", "out"]


@pytest.mark.skipif(sys.platform == "win32", reason="the commands are those of a POSIX shell")
def test_run_command_that_fails_gives_its_output_and_its_status(tools: Tools) -> None:
    output = tools("run_command", command="echo half; exit 3")
    assert "half" in output
    assert "3" in output


def test_web_fetch_gives_the_body_as_text(tools: Tools) -> None:
    with LoopbackServer(Answer(b"hello", content_type="text/plain", framing="length")) as server:
        assert tools("web_fetch", url=f"{server.url}/a") == "hello"


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("read_file", {"fileName": "absent"}),
        ("list_files", {"dir": "absent", "globPattern": "*"}),
        ("web_fetch", {"url": "no-scheme"}),
    ],
)
def test_failure_is_a_text_that_says_error(
    tools: Tools, name: str, arguments: dict[str, str]
) -> None:
    assert tools(name, **arguments).startswith("ERROR:")
