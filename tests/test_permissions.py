from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hrns.context import Mode, SessionContext, ToolContext
from hrns.loop import Loop
from hrns.messages import ToolCall, ToolMessage, UserMessage
from hrns.permissions import (
    ALL_EFFECTS,
    Access,
    Answer,
    Decision,
    Effect,
    Policy,
    Prepared,
    Question,
    Rule,
    Ruling,
    Verdict,
    explain,
    judge,
    mode_policy,
    own_places,
)
from hrns.testing import Call, Say, ScriptedProvider
from hrns.tools import Tool

CALL = ToolCall("1", "probe", "{}")


def probe(*effects: Effect, name: str = "probe") -> Tool:
    return Tool(name, "Probes.", {}, lambda _arguments, _context: "", effects=effects)


def says(verdict: Verdict | None) -> Policy:
    return lambda _call, _tool, _prepared: verdict


def judged(*policies: Policy) -> Verdict:
    return judge(policies, CALL, probe(), Prepared())


# All policies together

STRICTNESS: dict[Decision, int] = {"allow": 0, "ask": 1, "deny": 2}


def test_no_policy_allows() -> None:
    assert judged() == Verdict("allow", source="no policy")


def test_policies_without_a_say_allow() -> None:
    assert judged(says(None), says(None)) == Verdict("allow", source="no policy")


def test_who_allows_is_named_although_another_has_no_say() -> None:
    assert judged(says(None), says(Verdict("allow", source="mode all"))).source == "mode all"


@given(st.lists(st.sampled_from([None, "allow", "ask", "deny"]), max_size=6))
def test_strictest_verdict_wins_and_of_equals_the_first(decisions: list[Decision | None]) -> None:
    verdicts = [
        Verdict(decision, source=str(number)) if decision else None
        for number, decision in enumerate(decisions)
    ]
    spoken = [verdict for verdict in verdicts if verdict]
    strictest = max((STRICTNESS[verdict.decision] for verdict in spoken), default=0)
    winner = judged(*map(says, verdicts))
    if spoken:
        firsts = [each for each in spoken if STRICTNESS[each.decision] == strictest]
        assert winner == firsts[0]
    else:
        assert winner == Verdict("allow", source="no policy")


def test_policy_that_raises_denies_and_is_named() -> None:
    def house_rules(_call: ToolCall, _tool: Tool, _prepared: Prepared) -> Verdict | None:
        raise KeyError("path")

    verdict = judged(says(Verdict("allow")), house_rules)
    assert verdict.decision == "deny"
    assert "house_rules failed: KeyError: 'path'" in verdict.reason
    assert verdict.source.endswith("house_rules")


def test_policy_that_raises_is_named_by_its_source() -> None:
    class Guard:
        source = "the plugin guard"

        def __call__(self, _call: ToolCall, _tool: Tool, _prepared: Prepared) -> Verdict | None:
            raise ValueError("no")

    reason = "the permission policy the plugin guard failed: ValueError: no"
    assert judged(Guard()) == Verdict("deny", reason, "the plugin guard")


class Lookalike:
    """As a verdict to look at, but not to work with."""

    decision = "allow"


@pytest.mark.parametrize(
    "returned",
    [True, "allow", "deny", {"decision": "allow"}, Lookalike(), Verdict("maybe"), 0],  # type: ignore[arg-type]
)
def test_policy_that_returns_something_else_denies(returned: Any) -> None:
    verdict = judged(says(returned))
    assert verdict.decision == "deny"
    assert repr(returned) in verdict.reason


def test_policy_whose_decision_cannot_be_hashed_denies() -> None:
    assert judged(says(Verdict(["allow"]))).decision == "deny"  # type: ignore[arg-type]


# Modes


