"""hrns, whole and in parts, installed from the built files and used."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any
from zipfile import ZipFile

import pytest

Install = Callable[..., Path]
Run = Callable[..., CompletedProcess[str]]
Ask = Callable[..., dict[str, Any]]

NO_MODULE = (
    "import importlib.util, sys; print([n for n in sys.argv[1:] if importlib.util.find_spec(n)])"
)


def built_version(dist: Path) -> str:
    (path,) = dist.glob("hrns-*.whl")
    return path.name.split("-")[1]


def loaded_plugins(run: Run, programs: Path) -> Iterator[tuple[str, str, str]]:
    """Name, distribution and version of each, in their order."""
    done = run(programs, "hrns", "plugins", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    for info in json.loads(done.stdout):
        assert info["state"] == "loaded"
        yield info["name"], info["distribution"], info["version"]


# Everything


@pytest.fixture
def everything(install: Install) -> Path:
    return install("hrns[tui]")


@pytest.fixture
def heading_count(work: Path) -> str:
    """A request about a file that is there, and what its answer says."""
    (work / "notes.md").write_text("# One\n\n## Two\n", encoding="utf-8")
    return "read notes.md and count its headings"


def test_what_is_installed_is_what_was_built(everything: Path, dist: Path, run: Run) -> None:
    where = run(everything, "python", "-c", "import hrns; print(hrns.__path__[0])").stdout.strip()
    site = Path(where).parent
    for path in [*dist.glob("hrns-*.whl"), *dist.glob("hrns_t*.whl"), *dist.glob("hrns_skills*")]:
        if path.suffix == ".whl":
            with ZipFile(path) as wheel:
                names = [name for name in wheel.namelist() if not name.endswith("RECORD")]
                assert all(wheel.read(name) == (site / name).read_bytes() for name in names)


def test_everything_is_there_and_of_one_version(everything: Path, dist: Path, run: Run) -> None:
    version = built_version(dist)
    assert run(everything, "hrns", "--version").stdout == f"hrns {version}\n"
    assert list(loaded_plugins(run, everything)) == [
        ("core", "hrns", version),
        ("tools-fs", "hrns-tools-fs", version),
        ("skills", "hrns-skills", version),
        ("tui", "hrns-tui", version),
    ]


def test_question_is_answered_through_tools(everything: Path, run: Run, heading_count: str) -> None:
    done = run(everything, "hrns", "exec", "--provider", "demo", heading_count)
    assert done.returncode == 0
    assert "`notes.md` has 2 headings" in done.stdout
    assert done.stderr == "hrns: tools run without asking (--permission-mode all)\n"


def test_front_end_answers_what_is_piped_in(everything: Path, run: Run, heading_count: str) -> None:
    done = run(everything, "hrns", "--provider", "demo", stdin=heading_count)
    assert done.returncode == 0
    assert "`notes.md` has 2 headings" in done.stdout


def test_model_reads_writes_and_runs(everything: Path, ask: Ask, work: Path) -> None:
    asked = ask(
        everything,
        ("write_file", {"fileName": "a.txt", "oldString": "", "newString": "hello"}),
        ("read_file", {"fileName": "a.txt"}),
        ("run_command", {"command": "cat a.txt && exit 3"}),
    )
    assert (asked["status"], asked["stdout"]) == (0, "Done.\n")
    assert (work / "a.txt").read_text("utf-8") == "hello"
    written, read, ran = asked["results"]
    assert written.startswith("OK")
    assert read == "hello"
    assert "hello" in ran
    assert "3" in ran


def test_module_runs_as_the_program_does(everything: Path, run: Run) -> None:
    by_name = run(everything, "hrns", "--help").stdout
    assert "exec" in by_name
    assert run(everything, "python", "-m", "hrns", "--help").stdout == by_name


# The core alone


@pytest.fixture
def core(install: Install) -> Path:
    return install("hrns")


def test_core_pulls_in_nothing_of_the_plugins(core: Path, run: Run) -> None:
    of_plugins = ["hrns_tui", "hrns_tools_fs", "hrns_skills", "rich", "prompt_toolkit", "yaml"]
    found = run(core, "python", "-c", NO_MODULE, "hrns", "httpx", *of_plugins, "bs4", "pytest")
    assert found.stdout == "['hrns', 'httpx']\n"


def test_core_answers_without_tools_and_says_what_brings_them(core: Path, run: Run) -> None:
    done = run(core, "hrns", "exec", "--provider", "demo", "list the files in .")
    assert done.returncode == 0
    assert 'pip install "hrns[tui]"' in done.stdout


def test_core_without_a_front_end_says_what_brings_one(core: Path, run: Run) -> None:
    done = run(core, "hrns")
    assert (done.returncode, done.stdout) == (1, "")
    assert 'pip install "hrns[tui]"' in done.stderr
    assert "hrns exec" in done.stderr


def test_core_asks_a_server_without_offering_tools(core: Path, ask: Ask) -> None:
    asked = ask(core)
    assert (asked["status"], asked["stdout"], asked["offered"]) == (0, "Done.\n", [])


def test_loop_can_be_embedded(core: Path, run: Run) -> None:
    program = """
from hrns import Loop, MessageChunk, UserMessage, tool
from hrns.testing import Call, Say, ScriptedProvider

@tool(effects=())
def add(a: int, b: int) -> int:
    "Add."
    return a + b

provider = ScriptedProvider([Call("add", {"a": 2, "b": 3}), Say("Five.")])
for chunk in Loop(provider, [add]).run([UserMessage("2 + 3?")]):
    if isinstance(chunk, MessageChunk):
        print(chunk.text)
print(provider.requests[1].messages[-1].results[0].text)
"""
    done = run(core, "python", "-W", "error", "-c", program)
    assert (done.stdout, done.stderr) == ("Five.\n5\n", "")


# Each plugin alone


def test_tools_alone_answer_about_files(install: Install, run: Run, heading_count: str) -> None:
    programs = install("hrns-tools-fs")
    assert [name for name, *_ in loaded_plugins(run, programs)] == ["core", "tools-fs"]
    done = run(programs, "hrns", "exec", "--provider", "demo", heading_count)
    assert "`notes.md` has 2 headings" in done.stdout


def test_skills_alone_are_loaded(install: Install, run: Run, ask: Ask, work: Path) -> None:
    programs = install("hrns-skills")
    assert [name for name, *_ in loaded_plugins(run, programs)] == ["core", "skills"]
    skill = "---\nname: release\ndescription: How to release.\n---\nRun the tests.\n"
    path = work / ".agents/skills/release/SKILL.md"
    path.parent.mkdir(parents=True)
    path.write_text(skill, encoding="utf-8")
    asked = ask(programs, ("load_skill", {"name": "release"}))
    assert asked["offered"] == ["load_skill"]
    assert asked["results"] == [skill]


def test_front_end_alone_answers_without_tools(install: Install, run: Run) -> None:
    programs = install("hrns-tui")
    assert [name for name, *_ in loaded_plugins(run, programs)] == ["core", "tui"]
    done = run(programs, "hrns", "--provider", "demo", stdin="list the files in .")
    assert done.returncode == 0
    assert 'pip install "hrns[tui]"' in done.stdout


def test_plugin_alone_is_of_the_version_of_its_core(install: Install, dist: Path, run: Run) -> None:
    version = built_version(dist)
    for name in ("hrns-tools-fs", "hrns-skills", "hrns-tui"):
        assert {each for *_, each in loaded_plugins(run, install(name))} == {version}
