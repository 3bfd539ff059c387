"""`hrns exec -c` and `hrns sessions`: what was said before."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from hrns.cli import main
from hrns.export import to_markdown, to_messages
from hrns.messages import (
    AssistantMessage,
    Image,
    Message,
    Reasoning,
    SystemMessage,
    Text,
    ToolCall,
    ToolMessage,
    ToolResult,
    UserMessage,
)


class Done(NamedTuple):
    status: int
    out: str
    err: str


Run = Callable[..., Done]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs `hrns` with a home and a working directory of its own."""
    work = tmp_path / "work"
    work.mkdir()
    (work / "a.txt").write_text("one\ntwo\n")
    monkeypatch.chdir(work)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "HRNS_CONFIG", "HRNS_PLUGINS"):
        monkeypatch.delenv(name, raising=False)

    def run(*arguments: str) -> Done:
        status = main(arguments)
        said = capsys.readouterr()
        return Done(status, said.out, said.err)

    return run


def ask(run: Run, text: str, *more: str) -> Done:
    return run("exec", "--provider", "demo", "--no-stdin", "--quiet", *more, text)


def sessions(run: Run, *more: str) -> list[dict[str, str]]:
    listed: list[dict[str, str]] = json.loads(run("sessions", "list", "--json", *more).out)
    return listed


def test_last_session_is_gone_on_with(run: Run) -> None:
    assert ask(run, "read a.txt and count its lines").status == 0
    done = ask(run, "show it", "-c")
    assert "two" in done.out
    (session,) = sessions(run)
    assert session["title"] == "read a.txt and count its lines"
    shown = run("sessions", "show", session["id"][:5]).out
    assert shown.count("## User") == 2
    assert "**read_file**" in shown


def test_session_is_named_by_the_beginning_of_its_id(run: Run) -> None:
    ask(run, "show a.txt")
    ask(run, "read a.txt and count its words")
    first = sessions(run)[1]
    assert ask(run, "show a.txt", "-r", first["id"][:6]).status == 0
    assert sessions(run)[0]["id"] == first["id"]
    assert run("sessions", "path", first["id"]).out.strip() == first["path"]


def test_sessions_are_listed_under_a_head(run: Run) -> None:
    ask(run, "show a.txt")
    (session,) = sessions(run)
    head, row = (line.split() for line in run("sessions", "list").out.splitlines())
    assert head == ["ID", "CHANGED", "SIZE", "TITLE"]
    assert (row[0], row[-2:]) == (session["id"], ["show", "a.txt"])
    assert run("sessions", "list", "--all").out.splitlines()[0].split()[3] == "DIRECTORY"


def test_run_that_failed_or_was_stopped_is_shown_with_its_end(run: Run, tmp_path: Path) -> None:
    config = tmp_path / ".config/hrns/config.json"
    config.parent.mkdir(parents=True)
    config.write_text('{"providers": {"down": {"url": "http://127.0.0.1:1", "model": "m"}}}')
    assert ask(run, "show a.txt", "--max-turns", "1").status == 124
    assert run("exec", "-c", "--provider", "down", "--no-stdin", "--quiet", "go on").status == 69
    assert ask(run, "show a.txt", "-c").status == 0
    (session,) = sessions(run)
    shown = run("sessions", "show", session["id"]).out
    told = re.findall(r"^## User|^\*\*(?:Error|Ended).*", shown, re.MULTILINE)
    assert told == [
        "## User",
        "**Ended** (limit): the limit of 1 turn is reached",
        "## User",
        "**Error** (unreachable): 127.0.0.1:1 cannot be reached: nothing listens there",
        "## User",
    ]


def test_sessions_of_other_directories_are_hinted_at(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(run, "show a.txt")
    (tmp_path / "work").rename(tmp_path / "moved")
    monkeypatch.chdir(tmp_path / "moved")
    assert run("sessions", "list").err == (
        "hrns: there are no sessions here yet; --all lists those of other directories\n"
    )
    (session,) = sessions(run, "--all")
    assert ask(run, "show a.txt", "-r", session["id"]).status == 0


@pytest.mark.parametrize("damage", [b"\0" * 40, b"{", b'{"type": "session", "version": 99}'])
def test_session_without_a_header_is_told_of(run: Run, damage: bytes) -> None:
    ask(run, "show a.txt")
    ask(run, "read a.txt")
    lost, kept = sessions(run)
    path = Path(lost["path"])
    path.write_bytes(damage + b"\n" + path.read_bytes().partition(b"\n")[2])
    (path.parent / "empty.jsonl").touch()
    listed = run("sessions", "list")
    assert [line.split()[0] for line in listed.out.splitlines()] == ["ID", kept["id"]]
    assert listed.err.startswith(f"hrns: warning: {path} is ")
    assert listed.err.count(str(path)) == 1
    done = ask(run, "go on", "-r", lost["id"])
    assert (done.status, done.err.startswith(f"hrns: {path} is ")) == (1, True)
    assert ask(run, "show a.txt", "-c").err.startswith(f"hrns: warning: {path} is ")


def test_no_session_writes_none_down(run: Run) -> None:
    ask(run, "show a.txt", "--no-session")
    done = run("sessions", "list")
    assert (done.out, done.err) == ("", "hrns: there are no sessions here yet\n")


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        (["-c"], 1, "no session of this directory"),
        (["-r", "nope"], 1, "no session 'nope'"),
        (["-c", "-r", "x"], 2, "exclude each other"),
        (["-c", "--no-session"], 2, "exclude each other"),
        (["-r", "x", "--no-session"], 2, "exclude each other"),
    ],
)
def test_what_cannot_be_gone_on_with_is_told(
    run: Run, arguments: list[str], status: int, says: str
) -> None:
    done = ask(run, "hi", *arguments)
    assert done.status == status
    assert says in done.err