@pytest.fixture
def places(tmp_path: Path) -> dict[str, str]:
    """Subjects by where they lie; `cwd` is the working directory."""
    cwd, outside = tmp_path / "project", tmp_path / "elsewhere"
    (cwd / "src").mkdir(parents=True)
    outside.mkdir()
    (outside / "secret").write_text("s")
    (cwd / "link_out").symlink_to(outside)
    (cwd / "file_link_out").symlink_to(outside / "secret")
    (outside / "link_in").symlink_to(cwd / "src")
    return {
        "cwd": str(cwd),
        "inside": str(cwd / "src" / "new.py"),
        "relative": "src/new.py",
        "directory itself": str(cwd),
        "dots inside": str(cwd / "src" / ".." / "new.py"),
        "link into it": str(outside / "link_in" / "new.py"),
        "outside": str(outside / "secret"),
        "dots outside": str(cwd / ".." / "elsewhere" / "secret"),
        "relative outside": "../elsewhere/secret",
        "name that begins alike": f"{cwd}-too/file",
        "link out of it": str(cwd / "link_out" / "secret"),
        "file that links out": str(cwd / "file_link_out"),
        "not named": "",
    }


INSIDE = ["inside", "relative", "directory itself", "dots inside", "link into it"]
OUTSIDE = [
    "outside",
    "dots outside",
    "relative outside",
    "name that begins alike",
    "link out of it",
    "file that links out",
    "not named",
]

TABLE: dict[tuple[Mode, Effect], tuple[Decision, Decision]] = {
    # mode, effect: inside the working directory, outside of it
    ("ask", "read"): ("allow", "ask"),
    ("ask", "write"): ("ask", "ask"),
    ("ask", "execute"): ("ask", "ask"),
    ("ask", "network"): ("ask", "ask"),
    ("edits", "read"): ("allow", "ask"),
    ("edits", "write"): ("allow", "ask"),
    ("edits", "execute"): ("ask", "ask"),
    ("edits", "network"): ("ask", "ask"),
    ("all", "read"): ("allow", "allow"),
    ("all", "write"): ("allow", "allow"),
    ("all", "execute"): ("allow", "allow"),
    ("all", "network"): ("allow", "allow"),
    ("plan", "read"): ("allow", "ask"),
    ("plan", "write"): ("deny", "deny"),
    ("plan", "execute"): ("deny", "deny"),
    ("plan", "network"): ("ask", "ask"),
}


def verdict_of(
    mode: Mode, cwd: str, tool: Tool, *accesses: Access, rules: tuple[Rule, ...] = ()
) -> Verdict:
    policy = mode_policy(SessionContext(cwd=Path(cwd), mode=mode), rules)
    verdict = policy(CALL, tool, Prepared(accesses))
    assert verdict is not None
    return verdict


@pytest.mark.parametrize(("mode", "effect"), TABLE)
def test_mode_decides_by_effect_and_place(
    mode: Mode, effect: Effect, places: dict[str, str]
) -> None:
    def decision(place: str) -> Decision:
        access = Access(effect, places[place])
        return verdict_of(mode, places["cwd"], probe(effect), access).decision

    inside, outside = TABLE[mode, effect]
    assert {place: decision(place) for place in INSIDE} == dict.fromkeys(INSIDE, inside)
    assert {place: decision(place) for place in OUTSIDE} == dict.fromkeys(OUTSIDE, outside)


def test_working_directory_may_be_reached_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    access = Access("write", str(tmp_path / "real" / "file"))
    verdict = verdict_of("edits", str(tmp_path / "link"), probe("write"), access)
    assert verdict == Verdict("allow", source="mode edits")


@pytest.mark.parametrize("mode", ["ask", "edits", "all", "plan"])
def test_tool_without_effects_is_allowed_in_every_mode(mode: Mode, tmp_path: Path) -> None:
    verdict = verdict_of(mode, str(tmp_path), probe())
    assert verdict == Verdict("allow", source=f"mode {mode}")


@pytest.mark.parametrize(
    ("mode", "decision"), [("ask", "ask"), ("edits", "ask"), ("all", "allow"), ("plan", "deny")]
)
def test_tool_that_names_no_access_is_taken_to_use_every_effect(
    mode: Mode, decision: Decision, tmp_path: Path
) -> None:
    assert verdict_of(mode, str(tmp_path), probe(*ALL_EFFECTS)).decision == decision


def test_strictest_access_decides(tmp_path: Path) -> None:
    inside, outside = Access("write", "a"), Access("write", "/elsewhere/b")
    verdict = verdict_of("edits", str(tmp_path), probe("write"), inside, outside, inside)
    reason = "it would change /elsewhere/b, and /elsewhere/b is outside the working directory"
    assert verdict == Verdict("ask", reason, "mode edits", "probe(/elsewhere/b)")


