"""Tool turns: what a turn costs when the conversation is so long, against a hand-written loop.

A session calls one tool a turn. The cost at turn k is the median of the 19 turns up to k, from tool
call to tool call.
"""

from __future__ import annotations

import json
import sys
from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

from measuring import (
    HERE,
    Measured,
    clean_environment,
    fake_server,
    heading,
    in_turn,
    measure,
    options,
    peer_python,
    ratio,
    table,
)

BASE = "hand loop, httpx + json"
AT_TURNS = (10, 200, 500, 1000)
PEER_TURNS = 200
"""How far the peers go: some take minutes for a thousand."""


def clients(peers: Path | None, turns: int) -> dict[str, tuple[str, str, int]]:
    """Python, name and turns of each client."""
    found = {
        BASE: (sys.executable, "hand-httpx", turns),
        "hrns.Loop": (sys.executable, "hrns-loop", turns),
        "hrns session": (sys.executable, "hrns-session", turns),
    }
    for module, name in (("openai", "openai-sdk"), ("pydantic_ai", "pydantic-ai")):
        if python := peer_python(peers, module):
            found[name] = (python, name, min(turns, PEER_TURNS))
    return found


def main() -> None:
    parser = options("Measure what a tool turn costs.", rounds=3)
    parser.add_argument("--turns", type=int, default=AT_TURNS[-1])
    chosen = parser.parse_args()
    chosen_clients = clients(chosen.peers, chosen.turns)
    script = str(HERE / "turn_clients.py")
    with fake_server() as server, clean_environment() as environ:
        runs = {
            title: partial(
                measure, [python, script, name, f"{server}/turns/{n}/v1", str(n)], environ
            )
            for title, (python, name, n) in chosen_clients.items()
        }
        measured = in_turn(runs, chosen.rounds)
    heading(f"tool turns: medians and ratios of {chosen.rounds} rounds")
    for clock in ("cpu", "wall"):
        costs = {title: _costs(done, f"{clock}_s") for title, done in measured.items()}
        print(f"\nms {clock} a turn (x {BASE})")
        table(
            ("at turn", *AT_TURNS),
            *((title, *_cells(cost, costs[BASE])) for title, cost in costs.items()),
        )


def _costs(done: list[Measured], clock: str) -> dict[int, list[float]]:
    """Milliseconds at each of the turns, a value for each round."""
    told: list[dict[str, Any]] = [json.loads(run.output) for run in done]
    return {
        turn: [_cost_ms(each[clock], turn) for each in told]
        for turn in AT_TURNS
        if turn <= len(told[0][clock])
    }


def _cost_ms(times: list[float], turn: int) -> float:
    before = times[max(0, turn - 20) : turn]
    return 1000 * median(b - a for a, b in pairwise(before))


def _cells(cost: dict[int, list[float]], base: dict[int, list[float]]) -> list[str]:
    return [
        f"{median(cost[turn]):.2f} ({ratio(cost[turn], base[turn]):.2f})" if turn in cost else "-"
        for turn in AT_TURNS
    ]


if __name__ == "__main__":
    main()
