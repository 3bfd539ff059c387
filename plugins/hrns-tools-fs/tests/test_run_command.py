from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hrns_tools_fs.host.processes import _PosixCommand, start
from hrns_tools_fs.testing import Toolbox

from hrns.messages import Terminal, ToolResult
from hrns.permissions import Access, Prepared
from hrns.redact import Redactor

pytest_plugins = ["hrns_tools_fs.testing"]

pytestmark = pytest.mark.skipif(os.name == "nt", reason="these are lines for a POSIX shell")


@contextmanager
def soon() -> Iterator[None]:
    """Inside the block something ends that would otherwise take 40 seconds or longer."""
    started = time.monotonic()
    yield
    assert time.monotonic() - started < 20


@contextmanager
def watching(tools: Toolbox, text: str, act: Callable[[], object]) -> Iterator[None]:
    """Do it inside the block, when the output that people see has the text."""

    def watch() -> None:
        while text not in "".join(tools.shown):
            time.sleep(0.01)
        act()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    yield
    watcher.join(20)
    assert not watcher.is_alive()


def comes(happened: Callable[[], object]) -> bool:
    """Whether it is so, or soon will be."""
    deadline = time.monotonic() + 20
    while not (is_so := happened()) and time.monotonic() < deadline:
        time.sleep(0.01)
    return bool(is_so)


def processes(mark: str) -> list[int]:
    """The processes that have a text in their command lines, this one and its parents left out."""
    found = []
    for directory in Path("/proc").iterdir():
        try:
            line = (directory / "cmdline").read_bytes()
        except (OSError, ValueError):
            continue
        if mark.encode() in line and b"pytest" not in line:
            found.append(int(directory.name))
    return found


@pytest.fixture
def mark() -> Iterator[str]:
    """A number of seconds to sleep that no other test has; who still sleeps so is ended."""
    number = f"{3000 + os.getpid() % 1000}.{time.monotonic_ns() % 1_000_000_000}"
    yield number
    for pid in processes(number):
        os.kill(pid, 9)