def test_verdict_says_what_the_call_would_do(tmp_path: Path) -> None:
    asked = verdict_of("ask", str(tmp_path), probe("execute"), Access("execute", "rm -rf x"))
    assert asked == Verdict("ask", "it would run rm -rf x", "mode ask", "probe(rm -rf x)")
    denied = verdict_of("plan", str(tmp_path), probe("write"), Access("write", "a"))
    assert denied.decision == "deny"
    assert "read only" in denied.reason


def test_policy_follows_the_mode_of_the_session(tmp_path: Path) -> None:
    context = SessionContext(cwd=tmp_path, mode="plan")
    policy = mode_policy(context)
    prepared = Prepared([Access("execute", "make")])
    decisions = []
    for mode in ("plan", "ask", "all"):
        context.mode = mode
        verdict = policy(CALL, probe("execute"), prepared)
        decisions.append(verdict and verdict.decision)
    assert decisions == ["deny", "ask", "allow"]


def test_path_that_no_system_takes_is_denied(tmp_path: Path) -> None:
    policy = mode_policy(SessionContext(cwd=tmp_path, mode="ask"))
    prepared = Prepared([Access("read", "a\0b")])
    assert judge([policy], CALL, probe("read"), prepared).decision == "deny"


# Places that are guarded

GUARDED = {
    ".git/hooks/pre-commit": "git's own",
    ".git": "git's own",
    "lib/.git/config": "git's own",
    ".GIT/config": "git's own",
    ".hrns/config.json": "says what hrns may do",
    "sub/.hrns/config.json": "says what hrns may do",
    "own/config.json": "says what hrns may do",
    "../elsewhere/x": "outside the working directory",
    "/etc/hosts": "outside the working directory",
    "link/hooks/pre-commit": "git's own",
}


@pytest.fixture
def guarded(tmp_path: Path) -> tuple[SessionContext, list[Path]]:
    """A session in a repository with a link into its `.git`, and a directory of hrns itself."""
    cwd = tmp_path / "project"
    (cwd / ".git" / "hooks").mkdir(parents=True)
    (cwd / "own").mkdir()
    (cwd / "link").symlink_to(cwd / ".git")
    return SessionContext(cwd=cwd), [cwd / "own"]


@pytest.mark.parametrize("path", GUARDED)
@pytest.mark.parametrize("mode", ["ask", "edits", "all", "plan"])
def test_writing_to_a_guarded_place_asks_in_every_mode_but_all(
    path: str, mode: Mode, guarded: tuple[SessionContext, list[Path]]
) -> None:
    context, own = guarded
    context.mode = mode
    policy = mode_policy(context, [rule("allow")], own)
    verdict = policy(CALL, probe("write"), Prepared([Access("write", path)]))
    assert verdict is not None
    assert verdict.decision == {"all": "allow", "plan": "deny"}.get(mode, "ask")
    if verdict.decision == "ask":
        assert GUARDED[path] in verdict.reason


@pytest.mark.parametrize("path", GUARDED)
def test_rule_that_is_offered_for_a_guarded_place_allows_it_and_only_that(
    path: str, guarded: tuple[SessionContext, list[Path]]
) -> None:
    context, own = guarded

    def decided(path: str, *rules: Rule) -> Verdict:
        policy = mode_policy(context, rules, own)
        verdict = policy(CALL, probe("write"), Prepared([Access("write", path)]))
        assert verdict is not None
        return verdict

    offered = Rule.parse("allow", decided(path).rule, "this session")
    assert offered.pattern
    assert decided(path, offered).decision == "allow"
    assert decided(f"{path}-not", offered).decision == "ask"


@pytest.mark.parametrize(
    "path", [".gitignore", "src/x.py", ".github/workflows/x.yml", "git/config", ".hrns/agents/a"]
)
def test_other_places_are_written_in_the_mode_edits(
    path: str, guarded: tuple[SessionContext, list[Path]]
) -> None:
    context, own = guarded
    context.mode = "edits"
    policy = mode_policy(context, (), own)
    verdict = policy(CALL, probe("write"), Prepared([Access("write", path)]))
    assert verdict == Verdict("allow", source="mode edits")


