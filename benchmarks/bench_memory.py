"""Memory: the most that a process had, after commands, a one-shot answer, and many tool turns."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

from measuring import (
    HERE,
    HRNS,
    Measured,
    clean_environment,
    fake_server,
    heading,
    in_turn,
    measure,
    options,
    peer,
    peer_python,
    ratio,
    table,
)

BASE = "python -c pass"
TURNS = 1000
DELTAS = 20_000


def programs(peers: Path | None) -> dict[str, tuple[str, list[str], int]]:
    """The Python to run each program with, its words, and how many deltas it is answered with."""
    ask = ["exec", "--quiet", "--no-stdin", "hi"]
    found = {
        BASE: (sys.executable, [], 0),
        "hrns --version": (sys.executable, [*HRNS, "--version"], 0),
        "hrns --help": (sys.executable, [*HRNS, "--help"], 0),
        "hrns exec": (sys.executable, [*HRNS, *ask], 1),
        f"hrns exec, {DELTAS} deltas": (sys.executable, [*HRNS, *ask], DELTAS),
    }
    if (python := peer(peers, "python")) and (llm := peer(peers, "llm")):
        found["llm"] = (python, [llm, "-m", "bench", "hi"], 1)
    return found


def sessions(peers: Path | None) -> dict[str, tuple[str, str, int]]:
    """The Python, name and turns of each client of tool turns."""
    found = {
        f"hand loop, {TURNS} turns": (sys.executable, "hand-httpx", TURNS),
        f"hrns.Loop, {TURNS} turns": (sys.executable, "hrns-loop", TURNS),
        f"hrns session, {TURNS} turns": (sys.executable, "hrns-session", TURNS),
    }
    for module, name in (("openai", "openai-sdk"), ("pydantic_ai", "pydantic-ai")):
        if python := peer_python(peers, module):
            found[f"{name}, 100 turns"] = (python, name, 100)
    return found


def main() -> None:
    chosen = options("Measure how much memory is used.", rounds=3).parse_args()
    with fake_server() as server:
        runs = _runs(chosen.peers, server)
        measured = in_turn(runs, chosen.rounds)
    heading(f"peak memory: medians of {chosen.rounds} rounds")
    peaks = {title: [_peak_mb(run) for run in done] for title, done in measured.items()}
    rows = [(title, median(peak), ratio(peak, peaks[BASE])) for title, peak in peaks.items()]
    table(("process", "MB", f"x {BASE}"), *rows)


def _runs(peers: Path | None, server: str) -> dict[str, Callable[[], Measured]]:
    runs: dict[str, Callable[[], Measured]] = {}
    for title, (python, words, deltas) in programs(peers).items():
        command = [python, str(HERE / "peak_memory.py"), *words]
        runs[title] = partial(_run, command, f"{server}/stream/{deltas}/v1")
    for title, (python, name, turns) in sessions(peers).items():
        url = f"{server}/turns/{turns}/v1"
        command = [python, str(HERE / "turn_clients.py"), name, url, str(turns)]
        runs[title] = partial(_run, command, url)
    return runs


def _run(command: list[str], url: str) -> Measured:
    with clean_environment(url) as environ:
        return measure(command, environ)


def _peak_mb(run: Measured) -> float:
    told = re.search(r'peak_mb"?:? ([\d.]+)', run.output)
    assert told, run.output[-200:]
    return float(told[1])


if __name__ == "__main__":
    main()
