"""Commands of the person's own: what they print, how they end, what they leave running."""

from __future__ import annotations

import os
from pathlib import Path
from threading import Thread

import pytest
from hrns_tui.shell import run_shell, shell_report

from hrns.cancel import Cancel
from hrns.chunks import ToolCallResultChunk, ToolOutputChunk
from hrns.messages import Terminal

STILL_RUNS = "[something that the command started still runs]"


def ran(command: str, cwd: Path, cancel: Cancel | None = None) -> tuple[Terminal, str]:
    """What is displayed of a command, and the status of its call."""
    *_, last = run_shell(command, cwd, os.environ, cancel or Cancel())
    assert isinstance(last, ToolCallResultChunk)
    assert isinstance(last.result.display, Terminal)
    return last.result.display, last.status


@pytest.mark.parametrize(
    ("command", "output", "exit_status", "status"),
    [
        ("echo one; echo two >&2", "one\ntwo\n", 0, "ok"),
        ("printf '\\303'; printf '\\251'; exit 3", "\u00e9", 3, "error"),
        ("exec >/dev/null 2>&1; exit 4", "", 4, "error"),
        ("seq 30000 | tail -n 1", "30000\n", 0, "ok"),
    ],
)
def test_command_is_shown_with_its_output_and_end(
    tmp_path: Path, command: str, output: str, exit_status: int, status: str
) -> None:
    shown, how = ran(command, tmp_path)
    assert (shown.output, shown.exit_status, how) == (output, exit_status, status)


def test_all_of_a_long_output_comes_although_the_command_has_ended(tmp_path: Path) -> None:
    chunks = run_shell("seq 300000", tmp_path, os.environ, Cancel())
    texts = [chunk.text for chunk in chunks if isinstance(chunk, ToolOutputChunk)]
    assert "".join(texts).split() == [str(number) for number in range(1, 300001)]


@pytest.mark.parametrize(
    "busy", ["read line < hold", "while [ ! -e over ]; do echo more; sleep 0.01; done"]
)
def test_what_goes_on_in_the_background_is_not_waited_for_and_lives(
    tmp_path: Path, busy: str
) -> None:
    os.mkfifo(tmp_path / "hold")
    os.mkfifo(tmp_path / "done")
    shown, status = ran(f"({busy}; echo printed; echo yes > done) & echo begun", tmp_path)
    assert (shown.exit_status, status) == (0, "ok")
    assert "begun\n" in shown.output
    assert shown.output.endswith(f"\n{STILL_RUNS}")
    assert STILL_RUNS in shell_report(shown)
    (tmp_path / "over").touch()
    if "hold" in busy:
        (tmp_path / "hold").write_text("go\n")
    assert (tmp_path / "done").read_text() == "yes\n"  # it could print, and went on


def test_interrupted_command_ends_with_what_it_started(tmp_path: Path) -> None:
    cancel = Cancel()
    shown: list[tuple[Terminal, str]] = []
    os.mkfifo(tmp_path / "begun")
    command = "sleep 1000 & echo begun > begun; wait"
    thread = Thread(target=lambda: shown.append(ran(command, tmp_path, cancel)), daemon=True)
    thread.start()
    assert (tmp_path / "begun").read_text() == "begun\n"
    cancel.set()
    thread.join(30)
    assert [(each.output, how) for each, how in shown] == [("", "interrupted")]