def test_own_places_are_the_directory_of_the_configuration_if_that_is_of_hrns() -> None:
    assert own_places(Path("/home/ada/.config/hrns/config.json")) == (
        Path("/home/ada/.config/hrns"),
    )
    assert own_places(Path("/project/hrns.json")) == (Path("/project/hrns.json"),)


# Rules


def rule(decision: Decision, text: str = "probe") -> Rule:
    return Rule.parse(decision, text, "config.json")


def test_deny_goes_before_ask_before_allow_whatever_the_order(tmp_path: Path) -> None:
    def decided(*rules: Rule) -> Decision:
        access = Access("execute", "make")
        return verdict_of("ask", str(tmp_path), probe(), access, rules=rules).decision

    assert decided(rule("allow"), rule("ask"), rule("deny")) == "deny"
    assert decided(rule("allow"), rule("ask", "*"), rule("deny", "other")) == "ask"
    assert decided(rule("allow", "*"), rule("ask", "other")) == "allow"
    assert decided(rule("deny", "probe(make)"), rule("ask")) == "deny"
    assert decided(rule("ask", "probe(make)"), rule("allow", "probe(make)")) == "ask"


def test_rule_names_itself_and_its_source(tmp_path: Path) -> None:
    access = Access("execute", "make x")
    rules = (rule("deny", "probe(make *)"), Rule("deny", "*", "--deny"))
    reason = (
        "it would run make x, which the rule probe(make *) from config.json denies; "
        "find another way, or say what you need"
    )
    expected = Verdict("deny", reason, "config.json", "probe(make x)")
    assert verdict_of("all", str(tmp_path), probe(), access, rules=rules) == expected


def test_verdict_that_allows_names_the_rule(tmp_path: Path) -> None:
    access = Access("execute", "make x")
    expected = Verdict(
        "allow",
        "the rule probe(make *) from config.json allows it",
        "config.json",
        "probe(make *)",
    )
    rules = (rule("allow", "probe(make *)"),)
    assert verdict_of("ask", str(tmp_path), probe(), access, rules=rules) == expected


RULED: dict[tuple[Mode, Decision], Decision] = {
    # in each mode a command is run under a rule: what comes of it
    ("ask", "allow"): "allow",
    ("edits", "allow"): "allow",
    ("all", "allow"): "allow",
    ("plan", "allow"): "deny",
    ("ask", "ask"): "ask",
    ("edits", "ask"): "ask",
    ("all", "ask"): "ask",
    ("plan", "ask"): "deny",
    ("ask", "deny"): "deny",
    ("edits", "deny"): "deny",
    ("all", "deny"): "deny",
    ("plan", "deny"): "deny",
}


@pytest.mark.parametrize("text", ["probe", "*", "probe(make)", "probe(make *)", "probe(*)"])
@pytest.mark.parametrize(("mode", "ruled"), RULED)
def test_rules_in_each_mode(mode: Mode, ruled: Decision, text: str, tmp_path: Path) -> None:
    access = Access("execute", "make")
    rules = (rule(ruled, text),)
    verdict = verdict_of(mode, str(tmp_path), probe("execute"), access, rules=rules)
    assert verdict.decision == RULED[mode, ruled]


def test_rules_that_are_added_count_for_the_next_call(tmp_path: Path) -> None:
    rules: list[Rule] = []
    policy = mode_policy(SessionContext(cwd=tmp_path), rules)
    prepared = Prepared([Access("execute", "make")])
    before = policy(CALL, probe(), prepared)
    rules.append(rule("allow", "probe(make)"))
    after = policy(CALL, probe(), prepared)
    assert [before and before.decision, after and after.decision] == ["ask", "allow"]


@pytest.mark.parametrize(("decision", "expected"), [("deny", "deny"), ("ask", "ask")])
def test_rule_holds_for_a_tool_without_effects(
    decision: Decision, expected: Decision, tmp_path: Path
) -> None:
    verdict = verdict_of("all", str(tmp_path), probe(), rules=(rule(decision, "*"),))
    assert verdict.decision == expected


