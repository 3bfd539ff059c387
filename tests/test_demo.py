"""The demo provider: what it understands, what it calls, and that it answers the truth."""

from __future__ import annotations

import json
import platform
import re
import shlex
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from hrns.cancel import Cancel
from hrns.chunks import EndChunk, MessageChunk
from hrns.context import SessionContext
from hrns.errors import Cancelled
from hrns.loop import Loop
from hrns.messages import (
    AssistantMessage,
    Diff,
    Image,
    Message,
    Status,
    Text,
    ToolCall,
    ToolMessage,
    ToolResult,
    Usage,
    UserMessage,
)
from hrns.providers.base import (
    Finish,
    ModelInfo,
    ModelOptions,
    ModelRequest,
    PartStart,
    PartText,
    Provider,
    ToolSpec,
)
from hrns.providers.demo import DemoProvider
from hrns.providers.demo.answers import CLOSING, tell
from hrns.providers.demo.english import understand
from hrns.providers.demo.reading import Heading, headings, read_page, tell_page
from hrns.providers.demo.tasks import (
    ListFiles,
    Plan,
    ReadFile,
    ReplaceText,
    RunCommand,
    Task,
    WriteFile,
)
from hrns.providers.demo.words import bullets, code, enumeration, fenced, plural
from hrns.reply import fold

ALL_TOOLS = tuple(
    ToolSpec(name, "", {}) for name in ("read_file", "list_files", "write_file", "run_command")
)


def steps(text: str, file: str = "") -> list[list[Task]]:
    return [list(step) for step in understand(text, file).steps]


# What it understands


@pytest.mark.parametrize(
    ("text", "task"),
    [
        ("summarise @README.md", ReadFile("README.md", ("summary",))),
        ('summarise @"my notes.md"', ReadFile("my notes.md", ("summary",))),
        ("summarise @Makefile.", ReadFile("Makefile", ("summary",))),
        ("in @a.txt, replace @x with @y", ReplaceText("a.txt", "@x", "@y")),
        ("create @n.txt with hi @bob", WriteFile("n.txt", "hi @bob")),
        ("list the files in @src", ListFiles("src")),
        ("run `echo a\necho b`", RunCommand("echo a\necho b")),
        ("run ```echo a\necho b```", RunCommand("echo a\necho b")),
        ("run:\n```sh\necho a\necho b\n```", RunCommand("echo a\necho b")),
    ],
)
def test_sign_before_a_file_and_backticks_are_no_part_of_what_is_meant(
    text: str, task: Task
) -> None:
    assert steps(text) == [[task]]


@pytest.mark.parametrize(
    "report",
    [
        "I ran `ls`; exit status 0.\n\n```\nREADME.md\n\nthen run x\n```",
        "I ran `cat a\nb`; exit status -9.\n\n````\n```\nread b.md\n```\n````",
        "I ran `true`; exit status 0.\n\n```\n\n```",
    ],
)
def test_output_that_goes_along_is_left_aside(report: str) -> None:
    asked = [[ReadFile("a.md", ("summary",))]]
    assert steps(f"summarise a.md\n\n{report}") == asked
    assert steps(f"{report}\n\nsummarise a.md") == asked
    assert steps(f"summarise a.md\n\n{report}\n\n{report}") == asked
    assert steps(report) == []


@pytest.mark.parametrize(
    ("text", "task"),
    [
        ("list the Python files under src", ListFiles("src", "**/*.py", "Python")),
        ("list the files in docs", ListFiles("docs")),
        ("List all of the files in docs.", ListFiles("docs")),
        ("Please list the files in docs, thanks!", ListFiles("docs")),
        ("what files are in docs?", ListFiles("docs")),
        ("how many Markdown files are there in docs?", ListFiles("docs", "*.md", "Markdown")),
        ("could you show me the files in this folder?", ListFiles()),
        ("list the files in .", ListFiles()),
        ("ls", ListFiles()),
        ("list docs", ListFiles("docs")),
        ("ls src/*.py", ListFiles("src", "*.py", "`*.py`")),
        ("list `src/**/*.py`", ListFiles("src", "**/*.py", "`**/*.py`")),
        ("find *.py in src", ListFiles("src", "*.py", "`*.py`")),
        ("list the .toml files here", ListFiles(".", "*.toml", ".toml")),
        ("list the files in docs recursively and count them", ListFiles("docs", "**/*")),
        ("list everything under 'my plugins'", ListFiles("my plugins", "**/*")),
    ],
)
def test_request_to_list_is_understood(text: str, task: ListFiles) -> None:
    assert steps(text) == [[task]]