@pytest.fixture(autouse=True)
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where logs go, so that none stays behind."""
    directory = tmp_path.parent / f"{tmp_path.name}-logs"
    directory.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(directory))
    return directory


def test_what_a_command_prints_is_the_result(tools: Toolbox) -> None:
    result = tools.result("run_command", command="echo out; echo err >&2")
    assert isinstance(result.display, Terminal)
    assert result == ToolResult(
        "out\nerr\n",
        display=Terminal("echo out; echo err >&2", "out\nerr\n", 0, result.display.duration_s),
        structured=result.structured,
    )
    assert json.loads(result.structured or "") == {
        "outcome": "ended",
        "exit_status": 0,
        "duration_s": round(result.display.duration_s, 3),
        "log": None,
    }


def test_the_call_says_which_line_it_runs(tools: Toolbox) -> None:
    line = "git status\ngit diff"
    assert tools.prepare("run_command", command=line) == Prepared(
        [Access("execute", line)], title="run_command git status ..."
    )
    for line, title in (("ls", "ls"), ("x" * 100, "x" * 100), ("x" * 101, f"{'x' * 100} ...")):
        assert tools.prepare("run_command", command=line).title == f"run_command {title}"


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("echo no; exit 3", "ERROR: exit status 3 after a while\nno\n"),
        ("kill -9 $$", "ERROR: killed by SIGKILL after a while"),
        ("sh -c 'kill -15 $$'; exit $?", "ERROR: exit status 143 (SIGTERM) after a while"),
        ("exit 255", "ERROR: exit status 255 after a while"),
        ("true", "[no output, exit status 0]"),
    ],
)
def test_how_a_command_ended_is_told(tools: Toolbox, command: str, words: str) -> None:
    text = re.sub(r"after \d\.\d s", "after a while", tools("run_command", command=command))
    assert text.removesuffix("Terminated\n").strip() == words.strip()


def test_a_command_that_fails_is_an_error(tools: Toolbox) -> None:
    result = tools.result("run_command", command="no-such-program-here")
    assert (result.status, "exit status 127" in result.text) == ("error", True)
    assert "not found" in result.text


def test_a_command_runs_where_it_is_told(tools: Toolbox, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    assert tools("run_command", command="pwd") == f"{tmp_path}\n"
    assert tools("run_command", command="pwd", cwd="sub") == f"{tmp_path}/sub\n"
    assert tools("run_command", command="pwd", cwd="gone") == (
        "ERROR: cwd: gone is not a directory"
    )


def test_a_command_that_cannot_be_started_is_told(tools: Toolbox) -> None:
    assert "could not be started" in tools("run_command", command="a\0b")
    assert "could not be started" in tools("run_command", command="x" * 3_000_000)
    assert "more than 0 seconds" in tools("run_command", command="true", timeout=0)


@pytest.mark.parametrize("command", ["cat", "python3", "read x", "cat </dev/tty", "git log -p"])
def test_nothing_waits_for_input_or_a_pager(tools: Toolbox, command: str) -> None:
    with soon():
        tools("run_command", command=command, timeout=40)


def test_a_command_has_no_terminal_and_a_quiet_environment(tools: Toolbox) -> None:
    assert tools("run_command", command="tty; echo $PAGER $GIT_PAGER $TERM; exit 0") == (
        "not a tty\ncat cat dumb\n"
    )


@pytest.mark.parametrize(
    "command",
    ["sleep {} & echo done", "sleep {} >/dev/null & echo done", "setsid sleep {} & echo done"],
)
def test_what_stays_in_the_background_does_not_hold_the_tool(
    tools: Toolbox, mark: str, command: str
) -> None:
    with soon():
        result = tools.result("run_command", command=command.format(mark))
    assert (result.status, result.text.split("\n")[0]) == ("ok", "done")
    assert "something that the command started still runs; it writes to /" in result.text
    assert len(processes(mark)) == 1


def test_what_stays_in_the_background_can_go_on_writing(tools: Toolbox, logs: Path) -> None:
    command = "(while [ ! -e go ]; do sleep 0.05; done; echo late; echo later) & echo now"
    assert tools("run_command", command=command).startswith("now\n")
    tools.file("go", "")
    (log,) = logs.iterdir()
    comes(lambda: log.read_text().endswith("later\n"))
    assert log.read_text() == "now\nlate\nlater\n"


def test_the_time_limit_ends_the_command_and_gives_what_it_printed(tools: Toolbox) -> None:
    with soon():
        command = "echo begun; sleep 60; echo never"
        result = tools.result("run_command", command=command, timeout=1.5)
    assert result.status == "error"
    assert result.text == (
        "ERROR: timed out after 1.5 s; the command and what it started were ended; "
        "output so far:\nbegun\n"
    )
    assert json.loads(result.structured or "")["exit_status"] is None


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows who started whom")
def test_who_started_others_is_ended_before_them(tmp_path: Path) -> None:
    line = 'sh -c \'sh -c "sh -c \\"sleep 3600; :\\"; :"; :\'; :'
    command = start(line, tmp_path)
    assert isinstance(command, _PosixCommand)
    try:
        assert comes(lambda: len(list(command._living())) == 5)
        living = list(command._living())
        stats = [Path(f"/proc/{pid}/stat").read_text() for pid in living]
        assert [int(stat.rpartition(")")[2].split()[1]) for stat in stats[1:]] == living[:-1]
    finally:
        command.end(0)
        command.close_output()
        command.reap()


def test_a_command_that_is_asked_to_end_is_asked_once(tools: Toolbox) -> None:
    command = "trap 'echo asked' TERM; while :; do sleep 0.05; done"
    assert tools("run_command", command=command, timeout=2).count("asked") == 1


def test_an_interrupted_command_ends_at_once(tools: Toolbox, mark: str) -> None:
    with soon(), watching(tools, "begun", tools.session.cancel.set):
        result = tools.result("run_command", command=f"echo begun; sleep {mark}")
    assert result.status == "interrupted"
    assert re.match(r"ERROR: interrupted after \d+\.\d s; output so far:\nbegun", result.text)
    assert comes(lambda: processes(mark) == [])


def test_children_that_ignore_sigterm_are_ended_with_the_command(tools: Toolbox, mark: str) -> None:
    command = f"trap '' TERM; for i in $(seq 50); do sh -c 'sleep {mark}; :' & done; wait"
    with soon():
        assert "timed out after 1 s" in tools("run_command", command=command, timeout=1)
    assert comes(lambda: processes(mark) == [])


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs the /proc of Linux")
def test_daemons_that_left_the_group_are_ended_with_the_command(tools: Toolbox, mark: str) -> None:
    daemon = (
        "import os, subprocess\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork() == 0:\n"
        "        open('ready', 'w').close()\n"
        f"        os.execvp('sleep', ['sleep', '{mark}'])\n"
        "    os._exit(0)\n"
        "os.wait()\n"
    )
    tools.file("daemon.py", daemon)
    line = f"{sys.executable} daemon.py; while [ ! -e ready ]; do sleep 0.01; done"
    with watching(tools, "begun", tools.session.cancel.set):
        assert "begun" in tools("run_command", command=f"{line}; echo begun; sleep 60")
    assert comes(lambda: processes(f"sleep\0{mark}") == [])


def test_commands_within_commands_are_ended_with_them(tools: Toolbox, mark: str) -> None:
    program = (
        "from pathlib import Path\n"
        "from hrns.context import SessionContext\n"
        "from hrns_tools_fs.testing import Toolbox\n"
        "tools = Toolbox(SessionContext(cwd=Path()))\n"
        f"tools('run_command', command='touch begun; exec sleep {mark}')\n"
    )
    tools.file("inner.py", program)
    line = f"{sys.executable} inner.py & while [ ! -e begun ]; do sleep 0.01; done; kill -9 $!"
    with watching(tools, "killed", tools.session.cancel.set):
        tools("run_command", command=f"{line}; echo killed; sleep 60")
    assert comes(lambda: processes(mark) == [])


def test_output_is_seen_while_the_command_runs(tools: Toolbox) -> None:
    command = "echo one; while [ ! -e seen ]; do sleep 0.02; done; echo two"
    with watching(tools, "one", lambda: tools.file("seen", "")):
        assert tools("run_command", command=command, timeout=20) == "one\ntwo\n"
    assert "".join(tools.shown) == "one\ntwo\n"


def test_colours_and_progress_are_for_terminals(tools: Toolbox) -> None:
    command = r"printf '\033[31mred\033[0m\n10%%\r100%%\n'"
    assert tools("run_command", command=command) == "red\n100%\n"


def test_bytes_that_are_no_text_are_marked(tools: Toolbox) -> None:
    result = tools.result("run_command", command=r"printf 'ok \360\377 end'")
    assert (result.status, result.text) == ("ok", "ok \ufffd\ufffd end")


def test_of_long_output_both_ends_are_shown_and_a_log_has_all(tools: Toolbox, logs: Path) -> None:
    text = tools("run_command", command="seq 100000")
    (log,) = logs.iterdir()
    assert text.startswith("1\n2\n3\n")
    assert text.endswith(f"99999\n100000\n\n[the whole output is in {log}]")
    assert "bytes left out ...]\n" in text
    assert len(text) < 40_000
    assert log.read_text() == "".join(f"{n}\n" for n in range(1, 100_001))
    assert log.stat().st_mode & 0o777 == 0o600


def test_output_without_end_stays_within_bounds(tools: Toolbox, logs: Path) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with soon():
        text = tools("run_command", command="yes", timeout=1)
    assert text.startswith("ERROR: timed out after 1 s;")
    assert (len(text) < 40_000, len(tools.shown) < 60) == (True, True)
    assert sum(len(shown) for shown in tools.shown) < 1_000_000
    assert sum(log.stat().st_size for log in logs.iterdir()) <= 256 * 1024 * 1024
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 60_000


def test_a_great_deal_of_output_is_kept_up_with(tools: Toolbox) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    command = "head -c 100M /dev/zero | tr '\\0' a; echo; echo end"
    assert "\nend\n" in tools("run_command", command=command)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 60_000


def test_a_stopped_reader_of_a_pipe_is_no_failure(tools: Toolbox) -> None:
    assert tools("run_command", command="yes | head -n 2") == "y\ny\n"


def test_commands_do_not_see_the_terminal_of_the_program(tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "from pathlib import Path\n"
        "from hrns.context import SessionContext\n"
        "from hrns_tools_fs.testing import Toolbox\n"
        "tools = Toolbox(SessionContext(cwd=Path(sys.argv[1])))\n"
        "print(repr(tools('run_command', command='cat; head -c 1')))\n"
        "print(sys.stdin.read())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)],
        input="typed ahead",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "'[no output, exit status 0]'\ntyped ahead\n"


@pytest.mark.parametrize("timeout", [float("inf"), 1e10, 1e308])
def test_time_limit_may_be_further_away_than_clocks_count(tools: Toolbox, timeout: float) -> None:
    assert tools("run_command", command="echo done", timeout=timeout) == "done\n"


def test_what_is_no_number_of_seconds_is_refused(tools: Toolbox) -> None:
    answer = tools("run_command", command="sleep 40", timeout=float("nan"))
    assert answer == "ERROR: timeout must be more than 0 seconds"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows who started whom")
@pytest.mark.parametrize(
    "line",
    [
        "env -i setsid sleep {0}",
        "env -i setsid sh -c 'sleep {0}; true'; true",
        "(env -i setsid sh -c 'sleep {0} &'); sleep {0}",
        "trap '' TERM; env -i setsid sh -c 'trap \"\" TERM; sleep {0}; true'",
    ],
)
def test_nothing_is_left_that_took_the_mark_off(tools: Toolbox, mark: str, line: str) -> None:
    with soon():
        answer = tools("run_command", command=line.format(mark), timeout=0.5)
    assert "timed out" in answer
    assert "still runs" not in answer
    assert comes(lambda: processes(mark) == [])


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows who started whom")
def test_who_was_there_before_is_left_alone(tools: Toolbox, tmp_path: Path) -> None:
    """A server may be given the output of a command, as tmux is: it is the user's all the same."""
    server = tmp_path / "server.py"
    server.write_text(
        "import os, socket, sys\n"
        "listener = socket.socket(socket.AF_UNIX)\n"
        "listener.bind(sys.argv[1])\n"
        "listener.listen()\n"
        "print('ready', flush=True)\n"
        "client = listener.accept()[0]\n"
        "message, descriptors, *_ = socket.recv_fds(client, 1, 1)\n"
        "os.write(descriptors[0], b'served')\n"
        "sys.stdin.read()\n"
    )
    client = tmp_path / "client.py"
    client.write_text(
        "import socket, sys, time\n"
        "connected = socket.socket(socket.AF_UNIX)\n"
        "connected.connect(sys.argv[1])\n"
        "socket.send_fds(connected, [b'x'], [1])\n"
        "time.sleep(40)\n"
    )
    address = str(tmp_path / "socket")
    arguments = [sys.executable, str(server), address]
    pipe = subprocess.PIPE
    with subprocess.Popen(arguments, stdin=pipe, stdout=pipe) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        line = f"{sys.executable} {client} {address}"
        with soon(), watching(tools, "served", tools.session.cancel.set):
            answer = tools("run_command", command=line)
        assert "served" in answer
        assert process.poll() is None
        process.kill()


