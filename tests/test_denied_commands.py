"""No line with a denied command in it is allowed, and none with one that no rule allows.

Lines are made of a command and what may stand around it in a shell, nested in each other. The
real shells of this machine are asked what such a line runs.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hrns.context import Mode, SessionContext
from hrns.messages import ToolCall
from hrns.permissions import Access, Decision, Policy, Prepared, Rule, mode_policy
from hrns.tools import SimpleTool

CALL = ToolCall("1", "run_command", "{}")
RUN = SimpleTool("", [], lambda _: "", name="run_command")
CWD = Path("/nowhere/project")

# `ok` is what the rules allow, `zap` what they deny, and of `other` they say nothing.
PLAIN = ["{} -x", "'{}' a", '"{}"', "\\{} a", "{} a $x", "/opt/bin/{} a", "FOO=1 {} a", "{}\\\n a"]
SPLIT = ["z''ap", 'z"a"p', "'z'ap -x", "z\\ap a", "\\z\\a\\p", "z\\\nap a"]
VEILED = [
    *("$(echo zap) a", "`echo zap`", "x=zap; $x a", "z?p", "z[a]p", "{zap,a}", "{z,}ap", "z${x}ap"),
    *("$'zap' a", "z$x", '"$@"', "${x:-zap}", "zap$IFS-x", "$x$y", 'a=zap; "$a"', "/*/zap"),
    *("echo zap | sh", "sh <<E\nzap\nE\n", "sh <<< zap", "eval $x", ". ./x", "alias ok=zap\nok"),
    *("zap() { ok; }; zap", "set zap; $1", "z\u00e0p() { zap; }", "coproc zap", "hash zap; zap"),
]

AROUND = [
    *(
        "{}; ok",
        "ok; {}",
        "ok && {}",
        "{} && ok",
        "ok || {}",
        "ok | {}",
        "{} | ok",
        "ok & {}",
        "{} &",
    ),
    *(
        "ok\n{}",
        "({})",
        "( {} )",
        "{{ {}; }}",
        "{{ {}\n}}",
        "! {}",
        "ok a b # c\n{}",
        "ok \\\n && {}",
    ),
    *("ok $({})", 'ok "$({})"', "ok a$( {} )b", "x=$({})", "ok <({})", "ok ${{x:-$({})}}"),
    *("ok $((1 + $({})))", "[[ -n $({}) ]]", "if ok; then {}; fi", "if {}; then ok; fi"),
    *("if ok; then ok; elif {}; then ok; else ok; fi", "if ok; then ok; else {}; fi"),
    *("while {}; do break; done", "while ok; do {}; break; done", "until ok; do {}; done"),
    *("for x in a b; do {}; done", "for x in $({}); do ok; done", "case a in a) {};; esac"),
    *("case $({}) in a) ok;; esac", "case a in (b) ok;; *) ok; {}\nesac", "f() {{ {}; }}; f"),
    *("f() ( {} )", "function f {{ {}; }}", "{{ {}; }} > f", "ok > f; {}", "ok 2>&1 >f <f; {}"),
    *("ok <<E\n$({})\nE\n", "ok <<'E'\nzip\nE\n{}", "ok <<-E; {}\n\tzip\n\tE\n", "a=(b $({}))"),
    *("{}\n", "\n\n{}", "ok;{};ok", "ok&&{}||ok", "(ok;(ok;({})))", "ok '('; {}; ok ')'"),
]
QUOTED = ["sh -c {}", "bash -lc {}", "bash -euo pipefail -c {}", "eval {}", "trap {} EXIT"]
QUOTED += ["env sh -c {}", "ok | xargs -n1 sh -c {}", "find . -exec sh -c {} \\;", "ssh host {}"]
RUNNING = ["env {}", "env FOO=1 {}", "nohup {}", "timeout 5 {}", "nice -n 1 {}", "command {}"]
RUNNING += ["exec {}", "time {}", "xargs -n 1 {}", "sudo -u me {}", "find . -exec {} \\;"]
RUNNING += ["find . -name a -ok {} {{}} + -print", "builtin {}", "stdbuf -oL {}", "busybox {}"]

FRAMES = [
    *AROUND,
    *(text.replace("{}", "<quoted>") for text in QUOTED),
]


def framed(frame: str, line: str) -> str:
    """A line in what may stand around it; in backquotes and quotes it is escaped."""
    if "<quoted>" in frame:
        return frame.replace("<quoted>", shlex.quote(line))
    return frame.format(line)


def backquoted(line: str) -> str:
    return "ok `" + line.replace("\\", "\\\\").replace("`", "\\`").replace("$", "\\$") + "`"


WRAP = st.one_of(
    st.sampled_from(FRAMES).map(lambda frame: lambda line: framed(frame, line)),
    st.just(backquoted),
)


def lines_with(leaves: list[str]) -> st.SearchStrategy[str]:
    """Lines with one of these in them, nested up to three times."""

    def wrapped(leaf: str, wraps: list[Callable[[str], str]]) -> str:
        for wrap in wraps:
            leaf = wrap(leaf)
        return leaf

    # Behind these no variable is set: `nohup X=1 a` runs a program of the name X=1.
    run = [leaf for leaf in leaves if "=" not in leaf]
    behind = st.builds(str.format, st.sampled_from(RUNNING), st.sampled_from(run))
    leaf = st.one_of(st.sampled_from(leaves), behind)
    return st.builds(wrapped, leaf, st.lists(WRAP, max_size=3))


def rules(decision: Decision, *patterns: str) -> list[Rule]:
    return [Rule.parse(decision, f"run_command({text})", "config.json") for text in patterns]


def decided(policy: Policy, line: str) -> Decision:
    verdict = policy(CALL, RUN, Prepared([Access("execute", line)]))
    assert verdict is not None
    return verdict.decision


def policy(mode: Mode, *given: Rule, cwd: Path = CWD) -> Policy:
    return mode_policy(SessionContext(cwd=cwd, mode=mode), given)


DENYING = policy("all", *rules("deny", "zap *"), *rules("allow", "*"))
HELPERS = ["[[ *", "b ]]", "break", "find *", "busybox *", "sudo *", "zip", "trap *", "f", "echo *"]
ALLOWING = policy("edits", *rules("allow", "ok *", *HELPERS))


@settings(max_examples=300)
@given(lines_with([text.format("zap") for text in PLAIN] + SPLIT))
def test_line_with_a_denied_command_anywhere_is_never_allowed(line: str) -> None:
    assert decided(DENYING, line) != "allow"


@pytest.mark.parametrize("frame", [*FRAMES, *RUNNING])
def test_denied_command_is_denied_wherever_it_stands(frame: str) -> None:
    leaves = ["zap", "zap -x", "z''ap a"]
    assert {decided(DENYING, framed(frame, leaf)) for leaf in leaves} == {"deny"}


@pytest.mark.parametrize(
    "line",
    [
        *("taskset 1 zap a", "chrt -r 1 zap", "prlimit --nofile=9 zap a", "tmux new -d 'zap a'"),
        *("docker run --rm image zap a", "kubectl exec pod -- sh -c 'zap a'", "uv run zap a"),
        *("npm exec zap", "poetry run zap a", "screen -dm zap a", "rbash -c 'zap a'"),
        *("git bisect run zap a", "git submodule -q foreach 'zap a'", "git rebase -x 'zap a' b"),
        *("git -c alias.x='!zap a' x", "git -c core.pager=zap log", "git rebase --exec='zap a' b"),
        *("source /dev/stdin <<< 'zap a'", ". /dev/fd/0 <<E\nzap\nE", "at now <<< 'zap a'"),
        *("bash 3<<<'zap a' /dev/fd/3", "hash -p /bin/zap f; f a", "enable -f ./zap.so zap"),
    ],
)
def test_denied_command_is_denied_behind_what_else_runs_commands(line: str) -> None:
    assert decided(DENYING, line) == "deny"


@pytest.mark.parametrize(
    "line",
    [
        *("git zap a", "docker zap a", "npm run zap", "uv pip zap", "git commit -m zap", "hash -r"),
        *("git log --grep run zap", "git clean -x a", "kubectl zap a", "git -c user.name=x log"),
    ],
)
def test_same_name_for_something_else_is_allowed(line: str) -> None:
    assert decided(DENYING, line) == "allow"


@settings(max_examples=100)
@given(lines_with(VEILED))
def test_line_whose_command_cannot_be_told_is_never_allowed(line: str) -> None:
    assert decided(DENYING, line) != "allow" or "zap" not in line
    assert decided(ALLOWING, line) != "allow"


@settings(max_examples=300)
@given(lines_with([text.format("other") for text in PLAIN] + ["other > ok", "FOO=1 ok"]))
def test_line_with_a_command_that_no_rule_allows_is_never_allowed(line: str) -> None:
    assert decided(ALLOWING, line) == "ask"


@pytest.mark.parametrize("frame", [*FRAMES, *RUNNING])
def test_line_of_commands_that_rules_allow_is_allowed(frame: str) -> None:
    if "FOO=1" in frame or "ssh" in frame:  # not what the rules speak of
        assert decided(ALLOWING, framed(frame, "ok a")) == "ask"
    else:
        assert decided(ALLOWING, framed(frame, "ok a")) == "allow"


# What real shells do


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with programs that write their names down, and little else on the PATH."""
    root = tmp_path_factory.mktemp("stage")
    programs, log = root / "bin", root / "log"
    programs.mkdir()
    (root / "work").mkdir()
    for name in ("ok", "zap", "other"):
        (programs / name).write_text(f"#!/bin/sh\necho {name} >> {log}\necho a\n")
        (programs / name).chmod(0o755)
    for name in ("env", "nohup", "timeout", "nice", "xargs", "find", "sh", "bash", "stdbuf"):
        if found := shutil.which(name):
            (programs / name).symlink_to(found)
    return root


