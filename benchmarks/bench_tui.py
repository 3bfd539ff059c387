"""The terminal UI: from start to prompt, Markdown in pieces, keys while it streams, memory.

    python benchmarks/bench_tui.py [SCENE ...]

Figures depend on the machine; ratios less so. What is measured are the bytes that it writes.
"""

from __future__ import annotations

import argparse
import os
import pty
import select
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from measuring import heading, measure, table

TURNS = 1000
ANSWER = (
    "Row of *many* words and `code`, **bold** ones too.\n\n- one\n- two\n\n"
    "```python\nx = 1\n```\n\n"
)
SENTENCE = "The quick brown fox jumps over the *lazy* dog and `runs` away from it all. "
CODE = "def f(x):\n    return x + 1  # and so\n\n"
PROSE = (
    f"{SENTENCE * 7}\n\n- an item of some words\n- another one of **them**\n- and a third\n\n"
    f"```python\n{CODE * 10}```\n\n"
)
PLUGIN = """
import pathlib
import hrns
from hrns import ProviderKind, ToolMessage, UserMessage, tool
from hrns.providers.base import Finish, ModelInfo, PartStart, PartText

@tool(effects=())
def count(number: int) -> str:
    "Count."
    return f"line {{number}} of what the tool says\\n" * 40

class Slow:
    "Streams a text in pieces, or calls a tool in each of its turns."
    api = endpoint = "slow"
    turns = 0
    def models(self): return [ModelInfo("m")]
    def reply(self, request, cancel):
        yield PartStart(0, "text")
        last = request.messages[-1]
        if isinstance(last, UserMessage) and last.text == "turn":
            self.turns += 1
            yield PartText(0, {text!r})
            yield PartStart(1, "tool_call", f"call_{{self.turns}}", "count")
            yield PartText(1, '{{"number": ' + str(self.turns) + '}}')
            yield Finish("tool_calls")
            return
        if isinstance(last, ToolMessage):
            yield PartText(0, {text!r} + f"End-of-{{self.turns}}.")
            yield Finish("done")
            return
        text = {text!r} * {times}
        for number, at in enumerate(range(0, len(text), {size})):
            if cancel.wait(1 / {rate}):
                break
            if number % ({rate} // 20) == 0:
                pathlib.Path(__file__).with_name("sent").write_text(str(number))
            yield PartText(0, text[at : at + {size}])
        yield Finish("done")

@hrns.hookimpl
def hrns_providers():
    return ProviderKind("slow", lambda entry: Slow())

@hrns.hookimpl
def hrns_tools():
    return [count]
"""


class Program:
    """`hrns` in a terminal of its own."""

    def __init__(self, home: Path, *arguments: str, **environ: str) -> None:
        self.began = time.perf_counter()
        self._master, slave = pty.openpty()
        command = ["sh", "-c", 'exec "$@" <"$0" >"$0" 2>&1', os.ttyname(slave)]
        variables = {"PATH": os.environ["PATH"], "HOME": str(home), "TERM": "xterm-256color"}
        self.process = subprocess.Popen(
            [*command, sys.executable, "-m", "hrns", *arguments],
            env={**variables, **environ},
            cwd=home,
            stdin=slave,
            start_new_session=True,
        )
        os.close(slave)

    def type(self, keys: bytes) -> None:
        """Press keys."""
        os.write(self._master, keys)

    def until(self, wanted: bytes, seconds: float = 30) -> float:
        """Read until it is written; seconds since the start of the program."""
        seen = b""
        deadline = time.perf_counter() + seconds
        while wanted not in seen:
            if time.perf_counter() > deadline:
                raise TimeoutError(f"{wanted!r} is not in {seen[-500:]!r}")
            if select.select([self._master], [], [], 0.5)[0]:
                seen += os.read(self._master, 65536)
        return time.perf_counter() - self.began

    def drain(self, seconds: float) -> None:
        """Read whatever comes for so long."""
        deadline = time.perf_counter() + seconds
        while (left := deadline - time.perf_counter()) > 0:
            if select.select([self._master], [], [], left)[0]:
                os.read(self._master, 65536)

    def settle(self) -> None:
        """Read until nothing more is written."""
        while select.select([self._master], [], [], 0.06)[0]:
            os.read(self._master, 65536)

    def cpu_seconds(self) -> float:
        """Processor time that it has taken so far."""
        return cpu_seconds(self.process)

    def memory_mib(self) -> float:
        """Its resident memory."""
        text = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(text.partition("VmRSS:")[2].split()[0]) / 1024

    def close(self) -> None:
        """End it."""
        self.process.kill()
        self.process.wait()
        os.close(self._master)