@pytest.mark.parametrize(
    ("text", "task"),
    [
        ("read README.md", ReadFile("README.md")),
        ("read README.md and count its headings", ReadFile("README.md", ("headings",))),
        (
            "Read README.md and tell me how many headings it has.",
            ReadFile("README.md", ("headings",)),
        ),
        ("how many words does README.md have?", ReadFile("README.md", ("words",))),
        ("count README.md's lines and characters", ReadFile("README.md", ("lines", "characters"))),
        ("summarise docs/guide.md", ReadFile("docs/guide.md", ("summary",))),
        (
            "open pyproject.toml and tell me what it is about",
            ReadFile("pyproject.toml", ("summary",)),
        ),
        ("show LICENSE", ReadFile("LICENSE", ("show",))),
        ("what's in `my notes.txt`?", ReadFile("my notes.txt", ("show",))),
        ("read notes and count its lines", ReadFile("notes", ("lines",))),
        ("how many TODOs are in a.py?", ReadFile("a.py", (), ("TODO",))),
        ('how often does "foo bar" occur in src/a.py', ReadFile("src/a.py", (), ("foo bar",))),
        ("show the headings of README.md", ReadFile("README.md", ("headings",))),
    ],
)
def test_request_to_read_is_understood(text: str, task: ReadFile) -> None:
    assert steps(text) == [[task]]


@pytest.mark.parametrize(
    ("text", "task"),
    [
        ("create notes.txt with hello", WriteFile("notes.txt", "hello")),
        (
            "Could you please create a file called a.txt containing milk, eggs and bread",
            WriteFile("a.txt", "milk, eggs and bread"),
        ),
        ('create hello.py with print("hi")', WriteFile("hello.py", 'print("hi")')),
        ('create n.txt with "first, then second"', WriteFile("n.txt", "first, then second")),
        (
            "create list.txt with eggs and make it two",
            WriteFile("list.txt", "eggs and make it two"),
        ),
        (
            "create a.py with:\n```python\nx = 1\n\ny = 'then'\n```",
            WriteFile("a.py", "x = 1\n\ny = 'then'"),
        ),
        ("create an empty file x.txt", WriteFile("x.txt", "")),
        ("write hello world to notes.txt", WriteFile("notes.txt", "hello world")),
        ("Put 'hello' into the file notes.txt.", WriteFile("notes.txt", "hello")),
        ("replace foo with bar in notes.txt", ReplaceText("notes.txt", "foo", "bar")),
        ("in notes.txt, replace foo with bar", ReplaceText("notes.txt", "foo", "bar")),
        ("change \"a b\" to 'c d' in `my notes`.", ReplaceText("my notes", "a b", "c d")),
        ("replace every foo by bar in x.txt", ReplaceText("x.txt", "foo", "bar", every=True)),
        ("run `python --version`", RunCommand("python --version")),
        ('Run echo "a and b".', RunCommand('echo "a and b"')),
        ("run the command ls -la and tell me what it prints", RunCommand("ls -la")),
        ("execute: git status", RunCommand("git status")),
    ],
)
def test_request_to_write_or_run_is_understood(text: str, task: Task) -> None:
    assert steps(text) == [[task]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("read a.txt and b.txt", [[ReadFile("a.txt"), ReadFile("b.txt")]]),
        ("read a.txt, then b.txt", [[ReadFile("a.txt")], [ReadFile("b.txt")]]),
        (
            "list the files in docs and read a.txt and run `ls`",
            [[ListFiles("docs"), ReadFile("a.txt")], [RunCommand("ls")]],
        ),
        ("list the files in docs and src", [[ListFiles("docs"), ListFiles("src")]]),
        (
            "create n.txt with hello, then read it and count its words. Finally run cat n.txt",
            [
                [WriteFile("n.txt", "hello")],
                [ReadFile("n.txt", ("words",))],
                [RunCommand("cat n.txt")],
            ],
        ),
        ("list docs\nrun `ls`", [[ListFiles("docs")], [RunCommand("ls")]]),
        (
            "create a.txt with x then replace x with y in it",
            [[WriteFile("a.txt", "x")], [ReplaceText("a.txt", "x", "y")]],
        ),
    ],
)
def test_joined_requests_become_steps(text: str, expected: list[list[Task]]) -> None:
    assert steps(text) == expected


