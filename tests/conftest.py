"""Fixtures that several test modules share."""

from __future__ import annotations

import io
import json
import os
import socket
import subprocess
import sys
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from subprocess import CompletedProcess
from tempfile import TemporaryFile
from typing import Any
from urllib.parse import quote

import pytest

from hrns.cli import main


@pytest.fixture
def closed_port() -> Iterator[int]:
    """A port of 127.0.0.1 that refuses connections, and that no server gets meanwhile."""
    with socket.socket() as bound:  # but it does not listen
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


class PlantedKey:
    """A key that many tests configure, and that must be found in config.json alone."""

    def __init__(self) -> None:
        self.text = "sk-planted/0123+456789"
        self._homes: list[Path] = []
        self._printed: list[str] = []

    def watch(self, home: Path) -> None:
        """Search this home when all tests are over."""
        self._homes.append(home)

    def printed(self, text: str) -> None:
        """Search this output as well."""
        self._printed.append(text)

    def leaks(self) -> Iterator[str]:
        """Where the key was found."""
        encoded = b64encode(self.text.encode()).decode()[:-4]
        spellings = [
            each.encode() for each in (self.text, quote(self.text), quote(self.text, ""), encoded)
        ]
        yield from (text for text in self._printed if any(s in text.encode() for s in spellings))
        for home in self._homes:
            for path in home.rglob("*"):
                if path.is_file() and path.name != "config.json":
                    data = path.read_bytes()
                    yield from (f"{path}: {s!r}" for s in spellings if s in data)


@pytest.fixture(scope="session")
def planted_key() -> Iterator[PlantedKey]:
    """The key; in the end everything that hrns wrote or printed is searched for it."""
    key = PlantedKey()
    yield key
    assert list(key.leaks()) == []


class Hrns:
    """A home of its own, and `hrns` in it: as a process, or (quicker) inside this one."""

    def __init__(self, home: Path, key: PlantedKey) -> None:
        self.home = home
        self.key = key.text
        self.cwd = home / "work"
        self.config = home / ".config/hrns/config.json"
        self._planted = key
        self._started: list[subprocess.Popen[str]] = []
        for folder in (self.cwd, home / "tmp", home / "site"):
            folder.mkdir()
        self.environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "TMPDIR": str(home / "tmp"),
            "PYTHONPATH": str(home / "site"),
        }
        key.watch(home)

    def configure(self, document: object) -> None:
        """Write the configuration: JSON, or text as it is."""
        self.config.parent.mkdir(parents=True, exist_ok=True)
        self.config.write_text(document if isinstance(document, str) else json.dumps(document))
        self.config.chmod(0o600)

    def use(self, url: str, **more: Any) -> None:
        """Make the server at this URL the configured provider; what fails is not tried again."""
        entry = {"url": f"{url}/v1", "key": self.key, "model": "m", **more}
        named = {"providers": {"home": entry}, "currentProvider": "home"}
        self.configure({**named, "limits": {"retries": 0}})

    def install(self, source: str, group: str = "hrns", name: str = "guest") -> None:
        """Install a module `NAME_module` with this source as a plugin, for processes."""
        site = self.home / "site"
        (site / f"{name}_module.py").write_text(source)
        info = site / f"hrns_{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: hrns-{name}\nVersion: 1.0\n")
        target = f"{name}_module" + ("" if group == "hrns" else ":command")
        (info / "entry_points.txt").write_text(f"[{group}]\n{name} = {target}\n")

    def start(
        self, *arguments: str, environ: Mapping[str, str] | None = None
    ) -> subprocess.Popen[str]:
        """Start a process; it is ended with the test."""
        process = subprocess.Popen(
            [sys.executable, "-m", "hrns", *arguments],
            cwd=self.cwd,
            env={**self.environ, **(environ or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        self._started.append(process)
        return process

    def end(self) -> None:
        """End what still runs, as it does where a test failed."""
        for process in self._started:
            with process:
                process.kill()

    def run(
        self, *arguments: str, stdin: str = "", environ: Mapping[str, str] | None = None
    ) -> CompletedProcess[str]:
        """Run a process to its end."""
        process = self.start(*arguments, environ=environ)
        out, err = process.communicate(stdin, timeout=50)
        return self._done(arguments, process.returncode, out, err)

    def call(
        self, *arguments: str, environ: Mapping[str, str] | None = None
    ) -> CompletedProcess[str]:
        """Run it inside this process, without standard input."""
        done = _called(arguments, self.cwd, {**self.environ, **(environ or {})})
        return self._done(arguments, *done)

    def _done(
        self, arguments: tuple[str, ...], status: int, out: str, err: str
    ) -> CompletedProcess[str]:
        self._planted.printed(out)
        self._planted.printed(err)
        assert "Traceback" not in err
        return CompletedProcess(arguments, status, out, err)


def _called(
    arguments: Sequence[str], cwd: Path, environ: Mapping[str, str], stdin: str = ""
) -> tuple[int, str, str]:
    """Status, output and errors of a command line that is run inside this process."""
    out, err = io.BytesIO(), io.BytesIO()
    with (
        pytest.MonkeyPatch.context() as patch,
        TemporaryFile("w+", encoding="utf-8") as given,
        redirect_stdout(_writer(out)),
        redirect_stderr(_writer(err)),
    ):
        given.write(stdin)
        given.seek(0)
        for name in os.environ:
            patch.delenv(name)
        for name, value in environ.items():
            patch.setenv(name, value)
        patch.setattr(sys, "stdin", given)
        patch.chdir(cwd)
        status = main(arguments)
        return status, out.getvalue().decode(), err.getvalue().decode()


@pytest.fixture
def call_hrns() -> Callable[..., tuple[int, str, str]]:
    """Runs `hrns` inside this process: quicker than a process, and all that most tests need."""
    return _called


def _writer(buffer: io.BytesIO) -> io.TextIOWrapper:
    return io.TextIOWrapper(buffer, encoding="utf-8", newline="", write_through=True)


@pytest.fixture
def hrns(tmp_path: Path, planted_key: PlantedKey) -> Iterator[Hrns]:
    """`hrns` in a home of its own."""
    hrns = Hrns(tmp_path, planted_key)
    yield hrns
    hrns.end()
