"""The examples in docs/exec.md show what is really printed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Hrns

PAGE = Path(__file__).resolve().parent.parent / "docs/exec.md"
BLOCK = re.compile(r"^```console\n\$ ([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXAMPLES = BLOCK.findall(PAGE.read_text("utf-8"))
VARIES = re.compile(r'("session": "|"cwd": "|"duration_s": |"input": )[^",\n]*')


@pytest.mark.skipif(sys.platform == "win32", reason="a shell of POSIX")
@pytest.mark.parametrize(("line", "shown"), EXAMPLES)
def test_example_prints_what_the_page_shows(hrns: Hrns, line: str, shown: str) -> None:
    (hrns.cwd / "src").mkdir()
    for name in ("app.py", "words.py"):
        (hrns.cwd / "src" / name).touch()
    here = Path(sys.executable).parent
    done = subprocess.run(
        ["sh", "-c", line],
        cwd=hrns.cwd,
        env={**hrns.environ, "PATH": f"{here}{os.pathsep}{hrns.environ['PATH']}"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
    )
    assert VARIES.sub(r"\1", done.stdout) == VARIES.sub(r"\1", shown)


def test_examples_are_found() -> None:
    assert len(EXAMPLES) == 4