def test_rule_with_a_pattern_says_nothing_of_a_call_that_touches_nothing(tmp_path: Path) -> None:
    rules = (rule("deny", "probe(x)"), rule("ask", "*(x)"))
    verdict = verdict_of("all", str(tmp_path), probe(), rules=rules)
    assert verdict == Verdict("allow", source="mode all")


def test_pattern_that_denies_may_mean_what_a_tool_does_not_name(tmp_path: Path) -> None:
    def decided(text: str) -> Decision:
        rules = (rule("deny", text),)
        return verdict_of("all", str(tmp_path), probe("network"), rules=rules).decision

    assert decided("probe(example.com)") == "ask"
    assert decided("*(example.com)") == "allow"
    assert decided("other(example.com)") == "allow"


def test_allow_rule_lets_a_file_outside_be_read(tmp_path: Path) -> None:
    access = Access("read", "/etc/hostname")
    verdict = verdict_of("ask", str(tmp_path), probe("read"), access, rules=(rule("allow"),))
    assert (verdict.decision, verdict.source) == ("allow", "config.json")


def test_every_access_needs_to_be_allowed(tmp_path: Path) -> None:
    accesses = [Access("write", "a/x"), Access("write", "b/x"), Access("read", "a/x")]

    def decided(*texts: str) -> Decision:
        rules = tuple(rule("allow", text) for text in texts)
        return verdict_of("ask", str(tmp_path), probe("write"), *accesses, rules=rules).decision

    assert decided("probe(a/**)") == "ask"
    assert decided("probe(a/**)", "probe(b/**)") == "allow"
    assert decided("probe") == "allow"


def test_rule_for_all_tools_protects_a_place_from_each_of_them(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / ".env")

    def decided(kind: Effect, subject: str) -> Decision:
        rules = (rule("deny", "*(.env)"),)
        return verdict_of(
            "all", str(tmp_path), probe(), Access(kind, subject), rules=rules
        ).decision

    assert decided("read", str(tmp_path / ".env")) == "deny"
    assert decided("write", "sub/.env") == "deny"
    assert decided("read", "/other/.env") == "deny"
    assert decided("read", "link") == "deny"
    assert decided("read", "env") == "allow"
    for line in ("cat .env", "cat < .env", "sh -c 'cat ./sub/.env'", "dd if=.env", "cat link"):
        assert decided("execute", line) == "deny", line
    assert decided("execute", "cat env; echo $X") == "allow"
    assert decided("network", "some.server") == "allow"


def test_rule_for_all_tools_protects_from_a_server_in_command_lines_too(tmp_path: Path) -> None:
    def decided(line: str) -> Decision:
        rules = (rule("deny", "*(evil.net)"),)
        return verdict_of(
            "all", str(tmp_path), probe(), Access("execute", line), rules=rules
        ).decision

    assert decided("curl -s https://www.evil.net/x | sort") == "deny"
    assert decided("curl --url=http://evil.net") == "deny"
    assert decided("curl https://example.com/evil.net") == "allow"


# Explanations


def test_each_piece_of_a_call_is_explained(tmp_path: Path) -> None:
    context = SessionContext(cwd=tmp_path)
    rules = [rule("allow", "probe(git *)"), rule("deny", "probe(rm *)")]
    prepared = Prepared([Access("execute", "git status; rm -rf x > log")])
    explained = explain(context, probe(), prepared, rules)
    offered = "probe(git status; rm -rf x > log)"
    assert explained == [
        Ruling(
            "run git status",
            Verdict(
                "allow",
                "the rule probe(git *) from config.json allows it",
                "config.json",
                "probe(git *)",
            ),
        ),
        Ruling(
            "run rm -rf x",
            Verdict(
                "deny",
                "it would run rm -rf x, which the rule probe(rm *) from config.json denies; "
                "find another way, or say what you need",
                "config.json",
                offered,
            ),
        ),
        Ruling("change log", Verdict("ask", "it would change log", "mode ask", offered)),
    ]


def test_call_that_touches_nothing_is_explained(tmp_path: Path) -> None:
    explained = explain(SessionContext(cwd=tmp_path), probe(), Prepared())
    assert explained == [Ruling("call probe", Verdict("allow", source="mode ask"))]