@pytest.mark.parametrize(
    "arguments", [["-c", "-r"], ["-c", "-r", "x"], ["-r", "--no-session"], ["--no-session", "-c"]]
)
def test_options_that_exclude_each_other_are_refused_before_a_front_end_starts(
    run: Run, arguments: list[str]
) -> None:
    done = run(*arguments)
    assert (done.status, done.out) == (2, "")
    assert "--continue, --resume and --no-session exclude each other" in done.err


def test_sessions_of_other_directories_are_listed_with_all(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(run, "show a.txt")
    monkeypatch.chdir(tmp_path)
    assert sessions(run) == []
    (session,) = sessions(run, "--all")
    assert session["cwd"] == str(tmp_path / "work")
    assert str(tmp_path / "work") in run("sessions", "list", "--all").out


def test_search_finds_what_was_said(run: Run) -> None:
    ask(run, "read a.txt and count its lines")
    done = run("sessions", "search", "COUNT ITS")
    assert (done.status, "read a.txt and count its lines" in done.out) == (0, True)
    done = run("sessions", "search", "no such words")
    assert (done.status, done.err) == (1, "hrns: 'no such words' was not said here\n")


def test_replay_prints_the_same_answer_and_runs_nothing(run: Run) -> None:
    said = ask(run, "create made.txt with hello").out
    Path("made.txt").unlink()
    (session,) = sessions(run)
    assert run("sessions", "replay", session["id"]).out == said
    assert not Path("made.txt").exists()
    lines = run("sessions", "replay", session["id"], "--output-format", "stream-json").out
    assert [json.loads(line)["type"] for line in lines.splitlines()][-1] == "end"


def test_removed_session_is_gone(run: Run) -> None:
    ask(run, "show a.txt")
    (session,) = sessions(run)
    assert run("sessions", "rm", session["id"]).status == 0
    assert sessions(run) == []
    assert not Path(session["path"]).exists()


@pytest.mark.parametrize("form", ["markdown", "openai", "anthropic"])
def test_export_writes_to_a_file(run: Run, form: str) -> None:
    ask(run, "show a.txt")
    (session,) = sessions(run)
    out = run("sessions", "export", session["id"], "--format", form)
    run("sessions", "export", session["id"], "--format", form, "-o", "out.txt")
    assert Path("out.txt").read_text() == out.out
    done = run("sessions", "export", session["id"], "-o", "no/such/out.txt")
    assert (done.status, "cannot write" in done.err) == (1, True)


TALK: tuple[Message, ...] = (
    SystemMessage("be brief"),
    UserMessage([Text("look at ``` this"), Image("image/png", b"1234")]),
    AssistantMessage([Reasoning("hm\nyes"), Text("Looking."), ToolCall("c1", "look", '{"at": 1}')]),
    ToolMessage([ToolResult("```\nfenced\n```", call_id="c1", name="look")]),
    AssistantMessage([Text("Done.")]),
)


def test_markdown_says_who_said_what() -> None:
    assert to_markdown(TALK, title="Talk") == (
        "# Talk\n\n## User\n\nlook at ``` this\n\n*(an image, image/png, 4 bytes)*\n\n"
        '## Assistant\n\n> hm\n> yes\n\nLooking.\n\n**look**\n\n```json\n{"at": 1}\n```\n\n'
        "**look** gave (ok):\n\n````\n```\nfenced\n```\n````\n\n## Assistant\n\nDone.\n"
    )


def test_picture_that_a_tool_gave_is_told_of_in_markdown() -> None:
    given = ToolResult([Text("see"), Image("image/png", b"12")], call_id="c1", name="look")
    assert to_markdown([ToolMessage([given])], title="Talk") == (
        "# Talk\n\n**look** gave (ok):\n\n```\nsee\n```\n\n*(an image, image/png, 2 bytes)*\n"
    )


def test_messages_are_those_of_the_protocol() -> None:
    openai = to_messages(TALK, "openai")
    assert [message["role"] for message in openai] == [
        "system",
        "user",
        "assistant",
        "tool",
        "assistant",
    ]
    assert openai[2]["tool_calls"][0]["function"] == {"name": "look", "arguments": '{"at": 1}'}
    assert openai[3]["tool_call_id"] == "c1"
    anthropic = to_messages(TALK[1:], "anthropic")
    assert [message["role"] for message in anthropic] == ["user", "assistant", "user", "assistant"]
    assert anthropic[1]["content"][-1]["input"] == {"at": 1}
    assert anthropic[2]["content"][0]["tool_use_id"] == "c1"
