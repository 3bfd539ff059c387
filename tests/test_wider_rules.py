"""The rule for calls like one: what is offered beside the very call, and where nothing is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hrns.context import SessionContext
from hrns.messages import ToolCall
from hrns.permissions import ALL_EFFECTS, Access, Effect, Prepared, Rule, mode_policy
from hrns.permissions.widening import wider_rule
from hrns.tools import Tool

CWD, HOME = Path("/home/ada/shop"), Path("/home/ada")
RUN = Tool("run_command", "", {"type": "object"}, lambda *_: "", effects=ALL_EFFECTS)


def of(*accesses: Access, tool: str = "run_command") -> str:
    return wider_rule(tool, accesses, CWD, HOME)


@pytest.mark.parametrize(
    ("line", "pattern"),
    [
        ("git log -3", "git log *"),
        ("git log", "git log *"),
        ("git commit -m 'two words'", "git commit *"),
        ("git log --format=%h 2>/dev/null", "git log *"),
        ("git log -3 # the last ones", "git log *"),
        ("git stash pop", "git stash pop *"),
        ("npm test", "npm test *"),
        ("npm run test:unit -- --watch", "npm run test:unit *"),
        ("pip3.11 install attrs", "pip3.11 install *"),
        ("uv pip install attrs", "uv pip install *"),
        ("cargo test", "cargo test *"),
        ("go mod tidy", "go mod tidy *"),
        ("docker compose up -d", "docker compose up *"),
        ("pytest -q tests", "pytest *"),
        ("ls", "ls *"),
        ("grep -rn word *.py", "grep *"),
    ],
)
def test_command_is_taken_with_any_arguments(line: str, pattern: str) -> None:
    assert of(Access("execute", line)) == f"run_command({pattern})"


@pytest.mark.parametrize(
    "line",
    [
        # what runs other commands
        *("sudo ls", "env ls", "sh -c ls", "bash build.sh", "xargs ls", "eval ls", "ssh host ls"),
        *("find . -exec ls {} +", "find . -name x", "timeout 5 ls", "nohup ls", "npx eslint ."),
        *("npm exec eslint", "uv run pytest", "go run .", "docker run image", "time ls"),
        *("docker compose exec box sh", "git config alias.x '!rm x'", "git submodule foreach ls"),
        *("git -c core.pager=x log", "git bisect run make"),
        # what runs code, or may destroy anything
        *("python -c 'print()'", "python3.11 x.py", "node x.js", "perl x", "awk '{}' x", "make x"),
        *("rm x", "dd if=x", "mkfs.ext4 /dev/x", "sed -i s/a/b/ x", "curl x", "git push", "tee x"),
        *("git checkout .", "npm publish", "docker rm x", "kubectl delete pod", "aws s3 rm x"),
        # what is more than one command, or not understood
        *("git log | head", "git log && ls", "git log; ls", "git log $(ls)", "git log\nls"),
        *("git log > notes", "wc < notes", "PATH=. git log", "(git log)extra(", "git log 'x"),
        *("cat <<E\nx\nE", "if true; then ls; fi", "$x log", "git $x", "{ls,rm} x"),
        # what does not say what it does
        *("git --version", "git -C x log", "git", "git stash", "npm run", "./build.sh", "/bin/ls"),
        *("", "   ", "# nothing", "> notes"),
    ],
)
def test_nothing_wider_is_offered_for_what_may_be_anything(line: str) -> None:
    assert of(Access("execute", line)) == ""


@pytest.mark.parametrize(
    ("path", "pattern"),
    [
        ("/home/ada/shop/src/app.py", "/home/ada/shop/src/**"),
        ("/usr/include/stdio.h", "/usr/include/**"),
        ("/srv/data/[1]/x", "/srv/data/\\[1]/**"),
        ("/home/ada/shop/app.py", ""),  # all of the working directory, with .git in it
        ("/home/ada/notes.txt", ""),
        ("/home/x", ""),
        ("/etc/hosts", ""),
        ("/home/ada/.ssh/config", ""),
        ("/home/ada/shop/lib/.git/hooks/x", ""),
        ("/home/ada/shop/src/.env", ""),
        ("src/app.py", "/home/ada/shop/src/**"),
        ("../other/app.py", ""),
    ],
)
def test_file_is_taken_with_its_directory(path: str, pattern: str) -> None:
    wanted = f"edit({pattern})" if pattern else ""
    for accesses in ([Access("write", path)], [Access("read", path), Access("write", path)]):
        assert of(*accesses, tool="edit") == wanted


def test_documented_rules_are_those_that_are_offered() -> None:
    page = Path(__file__).parent.parent / "docs" / "permissions.md"
    _, table = page.read_text(encoding="utf-8").split("| call | rule |\n|---|---|\n")
    rows = re.findall(r"^\| `(\w+)\((.*)\)` \| (?:`(.*)` )?\|$", table, re.MULTILINE)[:7]
    assert len(rows) == 7
    for tool, subject, rule in rows:
        kind: Effect = "execute" if tool == "run_command" else "write"
        assert of(Access(kind, subject.replace("\\|", "|")), tool=tool) == rule


def test_directory_of_a_repository_is_not_taken(tmp_path: Path) -> None:
    directory = tmp_path / "project"
    directory.mkdir()
    file = Access("write", str(directory / "x"))
    assert of(file, tool="edit") == f"edit({directory}/**)"
    (directory / ".git").mkdir()
    assert of(file, tool="edit") == ""


def test_url_is_taken_with_its_host() -> None:
    assert of(Access("network", "https://example.com/a?b"), tool="get") == "get(example.com)"
    assert of(Access("network", "http://[::1]:8000/"), tool="get") == "get([::1]:8000)"
    assert of(Access("network", "https://user@example.com/"), tool="get") == ""


def test_call_that_touches_several_things_is_taken_only_where_one_rule_is_for_all() -> None:
    near = [Access("read", "/srv/data/one/x"), Access("read", "/srv/data/one/y")]
    assert of(*near, tool="read") == "read(/srv/data/one/**)"
    assert of(*near, Access("read", "/srv/data/two/y"), tool="read") == ""
    assert of(*near, Access("write", ""), tool="read") == ""
    assert of(tool="read") == ""


_WORDS = "git log npm run test sudo env ls cat sh -c python > < | ; && $x $(ls) * 'a b' -n x=1 /x"


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from([*_WORDS.split(" "), "\n"]), max_size=6).map(" ".join))
def test_what_is_offered_is_a_rule_that_allows_the_call_and_nothing_behind_it(line: str) -> None:
    rule = of(Access("execute", line))
    if not rule:
        return
    context = SessionContext(cwd=CWD, mode="ask")
    policy = mode_policy(context, [Rule.parse("allow", rule, "test")])

    def decision(text: str) -> str:
        call = ToolCall("1", RUN.name, "{}")
        verdict = policy(call, RUN, Prepared([Access("execute", text)]))
        return verdict.decision if verdict else "none"

    assert decision(line) == "allow"
    assert decision(f"{line}\nrm x") == "ask"
