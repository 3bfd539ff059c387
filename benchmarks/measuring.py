"""What the scripts share: children that are measured, rounds, ratios, tables.

The machine may be doing other things. So whatever is compared is run in turn, round after round,
and a ratio is the median of the quotients of each round. CPU seconds are steadier than wall time.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

HERE = Path(__file__).parent
HRNS = (str(Path(sys.executable).with_name("hrns")),)


@dataclass(frozen=True)
class Measured:
    """A run of a child: seconds of wall time and of CPU (user and system), and what it printed."""

    wall_s: float
    cpu_s: float
    output: str


def measure(words: Sequence[str], environ: Mapping[str, str]) -> Measured:
    """Run a child to its end.

    Raises:
        RuntimeError: it failed.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        started = time.perf_counter()
        process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=environ
        )
        _, status, usage = os.wait4(process.pid, 0)
        wall_s = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        if process.returncode:
            raise RuntimeError(f"{' '.join(words)}: {process.returncode}: {err.read().decode()}")
        return Measured(wall_s, usage.ru_utime + usage.ru_stime, out.read().decode())


def in_turn(runs: Mapping[str, Callable[[], Measured]], rounds: int) -> dict[str, list[Measured]]:
    """Each run as often as there are rounds, in turn, after a warm-up that is not counted."""
    measured: dict[str, list[Measured]] = {name: [] for name in runs}
    for round_number in range(rounds + 1):
        for name, run in runs.items():
            done = run()
            if round_number:
                measured[name].append(done)
    return measured


def ratio(values: Sequence[float], base: Sequence[float]) -> float:
    """The median of the quotients of the rounds."""
    return median(value / other for value, other in zip(values, base, strict=True))


@contextmanager
def fake_server() -> Iterator[str]:
    """The URL of a scripted server in a process of its own."""
    command = [sys.executable, str(HERE / "fake_server.py")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
        finally:
            process.terminate()


@contextmanager
def clean_environment(url: str = "") -> Iterator[dict[str, str]]:
    """An environment with a home of its own, where hrns and llm know the server at the URL.

    Children may write byte code, as those of any user do.
    """
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        kept = ("PATH", "LANG", "LC_ALL", "TMPDIR")
        environ = {name: os.environ[name] for name in kept if name in os.environ}
        environ |= {"HOME": folder, "LLM_USER_PATH": folder, "MSWEA_SILENT_STARTUP": "1"}
        if url:
            config = home / ".config/hrns/config.json"
            config.parent.mkdir(parents=True)
            config.write_text(json.dumps({"providers": {"bench": {"url": url, "model": "bench"}}}))
            (home / "extra-openai-models.yaml").write_text(
                f"- model_id: bench\n  model_name: bench\n  api_base: {url}\n"
            )
        yield environ


def options(description: str, *, rounds: int) -> argparse.ArgumentParser:
    """The options that every script has."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--rounds", type=int, default=rounds, help="how often all is measured")
    parser.add_argument(
        "--peers", type=Path, metavar="DIR", help="a virtual environment with other programs"
    )
    return parser


def peer(peers: Path | None, program: str) -> str | None:
    """The path of a program of the peers, if it is there."""
    path = peers.absolute() / "bin" / program if peers else None
    return str(path) if path and path.exists() else None


def peer_python(peers: Path | None, module: str) -> str | None:
    """The Python of the peers, if it has that module."""
    python = peer(peers, "python")
    if python is None:
        return None
    check = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({module!r}) is None)"
    return python if subprocess.run([python, "-c", check], check=False).returncode == 0 else None


def heading(title: str) -> None:
    """Print what is measured, on what, and when."""
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    load = " ".join(f"{each:.1f}" for each in os.getloadavg())
    print(f"# {title}")
    print(
        f"{time.strftime('%Y-%m-%d %H:%M')}, {platform.system()} {platform.machine()}, "
        f"{os.cpu_count()} cores, {pages >> 30} GB, Python {platform.python_version()}, load {load}"
    )


def table(*rows: Sequence[object]) -> None:
    """Print rows below each other; the first is the heading. Numbers stand to the right."""
    cells = [[_cell(value) for value in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        first, *others = (
            cell.rjust(width) if number else cell.ljust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        print("  ".join([first, *others]))


def _cell(value: object) -> str:
    if not isinstance(value, float):
        return str(value)
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"
