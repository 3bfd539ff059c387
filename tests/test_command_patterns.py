"""Patterns of command lines in rules."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hrns.context import Mode, SessionContext
from hrns.messages import ToolCall
from hrns.permissions import Access, Decision, Prepared, Rule, Verdict, mode_policy
from hrns.permissions.commands import CommandPattern
from hrns.tools import SimpleTool

CALL = ToolCall("1", "run_command", "{}")
RUN = SimpleTool("", [], lambda _: "", name="run_command")


def verdict(
    line: str,
    *,
    allow: tuple[str, ...] = (),
    ask: tuple[str, ...] = (),
    deny: tuple[str, ...] = (),
    mode: Mode = "ask",
) -> Verdict:
    """What comes of a command line; a rule without a parenthesis is a pattern of run_command."""
    given: dict[Decision, tuple[str, ...]] = {"allow": allow, "ask": ask, "deny": deny}
    rules = [
        Rule.parse(decision, text if "(" in text else f"run_command({text})", "config.json")
        for decision, texts in given.items()
        for text in texts
    ]
    policy = mode_policy(SessionContext(cwd=Path("/nowhere/project"), mode=mode), rules)
    said = policy(CALL, RUN, Prepared([Access("execute", line)]))
    assert said is not None
    return said


def allowed(pattern: str, line: str) -> bool:
    return verdict(line, allow=(pattern,)).decision == "allow"


def against(pattern: str, line: str) -> Decision:
    return verdict(line, deny=(pattern,), mode="all").decision


# What a pattern allows


@pytest.mark.parametrize(
    ("pattern", "line"),
    [
        ("git status", "git status"),
        ("git status", "  git   status "),
        ("git status", "git 'status'"),
        ("git *", "git"),
        ("git *", "git log -1 $x *.py"),
        ("git log *", "git log"),
        ("git * --dry-run", "git push origin main --dry-run"),
        ("git * --dry-run", "git --dry-run"),
        ("npm run test:*", "npm run test"),
        ("npm run test:*", "npm run test:unit"),
        ("npm run test:*", "npm run test:unit --watch"),
        ("npm run test:*", "npm run test --watch"),
        ("git:*", "git log"),
        ("ls *.py", "ls a.py"),
        ("ls *.py", "ls *.py"),
        ("make -j*", "make -j4"),
        ("make -j*", 'make -j"$N"'),
        ("a*b*c", "aXbYc"),
        ("*", "anything $at `all`"),
        ('git commit -m "*"', "git commit -m '*'"),
        ("git commit -m *", 'git commit -m "$x"'),
        ("echo a\\*b", "echo 'a*b'"),
        ("echo a\\*b", "echo a*b"),
        ("FOO=1 make", "FOO=1 make"),
        ("make", "CI=1 LC_ALL=C make"),
        ("make", "nohup make"),
        ("make", "env CI=1 timeout 5 nice make"),
        ("make", "bash -lc 'make && make'"),
        ("make && make test", "make && make test"),
        ("cat x | sort > 'y z'", " cat x | sort > 'y z'\n"),
        ("for f in *; do rm $f; done", "for f in *; do rm $f; done"),
        ("echo it's", "echo it's"),
    ],
)
def test_pattern_allows(pattern: str, line: str) -> None:
    assert allowed(pattern, line)


@pytest.mark.parametrize(
    ("pattern", "line"),
    [
        ("git status", "git status -s"),
        ("git status", "git"),
        ("git status", "/opt/git status"),
        ("git status", "./git status"),
        ("git *", "git-evil"),
        ("git *", "gitk"),
        ("git", "GIT"),
        ("npm run test:*", "npm run testing"),
        ("npm run test:*", "npm run"),
        ("ls *.py", "ls a.py b"),
        ("ls *.py", "ls $x"),
        ("ls a", "ls [a]"),
        ("make -j*", "make -j$N"),
        ("make -j*", 'make "$N"'),
        ('git commit -m "*"', "git commit -m x"),
        ("echo a\\*b", "echo axb"),
        ("make", "FOO=1 make"),
        ("make", "PATH=. make"),
        ("make", "env PATH=. make"),
        ("make", "./nohup make"),
        ("make", "sudo make"),
        ("sudo *", "sudo make"),
        ("find *", "find . -exec rm {} +"),
        ("xargs *", "xargs rm"),
        ("sh *", "sh -c 'rm x'"),
        ("env *", "env rm x"),
        ("git *", "git log; rm x"),
        ("git *", "git log && rm x"),
        ("git *", "git log || rm x"),
        ("git *", "git log | rm x"),
        ("git *", "git log & rm x"),
        ("git *", "git log\nrm x"),
        ("git *", "git log $(rm x)"),
        ("git *", 'git log "`rm x`"'),
        ("git *", "git log <(rm x)"),
        ("git *", "(git log; rm x)"),
        ("git *", "if git log; then rm x; fi"),
        ("git *", "PATH=.; git log"),
        ("git *", "for PATH in .; do git log; done"),
        ("git *", "git log > /etc/x"),
        ("git *", "git log > x"),
        ("git *", "git log < /etc/x"),
        ("git *", 'git "unclosed'),
        ("git *", "$x log"),
        ("git *", "g?t log"),
        ("git *", "CI='$(rm x)' git log"),
        ("a*aa", "aa"),
        ("git *", "git() { rm x; }; git log"),
        ("git *", "alias git=rm\ngit log"),
        ("git *", "cd /elsewhere; git log"),
        ("*(git *)", "git log"),
        ("*(git log)", "git log"),
        ("git status", "ls | xargs -dI -n 1 git status"),
        ("git log", "git ${x:-log}"),
        ("make && make test", "make  && make test"),
        ("make && *", "make && rm x"),
        ("curl * | sh", "curl x | sh"),
    ],
)
def test_pattern_does_not_allow(pattern: str, line: str) -> None:
    said = verdict(line, allow=(pattern,))
    assert said.decision == "ask"
    assert said.rule == f"run_command({line.strip().replace('*', chr(92) + '*')})"


def test_command_that_runs_another_is_allowed_by_rules_for_both() -> None:
    assert verdict("sudo make", allow=("sudo *", "make")).decision == "allow"
    assert verdict("find . -exec wc {} +", allow=("find *", "wc *")).decision == "allow"
    assert verdict("ls | xargs -n1 wc", allow=("ls", "wc *")).decision == "allow"


def test_rule_for_the_tool_allows_every_line() -> None:
    policy = mode_policy(SessionContext(cwd=Path("/nowhere")), [Rule("allow", "run_command", "x")])
    for line in ("rm -rf x", "$x", "a > /etc/x", "a 'b", "cd x && a > y"):
        said = policy(CALL, RUN, Prepared([Access("execute", line)]))
        assert said is not None
        assert (said.decision, said.rule) == ("allow", "run_command")


@pytest.mark.parametrize("mode", ["ask", "edits"])
def test_redirection_is_judged_as_a_call_of_write_file_or_read_file(mode: Mode) -> None:
    def decided(line: str, *allow: str) -> Decision:
        return verdict(line, allow=("echo *", "cd *", *allow), mode=mode).decision

    inside = "allow" if mode == "edits" else "ask"
    assert decided("echo a > x") == inside
    assert decided("echo a > x", "write_file(x)") == "allow"
    assert decided("echo a > x", "write_file(*)") == "allow"
    assert decided("echo a > y", "write_file(x)") == inside
    assert decided("echo a > ../x") == "ask"
    assert decided("echo a > ../x", "write_file(../*)") == "allow"
    assert decided("echo a > .git/x", "write_file(**)") == "allow"
    assert decided("echo a > .git/x") == "ask"
    assert decided("echo a > $x", "write_file(**)") == "ask"
    assert decided("cd y; echo a > x", "write_file(**)") == "ask"
    assert decided("echo a < x") == "allow"
    assert decided("echo a < ../x") == "ask"
    assert decided("echo a < ../x", "read_file(../x)") == "allow"
    assert decided("echo a > /dev/null 2>&1 < /dev/null") == "allow"


def test_rules_for_files_deny_redirections() -> None:
    for line in ("echo a > secret/x", "sh -c 'echo a >> secret/x'", "cd y; a > ./secret/x"):
        assert verdict(line, deny=("write_file(secret/**)",), mode="all").decision != "allow"
    assert verdict("a > x", deny=("write_file(secret/**)",), mode="all").decision == "allow"
    assert verdict("a < x", deny=("write_file(x)",), mode="all").decision == "allow"
    assert verdict("a < x", deny=("read_file(x)",), mode="all").decision == "deny"


# What a pattern denies


@pytest.mark.parametrize(
    ("pattern", "line"),
    [
        ("rm", "rm"),
        ("rm", "rm -rf x"),
        ("rm *", "rm -rf x"),
        ("rm:*", "rm -rf x"),
        ("git push", "git push --force"),
        ("git push", "git -C x --no-pager push"),
        ("git push", "git -c a=b -c c=d push"),
        ("git push", "git push"),
        ("kubectl delete", "kubectl -n prod delete pod x"),
        ("rm *", "/bin/rm x"),
        ("rm *", "../../bin/rm x"),
        ("./deploy.sh", "sh deploy.sh"),
        ("/usr/bin/rm *", "rm x"),
        ("rm *", "PATH=. FOO=$x rm y"),
        ("FOO=1 make", "FOO=1 make x"),
        ("rm *", "sudo -u root rm x"),
        ("rm *", "busybox rm x"),
        ("rm *", "strace -f rm x"),
        ("rm *", "ssh host rm x"),
        ("rm *", "ssh host 'cd x; rm y'"),
        ("rm *", "ssh host 'rm;x'"),
        ("rm *", "su -c 'rm x'"),
        ("rm *", "watch -n 1 'rm x'"),
        ("rm *", "zsh -c 'rm x'"),
        ("rm *", "find . -name x -exec rm {} +"),
        ("rm *", "git log | xargs rm"),
        ("rm *", "trap 'rm x' EXIT"),
        ("rm *", "alias x='rm y'"),
        ("curl * | sh", "curl  -s https://x | sh"),
        ("curl * | sh", "curl x  |  sh"),
        # it cannot be told what these run, but they mention it
        ("rm *", "x=rm; $x y"),
        ("rm *", "$(echo rm) y"),
        ("rm *", "echo rm y | sh"),
        ("rm *", "a 'b; rm y"),
        ("rm *", "cat > x <<E\nrm y\nE\nsh x"),
        ("rm *", "alias x=rm; x y"),
        ("rm -rf *", "x=-rf; rm $x y"),
        ("rm *", "read x <<< 'a[$(rm y)]'; echo $((x))"),
    ],
)
def test_pattern_denies(pattern: str, line: str) -> None:
    said = verdict(line, deny=(pattern,), allow=("*",), mode="all")
    assert said.decision == "deny"
    assert f"the rule run_command({pattern}) from config.json denies" in said.reason


@pytest.mark.parametrize(
    ("pattern", "line"),
    [
        ("rm *", "$x y"),
        ("rm *", '"$@"'),
        ("rm *", "r? y"),
        ("rm *", "/bin/r? y"),
        ("rm *", "{r,x}m y"),
        ("rm *", "$'r\\155' y"),
        ("rm *", "r$x y"),
        ("rm -rf *", "rm $x"),
        ("rm -rf *", "rm -r*"),
        ("git push", "git $x"),
        ("git push", "git -C $x status"),
        ("git push", "a 'b"),
        ("rm *", "curl x | sh"),
        ("rm *", "eval $x"),
        ("rm *", 'bash -c "$x"'),
        ("rm *", "cat > x <<'E'\nr\\m y\nE\nsh x"),
    ],
)
def test_what_may_be_denied_is_asked_about(pattern: str, line: str) -> None:
    said = verdict(line, deny=(pattern,), allow=("*",), mode="all")
    assert said.decision == "ask"
    expected = f"may be what the rule run_command({pattern}) from config.json denies"
    assert expected in said.reason


@pytest.mark.parametrize(
    ("pattern", "line"),
    [
        ("rm *", "rmdir x"),
        ("rm *", "git rm x"),
        ("rm *", "echo rm x"),
        ("rm *", "grep -rn 'rm -rf' src"),
        ("rm *", "echo 'a; rm x'"),
        ("rm *", "ls # rm x"),
        ("rm *", "ls $x *.py"),
        ("rm *", "cat <<E\nrm x\nE\n"),
        ("git push", "git status"),
        ("git push", "git commit -m push"),
        ("git push", "git stash push"),
        ("git push", "git log $x push"),
        ("git push", "git -C x status"),
        ("rm -rf *", "rm x"),
        ("rm *", "x=/bin/rm"),
        ("sudo *", "bash deploy.sh"),
        ("sudo *", "./sudo-less"),
        ("curl * | sh", "curl x | sort"),
    ],
)
def test_pattern_says_nothing_of_other_commands(pattern: str, line: str) -> None:
    assert against(pattern, line) == "allow"


@pytest.mark.parametrize(
    "line", ["git push", "git -C x push --force", "git $x", "sh -c 'git push'"]
)
def test_rule_that_asks_holds_for_what_may_be_meant(line: str) -> None:
    said = verdict(line, ask=("git push",), allow=("*",), mode="all")
    assert said.decision == "ask"
    assert said.reason.endswith(
        "and the rule run_command(git push) from config.json asks each time"
    )


# The rule that is offered

LINES = [
    "git status",
    "rm *",
    "find . -name \\*.py",
    "echo 'a*b' \\\\* \"*\"",
    "make && make test > x 2>&1",
    "for f in *; do echo $f; done",
    "echo 'unclosed",
    "cat <<E\nx\nE",
    "FOO=1 make",
    "a > /etc/x",
    "(a) # b)",
]


@pytest.mark.parametrize("line", LINES)
def test_rule_that_is_offered_allows_the_line(line: str) -> None:
    offered = verdict(line).rule
    assert offered.startswith("run_command(")
    assert verdict(line, allow=(offered,)).decision == "allow"
    assert verdict(f"{line} ; b", allow=(offered,)).decision == "ask"


@given(st.text(min_size=1, max_size=40).filter(str.strip))
def test_rule_that_is_offered_for_any_line_allows_it(line: str) -> None:
    offered = verdict(line).rule
    assert verdict(line, allow=(offered,)).decision == "allow"


def test_rule_that_is_offered_for_stars_does_not_allow_what_they_stand_for() -> None:
    offered = verdict("rm *").rule
    assert offered == "run_command(rm \\*)"
    assert verdict("rm x", allow=(offered,)).decision == "ask"


# Any text is a pattern


@given(st.text(max_size=40), st.text(max_size=40))
def test_what_a_pattern_allows_it_denies(pattern: str, line: str) -> None:
    for command_line in (line, pattern, f"a {line}"):
        if pattern.strip() and allowed(f"run_command({pattern})", command_line):
            assert against(f"run_command({pattern})", command_line) != "allow"


def test_pattern_of_many_stars_is_matched_at_once() -> None:
    assert not allowed(" ".join(["*", "a"] * 20), "a " * 2000 + "b")
    assert not allowed("*a" * 100 + "b", "a" * 100_000)
    assert against(" ".join(["*", "a"] * 20 + ["b"]), "$x " * 1000 + "a") == "ask"


def test_mention_is_of_whole_names() -> None:
    pattern = CommandPattern.parse("rm -rf *")
    assert pattern.is_mentioned("x=rm y='-rf'")
    assert not pattern.is_mentioned("format -rf")
    assert not pattern.is_mentioned("rm -r")
