"""What comes before any command: Ctrl-C while modules are imported, `--version`."""

from __future__ import annotations

import subprocess
import sys
from textwrap import dedent

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")


def interrupted(before: str) -> tuple[int, str, str]:
    """Status and output of a process that is interrupted in a callback, where raising is lost."""
    program = dedent(
        f"""
        import os, signal, weakref
        from hrns.cli.early import end_at_once, raise_again
        {before}
        class Thing: pass
        thing = Thing()
        weakref.finalize(thing, os.kill, os.getpid(), signal.SIGINT)
        try:
            del thing
            print("went on")
        except KeyboardInterrupt:
            print("raised")
        """
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=50, check=False
    )
    return done.returncode, done.stdout, done.stderr


def test_interrupt_while_modules_are_imported_ends_the_process_at_once() -> None:
    assert interrupted("end_at_once()") == (130, "", "")


def test_interrupt_raises_again_for_commands_that_take_nothing_over() -> None:
    status, out, _ = interrupted("end_at_once(); raise_again()")
    assert (status, out) != (130, "")


def test_interrupt_that_is_ignored_or_handled_stays_so() -> None:
    ignored = "signal.signal(signal.SIGINT, signal.SIG_IGN); end_at_once(); raise_again()"
    assert interrupted(ignored) == (0, "went on\n", "")


@pytest.mark.parametrize("redirected", ["> /dev/full", ">&-"])
def test_version_that_nobody_can_read_is_no_traceback(redirected: str) -> None:
    command = f"'{sys.executable}' -m hrns --version {redirected}"
    done = subprocess.run(
        ["/bin/sh", "-c", command], capture_output=True, text=True, timeout=50, check=False
    )
    assert (done.returncode, done.stderr) == (1, "")
