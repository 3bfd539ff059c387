"""The terminal UI: from start to prompt, Markdown in pieces, keys while it streams, memory.

    python benchmarks/bench_tui.py

Figures depend on the machine; ratios less so. What is measured are the bytes that it writes.
"""

from __future__ import annotations

import os
import pty
import select
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ANSWER = (
    "Row of *many* words and `code`, **bold** ones too.\n\n- one\n- two\n\n"
    "```python\nx = 1\n```\n\n"
)
STREAM = """
import time
import hrns
from hrns import ProviderKind
from hrns.providers.base import Finish, ModelInfo, PartStart, PartText

class Slow:
    api = endpoint = "slow"
    def models(self): return [ModelInfo("m")]
    def reply(self, request, cancel):
        text = {text!r} * 4000
        yield PartStart(0, "text")
        for at in range(0, len(text), 12):
            if cancel.wait(1 / {rate}):
                break
            yield PartText(0, text[at : at + 12])
        yield Finish("done")

@hrns.hookimpl
def hrns_providers():
    return ProviderKind("slow", lambda entry: Slow())
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

    def cpu_seconds(self) -> float:
        """Processor time that it has taken so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory_mib(self) -> float:
        """Its resident memory."""
        text = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(text.partition("VmRSS:")[2].split()[0]) / 1024

    def close(self) -> None:
        """End it."""
        self.process.kill()
        self.process.wait()
        os.close(self._master)


def start(home: Path) -> None:
    bare, prompt, echo, memory = [], [], [], []
    for _ in range(5):
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", "pass"], check=True)
        bare.append(time.perf_counter() - began)
        program = Program(home, "--provider", "demo")
        prompt.append(program.until(b">"))
        program.type(b"~")
        echo.append(program.until(b"~"))
        program.drain(1.5)
        memory.append(program.memory_mib())
        program.close()
    low = min(bare)
    print(f"python -c pass            {low * 1000:6.0f} ms")
    for name, times in (("drawn prompt", prompt), ("key echoed", echo)):
        best = min(times)
        print(f"start to {name:16} {best * 1000:6.0f} ms   {best / low:.1f} times python -c pass")
    print(f"memory at the prompt      {min(memory):6.1f} MiB")


def markdown() -> None:
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


def streaming(home: Path, rate: int) -> None:
    site = home / "site"
    info = site / "slow-1.dist-info"
    info.mkdir(parents=True, exist_ok=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: slow\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[hrns]\nslow = slow_provider\n")
    (site / "slow_provider.py").write_text(STREAM.format(text=ANSWER, rate=rate))
    config = home / "config.json"
    config.write_text('{"providers": {"slow": {"api": "slow", "model": "m"}}}')
    program = Program(home, "--provider", "slow", PYTHONPATH=str(site), HRNS_CONFIG=str(config))
    program.until(b"(slow)")
    program.drain(1.0)
    program.type(b"go\r")
    program.drain(1.0)
    before, began = program.cpu_seconds(), time.perf_counter()
    program.drain(5.0)
    cpu = (program.cpu_seconds() - before) / (time.perf_counter() - began)
    delays = []
    for _ in range(40):
        pressed = time.perf_counter()
        program.type(b"~")
        program.until(b"~")
        delays.append(1000 * (time.perf_counter() - pressed))
        program.drain(0.05)
    delays.sort()
    print(
        f"at {rate:5} deltas a second  {100 * cpu:5.1f} % of a core   "
        f"key to echo {statistics.median(delays):.0f} ms, p95 {delays[-3]:.0f} ms   "
        f"{program.memory_mib():.1f} MiB"
    )
    program.close()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        start(home)
        markdown()
        for rate in (200, 2000):
            streaming(home, rate)


if __name__ == "__main__":
    main()