def test_directory_that_is_gone_is_told(tools: Toolbox, tmp_path: Path) -> None:
    directory = tmp_path / "gone"
    directory.mkdir()
    tools.session.cwd = directory
    directory.rmdir()
    assert tools("run_command", command="pwd") == (
        f"ERROR: the command could not be started in {directory}: No such file or directory"
    )


def test_secrets_are_in_no_part_of_the_output_nor_in_its_log(tools: Toolbox) -> None:
    key = "sk-planted-0123456789"
    tools.cleaner = Redactor([key]).pieces
    split = f"printf {key[:9]}; sleep 0.2; printf '{key[9:]}\\n'"
    lines = f"i=0; while [ $i -lt 4000 ]; do echo {key}$i; i=$((i+1)); done"
    result = tools.result("run_command", command=f"{split}; {lines}; printf {key[:12]}")
    log = Path(json.loads(result.structured or "")["log"])
    whole = log.read_text()
    log.unlink()
    assert whole == "".join(f"[redacted]{n}\n" for n in ["", *range(4000)]) + key[:12]
    assert result.text.count("[redacted]") > 1000
    assert isinstance(result.display, Terminal)
    seen = [result.text, result.display.output, "".join(tools.shown)]
    assert [text for text in seen if key[:4] in text.replace(key[:12], "")] == []