def test_it_means_the_file_of_before() -> None:
    assert steps("now count its words", "a.txt") == [[ReadFile("a.txt", ("words",))]]
    assert understand("show it") == Plan(unknown="show it")
    assert understand("read a.txt then list docs").file == "a.txt"


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        ("make me a sandwich", "make me a sandwich"),
        ("delete README.md", "delete README.md"),
        ("read README.md and translate it to French", "read README.md and translate it to French"),
        ("show the first 3 lines of README.md", "show the first 3 lines of README.md"),
        ("list the biggest files in src", "list the biggest files in src"),
        ("list the files in docs, then 'sing' a song", "'sing' a song"),
        ("create a.txt with eggs then call my mom", "call my mom"),
        ("create a.txt with:", "create a.txt with:"),
        ("run the tests", "run the tests"),
        ("replace a with b in it", "replace a with b in it"),
    ],
)
def test_what_does_not_fit_whole_is_not_done_at_all(text: str, unknown: str) -> None:
    assert understand(text) == Plan(unknown=unknown, file=understand(text).file)


@pytest.mark.parametrize("text", ["", "hello!", "Help", "hi, what can you do?", "thank you"])
def test_small_talk_is_no_misunderstanding(text: str) -> None:
    assert understand(text) == Plan()


@given(st.text(st.characters(exclude_characters='"'), min_size=1))
@settings(max_examples=100)
def test_quoted_text_is_taken_exactly(text: str) -> None:
    asked = f'create "a b.txt" with "{text}", then run `cat x`'
    assert steps(asked) == [[WriteFile("a b.txt", text)], [RunCommand("cat x")]]


WORDS = st.sampled_from(
    """list read create replace run then and with in it its files a.txt src/ ``` ` " ' , . ; ?
    headings TODO please count how many the /*.py \ue000""".split()  # noqa: SIM905 - words
)


@given(st.lists(WORDS | st.text(max_size=5), max_size=20).map(" ".join), st.sampled_from(["", "f"]))
@settings(max_examples=100)
def test_any_text_is_a_plan_or_not_understood(text: str, file: str) -> None:
    plan = understand(text, file)
    assert not (plan.steps and plan.unknown)
    assert all(plan.steps)
    assert all(json.dumps(task.arguments) and str(task) for task in plan.tasks)


def test_long_text_is_understood_in_time() -> None:
    # a look at all of it for each character of it would take minutes
    blank = " " * 100_000
    assert steps(f"list{blank}docs") == [[ListFiles("docs")]]
    assert steps(f"create a.txt with x{blank}y") == [[WriteFile("a.txt", f"x{blank}y")]]
    for text in (blank, "\n" * 100_000, "," * 100_000, "please " * 20_000, "`" * 100_000):
        understand(f"{text}x")


# How it words things


