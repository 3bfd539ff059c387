"""Rules as people write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hrns.errors import ConfigError
from hrns.permissions import Rule, unknown_tools
from hrns.tools import SimpleTool

TOOLS = [
    SimpleTool("", [], lambda _: "", name=name)
    for name in ("read_file", "run_command", "web_fetch")
]


@pytest.mark.parametrize(
    ("text", "tool", "pattern"),
    [
        ("run_command", "run_command", ""),
        ("*", "*", ""),
        (" read_file ", "read_file", ""),
        ("a-b", "a-b", ""),
        ("x" * 64, "x" * 64, ""),
        ("run_command(git *)", "run_command", "git *"),
        ("run_command( git status )", "run_command", "git status"),
        ("run_command(echo (a) b))", "run_command", "echo (a) b)"),
        ("run_command(a\nb)", "run_command", "a\nb"),
        ("*(~/.ssh/**)", "*", "~/.ssh/**"),
        ("web_fetch(https://example.com/a(b)*)", "web_fetch", "https://example.com/a(b)*"),
        ("read_file(ü/*)", "read_file", "ü/*"),
    ],
)
def test_rule_is_parsed(text: str, tool: str, pattern: str) -> None:
    assert Rule.parse("deny", text, "--deny") == Rule("deny", tool, "--deny", pattern)


@given(
    st.sampled_from(["*", "run_command", "a-b_C9"]),
    st.text(min_size=1).map(str.strip).filter(bool),
)
def test_rule_is_what_it_is_written_as(tool: str, pattern: str) -> None:
    rule = Rule("allow", tool, "x", pattern)
    assert Rule.parse("allow", rule.text, "x") == rule


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("", "Write the name of a tool, such as run_command"),
        ("a b", "Write the name of a tool, such as run_command"),
        ("**", "Write the name of a tool, such as run_command"),
        ("ü", "Write the name of a tool, such as run_command"),
        ("x" * 65, "Write the name of a tool, such as run_command"),
        ("a\nb", "Write the name of a tool, such as run_command"),
        ("(git *)", "Write the name of a tool, such as run_command"),
        ("git status", "run_command(git *)"),
        ("probe(", "A rule with a pattern ends in a closing parenthesis."),
        ("run_command(git *", "A rule with a pattern ends in a closing parenthesis."),
        ("probe()", "Put a pattern between the parentheses, or write probe alone"),
        ("probe( )", "Put a pattern between the parentheses, or write probe alone"),
        ("probe(x) y", "A rule with a pattern ends in a closing parenthesis."),
    ],
)
def test_text_that_is_no_rule_is_refused_with_its_source_and_a_hint(text: str, hint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Rule.parse("allow", text, "--allow")
    assert caught.value.message == f"--allow: {text!r} is not a rule"
    assert hint in caught.value.hint


def test_rules_that_name_no_tool_are_told_with_the_nearest() -> None:
    texts = ["web_fech", "*", "*(x)", "web_fetch", "Read_File", "frobnicate"]
    rules = [Rule.parse("deny", text, "config.json") for text in texts]
    assert unknown_tools(rules, TOOLS) == [
        "the rule web_fech from config.json names no tool that is here; did you mean web_fetch?",
        "the rule Read_File from config.json names no tool that is here; did you mean read_file?",
        "the rule frobnicate from config.json names no tool that is here",
    ]


def test_rules_that_name_tools_are_not_told() -> None:
    rules = [Rule.parse("allow", tool.name, "x") for tool in TOOLS]
    assert unknown_tools(rules, TOOLS) == []
