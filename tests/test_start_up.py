"""What is imported for what: start-up is a feature, and modules are steadier than milliseconds."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from hrns.testing import LoopbackServer, chat_stream

if TYPE_CHECKING:
    from tests.conftest import Hrns

REPORT = "import sys; sys.stderr.write(' '.join(sys.modules))"
HEAVY = {"httpx", "rich", "prompt_toolkit", "asyncio", "attr", "attrs", "cattrs", "pluggy"}
HEAVY |= {"importlib.metadata", "pathlib", "json", "email", "ssl"}


def imported(hrns: Hrns, program: str) -> set[str]:
    """The modules that a program has imported by its end."""
    done = subprocess.run(
        [sys.executable, "-c", f"{program}\n{REPORT}"],
        cwd=hrns.cwd,
        env=hrns.environ,
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stderr.split())


def running(*arguments: str) -> str:
    return f"from hrns.cli import main; main({list(arguments)!r})"


def guests(modules: set[str]) -> set[str]:
    """The modules of plugins."""
    return {module for module in modules if module.startswith("hrns_")}


def test_version_needs_next_to_nothing(hrns: Hrns) -> None:
    modules = imported(hrns, running("--version"))
    assert {module for module in modules if module.startswith("hrns")} == {
        "hrns",
        "hrns._version",
        "hrns.cli",
    }
    assert not modules & (HEAVY | {"click", "typing", "re"})


@pytest.mark.parametrize("arguments", [["--help"], ["exec", "--help"]])
def test_help_needs_click_and_no_plugin(hrns: Hrns, arguments: list[str]) -> None:
    modules = imported(hrns, running(*arguments))
    assert "click" in modules
    assert modules & HEAVY == set()
    assert guests(modules) == set()


@pytest.mark.parametrize("command", ["connect", "doctor", "models", "providers", "tools"])
def test_help_of_a_command_needs_none_of_what_it_runs_with(hrns: Hrns, command: str) -> None:
    modules = imported(hrns, running(command, "--help"))
    assert modules & HEAVY == set()


def test_question_is_answered_without_what_only_others_need(hrns: Hrns) -> None:
    with LoopbackServer(chat_stream("hello")) as server:
        hrns.use(server.url)
        modules = imported(hrns, running("exec", "--quiet", "--no-stdin", "hi"))
    assert len(server.requests) == 1
    assert "httpx" in modules
    unneeded = {"rich", "pygments", "prompt_toolkit", "yaml", "cattrs", "asyncio", "jsonschema"}
    assert modules & unneeded == set()
    assert guests(modules) & {"hrns_tui.app", "hrns_tui.screen"} == set()


def test_loop_is_embedded_without_the_rest(hrns: Hrns) -> None:
    modules = imported(hrns, "import hrns.loop")
    assert modules & {"pluggy", "click", "httpx", "cattrs", "asyncio", "json.tool"} == set()
    assert guests(modules) == set()
    assert not modules & {"hrns.session", "hrns.plugins", "hrns.config", "hrns.journal"}


def test_package_costs_nothing_until_it_is_used(hrns: Hrns) -> None:
    modules = imported(hrns, "import hrns")
    assert {module for module in modules if module.startswith("hrns")} == {"hrns", "hrns._version"}