def cpu_seconds(process: subprocess.Popen[bytes]) -> float:
    """Processor time that a process has taken so far, user and system."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def start(home: Path) -> None:
    """From the command to a prompt that is drawn, and to a key that is echoed."""
    bare = [measure([sys.executable, "-c", "pass"], os.environ) for _ in range(9)]
    prompt, cpu, echo = [], [], []
    for _ in range(9):
        program = Program(home, "--provider", "demo")
        prompt.append(program.until(b">"))
        cpu.append(program.cpu_seconds())
        program.type(b"~")
        echo.append(program.until(b"~"))
        program.close()
    table(
        ("from the start", "ms", "times python -c pass"),
        *_against(min(each.wall_s for each in bare), {"drawn prompt": prompt, "echo": echo}),
        *_against(min(each.cpu_s for each in bare), {"drawn prompt, CPU": cpu}),
    )


def _against(base: float, times: dict[str, list[float]]) -> list[tuple[str, float, float]]:
    return [(name, 1000 * min(each), min(each) / base) for name, each in times.items()]


def markdown(_home: Path) -> None:
    """A long answer in pieces, against rendering it once."""
    from hrns_tui.inline.blocks import BlockSplitter, split_blocks
    from hrns_tui.inline.markdown import render_markdown
    from hrns_tui.paint import Paint

    source, paint = ANSWER * (1_000_000 // len(ANSWER)), Paint()
    render_markdown(ANSWER, 80, paint)
    began = time.process_time()
    whole = render_markdown(source, 79, paint)
    once = time.process_time() - began
    began = time.process_time()
    splitter, shown = BlockSplitter(), []
    for at in range(0, len(source), 4):
        splitter.feed(source[at : at + 4])
        for block in splitter.finished():
            splitter.drop(len(block))
            shown.append(render_markdown(block, 79, paint))
    shown += [render_markdown(block, 79, paint) for block in split_blocks(splitter.rest)]
    pieces = time.process_time() - began
    rows = [row for row in "\n".join(shown).split("\n") if row]
    assert rows == [row for row in whole.split("\n") if row]
    print(f"1 MB of Markdown at once  {once:6.1f} s")
    print(f"in 4-byte pieces          {pieces:6.1f} s   {pieces / once:.2f} times that")


def streaming(home: Path) -> None:
    """What deltas cost at several rates; at each, how soon a key is echoed."""
    for name, text, size in (("prose", PROSE, 4), ("small blocks", ANSWER, 12)):
        for rate in (200, 2000, 5000):
            with plugin(home, text=text, size=size, rate=rate) as environ:
                _stream(home, f"{rate:4} a second, {name}", environ)


def _stream(home: Path, name: str, environ: dict[str, str]) -> None:
    program = Program(home, "--provider", "slow", **environ)
    program.until(b"/help")
    program.drain(1.0)
    program.type(b"go\r")
    drawn = _cost(program.process, environ, program.drain)
    delays = []
    for _ in range(40):
        pressed = time.perf_counter()
        program.type(b"~")
        program.until(b"~")
        delays.append(1000 * (time.perf_counter() - pressed))
        program.drain(0.05)
    delays.sort()
    program.close()
    print(
        f"{name:28} {drawn:5.0f} ms CPU for 1000   "
        f"of which the session: {_without_terminal(home, environ):4.0f} ms   "
        f"key to echo {statistics.median(delays):.0f} ms, p95 {delays[-3]:.0f} ms"
    )


def _cost(
    process: subprocess.Popen[bytes], environ: dict[str, str], wait: Callable[[float], object]
) -> float:
    """Milliseconds of processor time for 1000 deltas, over some seconds of them."""
    told = Path(environ["PYTHONPATH"]) / "sent"
    wait(2.0)
    before, first = cpu_seconds(process), _number(told)
    wait(6.0)
    return 1e6 * (cpu_seconds(process) - before) / (_number(told) - first)


def _number(path: Path) -> int:
    while not (text := path.read_text()):  # it is just being written
        pass
    return int(text)


def _without_terminal(home: Path, environ: dict[str, str]) -> float:
    """What the same costs where nothing is drawn."""
    command = [sys.executable, "-m", "hrns", "exec", "--quiet", "--no-stdin", "--provider", "slow"]
    process = subprocess.Popen(
        [*command, "go"],
        env={"PATH": os.environ["PATH"], "HOME": str(home), **environ},
        cwd=home,
        stdout=subprocess.DEVNULL,
    )
    cost = _cost(process, environ, time.sleep)
    process.kill()
    process.wait()
    return cost


def memory(home: Path) -> None:
    """What is resident at the prompt, and after many turns that call a tool.

    On a terminal of plain lines nothing is drawn: what it grows by is the session's own.
    """
    with plugin(home, text=PROSE, size=4, rate=200) as environ:
        for term in ("xterm-256color", "dumb"):
            program = Program(home, "--provider", "slow", **environ, TERM=term)
            program.until(b"/help")
            program.drain(1.5)
            sizes = {0: program.memory_mib()}
            for turn in range(1, TURNS + 1):
                _take_turn(program, f"End-of-{turn}.".encode())
                if turn in (1, TURNS // 5, TURNS):
                    sizes[turn] = program.memory_mib()
            program.close()
            grown = (sizes[TURNS] - sizes[TURNS // 5]) * 1024 / (TURNS - TURNS // 5)
            told = ", ".join(f"{size:.1f} after {turn}" for turn, size in sizes.items())
            print(f"{term:15} MiB: {told} turns; at last {grown:.1f} KiB a turn")


def _take_turn(program: Program, mark: bytes) -> None:
    program.type(b"turn\r")
    while True:
        try:
            program.until(mark, seconds=3)
        except TimeoutError:  # it was queued just when the turn before ended: it is typed again
            program.type(b"\r")
        else:
            program.settle()
            return


@contextmanager
def plugin(home: Path, **values: object) -> Iterator[dict[str, str]]:
    """The environment of a program with a provider and a tool of ours."""
    with tempfile.TemporaryDirectory(dir=home) as folder:
        site = Path(folder)
        info = site / "slow-1.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: slow\nVersion: 1\n")
        (info / "entry_points.txt").write_text("[hrns]\nslow = slow_provider\n")
        (site / "slow_provider.py").write_text(PLUGIN.format(times=4000, **values))
        config = site / "config.json"
        config.write_text('{"providers": {"slow": {"api": "slow", "model": "m"}}}')
        yield {"PYTHONPATH": folder, "HRNS_CONFIG": str(config)}


SCENES = (start, markdown, streaming, memory)


def main() -> None:
    names = [scene.__name__ for scene in SCENES]
    parser = argparse.ArgumentParser(description="Measure the terminal UI.")
    parser.add_argument("scene", nargs="*", help=", ".join(names))
    wanted = parser.parse_args().scene or names
    for scene in SCENES:
        if scene.__name__ in wanted:
            heading(scene.__name__)
            with tempfile.TemporaryDirectory() as folder:
                scene(Path(folder))


if __name__ == "__main__":
    main()
