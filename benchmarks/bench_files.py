"""The bundled tools over 100,000 files beside `find`, `rg` and `grep`; and a command of 2 GB.

Each tool runs in a process of its own, which says how long the call itself took.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median

from measuring import Measured, clean_environment, heading, in_turn, measure, options, ratio, table

DIRECTORIES = 1000
FILES_EACH = 100
IGNORED = 20_000
OUTPUT_BYTES = 2_000_000_000
NEEDLE = "needle_[0-9]+_in"

CALL = """
import json, resource, sys, time
from pathlib import Path
from hrns.context import SessionContext, ToolContext
from hrns_tools_fs.host import LocalHost
from hrns_tools_fs.toolset import make_tools

class WithoutRipgrep(LocalHost):
    def program(self, name):
        return None

cwd, host, name, arguments = sys.argv[1:]
made = make_tools({"any": LocalHost, "no rg": WithoutRipgrep}[host]())
tool = {each.name: each for each in made}[name]
context = ToolContext(session=SessionContext(cwd=Path(cwd)))
started = time.perf_counter()
result = tool.run(tool.structure(json.loads(arguments)), context)
took = time.perf_counter() - started
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
engine = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
print(json.dumps({"s": took, "peak_mb": peak, "engine_mb": engine, "end": result.text[-60:]}))
"""


@contextmanager
def tree() -> Iterator[Path]:
    """A repository of 100,000 files of about 1 KB, and as many ignored ones as it says above."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / ".git").mkdir()
        (root / ".gitignore").write_text("node_modules/\n*.log\n/dist\n")
        text = "".join(f"line {n} of a file like many others\n" for n in range(30))
        for number in range(DIRECTORIES):
            directory = root / f"pkg{number % 50:02}" / f"mod{number:03}"
            directory.mkdir(parents=True)
            for file in range(FILES_EACH):
                suffix = ("py", "txt", "json", "md")[file % 4]
                needle = (
                    f"needle_{number}_in_a_haystack\n" if file == 8 and number % 20 == 0 else ""
                )
                (directory / f"file{file:02}.{suffix}").write_text(text + needle)
        for number in range(IGNORED):
            directory = root / "node_modules" / f"dep{number // 100}"
            directory.mkdir(parents=True, exist_ok=True)
            (directory / f"index{number}.py").write_text(text)
        yield root


def call(root: Path, name: str, arguments: Mapping[str, object], host: str = "any") -> list[str]:
    return [sys.executable, "-c", CALL, str(root), host, name, json.dumps(arguments)]


def listings(root: Path) -> dict[str, list[str]]:
    pruned = ["-name", "node_modules", "-prune", "-o", "-name", "*.py", "-print"]
    return {
        "find": ["find", str(root), *pruned],
        "rg --files": [*rg(), "--files", "--glob=*.py", str(root)],
        "list_files": call(root, "list_files", {"dir": ".", "globPattern": "**/*.py"}),
        "list_files pkg07/*/*.py": call(
            root, "list_files", {"dir": ".", "globPattern": "pkg07/*/*.py"}
        ),
    }


def searches(root: Path) -> dict[str, list[str]]:
    arguments = {"pattern": NEEDLE, "glob": "*.py"}
    lines = [*rg(), "--line-number", "--glob=*.py", NEEDLE, str(root)]
    grep = ["grep", "-rnE", "--include=*.py", "--exclude-dir=node_modules", NEEDLE, str(root)]
    return {
        "rg": lines,
        "rg --sort=path": [*lines, "--sort=path"],
        "grep -rE": grep,
        "search_files (rg)": call(root, "search_files", arguments),
        "search_files (ours)": call(root, "search_files", arguments, "no rg"),
        "search_files (ours), all": call(root, "search_files", {"pattern": NEEDLE}, "no rg"),
    }


def commands(root: Path) -> dict[str, list[str]]:
    line = f"head -c {OUTPUT_BYTES} /dev/zero | tr '\\0' a"
    return {
        "sh -c '... | cat'": ["/bin/sh", "-c", f"{line} | cat > /dev/null"],
        "run_command": call(root, "run_command", {"command": line, "timeout": 300}),
    }


def rg() -> Sequence[str]:
    beside = str(Path(sys.executable).parent)
    return [shutil.which("rg") or shutil.which("rg", path=beside) or "rg"]


def report(title: str, runs: Mapping[str, list[str]], rounds: int) -> None:
    """Measure these in turn; the first is what the others are compared with."""
    with clean_environment() as environ:
        ready: dict[str, Callable[[], Measured]] = {
            name: partial(measure, words, environ)
            for name, words in runs.items()
            if shutil.which(words[0])
        }
        measured = in_turn(ready, rounds)
    base = [run.cpu_s for run in next(iter(measured.values()))]
    rows = []
    for name, done in measured.items():
        own = [json.loads(run.output) if run.output.startswith('{"s"') else {} for run in done]
        called = [each.get("s", run.wall_s) for each, run in zip(own, done, strict=True)]
        peak = max((each.get("peak_mb", 0.0) for each in own), default=0.0)
        engine = max((each.get("engine_mb", 0.0) for each in own), default=0.0)
        cpu = [run.cpu_s for run in done]
        times = (1000 * median(called), 1000 * median(cpu))
        rows.append((name, *times, ratio(cpu, base), peak, engine))
    heading(f"{title}: medians of {rounds} rounds")
    first = next(iter(measured))
    table(("what", "call ms", "cpu ms", f"x {first} cpu", "peak MB", "engine MB"), *rows)
    print()


def main() -> None:
    chosen = options("Measure the tools over many files and much output.", rounds=5).parse_args()
    with tree() as root:
        report("the paths of 25,000 of 100,000 files", listings(root), chosen.rounds)
        report("50 lines in 25,000 of 100,000 files", searches(root), chosen.rounds)
        report("a command that prints 2 GB", commands(root), min(chosen.rounds, 3))
    for log in Path(tempfile.gettempdir()).glob("hrns-command-*.log"):
        log.unlink()


if __name__ == "__main__":
    main()