def test_words_are_counted_in_good_english() -> None:
    assert [plural(n, "file") for n in (0, 1, 2)] == ["no files", "1 file", "2 files"]
    assert [enumeration(list("abc")[:n]) for n in (1, 2, 3)] == ["a", "a and b", "a, b and c"]
    assert [code("x"), code("a`b"), code("a\nb")] == ["`x`", "`` a`b ``", "`a ⏎ b`"]


def test_long_texts_are_shortened_and_that_is_said() -> None:
    assert fenced("a\n```\nb\n") == "````\na\n```\nb\n````"
    long = fenced("\n".join(map(str, range(100)))).split("\n")
    assert long[:2] + long[30:33] + long[-2:] == [
        "```",
        "0",
        "29",
        "[… 40 more lines …]",
        "70",
        "99",
        "```",
    ]
    assert bullets(["a", "  b"]) == "- a\n  - b"
    assert bullets(list("ab") * 20).split("\n")[-2:] == ["- b", "- … and 10 more"]
    assert bullets(["a"] * 40, 90).split("\n")[-1] == "- … and 60 more"
    assert bullets(["a"], 2) == "- a\n- … and 1 more"


MARKDOWN = """\
---
title: not a heading
---
# Top #

One line of prose,
and another.

```sh
# no heading
```

Under
lined
---

- item
---
####### seven
   ### Deep `code`
#hash

Also top
===
"""


def test_headings_are_those_of_markdown() -> None:
    assert list(headings(MARKDOWN)) == [
        Heading(1, "Top"),
        Heading(2, "Under lined"),
        Heading(3, "Deep `code`"),
        Heading(1, "Also top"),
    ]


@pytest.mark.parametrize(
    ("task", "text", "told"),
    [
        (
            ReadFile("a.md", ("headings",)),
            MARKDOWN,
            "`a.md` has 4 headings:\n\n- Top\n  - Under lined\n    - Deep `code`\n- Also top",
        ),
        (ReadFile("a.md", ("headings", "lines")), "x\ny", "`a.md` has no headings and 2 lines."),
        (
            ReadFile("a", ("lines", "words", "characters")),
            "b c\n",
            "`a` has 1 line, 2 words and 4 characters.",
        ),
        (
            ReadFile("a", (), ("TODO",)),
            "TODO TODO\nx\nTODO",
            "`TODO` occurs 3 times in `a`, on lines 1 and 3.",
        ),
        (ReadFile("a", (), ("x",)), "\nx", "`x` occurs once in `a`, on line 2."),
        (
            ReadFile("a", (), ("x", "y")),
            "xy",
            "`x` occurs once in `a`, on line 1.\n\n`y` occurs once in `a`, on line 1.",
        ),
        (ReadFile("a", (), ("x",)), "y", "`x` does not occur in `a`."),
        (ReadFile("a", ("show",)), "b\n", "`a` reads:\n\n```\nb\n```"),
        (ReadFile("a"), "[the file is empty]", "`a` is empty."),
        (
            ReadFile("a.py"),
            "x = 1\n",
            "`a.py` has 1 line and 3 words. It reads:\n\n```\nx = 1\n```",
        ),
        (
            ReadFile("a.md"),
            MARKDOWN,
            (
                "`a.md` has 24 lines and 35 words. Its title is `Top`. It begins:\n\n"
                "> One line of prose, and another.\n\nIt has 1 section: Under lined."
            ),
        ),
        (
            ReadFile("b", ("lines",)),
            "x\n[lines 1 to 1 of 9; go on with offset=2]",
            "`b` has 9 lines.",
        ),
        (
            ReadFile("b", ("lines", "words")),
            "x y\n[lines 1 to 1; go on with offset=2]",
            "`b` has more than 1 lines; the first 1, which I was given, have 2 words.",
        ),
        (
            ReadFile("b", (), ("x",)),
            "x\nx\n[lines 1 to 2 of 9; go on with offset=3]",
            "`x` occurs twice in the first 2 lines of `b`, on lines 1 and 2.",
        ),
        (
            ReadFile("a.md"),
            "# A\n\n## B\n[lines 1 to 3 of 9; go on with offset=4]",
            (
                "`a.md` has 9 lines; the first 3, which I was given, have 4 words. "
                "Its title is `A`. That part has 1 section: B."
            ),
        ),
        (
            ReadFile("b", ("words",)),
            "x\n[lines 1 to 1 of 1; the end of the file]",
            "`b` has 1 word.",
        ),
    ],
)
def test_answers_about_a_file_are_counted_from_its_text(
    task: ReadFile, text: str, told: str
) -> None:
    assert tell_page(task, read_page(text)) == told


