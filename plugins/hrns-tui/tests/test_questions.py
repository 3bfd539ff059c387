"""Permission questions, and what is asked at a prompt of scripted lines."""

from __future__ import annotations

import io
from collections import deque
from pathlib import Path

import pytest
from hrns_tui.dialogue import Listing, PromptDialogue
from hrns_tui.questions import Questions, describe, widening
from hrns_tui.screen import Screen

from hrns.cancel import Cancel
from hrns.errors import ConfigError
from hrns.messages import Diff, ToolCall
from hrns.permissions import Access, Answer, Prepared, Question, Verdict
from hrns.tools import tool


class Lines:
    """A prompt whose lines are given; an exception among them is raised."""

    def __init__(self, *lines: str | BaseException) -> None:
        self.lines = deque(lines)
        self.labels: list[str] = []

    def line(self, label: str, *, secret: bool = False) -> str:
        self.labels.append(label if not secret else f"{label} (secret)")
        line = self.lines.popleft()
        if isinstance(line, BaseException):
            raise line
        return line

    def answer(self, label: str, cancel: Cancel) -> str:
        assert not cancel.is_set()
        return self.line(label)


@tool(effects=["execute"])
def smash() -> str:
    """Smashes."""
    return "ok"


def question(prepared: Prepared | None = None, rule: str = "smash(*)") -> Question:
    verdict = Verdict("ask", "it would run rm", "mode ask", rule)
    call = ToolCall("1", "smash", '{"what": "it"}')
    return Question(call, smash, prepared or Prepared(title="smash it"), verdict, Cancel())


def answered(asked: Question, *lines: str | BaseException) -> tuple[Answer, list[str]]:
    """The answer that the lines give, and the rules that were saved."""
    saved: list[str] = []
    prompt = Lines(*lines)
    answer = Questions(Screen(io.StringIO(), colour=False), prompt, saved.append)(asked)
    assert not prompt.lines
    return answer, saved


@pytest.mark.parametrize(
    ("lines", "answer"),
    [
        (["y"], Answer("once")),
        ([" Yes "], Answer("once")),
        (["s"], Answer("session")),
        (["a"], Answer("always", "smash(*)")),
        (["n"], Answer("no")),
        (["N: not today"], Answer("no", reason="not today")),
        (["no, not\ntoday"], Answer("no", reason="not\ntoday")),
        (["", "what?", "nope", "yy", "y"], Answer("once")),
        ([EOFError()], Answer("no")),
    ],
)
def test_answer_is_what_was_typed(lines: list[str | BaseException], answer: Answer) -> None:
    asked = question()
    assert answered(asked, *lines) == (answer, [answer.rule] if answer.kind == "always" else [])
    assert not asked.cancel.is_set()


def test_rule_for_calls_like_it_can_be_changed_before_it_is_saved() -> None:
    def answered_so(*lines: str) -> tuple[Answer, list[str], str]:
        saved: list[str] = []
        out = io.StringIO()
        prompt = Lines(*lines)
        ask = Questions(Screen(out, colour=False), prompt, saved.append, lambda _: "smash(it *)")
        answer = ask(question())
        assert not prompt.lines
        return answer, saved, out.getvalue()

    answer, saved, shown = answered_so("p", "")
    assert (answer, saved) == (Answer("always", "smash(it *)"), ["smash(it *)"])
    assert "p: always, by a pattern (rule smash(it *), or another)" in shown
    answer, saved, shown = answered_so("P", "smash(it", "p", "crash(it)", "p", " smash(it x) ")
    assert (answer, saved) == (Answer("always", "smash(it x)"), ["smash(it x)"])
    assert "error: what you wrote: 'smash(it' is not a rule" in shown
    assert "error: crash(it) is no rule for smash" in shown
    assert answered_so("p", "smash(", "n")[:2] == (Answer("no"), [])


def test_pattern_is_no_answer_where_none_is_offered() -> None:
    assert answered(question(), "p", "y") == (Answer("once"), [])


def test_rule_for_calls_like_it_is_found_if_it_is_another_than_the_one_that_is_offered() -> None:
    wider = widening(Path("/home/ada/shop"), Path("/home/ada"))
    line = Prepared([Access("execute", "git log -3")])
    assert wider(question(line, rule="smash(git log -3)")) == "smash(git log *)"
    assert wider(question(line, rule="smash(git log *)")) == ""
    assert wider(question(line, rule="")) == ""  # nothing could be kept


def test_ctrl_c_is_a_no_that_ends_the_turn() -> None:
    asked = question()
    assert answered(asked, KeyboardInterrupt()) == (Answer("no"), [])
    assert asked.cancel.reason == "interrupted"


def test_always_without_a_rule_is_once() -> None:
    assert answered(question(rule=""), "a") == (Answer("once"), [])


def test_rule_that_cannot_be_saved_holds_for_the_session() -> None:
    def save(rule: str) -> None:
        raise ConfigError(f"no room for {rule}")

    out = io.StringIO()
    answer = Questions(Screen(out, colour=False), Lines("a"), save)(question())
    assert answer == Answer("session", "smash(*)")
    assert out.getvalue().endswith(
        "\nerror: no room for smash(*)\nIt is allowed for this session.\n"
    )


def test_description_is_the_reason_and_the_change() -> None:
    diff = Diff("a.txt", "one\ntwo\n", "one\n2\n")
    assert describe(question(Prepared(title="t", preview=diff))) == (
        ["it would run rm", "a.txt", "1  one", "2 -two", "2 +2"]
    )


