"""Plugins of others that are broken, each in its way, installed beside: one warning each."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from textwrap import dedent
from typing import Any
from zipfile import ZipFile

import pytest

Install = Callable[..., Path]
Run = Callable[..., CompletedProcess[str]]
Ask = Callable[..., dict[str, Any]]

TOOL = """
    import hrns

    @hrns.tool(effects=())
    def {name}() -> str:
        "Says who it is of."
        return "of the guest"

    @hrns.hookimpl
    def hrns_tools():
        return [{name}]
"""

GUESTS = {
    "sound": TOOL.format(name="sound"),
    "import-error": "import no_such_module_anywhere",
    "syntax-error": "def (:",
    "exits": "import sys\nsys.exit(3)",
    "bad-signature": """
        import hrns

        @hrns.hookimpl
        def hrns_tools(old_argument):
            return []
    """,
    "unknown-hook": TOOL.format(name="beside_unknown")
    + """
    @hrns.hookimpl
    def hrns_tolls(context):
        return []
    """,
    "duplicate-tool": TOOL.format(name="read_file"),
    "raising-sink": """
        import hrns

        def sink(chunk):
            raise OSError("no space left")

        @hrns.hookimpl
        def hrns_chunk_sinks():
            return [sink]
    """,
}

BROKEN = {
    "import-error": "No module named 'no_such_module_anywhere'",
    "syntax-error": "SyntaxError",
    "exits": "SystemExit: 3",
    "bad-signature": "old_argument",
    "unknown-hook": "did you mean hrns_tools?",
    "duplicate-tool": "two tools are called 'read_file'",
    "raising-sink": "no space left",
}
"""What the one warning says of each."""

FAILED = {"import-error", "syntax-error", "exits", "bad-signature"}
ALWAYS_SAID = "hrns: tools run without asking (--permission-mode all)"


def make_wheel(folder: Path, name: str, source: str) -> Path:
    """A distribution with one module, named as an entry point of hrns."""
    module = f"guest_{name.replace('-', '_')}"
    info = f"{module}-1.0.dist-info"
    files = {
        f"{module}.py": dedent(source),
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: guest-{name}\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": f"[hrns]\n{name} = {module}\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{each},,\n" for each in [*files, f"{info}/RECORD"])
    path = folder / f"{module}-1.0-py3-none-any.whl"
    with ZipFile(path, "w") as wheel:
        for each, text in files.items():
            wheel.writestr(each, text)
    return path


@pytest.fixture(scope="module")
def programs(install: Install, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Everything, and all the guests beside it."""
    folder = tmp_path_factory.mktemp("guests")
    wheels = [make_wheel(folder, name, source) for name, source in GUESTS.items()]
    return install("hrns[tui]", *map(str, wheels))


def said(stderr: str) -> list[str]:
    """What standard error says beside what it says always."""
    return [line for line in stderr.splitlines() if line and line != ALWAYS_SAID]


def all_but(*names: str) -> str:
    return ",".join(guest for guest in GUESTS if guest not in names)


def test_without_guests_nothing_is_said(programs: Path, ask: Ask) -> None:
    asked = ask(programs, ("read_file", {"fileName": "absent"}), HRNS_DISABLE_PLUGINS=all_but())
    assert (asked["status"], asked["stdout"], said(asked["stderr"])) == (0, "Done.\n", [])


@pytest.mark.parametrize(("name", "says"), BROKEN.items())
def test_broken_guest_costs_one_warning_and_nothing_else(
    programs: Path, ask: Ask, work: Path, name: str, says: str
) -> None:
    (work / "a.txt").write_text("of the file", encoding="utf-8")
    others = all_but(name, "sound")
    read = ("read_file", {"fileName": "a.txt"})
    asked = ask(programs, read, ("sound", {}), HRNS_DISABLE_PLUGINS=others)
    assert (asked["status"], asked["stdout"]) == (0, "Done.\n")
    assert asked["results"] == ["of the file", "of the guest"]
    assert asked["offered"].count("read_file") == 1
    (warning,) = said(asked["stderr"])
    assert f"{name} (guest-{name})" in warning
    assert says in warning


def test_all_broken_guests_at_once_cost_one_warning_each(
    programs: Path, ask: Ask, work: Path
) -> None:
    (work / "a.txt").write_text("of the file", encoding="utf-8")
    read = ("read_file", {"fileName": "a.txt"})
    asked = ask(programs, read, ("sound", {}), ("beside_unknown", {}))
    assert (asked["status"], asked["stdout"]) == (0, "Done.\n")
    assert asked["results"] == ["of the file", "of the guest", "of the guest"]
    warned = [re.search(r"\(guest-([a-z-]+)\)", line) for line in said(asked["stderr"])]
    assert sorted(each[1] for each in warned if each) == sorted(BROKEN)
    assert len(warned) == len(BROKEN)


def test_list_of_plugins_tells_which_failed_and_why(programs: Path, run: Run) -> None:
    done = run(programs, "hrns", "plugins", "--json")
    assert done.returncode == 0
    infos = {info["name"]: info for info in json.loads(done.stdout)}
    assert {name for name, info in infos.items() if info["state"] == "failed"} == FAILED
    for name in FAILED:
        assert BROKEN[name] in infos[name]["error"]
        assert infos[name]["distribution"] == f"guest-{name}"


@pytest.mark.parametrize(
    "words", [["--version"], ["--help"], ["exec", "--help"], ["config", "path"]]
)
def test_commands_that_need_no_plugins_do_not_notice(
    programs: Path, run: Run, words: list[str]
) -> None:
    done = run(programs, "hrns", *words)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


def test_front_end_works_beside_them(programs: Path, run: Run, work: Path) -> None:
    (work / "a.txt").write_text("one\ntwo\n", encoding="utf-8")
    done = run(programs, "hrns", "--provider", "demo", stdin="count the lines in a.txt")
    assert done.returncode == 0
    assert "2 lines" in done.stdout


def test_strict_mode_ends_with_the_name_of_the_first(programs: Path, run: Run) -> None:
    done = run(programs, "hrns", "exec", "--provider", "demo", "hello", HRNS_STRICT="1")
    assert done.returncode != 0
    assert "guest-bad-signature" in done.stderr
    assert done.stdout == ""