@pytest.mark.parametrize(
    ("task", "result", "told"),
    [
        (
            ListFiles("src", "**/*.py", "Python"),
            ToolResult('["src/a.py", "src/b/c.py"]'),
            "I found 2 Python files under `src`:\n\n- `src/a.py`\n- `src/b/c.py`",
        ),
        (ListFiles("src", "*.py", "Python"), ToolResult("[]"), "I found no Python files in `src`."),
        (
            ListFiles(),
            ToolResult('["a/", "b", "c/"]\n[1 ignored]'),
            "I found 1 file and 2 folders here:\n\n- `a/`\n- `b`\n- `c/`\n\n[1 ignored]",
        ),
        (
            ListFiles(),
            ToolResult('["a"]\n[1 of 90 are shown; narrow the pattern]'),
            (
                "I found 90 files here:\n\n- `a`\n- … and 89 more\n\n"
                "[1 of 90 are shown; narrow the pattern]"
            ),
        ),
        (
            ListFiles(),
            ToolResult("a\nb"),
            "I asked to list the files here, and got:\n\n```\na\nb\n```",
        ),
        (
            ReadFile("a"),
            ToolResult("ERROR: read_file: a: there is no such file", "error"),
            "I could not read `a`: there is no such file.",
        ),
        (
            ReadFile("a"),
            ToolResult("ERROR: this call was denied: a is secret.", "denied"),
            "I was not allowed to read `a`: a is secret.",
        ),
        (ReadFile("a"), ToolResult("", "error"), "I could not read `a`."),
        (
            ReadFile("a.png"),
            ToolResult([Text("a.png: image/png"), Image("image/png", b"")]),
            "`a.png` is a picture, and the demo cannot see (a.png: image/png).",
        ),
        (WriteFile("a", "x"), ToolResult("OK"), "I created `a` with the text `x`."),
        (WriteFile("a", ""), ToolResult("OK"), "I created `a`, an empty file."),
        (WriteFile("a", "x\ny"), ToolResult("OK: done"), "I created `a` with 2 lines. (done)"),
        (
            WriteFile("a", "x"),
            ToolResult("ERROR: oldString is empty; it must be there", "error"),
            (
                "I could not create `a`: there is such a file already. "
                "Say what to replace with what in it."
            ),
        ),
        (
            ReplaceText("a", "x", "y"),
            ToolResult("OK", display=Diff("a", "x", "y")),
            "I replaced `x` with `y` in `a`.",
        ),
        (
            ReplaceText("a", "x", "y", every=True),
            ToolResult("OK"),
            "I replaced every `x` with `y` in `a`.",
        ),
        (
            ReplaceText("a", "x", "y"),
            ToolResult("OK: it was created", display=Diff("a", None, "y")),
            "There was no `a`; it was created with the text `y`.",
        ),
        (
            ReplaceText("a", "x", "y"),
            ToolResult("ERROR: oldString stands twice; set replaceAll", "error"),
            (
                "I could not replace `x` with `y` in `a`: `x` stands twice. "
                'Say "replace every" to replace them all.'
            ),
        ),
        (RunCommand("ls"), ToolResult("a\n"), "`ls` answered:\n\n```\na\n```"),
        (
            RunCommand("ls"),
            ToolResult("ERROR: interrupted", "interrupted"),
            "I was interrupted before I could run `ls`.",
        ),
    ],
)
def test_results_are_told_truthfully(task: Task, result: ToolResult, told: str) -> None:
    assert tell(task, result) == told


