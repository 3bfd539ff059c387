"""Sessions: many turns, many at once, large files.

Each measurement runs in a child of its own, so that its memory is its own:

- `turns`: one loop, a tool call a turn, a scripted provider: what a turn costs early and late;
- `side-by-side`: sessions in threads of one process, against a server in another;
- `large`: a session file of that many megabytes: read, and gone on with.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

from measuring import fake_server, heading, options, table

TURNS = 10_000
SESSIONS = 200
MEGABYTES = 100


def main() -> None:
    """Run every measurement in a child, and print what they say."""
    options("Measure sessions.", rounds=1).parse_args()
    with fake_server() as server:
        for name in MEASUREMENTS:
            heading(name)
            words = [sys.executable, __file__, f"--child={name}", server]
            done = subprocess.run(words, check=True, capture_output=True, text=True)
            table(("what", "value"), *json.loads(done.stdout))


def _memory_mb() -> float:
    """The resident memory now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def turns(_server: str) -> list[tuple[str, str]]:
    """The cost of a turn, in the first and last thousand of `TURNS`."""
    from hrns import Loop, ToolCallResultChunk, UserMessage, tool
    from hrns.testing import Call, Say, ScriptedProvider

    @tool(effects=())
    def count(number: int) -> int:
        """Count on."""
        return number + 1

    class Forgetful(ScriptedProvider):
        """Keeps no request: only what the loop itself keeps is to be measured."""

        def reply(self, request, cancel):  # type: ignore[no-untyped-def]
            deltas = super().reply(request, cancel)
            self.requests.clear()
            return deltas

    script = ([Call("count", {"number": number})] for number in range(TURNS))
    loop = Loop(Forgetful([*script, Say("done")]), [count])
    marks: list[tuple[float, float]] = []
    for chunk in loop.run([UserMessage("count")], "m"):
        if isinstance(chunk, ToolCallResultChunk) and chunk.tool_args.endswith("00}"):
            number = json.loads(chunk.tool_args)["number"]
            if number % 1000 == 0:
                marks.append((time.process_time(), _memory_mb()))
    marks.append((time.process_time(), _memory_mb()))
    costs = [after[0] - before[0] for before, after in pairwise(marks)]
    kept = (marks[-1][1] - marks[0][1]) / TURNS * 1000
    return [
        ("CPU a turn, the first 1,000", f"{costs[0]:.3f} ms"),
        ("CPU a turn, the last 1,000", f"{costs[-1]:.3f} ms"),
        ("memory kept a turn", f"{kept:.2f} kB"),
    ]


def side_by_side(server: str) -> list[tuple[str, str]]:
    """`SESSIONS` sessions at once, each with 10 tool turns."""
    from hrns import EndChunk
    from hrns.config import Config, ProviderConfig
    from hrns.plugins import load_plugins
    from hrns.session import open_session

    entry = ProviderConfig("bench", f"{server}/turns/10/v1", key="k", model="m")
    plugins = load_plugins(os.environ)
    ends: list[str] = []

    def converse(folder: Path) -> None:
        environ = {"XDG_DATA_HOME": str(folder)}
        config = Config(folder / "config.json")
        with open_session(
            config, plugins, entry, cwd=folder, environ=environ, mode="all", save=True
        ) as session:
            ends.extend(chunk.reason for chunk in session.send("go") if isinstance(chunk, EndChunk))

    with tempfile.TemporaryDirectory() as name:
        converse(Path(name))  # what is imported and kept once
        ends.clear()
        before_mb, before_s, started = _memory_mb(), time.process_time(), time.perf_counter()
        threads = [threading.Thread(target=converse, args=(Path(name),)) for _ in range(SESSIONS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    return [
        ("sessions that ended rightly", f"{ends.count('done')} of {SESSIONS}"),
        ("wall time", f"{time.perf_counter() - started:.1f} s"),
        ("CPU a session", f"{(time.process_time() - before_s) / SESSIONS * 1000:.1f} ms"),
        ("peak memory a session", f"{(peak_mb - before_mb) / SESSIONS * 1000:.0f} kB"),
        ("threads left", f"{threading.active_count() - 1}"),
    ]


def large(_server: str) -> list[tuple[str, str]]:
    """A file of `MEGABYTES`: written, read, told, listed."""
    from hrns import AssistantMessage, Text, UserMessage
    from hrns.journal import Journal, list_sessions, read_journal, tell

    with tempfile.TemporaryDirectory() as name:
        journal = Journal.create(Path(name), "bench", Path(name))
        answer = AssistantMessage([Text("word " * 400)])
        started = time.perf_counter()
        while journal.path.stat().st_size < MEGABYTES * 1e6:
            journal.append("message", message=UserMessage("go on"))
            journal.append("message", message=answer)
        written_s = time.perf_counter() - started
        opened_s = _cpu_s(lambda: tell(read_journal(journal.path).branch()))
        listed_s = _cpu_s(lambda: list_sessions(Path(name)))
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    return [
        ("written, entry by entry", f"{written_s:.1f} s"),
        ("CPU to open it", f"{opened_s:.1f} s"),
        ("CPU to list it", f"{listed_s * 1000:.1f} ms"),
        ("peak memory", f"{peak_mb:.0f} MB"),
    ]


def _cpu_s(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


MEASUREMENTS = {
    f"{TURNS:,} turns": turns,
    f"{SESSIONS} sessions at once": side_by_side,
    f"a file of {MEGABYTES} MB": large,
}


if __name__ == "__main__":
    if sys.argv[1:] and sys.argv[1].startswith("--child="):
        print(json.dumps(MEASUREMENTS[sys.argv[1].partition("=")[2]](sys.argv[2])))
    else:
        main()