def shells() -> Iterator[str]:
    return filter(None, map(shutil.which, ("dash", "bash", "sh")))


def runs(shell: str, line: str, stage: Path) -> set[str]:
    """The programs that a shell really runs for a line."""
    (stage / "log").write_text("")
    subprocess.run(
        [shell, "-c", line],
        cwd=stage / "work",
        env={"PATH": str(stage / "bin"), "HOME": str(stage)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=50,
        check=False,
    )
    return set((stage / "log").read_text().split())


SHELLS = sorted(set(shells())) if os.name == "posix" else []
REAL = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.mark.skipif(not SHELLS, reason="there is no POSIX shell")
@REAL
@given(lines_with(["zap -x", "z''ap", "ok", *VEILED]))
def test_no_shell_runs_a_denied_command_of_a_line_that_is_allowed(stage: Path, line: str) -> None:
    if decided(DENYING, line) == "allow":
        for shell in SHELLS:
            assert "zap" not in runs(shell, line, stage)


@pytest.mark.skipif(not SHELLS, reason="there is no POSIX shell")
@REAL
@given(lines_with(["ok", "ok a", "'ok' $x", "CI=1 ok", "other", *VEILED]))
def test_no_shell_runs_more_of_an_allowed_line_than_the_rules_allow(stage: Path, line: str) -> None:
    if decided(ALLOWING, line) == "allow":
        for shell in SHELLS:
            assert runs(shell, line, stage) <= {"ok"}


@pytest.mark.skipif(not SHELLS, reason="there is no POSIX shell")
def test_the_denied_command_really_runs_where_it_stands(stage: Path) -> None:
    """The frames are no inventions: most of them run what stands in them."""
    ran = [frame for frame in FRAMES if "zap" in runs(SHELLS[0], framed(frame, "zap"), stage)]
    assert len(ran) > len(FRAMES) / 2