# What it does with a request


def ask(
    messages: Sequence[Message],
    tools: Sequence[ToolSpec] = ALL_TOOLS,
    options: ModelOptions = ModelOptions(),  # noqa: B008 - frozen
) -> AssistantMessage:
    """The whole reply, as the loop puts it together."""
    request = ModelRequest("demo", tuple(messages), tuple(tools), options)
    return fold(DemoProvider(pause_s=0).reply(request, Cancel()))


def answered(message: AssistantMessage, *results: ToolResult) -> list[Message]:
    """The message and the results of its calls."""
    pairs = zip(message.calls, results, strict=True)
    return [message, ToolMessage(evolve(result, call_id=call.id) for call, result in pairs)]


def calls(message: AssistantMessage) -> list[tuple[str, str, dict[str, object]]]:
    return [(call.id, call.name, json.loads(call.arguments)) for call in message.calls]


def test_steps_follow_one_another_and_the_answer_tells_all() -> None:
    talk: list[Message] = [UserMessage("read a.txt and b.txt, then create c.txt with x")]
    first = ask(talk)
    assert calls(first) == [
        ("demo_1", "read_file", {"fileName": "a.txt"}),
        ("demo_2", "read_file", {"fileName": "b.txt"}),
    ]
    assert (first.text, first.stop) == ("", "tool_calls")
    talk += answered(first, ToolResult("one\n"), ToolResult("[the file is empty]"))
    second = ask(talk)
    assert calls(second) == [
        ("demo_3", "write_file", {"fileName": "c.txt", "oldString": "", "newString": "x"})
    ]
    talk += answered(second, ToolResult("OK"))
    last = ask(talk)
    assert (last.calls, last.stop) == ((), "done")
    assert last.text == (
        "`a.txt` has 1 line and 1 word. It reads:\n\n```\none\n```\n\n"
        "`b.txt` is empty.\n\n"
        f"I created `c.txt` with the text `x`.\n\n{CLOSING}"
    )


@pytest.mark.parametrize("status", ["error", "denied", "interrupted"])
def test_step_that_fails_is_the_last(status: Status) -> None:
    talk: list[Message] = [UserMessage("run `x`, then read a.txt, then run `y`")]
    talk += answered(ask(talk), ToolResult("ERROR: no", status))
    last = ask(talk)
    assert last.calls == ()
    assert last.text.endswith(f"I stopped there and did not read `a.txt` and run `y`.\n\n{CLOSING}")


def test_conversation_goes_on_and_it_is_the_file_of_before() -> None:
    talk: list[Message] = [UserMessage("read a.txt and count its lines")]
    talk += answered(ask(talk), ToolResult("x\n"))
    talk += [ask(talk), UserMessage("now count its words")]
    again = ask(talk)
    assert calls(again) == [("demo_2", "read_file", {"fileName": "a.txt"})]
    talk += answered(again, ToolResult("y z\n"))
    assert ask(talk).text == f"`a.txt` has 2 words.\n\n{CLOSING}"


def test_message_that_comes_while_tools_run_ends_the_request_before() -> None:
    talk: list[Message] = [UserMessage("list docs, then run `rm -r docs`")]
    talk += answered(ask(talk), ToolResult('["docs/a"]'))
    talk.append(UserMessage("read a.txt and count its words"))
    second = ask(talk)
    assert [name for _, name, _ in calls(second)] == ["read_file"]
    talk += answered(second, ToolResult("x"))
    assert ask(talk).text == (
        f"I found 1 file in `docs`:\n\n- `docs/a`\n\n`a.txt` has 1 word.\n\n{CLOSING}"
    )


def test_of_messages_that_came_as_one_the_last_counts() -> None:
    several = UserMessage([Text("run `rm -r docs`"), Text("read a.txt")])
    assert calls(ask([several])) == [("demo_1", "read_file", {"fileName": "a.txt"})]
    attached = UserMessage([Text("read a.txt"), Text("some text that was attached")])
    assert calls(ask([attached])) == [("demo_1", "read_file", {"fileName": "a.txt"})]


