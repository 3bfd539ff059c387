"""The tools together: as a plugin, to models, in the loop; and what they rest on."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import hrns_tools_fs
import pytest
from hrns_tools_fs.host import LocalHost
from hrns_tools_fs.toolset import make_tools

from hrns import Loop, UserMessage
from hrns.chunks import Chunk, ToolCallResultChunk, ToolOutputChunk
from hrns.context import SessionContext
from hrns.permissions import ALL_EFFECTS
from hrns.plugins import Plugins, load_plugins
from hrns.testing import Call, Say, ScriptedProvider
from hrns.tools import Tool

pytest_plugins = ["hrns.testing"]

Scripted = Callable[..., ScriptedProvider]
PACKAGE = Path(hrns_tools_fs.__file__).parent


def run(provider: ScriptedProvider, cwd: Path) -> list[Chunk]:
    loop = Loop(provider, make_tools(LocalHost()), context=SessionContext(cwd=cwd))
    return list(loop.run([UserMessage("do it")], model="m"))


def results(chunks: list[Chunk]) -> list[tuple[str, str]]:
    return [(each.status, each.text) for each in chunks if isinstance(each, ToolCallResultChunk)]


def test_the_tools_come_through_the_public_hook() -> None:
    plugins = Plugins(strict=True)
    plugins.register("tools-fs", hrns_tools_fs)
    tools = [owned.record for owned in plugins.collect("hrns_tools", Tool)]
    assert {tool.name: (sorted(tool.effects), tool.parallel_safe) for tool in tools} == {
        "read_file": (["read"], True),
        "list_files": (["read"], True),
        "search_files": (["read"], True),
        "write_file": (["read", "write"], False),
        "edit_file": (["read", "write"], False),
        "run_command": (sorted(ALL_EFFECTS), False),
        "web_fetch": (["network"], True),
    }


def test_the_installed_distribution_is_found() -> None:
    plugins = load_plugins({"HRNS_PLUGINS": "tools-fs", "HRNS_STRICT": "1"})
    assert len(plugins.collect("hrns_tools", Tool)) == 7


def test_the_arguments_that_models_know_are_required() -> None:
    required = {tool.name: tool.schema["required"] for tool in make_tools(LocalHost())}
    assert required == {
        "read_file": ["fileName"],
        "list_files": ["dir", "globPattern"],
        "search_files": ["pattern"],
        "write_file": ["fileName", "oldString", "newString"],
        "edit_file": ["fileName", "edits"],
        "run_command": ["command"],
        "web_fetch": ["url"],
    }


def test_the_tools_cost_a_model_little() -> None:
    # Four characters are a token, roughly, and more than that in JSON.
    sent = [
        {"name": tool.name, "description": tool.description, "parameters": tool.schema}
        for tool in make_tools(LocalHost())
    ]
    assert len(json.dumps(sent)) / 4 < 1000


def test_registering_the_tools_loads_nothing_that_only_a_call_needs() -> None:
    program = (
        "import sys\nfrom hrns_tools_fs import hrns_tools\nhrns_tools()\nprint(*sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    loaded = set(done.stdout.decode().split())
    heavy = "ssl http.client bs4 markdownify pathspec httpx subprocess asyncio cattrs difflib"
    ours = "hrns_tools_fs.edits hrns_tools_fs.walking hrns_tools_fs.runs hrns_tools_fs.wire"
    assert loaded.isdisjoint([*heavy.split(), *ours.split(), "hashlib", "html.parser"])


def test_only_the_host_touches_disks_and_processes() -> None:
    """The seam: who stands in for `Host` stands in for everything but the network."""
    touching = {"subprocess", "shutil", "tempfile", "signal", "fcntl", "io"}
    methods = {"read_text", "read_bytes", "write_text", "write_bytes", "iterdir", "stat", "glob"}
    methods |= {"exists", "is_file", "is_dir", "resolve", "unlink", "mkdir", "rename", "replace"}
    for module in PACKAGE.glob("*.py"):
        if module.name == "testing.py":
            continue
        tree = ast.parse(module.read_text())
        imported = {
            alias.name.partition(".")[0]
            for node in ast.walk(tree)
            if isinstance(node, ast.Import)
            for alias in node.names
        }
        called = {
            ast.unparse(node.func)
            for node in ast.walk(tree)
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in methods
        }
        ours = {name for name in called if ".host." in name or name.startswith("host.")}
        texts = {name for name in called if name.endswith(".replace")}
        allowed = {"signal"} if module.name == "runs.py" else set()
        assert (module.name, imported & touching - allowed) == (module.name, set())
        assert (module.name, called - ours - texts) == (module.name, set())


def test_edits_of_one_turn_are_made_in_their_order(scripted: Scripted, tmp_path: Path) -> None:
    (tmp_path / "n.txt").write_text("".join(f"{n}\n" for n in range(100)))

    def edit(old: str, new: str) -> Call:
        return Call("write_file", {"fileName": "n.txt", "oldString": old, "newString": new})

    turn = [edit("\n50\n", "\nFIFTY\n"), edit("75", "SEVENTYFIVE"), edit("FIFTY", "fifty")]
    chunks = run(scripted(turn, Say("done")), tmp_path)
    assert results(chunks) == [("ok", "OK")] * 3
    lines = (tmp_path / "n.txt").read_text().split("\n")
    assert (lines[50], lines[75]) == ("fifty", "SEVENTYFIVE")


def test_a_failure_reaches_the_model_as_an_error(scripted: Scripted, tmp_path: Path) -> None:
    provider = scripted(Call("read_file", {"fileName": "gone"}), Say("it is gone"))
    told = "ERROR: read_file: gone: there is no such file"
    assert results(run(provider, tmp_path)) == [("error", told)]


def test_no_result_is_too_long_for_a_model(
    scripted: Scripted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))  # where the log goes
    (tmp_path / "big.txt").write_text("x" * 99 + "\n" + ("line of some length\n" * 100_000))
    for number in range(3000):
        (tmp_path / f"a-file-with-a-rather-long-name-{number}.py").write_text("hit\n")
    turn = [
        Call("read_file", {"fileName": "big.txt", "limit": 1_000_000}),
        Call("list_files", {"dir": ".", "globPattern": "*"}),
        Call("search_files", {"pattern": ".", "limit": 1_000_000}),
        Call("run_command", {"command": "cat big.txt"}),
    ]
    sizes = [len(text) for _, text in results(run(scripted(turn, Say("done")), tmp_path))]
    assert len(sizes) == 4
    assert max(sizes) < 60_000


def test_output_is_live_and_an_interrupted_command_leaves_nothing(
    scripted: Scripted, tmp_path: Path
) -> None:
    command = "echo begun; sleep 60; touch survived"
    provider = scripted(Call("run_command", {"command": command}), Say("never"))
    loop = Loop(provider, make_tools(LocalHost()), context=SessionContext(cwd=tmp_path))
    started = time.monotonic()
    chunks: list[Chunk] = []
    for chunk in loop.run([UserMessage("do it")], model="m"):
        chunks.append(chunk)
        if isinstance(chunk, ToolOutputChunk):
            threading.Timer(0.1, loop.cancel).start()
    assert time.monotonic() - started < 20
    ((status, text),) = results(chunks)
    assert (status, text.endswith("output so far:\nbegun\n")) == ("interrupted", True)


@pytest.mark.parametrize("name", ["read_file", "list_files", "search_files", "write_file"])
def test_arguments_of_another_kind_are_told(scripted: Scripted, tmp_path: Path, name: str) -> None:
    provider = scripted(Call(name, {"fileName": 7, "dir": [], "pattern": {}}), Say("oh"))
    run(provider, tmp_path)
    message = provider.requests[1].messages[-1]
    assert message.results[0].text.startswith("ERROR: ")  # type: ignore[union-attr]
