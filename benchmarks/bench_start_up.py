"""Start-up: commands and a one-shot answer from an instant server, against `python -c pass`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from statistics import median

from measuring import (
    HRNS,
    clean_environment,
    fake_server,
    heading,
    in_turn,
    measure,
    options,
    peer,
    ratio,
    table,
)

BASE = "python -c pass"


def commands(peers: Path | None) -> Mapping[str, list[str]]:
    ours = {
        BASE: [sys.executable, "-c", "pass"],
        "hrns --version": [*HRNS, "--version"],
        "hrns --help": [*HRNS, "--help"],
        "hrns exec": [*HRNS, "exec", "--quiet", "--no-stdin", "hi"],
    }
    others = {
        "llm --version": ["llm", "--version"],
        "llm --help": ["llm", "--help"],
        "llm": ["llm", "-m", "bench", "hi"],
        "mini-swe-agent --help": ["mini", "--help"],
    }
    found = {
        name: [path, *words]
        for name, (program, *words) in others.items()
        if (path := peer(peers, program))
    }
    return {**ours, **found}


def main() -> None:
    chosen = options("Measure how long commands take to start.", rounds=15).parse_args()
    with fake_server() as server, clean_environment(f"{server}/stream/1/v1") as environ:
        runs = {
            name: partial(measure, words, environ) for name, words in commands(chosen.peers).items()
        }
        measured = in_turn(runs, chosen.rounds)
    heading(f"start-up: medians and ratios of {chosen.rounds} rounds")
    base = measured[BASE]
    rows = [
        (
            name,
            1000 * median(run.wall_s for run in done),
            1000 * median(run.cpu_s for run in done),
            ratio([run.wall_s for run in done], [run.wall_s for run in base]),
            ratio([run.cpu_s for run in done], [run.cpu_s for run in base]),
        )
        for name, done in measured.items()
    ]
    table(("command", "wall ms", "cpu ms", "x pass wall", "x pass cpu"), *rows)


if __name__ == "__main__":
    main()