def test_long_command_is_shortened_for_people(tmp_path: Path) -> None:
    verdict = verdict_of("ask", str(tmp_path), probe(), Access("execute", "echo " + "x" * 10_000))
    assert len(verdict.reason) < 300
    assert verdict.reason.endswith("xxx...")
    assert verdict.rule == f"probe(echo {'x' * 10_000})"


# Values


@pytest.mark.parametrize(
    ("rule", "kind", "subject"),
    [
        ("read_file(.env)", "read", ".env"),
        ("write_file(ci/**)", "write", "ci/a.yml"),
        ("web_fetch(example.com)", "network", "https://www.example.com/"),
    ],
)
def test_pattern_for_the_bundled_tool_speaks_against_every_tool_that_does_the_same(
    tmp_path: Path, rule: str, kind: Effect, subject: str
) -> None:
    context = SessionContext(cwd=tmp_path, mode="all")
    touching = Prepared([Access(kind, subject)])

    def ruled(decision: Decision, text: str) -> Decision:
        rules = [Rule.parse(decision, text, "here")]
        return explain(context, probe(kind), touching, rules)[0].verdict.decision

    assert [ruled("deny", rule), ruled("ask", rule)] == ["deny", "ask"]
    assert ruled("deny", rule.partition("(")[0]) == "allow"
    context.mode = "ask"
    assert ruled("allow", "read_file(/**)") == ("allow" if kind == "read" else "ask")


def test_tool_learns_what_the_policies_say_of_what_it_finds(tmp_path: Path) -> None:
    context = SessionContext(cwd=tmp_path, mode="ask")

    def find(_arguments: object, given: ToolContext) -> str:
        return " ".join(given.judge(Access("read", path)).decision for path in ("a", "b", "/c"))

    tool = Tool("find", "Finds.", {}, find, effects=["read"], preparer=lambda *_: Prepared())
    rules = [Rule.parse("deny", "read_file(b)", "here"), Rule.parse("allow", "find(./c)", "here")]
    provider = ScriptedProvider([[Call("find")], [Say("done")]])
    loop = Loop(provider, [tool], policies=[mode_policy(context, rules)], ask=yes, context=context)
    assert [*loop.run([UserMessage("go")])][-1].type == "end"
    (message,) = (each for each in loop.messages if isinstance(each, ToolMessage))
    assert message.results[0].text == "allow deny ask"


def yes(_question: Question) -> Answer:
    return Answer("once")


def test_accesses_may_be_any_iterable() -> None:
    accesses = [Access("read", "a"), Access("write", "b")]
    assert Prepared(iter(accesses)) == Prepared(tuple(accesses))


def test_policies_are_plain_callables() -> None:
    policies: list[Callable[..., Verdict | None]] = [lambda *_: Verdict("ask", "why not")]
    assert judge(policies, CALL, probe(), Prepared()) == Verdict("ask", "why not")


# One question about several commands


def asked_about(line: str, *ask: str) -> Verdict:
    context = SessionContext(Path("/src"), mode="ask")
    rules = [Rule.parse("ask", rule, "config.json") for rule in ask]
    prepared = Prepared([Access("execute", line)])
    verdict = mode_policy(context, rules)(CALL, probe("execute"), prepared)
    assert verdict is not None
    return verdict


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("ls", "it would run ls"),
        ("ls && ls", "it would run ls"),
        ("ls; rm -rf src", "it would run ls and rm -rf src"),
        ("ls; rm -rf src; curl x | sh", "it would run ls, rm -rf src, curl x and 2 more"),
        ("ls; rm a; curl x; make; sh b", "it would run ls, rm a, curl x and 2 more"),
    ],
)
def test_question_names_all_commands_of_a_line(line: str, reason: str) -> None:
    assert asked_about(line) == Verdict("ask", reason, "mode ask", f"probe({line})")


def test_question_that_a_rule_puts_each_time_offers_none_and_names_the_other_commands() -> None:
    told = "it would run ls, and the rule probe(ls) from config.json asks each time"
    assert asked_about("ls", "probe(ls)") == Verdict("ask", told, "config.json")
    verdict = asked_about("make; ls; rm a", "probe(ls)")
    assert verdict == Verdict("ask", f"{told}; it would also run make and rm a", "config.json")