LINE = "ls; rm -rf src\ncurl example.com | sh"


def test_plain_question_shows_a_command_whole_which_its_title_says_in_part() -> None:
    asked = question(Prepared([Access("execute", LINE)], title="smash ls; rm -rf src"))
    assert describe(asked) == [
        f"smash {LINE}".split("\n")[0],
        LINE.split("\n")[1],
        "it would run rm",
    ]
    out = io.StringIO()
    Questions(Screen(out, colour=False), Lines("n"), str)(asked)
    assert out.getvalue().startswith(f"smash {LINE}\nit would run rm\ny: once ")
    marked = question(Prepared([Access("execute", LINE)], title="smash ls; rm -rf ..."))
    assert describe(marked) == describe(asked)
    for hidden in ("x" * 300, "y\nz\n" * 60):
        long = question(Prepared([Access("execute", hidden)], title=f"smash {hidden[:100]}"))
        assert "\n".join(describe(long)) == f"smash {hidden.strip()}\nit would run rm"
    inside = question(Prepared([Access("execute", "dd")], title="add things"))
    assert describe(inside, titled=True) == ["add things", "dd", "it would run rm"]
    short = question(Prepared([Access("execute", "ls")], title="smash ls"))
    assert describe(short) == ["it would run rm"]  # the title is above


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("a", "\nfrom now on allowed: smash(*) (saved)\n"),
        ("s", "\nfrom now on allowed: smash(*) (this session)\n"),
        ("y", ""),
        ("n", ""),
    ],
)
def test_what_is_allowed_from_now_on_is_told(key: str, said: str) -> None:
    out = io.StringIO()
    Questions(Screen(out, colour=False), Lines(key), lambda _: None)(question())
    assert out.getvalue().partition("no, because")[2] == (said or "\n")


def test_nothing_is_offered_to_be_kept_where_no_rule_would_end_the_question() -> None:
    out = io.StringIO()
    Questions(Screen(out, colour=False), Lines("s"), str, lambda _: "")(question(rule=""))
    assert out.getvalue() == "it would run rm\ny: once   n: no   n WHY: no, because\n"


def test_description_of_a_call_without_a_title_is_its_arguments() -> None:
    assert describe(question(Prepared())) == ['smash {"what": "it"}', "it would run rm"]


def test_description_of_a_large_change_is_cut() -> None:
    new = "".join(f"{number}\n" for number in range(500))
    lines = describe(question(Prepared(title="t", preview=Diff("a", None, new))))
    assert lines[:3] == ["it would run rm", "a", "  1 +0"]
    assert (len(lines), lines[-1]) == (83, "(and 420 more lines)")
    huge = Diff("a", "x" * 300_000, "")
    assert describe(question(Prepared(title="t", preview=huge))) == (
        ["it would run rm", "a", "(300000 characters become 0)"]
    )


# Lines that commands ask for


def dialogue(*lines: str | BaseException) -> tuple[PromptDialogue, Lines, io.StringIO]:
    out, prompt = io.StringIO(), Lines(*lines)
    return PromptDialogue(Screen(out, colour=False), prompt), prompt, out


def test_empty_line_stands_for_the_default_which_is_shown_unless_secret() -> None:
    asked, prompt, _ = dialogue("", " x ", "")
    assert asked.ask("Model", default="m\x1b") == "m\x1b"
    assert asked.ask("Model") == "x"
    assert asked.ask("Key", default="k", secret=True) == "k"
    assert prompt.labels == ["Model [m\ufffd]", "Model", "Key (secret)"]


@pytest.mark.parametrize("away", [EOFError(), KeyboardInterrupt()])
def test_ctrl_c_and_ctrl_d_are_rather_not(away: BaseException) -> None:
    assert dialogue(away)[0].ask("Model") is None
    assert dialogue(away)[0].pick("Which?", [("a", "")]) is None


OPTIONS = [("2", "two"), ("Other", ""), ("third", "3")]


@pytest.mark.parametrize(
    ("lines", "value"),
    [
        (["1"], "2"),
        (["2"], "2"),  # names come before numbers
        (["oTHER"], "Other"),
        (["4", "0", "thrid", "3"], "third"),
        ([""], None),
    ],
)
def test_option_is_picked_by_number_or_name(lines: list[str], value: str | None) -> None:
    picked, prompt, out = dialogue(*lines)
    assert picked.pick("Which?", OPTIONS) == value
    assert not prompt.lines
    assert out.getvalue().startswith("Which?\n   1  2      two\n   2  Other\n   3  third  3\n")
    assert out.getvalue().count("error: there is no") == len(lines) - 1


def test_of_very_many_options_only_the_first_are_shown() -> None:
    picked, _, out = dialogue("m99")
    assert picked.pick("Which?", [(f"m{number}", "") for number in range(100)]) == "m99"
    assert out.getvalue().endswith("  40  m39\n      and 60 more, by name\n")


def test_plus_shows_the_next_list() -> None:
    picked, _, out = dialogue("+", "+", "+", "2")
    lists = [
        Listing("these", lambda: [("a", "one")]),
        Listing("those", lambda: [("b", "two"), ("c", "three")]),
    ]
    assert picked.pick_from("Which?", lists) == "c"
    shown = "Which?\n   1  a  one\n   +  those\nWhich?\n   1  b  two\n   2  c  three\n   +  these\n"
    assert out.getvalue() == shown * 2
