"""The built distributions, installed into clean environments as their users would.

These tests need `--wheels DIR`, the directory with the built files; `nox -s wheels` builds them and
gives it. What they run is what is installed, never the checkout: also the server that they ask is
the one of the installed `hrns.testing`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

import pytest

Install: TypeAlias = Callable[..., Path]
Run: TypeAlias = Callable[..., subprocess.CompletedProcess[str]]

OURS = ("hrns", "hrns-tools-fs", "hrns-skills", "hrns-tui", "hrns-chunk-log", "hrns-weather")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--wheels", metavar="DIR", help="the built distributions to test")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Without the option, leave these tests out."""
    ours = [item for item in items if item.path.parent == Path(__file__).parent]
    if config.getoption("wheels", None) is None:
        items[:] = [item for item in items if item not in ours]
        config.hook.pytest_deselected(items=ours)
    for item in ours:
        item.add_marker(pytest.mark.timeout(300))


@pytest.fixture(scope="session")
def dist(pytestconfig: pytest.Config) -> Path:
    """Where the built distributions are."""
    return Path(pytestconfig.getoption("wheels")).resolve()


@pytest.fixture(scope="session")
def install(dist: Path, tmp_path_factory: pytest.TempPathFactory) -> Install:
    """Installs requirements into an environment of their own; gives its directory of programs.

    What is built is taken from there, and the rest from the package index.
    """
    made: dict[tuple[str, ...], Path] = {}

    def install(*requirements: str) -> Path:
        if requirements not in made:
            made[requirements] = _environment(tmp_path_factory.mktemp("venv"))
            _install(made[requirements], dist, requirements)
        return made[requirements]

    return install


def _environment(folder: Path) -> Path:
    if find_spec("uv"):
        _call(sys.executable, "-m", "uv", "venv", "-q", "--clear", "-p", sys.executable, folder)
    else:
        _call(sys.executable, "-m", "venv", folder)
    return folder / ("Scripts" if sys.platform == "win32" else "bin")


def _install(programs: Path, dist: Path, requirements: tuple[str, ...]) -> None:
    given: list[str | Path] = ["--find-links", dist, *requirements]
    if find_spec("uv"):
        # What is built has the same version every time: what uv keeps of the last time is stale.
        fresh = [word for name in OURS for word in ("--refresh-package", name)]
        python = ("--python", programs / "python")
        _call(sys.executable, "-m", "uv", "pip", "install", "-q", *python, *fresh, *given)
    else:
        _call(programs / "python", "-m", "pip", "install", "-q", *given)


def _call(*words: str | Path) -> None:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """An environment of someone who has never used hrns, with a home of their own."""
    kept = ("PATH", "LANG", "LC_ALL", "TMPDIR", "SYSTEMROOT")
    home = tmp_path / "home"
    home.mkdir()
    return {**{name: os.environ[name] for name in kept if name in os.environ}, "HOME": str(home)}


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """The directory that everything is run in."""
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def run(environ: Mapping[str, str], work: Path) -> Run:
    """Runs a program of an environment: `run(programs, "hrns", "exec", ...)`."""

    def run(
        programs: Path, program: str, *words: str | Path, stdin: str = "", **more: str
    ) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [programs / program, *words],
            cwd=work,
            env={**environ, **more},
            input=stdin,
            capture_output=True,
            encoding="utf-8",
            timeout=240,
            check=False,
        )
        assert "Traceback" not in done.stderr, done.stderr
        return done

    return run


@pytest.fixture
def ask(run: Run) -> Callable[..., dict[str, Any]]:
    """Runs `hrns exec` against a scripted server.

    Takes the tool calls that the model makes before it says "Done.", as (name, arguments). Gives
    the `status`, `stdout` and `stderr` of the program, the `offered` tools by name, and the
    `results` that the model got.
    """

    def ask(programs: Path, *calls: tuple[str, dict[str, Any]], **more: str) -> dict[str, Any]:
        script = Path(__file__).with_name("scripted_exec.py")
        done = run(programs, "python", script, json.dumps(calls), **more)
        assert done.returncode == 0, done.stderr
        asked: dict[str, Any] = json.loads(done.stdout)
        return asked

    return ask