def test_ids_of_calls_are_new_in_the_conversation() -> None:
    strange = AssistantMessage([ToolCall("demo_2", "read_file", "{}")])
    result = ToolMessage([ToolResult("y", call_id="demo_2")])
    asked = ask([UserMessage("x"), strange, result, UserMessage("read a.txt")])
    assert calls(asked) == [("demo_3", "read_file", {"fileName": "a.txt"})]


def test_what_it_does_not_understand_is_answered_with_the_forms() -> None:
    told = ask([UserMessage("make me a sandwich")]).text
    assert told.startswith("I did not understand `make me a sandwich`, so I did nothing.\n\n")
    assert ask([UserMessage("help")]).text in told
    assert told.endswith(f"\n\n{CLOSING}")
    assert "`hrns connect`" in CLOSING
    examples = [line[2:] for line in told.split("\n") if line.startswith("- ")]
    assert [type(task) for each in examples for task in understand(each).tasks] == [
        ListFiles,
        ReadFile,
        WriteFile,
        ReplaceText,
        RunCommand,
    ]
    assert len(ask([UserMessage("x" * 9999)]).text) < 1500


def test_tool_that_is_not_offered_is_not_called() -> None:
    run = UserMessage("read a.txt, then run `x`")
    bare = ask([run], tools=())
    assert bare.calls == ()
    assert bare.text == (
        "I cannot read `a.txt`: the tool `read_file` is not on offer. "
        f'`pip install "hrns[tui]"` brings the tools.\n\n{CLOSING}'
    )
    some = ask([run], tools=ALL_TOOLS[:1])
    assert some.calls == ()
    assert some.text.startswith("I cannot run `x`: the tool `run_command` is not on offer. Perhaps")
    assert ask([run], options=ModelOptions(tool_choice="none")).text == bare.text


def test_reply_streams_in_small_pieces_reasoning_first_usage_last() -> None:
    request = ModelRequest("demo", (UserMessage("read a.txt"),), ALL_TOOLS)
    assert list(DemoProvider(pause_s=0).reply(request, Cancel())) == [
        PartStart(0, "reasoning"),
        *(PartText(0, piece) for piece in ("I ", "will ", "read ", "`a.txt`.")),
        PartStart(1, "tool_call", "demo_1", "read_file"),
        *(PartText(1, piece) for piece in ('{"fileName": ', '"a.txt"}')),
        Usage(input=2, output=10, reasoning=5),
        Finish("tool_calls"),
    ]
    told = ModelRequest("demo", (UserMessage("help"),))
    pieces = [
        d.text for d in DemoProvider(pause_s=0).reply(told, Cancel()) if isinstance(d, PartText)
    ]
    assert len(pieces) > 80
    assert max(map(len, pieces)) < 20


def test_long_answer_does_not_take_long() -> None:
    talk: list[Message] = [UserMessage("show a.txt")]
    talk += answered(ask(talk), ToolResult("word " * 10_000))
    request = ModelRequest("demo", tuple(talk), ALL_TOOLS)
    assert len(list(DemoProvider(pause_s=0).reply(request, Cancel()))) < 300  # with a pause each


def test_cancel_is_heeded_between_pieces() -> None:
    cancel = Cancel()
    request = ModelRequest("demo", (UserMessage("help"),))
    deltas = DemoProvider(pause_s=600).reply(request, cancel)
    assert next(deltas) == PartStart(0, "reasoning")
    threading.Timer(0.05, cancel.set).start()
    with pytest.raises(Cancelled):
        next(deltas)


def test_demo_is_a_provider() -> None:
    provider: Provider = DemoProvider()
    assert (provider.api, provider.endpoint) == ("demo", "demo")
    assert list(provider.models()) == [ModelInfo("demo")]


