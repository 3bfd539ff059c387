"""What the page on permissions says comes of a call, really does."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from hrns.context import Mode, SessionContext
from hrns.messages import ToolCall
from hrns.permissions import Access, Decision, Effect, Prepared, Rule, mode_policy
from hrns.tools import SimpleTool

PAGE = Path(__file__).resolve().parent.parent / "docs" / "permissions.md"
TEXT = PAGE.read_text(encoding="utf-8")
CALL = ToolCall("1", "probe", "{}")
KINDS: dict[str, Effect] = {
    "read_file": "read",
    "write_file": "write",
    "web_fetch": "network",
    "run_command": "execute",
}
ROW = re.compile(
    r"^\|(?: `(?P<mode>\w+)` \|)? (?P<decision>allow|ask|deny) `(?P<rule>.*?)` "
    r"\| `(?P<tool>\w+)\((?P<subject>.*)\)` \| (?P<verdict>\w+) \|$",
    re.MULTILINE,
)
ROWS = [match.groupdict() for match in ROW.finditer(TEXT.replace("\\|", "|"))]


def test_the_tables_are_found() -> None:
    rows = [line for line in TEXT.splitlines() if re.match(r"\|.*\| (allow|ask|deny) \|$", line)]
    assert len(ROWS) == len(rows) > 40


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['rule']} {row['subject']}")
def test_row_is_true(row: dict[str, str]) -> None:
    modes: dict[str, Mode] = {"ask": "ask", "edits": "edits", "all": "all"}
    decision: Decision = "deny" if row["decision"] == "deny" else "allow"
    mode = modes[row["mode"] or ("all" if decision == "deny" else "ask")]
    tool = SimpleTool("", [], lambda _: "", name=row["tool"])
    rules = [Rule.parse(decision, row["rule"], "the page")]
    policy = mode_policy(SessionContext(cwd=Path("/nowhere/project"), mode=mode), rules)
    verdict = policy(CALL, tool, Prepared([Access(KINDS[row["tool"]], row["subject"])]))
    assert verdict is not None
    assert verdict.decision == row["verdict"]


MODES: dict[str, Mode] = {"ask": "ask", "edits": "edits", "all": "all", "plan": "plan"}
PLACES: list[tuple[Effect, str]] = [
    ("read", "a"),
    ("read", "/elsewhere/a"),
    ("write", "a"),
    ("write", "/elsewhere/a"),
    ("execute", "a"),
    ("network", "https://example.com/"),
]


@pytest.mark.parametrize("mode", MODES)
def test_table_of_modes_is_true(mode: str) -> None:
    (row,) = re.findall(rf"^\| `{mode}` \|((?: \w+ \|)+)$", TEXT, re.MULTILINE)
    told = [cell.strip() for cell in row.strip("|").split("|")]
    words: dict[Decision, str] = {"allow": "allowed", "ask": "asks", "deny": "denied"}
    policy = mode_policy(SessionContext(cwd=Path("/nowhere/project"), mode=MODES[mode]))
    tool = SimpleTool("", [], lambda _: "", name="probe")
    real = []
    for kind, subject in PLACES:
        verdict = policy(CALL, tool, Prepared([Access(kind, subject)]))
        assert verdict is not None
        real.append(words[verdict.decision])
    assert told == real


@pytest.mark.parametrize("example", re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL))
def test_example_runs(example: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", example],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
