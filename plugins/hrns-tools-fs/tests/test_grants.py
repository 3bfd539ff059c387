"""What a call finds on its way is judged as what it names."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hrns_tools_fs.fetching import Fetching
from hrns_tools_fs.testing import Toolbox

from hrns.chunks import ToolCallResultChunk
from hrns.context import Mode, SessionContext
from hrns.loop import Loop
from hrns.messages import UserMessage
from hrns.permissions import Answer as Word
from hrns.permissions import Ask, Decision, Rule, mode_policy
from hrns.testing import Answer, Call, LoopbackServer, Received, Say, ScriptedProvider
from hrns.testing.loopback import Answers
from hrns.tools import Tool

pytest_plugins = ["hrns.testing", "hrns_tools_fs.testing"]

Serve = Callable[[Answers], LoopbackServer]


def answered(
    tool: Tool,
    arguments: Mapping[str, object],
    context: SessionContext,
    rules: Mapping[str, Decision],
    ask: Ask | None = None,
) -> str:
    """The text of a call that a model makes, under some rules."""
    parsed = [Rule.parse(decision, text, "here") for text, decision in rules.items()]
    provider = ScriptedProvider([[Call(tool.name, arguments)], [Say("done")]])
    loop = Loop(provider, [tool], policies=[mode_policy(context, parsed)], ask=ask, context=context)
    chunks = list(loop.run([UserMessage("go")]))
    (result,) = (chunk for chunk in chunks if isinstance(chunk, ToolCallResultChunk))
    return result.text


@pytest.fixture
def project(tools: Toolbox) -> Toolbox:
    for name in ("a.txt", "secrets/b.txt", "src/c.pem", "src/d.txt"):
        tools.file(name, "the key\n")
    return tools


@pytest.mark.parametrize(
    ("rules", "found", "kept_back"),
    [
        ({}, ["a.txt", "secrets/b.txt", "src/c.pem", "src/d.txt"], 0),
        ({"read_file(secrets)": "deny", "*(*.pem)": "deny"}, ["a.txt", "src/d.txt"], 2),
        ({"read_file(secrets/**)": "ask"}, ["a.txt", "src/c.pem", "src/d.txt"], 1),
        (
            {"write_file(secrets)": "deny", "read_file(*.pem)": "allow"},
            ["a.txt", "secrets/b.txt", "src/c.pem", "src/d.txt"],
            0,
        ),
    ],
)
def test_search_and_list_leave_out_what_may_not_be_read(
    project: Toolbox, rules: dict[str, Decision], found: list[str], kept_back: int
) -> None:
    session = SessionContext(cwd=project.session.cwd, mode="all")
    lists, searches = project.tools["list_files"], project.tools["search_files"]
    listed = answered(lists, {"dir": ".", "globPattern": "**/*.*"}, session, rules)
    first, _, note = listed.partition("\n")
    assert json.loads(first) == found
    searched = answered(searches, {"pattern": "key"}, session, rules)
    blocks = [f"{name}\n1: the key" for name in found]
    if kept_back:
        assert note == f"[left out: {kept_back} that may not be read, by a permission rule]"
        files = "1 file" if kept_back == 1 else f"{kept_back} files"
        blocks.append(f"[left out: {files} that may not be read, by a permission rule]")
    assert searched.split("\n\n") == blocks


def test_what_is_found_outside_is_allowed_with_the_directory(
    project: Toolbox, tmp_path: Path
) -> None:
    session = SessionContext(cwd=tmp_path / "src", mode="ask")
    searches = project.tools["search_files"]
    arguments = {"pattern": "key", "dir": str(tmp_path / "secrets")}
    once = Word("once")
    assert "1: the key" in answered(searches, arguments, session, {}, lambda _: once)
    rules: dict[str, Decision] = {"read_file(b.txt)": "ask"}
    assert "left out: 1 file" in answered(searches, arguments, session, rules, lambda _: once)


def test_directory_names_only_what_may_be_read(project: Toolbox) -> None:
    session = SessionContext(cwd=project.session.cwd, mode="all")
    reads = project.tools["read_file"]
    text = answered(reads, {"fileName": "src"}, session, {"read_file(*.pem)": "deny"})
    assert text.endswith("it holds d.txt")


@pytest.mark.parametrize("tool", ["write_file", "edit_file"])
@pytest.mark.parametrize("rule", ["read_file(*.pem)", "write_file(src/**)"])
def test_no_tool_does_what_the_rule_of_another_denies(
    project: Toolbox, tool: str, rule: str
) -> None:
    session = SessionContext(cwd=project.session.cwd, mode="all")
    edit = {"oldString": "key", "newString": "lock"}
    arguments = {"fileName": "src/c.pem", **(edit if tool == "write_file" else {"edits": [edit]})}
    text = answered(project.tools[tool], arguments, session, {rule: "deny"})
    assert "denies" in text
    assert (project.session.cwd / "src/c.pem").read_text() == "the key\n"


@pytest.fixture
def led(loopback_server: Serve) -> LoopbackServer:
    """A server that sends whoever asks `localhost` to `127.0.0.1`."""

    def answer(request: Received) -> Answer:
        host, port = request.headers["host"].split(":")
        if request.path == "/here" or host == "127.0.0.1":
            return Answer(b"hello", content_type="text/plain", framing="length")
        led_to = "localhost" if request.path == "/same" else "127.0.0.1"
        return Answer(status=302, headers={"Location": f"http://{led_to}:{port}/here"})

    return loopback_server(answer)


@pytest.mark.parametrize(
    ("mode", "rules", "path", "word"),
    [
        ("all", {}, "", "hello"),
        ("all", {"web_fetch(127.0.0.1)": "deny"}, "", "which the rule web_fetch(127.0.0.1)"),
        ("all", {"web_fetch(127.0.0.1)": "ask"}, "", "which was not allowed with it"),
        ("all", {"web_fetch(localhost/here)": "deny"}, "same", "which the rule web_fetch(local"),
        ("ask", {"web_fetch(localhost:*)": "allow"}, "", "which was not allowed with it"),
        (
            "ask",
            {"web_fetch(localhost:*)": "allow", "web_fetch(127.0.0.1:*)": "allow"},
            "",
            "hello",
        ),
        ("ask", {}, "", "which was not allowed with it"),
        ("ask", {}, "same", "hello"),
    ],
)
def test_every_redirect_is_judged_as_the_first_url_was(
    led: LoopbackServer, mode: Mode, rules: dict[str, Decision], path: str, word: str
) -> None:
    config = {"webFetch": {"allow": ["127.0.0.0/8", "localhost", "::1"]}}
    session = SessionContext(config=config, mode=mode)
    (tool,) = Fetching(resolver=lambda _host, _port: ["127.0.0.1"]).tools()
    url = f"http://localhost:{led.port}/{path}"
    text = answered(tool, {"url": url}, session, rules, lambda _: Word("once"))
    assert word in text
    assert len(led.requests) == (2 if word == "hello" else 1)


def test_redirect_to_what_is_no_url_is_told(loopback_server: Serve) -> None:
    server = loopback_server(Answer(status=302, headers={"Location": "http://[x"}))
    (tool,) = Fetching().tools()
    session = SessionContext(config={"webFetch": {"allow": ["127.0.0.1"]}}, mode="all")
    text = answered(tool, {"url": server.url}, session, {})
    assert text.endswith("redirects to no URL: 'http://[x'")