def test_import_brings_no_network_client_and_no_plugins() -> None:
    script = (
        "import sys, hrns.providers.demo;"
        "print({'httpx', 'pluggy', 'click', 'asyncio', 'ssl'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "set()\n"


# With the loop and the real tools


def converse(cwd: Path, *texts: str) -> list[str]:
    """The answers to these messages, one after another."""
    tools = pytest.importorskip("hrns_tools_fs").hrns_tools()
    loop = Loop(DemoProvider(pause_s=0), tools, model="demo", context=SessionContext(cwd=cwd))
    told = []
    for text in texts:
        chunks = list(loop.run([*loop.messages, UserMessage(text)]))
        assert chunks[-1] == EndChunk("done")
        said = "".join(chunk.text for chunk in chunks if isinstance(chunk, MessageChunk))
        told.append(said.removesuffix(f"\n\n{CLOSING}"))
    return told


def test_demo_works_on_real_files(tmp_path: Path) -> None:
    (tmp_path / "src" / "inner").mkdir(parents=True)
    (tmp_path / "src" / "a.py").write_text("# TODO: more\nx = 1\n")
    (tmp_path / "src" / "inner" / "b.py").touch()
    (tmp_path / "README.md").write_text("# Shop\n\nSells things.\n\n## Hours\n\nNone.\n")
    assert converse(
        tmp_path,
        "list the Python files under src",
        "read README.md and count its headings",
        "how many TODOs are in src/a.py and src/inner/b.py?",
        "create notes.txt with foo and foo",
        "replace foo with bar in it",
        "replace every foo with bar in it, then show it",
        "create notes.txt with more",
        "read nothing.md, then run `echo no`",
        "run `echo one; exit 3`",
        f"run `{sys.executable} --version`",
    ) == [
        "I found 2 Python files under `src`:\n\n- `src/a.py`\n- `src/inner/b.py`",
        "`README.md` has 2 headings:\n\n- Shop\n  - Hours",
        "`TODO` occurs once in `src/a.py`, on line 1.\n\n`src/inner/b.py` is empty.",
        "I created `notes.txt` with the text `foo and foo`.",
        (
            "I could not replace `foo` with `bar` in `notes.txt`: `foo` stands 2 times in the file "
            '(lines 1). Say "replace every" to replace them all.'
        ),
        (
            "I replaced every `foo` with `bar` in `notes.txt`.\n\n"
            "`notes.txt` reads:\n\n```\nbar and bar\n```"
        ),
        (
            "I could not create `notes.txt`: there is such a file already. "
            "Say what to replace with what in it."
        ),
        (
            "I could not read `nothing.md`: there is no such file.\n\n"
            "I stopped there and did not run `echo no`."
        ),
        "`echo one; exit 3` printed:\n\n```\none\n```\n\nIts exit status was 3.",
        (
            f"`{sys.executable} --version` printed:\n\n"
            f"```\nPython {platform.python_version()}\n```\n\nIts exit status was 0."
        ),
    ]
    assert (tmp_path / "notes.txt").read_text() == "bar and bar"


DOCS = Path(__file__).parents[1] / "docs" / "demo.md"


@pytest.mark.skipif(sys.platform == "win32", reason="the page sets its files up with sh")
def test_examples_in_the_documentation_are_real(tmp_path: Path) -> None:
    page = DOCS.read_text(encoding="utf-8")
    setup = re.findall(r"```sh\n(.*?)```", page, re.DOTALL)
    subprocess.run(["sh", "-ec", setup[0]], cwd=tmp_path, check=True)
    examples = re.findall(
        r"````console\n\$ hrns exec --provider demo (.*?)\n(.*?)````", page, re.DOTALL
    )
    said = [shlex.split(words)[0] for words, _ in examples]
    shown = [output.strip().removesuffix(CLOSING).strip() for _, output in examples]
    assert len(said) >= 5
    assert [converse(tmp_path, text) for text in said] == [[output] for output in shown]
