"""`hrns permissions`, run as a process."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

USERS = {
    "permissions": {
        "mode": "edits",
        "allow": ["run_command(git *)"],
        "deny": ["run_command(rm *)"],
    }
}
PROJECTS = {"permissions": {"deny": ["*(.env)"], "ask": ["web_fetch"]}}

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """The configuration of the user and that of the project, by whose it is."""
    users = tmp_path / "home" / ".config" / "hrns" / "config.json"
    projects = tmp_path / "project" / ".hrns" / "config.json"
    for path, document in ((users, USERS), (projects, PROJECTS)):
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(document))
    return {"user": users, "project": projects}


@pytest.fixture
def run(tmp_path: Path, files: dict[str, Path], call_hrns: Run) -> Run:  # noqa: ARG001
    def run_words(*words: str) -> tuple[int, str, str]:
        environ = {"HOME": str(tmp_path / "home"), "PATH": os.environ["PATH"]}
        return call_hrns(("permissions", *words), tmp_path / "project", environ)

    return run_words


def test_each_command_of_a_line_is_explained(run: Run, files: dict[str, Path]) -> None:
    status, out, err = run("check", "run_command(git status; rm -rf x; make)")
    assert (status, err) == (0, "")
    head, _, *rows = out.splitlines()
    assert head == "run_command(git status; rm -rf x; make): deny"
    assert [row.split("  ")[0] for row in rows] == ["allow", "deny", "ask"]
    assert f"the rule run_command(git *) from {files['user']} allows it" in rows[0]
    assert f"the rule run_command(rm *) from {files['user']} denies" in rows[1]


def test_rule_that_would_allow_is_told(run: Run) -> None:
    out = run("check", "run_command(make)")[1]
    assert out.splitlines()[-1] == "to allow it: run_command(make)"
    allow = run("check", "run_command(npm test -- -v)")[1].splitlines()[-2:]
    assert allow == [
        "to allow it: run_command(npm test -- -v)",
        "to allow what is like it: run_command(npm test *)",
    ]
    assert "to allow it" not in run("check", "web_fetch(https://example.com)")[1]


def test_rule_of_the_project_is_told_from_its_file(run: Run, files: dict[str, Path]) -> None:
    out = run("check", "read_file(.env)")[1]
    assert out.startswith("read_file(.env): deny\n")
    assert f"the rule *(.env) from {files['project']} denies" in out


def test_mode_and_more_rules_are_taken_from_the_flags(run: Run) -> None:
    def decided(*flags: str) -> Any:
        return json.loads(run("check", "--json", "write_file(x)", *flags)[1])["decision"]

    assert decided() == "allow"
    assert decided("--permission-mode", "ask") == "ask"
    assert decided("--permission-mode", "plan") == "deny"
    assert decided("--permission-mode", "ask", "--allow", "write_file(x)") == "allow"
    assert decided("--deny", "write_file(*)") == "deny"


def test_what_belongs_to_hrns_is_guarded(run: Run, files: dict[str, Path]) -> None:
    for path in ("~/.config/hrns/x", str(files["user"]), ".hrns/config.json", ".git/config"):
        assert run("check", f"write_file({path})")[1].startswith(f"write_file({path}): ask\n")


def test_explanation_as_json(run: Run) -> None:
    status, out, err = run("check", "--json", "run_command(ls)", "--deny", "run_command(ls)")
    assert (status, err) == (0, "")
    verdict = {
        "decision": "deny",
        "reason": (
            "it would run ls, which the rule run_command(ls) from --deny denies; "
            "find another way, or say what you need"
        ),
        "source": "--deny",
        "rule": "run_command(ls)",
    }
    assert json.loads(out) == {
        "call": "run_command(ls)",
        "mode": "edits",
        **verdict,
        "pieces": [{"piece": "run ls", **verdict}],
        "wider_rule": "run_command(ls *)",
    }


def test_rules_are_listed_as_they_count(run: Run, files: dict[str, Path]) -> None:
    status, out, err = run("list")
    assert (status, err) == (0, "")
    mode, head, *rows = out.splitlines()
    assert mode == "mode: edits"
    assert head.split() == ["DECISION", "RULE", "FROM"]
    listed = [tuple(row.split("  ", 1)) for row in rows]
    assert [(decision, *rest.strip().rsplit(None, 1)) for decision, rest in listed] == [
        ("deny", "run_command(rm *)", str(files["user"])),
        ("deny", "*(.env)", str(files["project"])),
        ("ask", "web_fetch", str(files["project"])),
        ("allow", "run_command(git *)", str(files["user"])),
    ]


def test_rules_as_json(run: Run, files: dict[str, Path]) -> None:
    assert json.loads(run("list", "--json")[1]) == {
        "mode": "edits",
        "rules": [
            {"decision": "deny", "rule": "run_command(rm *)", "source": str(files["user"])},
            {"decision": "deny", "rule": "*(.env)", "source": str(files["project"])},
            {"decision": "ask", "rule": "web_fetch", "source": str(files["project"])},
            {"decision": "allow", "rule": "run_command(git *)", "source": str(files["user"])},
        ],
        "plugins": [],
    }


def test_nothing_configured_is_told(run: Run, files: dict[str, Path]) -> None:
    for path in files.values():
        path.unlink()
    told = "mode: not configured (the terminal asks, exec allows all)\n"
    assert run("list") == (0, told, "")


def test_misspelt_rule_is_told(run: Run, files: dict[str, Path]) -> None:
    files["user"].write_text('{"permissions": {"deny": ["run_comand(rm *)"]}}')
    for words in (("list",), ("check", "run_command(ls)")):
        status, _, err = run(*words)
        assert status == 0
        assert err == (
            f"hrns: warning: the rule run_comand(rm *) from {files['user']} names no tool that is "
            "here; did you mean run_command?\n"
        )


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="links in a circle are no fault there")
def test_path_that_leads_nowhere_is_told(run: Run, tmp_path: Path) -> None:
    (tmp_path / "project" / "loop").symlink_to("loop")
    status, out, err = run("check", "read_file(loop)")
    assert (status, out) == (2, "")
    assert err.startswith("hrns: read_file(loop) is denied: ")


@pytest.mark.parametrize(
    ("call", "told"),
    [
        ("run command", "'run command' is not a call"),
        ("run_comand(ls)", "there is no tool 'run_comand'\nDid you mean run_command?"),
        ("frobnicate", "there is no tool 'frobnicate'"),
    ],
)
def test_what_is_no_call_is_refused(run: Run, call: str, told: str) -> None:
    status, out, err = run("check", call)
    assert (status, out) == (2, "")
    assert err.startswith(f"hrns: {told}")
