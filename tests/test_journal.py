"""The session file: what was said and done is there afterwards, whatever happened."""

from __future__ import annotations

import itertools
import json
import os
import random
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from hrns.chunks import EndChunk, NoticeChunk
from hrns.config import Config, ProviderConfig
from hrns.errors import SessionError
from hrns.journal import (
    Journal,
    find_session,
    list_sessions,
    project_folder,
    read_journal,
    sessions_root,
    tell,
)
from hrns.messages import (
    AssistantMessage,
    Text,
    ToolCall,
    ToolMessage,
    ToolResult,
    UserMessage,
)
from hrns.plugins import Plugins, hookimpl
from hrns.records import ProviderKind
from hrns.session import Session, choose_for_resume, open_session
from hrns.testing import Call, Reply, Say, ScriptedProvider, Wait
from hrns.tools import Tool, tool
from hrns.transcript import INTERRUPTED, repair

CALL = AssistantMessage([ToolCall("c1", "look", "{}"), ToolCall("c2", "look", "{}")])


def result(call_id: str, text: str = "seen") -> ToolResult:
    return ToolResult(text, call_id=call_id, name="look")


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal.create(tmp_path / "sessions", "abc123", Path("/somewhere/here"))


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def test_file_begins_with_its_header_and_is_the_owners_alone(journal: Journal) -> None:
    old = os.umask(0o022)
    try:
        made = Journal.create(journal.path.parent / "more", "x", Path("/"))
    finally:
        os.umask(old)
    (header,) = lines(journal.path)
    assert header.pop("created")[-1] == "Z"
    assert header == {"type": "session", "version": 1, "id": "abc123", "cwd": "/somewhere/here"}
    assert stat.S_IMODE(made.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(made.path.parent.stat().st_mode) == 0o700


def test_entries_follow_each_other(journal: Journal) -> None:
    first = journal.append("message", message=UserMessage("a"))
    second = journal.append("label", text="here")
    record = read_journal(journal.path)
    assert [(e.id, e.parent, e.type) for e in record.entries] == [
        (first, "", "message"),
        (second, first, "label"),
    ]
    assert (record.id, record.cwd, record.warnings) == ("abc123", "/somewhere/here", ())
    assert tell(record.branch()).messages == (UserMessage("a"),)
    assert tell(record.branch()).leaf == second


def test_line_is_read_by_others_while_the_session_goes_on(journal: Journal) -> None:
    for number in range(5):
        journal.append("message", message=UserMessage(str(number)))
        assert len(read_journal(journal.path).entries) == number + 1


TAILS = {
    "cut in a line": b'{"role": "us',
    "cut in a character": '{"type": "message", "text": "é'.encode()[:-1],
    "cut, then an empty line": b'{"ro\n\n',
    "a line of somebody else's": b"hello there\n",
    "a line that is no object": b"[1, 2]\n",
    "an object without a type": b'{"id": "x"}\n',
    "bytes that are no text": b"\xff\xfe\x00\n",
}


@pytest.mark.parametrize("tail", TAILS.values(), ids=TAILS)
def test_bad_tail_costs_itself_and_a_warning_and_not_what_comes_after(
    journal: Journal, tail: bytes
) -> None:
    journal.append("message", message=UserMessage("a"))
    with journal.path.open("ab") as file:
        file.write(tail)
    record = read_journal(journal.path)
    assert tell(record.branch()).messages == (UserMessage("a"),)
    (warning,) = record.warnings
    assert "line 3" in warning
    again = Journal(journal.path, tell(record.branch()).leaf)
    again.append("message", message=AssistantMessage([Text("b")]))
    record = read_journal(journal.path)
    assert tell(record.branch()).messages == (UserMessage("a"), AssistantMessage([Text("b")]))


def test_bad_line_in_the_middle_does_not_cost_what_follows(journal: Journal) -> None:
    for text in ("a", "b", "c"):
        journal.append("message", message=UserMessage(text))
    content = journal.path.read_bytes().splitlines(keepends=True)
    content[2] = content[2][:20] + b"\n"
    journal.path.write_bytes(b"".join(content))
    record = read_journal(journal.path)
    assert tell(record.branch()).messages == (UserMessage("a"), UserMessage("c"))
    assert "line 3 cannot be read" in record.warnings[0]


def test_unknown_entries_are_passed_over(journal: Journal) -> None:
    journal.append("message", message=UserMessage("a"))
    journal.append("hologram", shape="cube")
    journal.append("message", message={"role": "oracle", "riddle": True})
    journal.append("message", message=AssistantMessage([Text("b")]))
    story = tell(read_journal(journal.path).branch())
    assert story.messages == (UserMessage("a"), AssistantMessage([Text("b")]))


def test_newer_version_is_refused_and_left_alone(journal: Journal) -> None:
    text = journal.path.read_text().replace('"version": 1', '"version": 2')
    journal.path.write_text(text)
    with pytest.raises(SessionError, match="version 2, which this hrns does not know"):
        read_journal(journal.path)
    assert journal.path.read_text() == text


@pytest.mark.parametrize("content", [b"", b"hello\n", b'{"type": "message"}\n', b"\xff\n"])
def test_file_without_a_header_is_no_session(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(content)
    with pytest.raises(SessionError, match="is no session file"):
        read_journal(path)


def test_fork_leaves_what_came_after_its_parent(journal: Journal) -> None:
    first = journal.append("message", message=UserMessage("a"))
    journal.append("message", message=AssistantMessage([Text("b")]))
    journal.leaf = first
    journal.append("message", message=AssistantMessage([Text("c")]))
    record = read_journal(journal.path)
    assert tell(record.branch()).messages == (UserMessage("a"), AssistantMessage([Text("c")]))
    assert tell(record.branch(first)).messages == (UserMessage("a"),)
    assert tell(record.branch(record.entries[1].id)).messages[-1].text == "b"  # type: ignore[union-attr]
    with pytest.raises(SessionError, match="no entry 'nope'"):
        record.branch("nope")


def test_parents_that_point_forward_or_in_a_circle_end(journal: Journal) -> None:
    with journal.path.open("a") as file:
        for entry_id, parent in (("a", "b"), ("b", "a"), ("c", "c")):
            entry = {"id": entry_id, "parent": parent, "type": "label"}
            file.write(f"{json.dumps(entry)}\n")
    assert [entry.id for entry in read_journal(journal.path).branch()] == ["a", "b", "c"]


def test_results_of_a_turn_that_was_killed_are_kept(journal: Journal) -> None:
    journal.append("message", message=UserMessage("a"))
    journal.append("message", message=CALL)
    journal.append("started", call_id="c1")
    journal.append("started", call_id="c2")
    journal.append("result", result=result("c2"))
    story = tell(read_journal(journal.path).branch())
    assert [call.id for call in story.interrupted] == ["c1"]
    message = story.messages[-1]
    assert isinstance(message, ToolMessage)
    assert [(r.call_id, r.status, r.text) for r in message.results] == [
        ("c1", "interrupted", INTERRUPTED),
        ("c2", "ok", "seen"),
    ]
    journal.append("message", message=UserMessage("go on"))
    assert tell(read_journal(journal.path).branch()).messages == (
        *story.messages,
        UserMessage("go on"),
    )


def test_whole_tool_message_counts_over_its_single_results(journal: Journal) -> None:
    journal.append("message", message=CALL)
    journal.append("result", result=result("c1", "early"))
    whole = ToolMessage([result("c1", "late"), result("c2")])
    journal.append("message", message=whole)
    assert tell(read_journal(journal.path).branch()).messages == (CALL, whole)


def test_secrets_are_taken_out_of_every_line(tmp_path: Path) -> None:
    journal = Journal.create(
        tmp_path, "x", Path("/"), redact=lambda text: text.replace("sk-secret", "[redacted]")
    )
    journal.append("message", message=UserMessage("my key is sk-secret"))
    assert b"sk-secret" not in journal.path.read_bytes()
    assert tell(read_journal(journal.path).branch()).messages == (
        UserMessage("my key is [redacted]"),
    )


def test_file_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SessionError, match="cannot make the folder"):
        Journal.create(tmp_path / "file" / "below", "x", Path("/"))


# Lists


def test_lists_read_heads_only_and_the_last_changed_comes_first(tmp_path: Path) -> None:
    root = sessions_root({"XDG_DATA_HOME": str(tmp_path)}, Path("/home/x"))
    assert root == tmp_path / "hrns" / "sessions"
    for number, name in enumerate(("one", "two")):
        journal = Journal.create(
            project_folder(root, Path(f"/{name}")), f"{name}-id", Path(f"/{name}")
        )
        journal.append("switch", model="m")
        journal.append("message", message=UserMessage(f"  say\n{name} "))
        os.utime(journal.path, (number, number))
    (root / "junk.jsonl").write_text("junk")
    infos = list_sessions(root)
    assert [(info.id, info.cwd, info.title) for info in infos] == [
        ("two-id", "/two", "say two"),
        ("one-id", "/one", "say one"),
    ]
    assert find_session(root, "on").id == "one-id"
    for prefix, says in (("x", "no session 'x'"), ("", "no session")):
        with pytest.raises(SessionError, match=says):
            find_session(root, prefix)
    assert list_sessions(tmp_path / "nowhere") == []


@pytest.mark.parametrize("parts", [None, 5, [5], [{"text": 5}]])
def test_foreign_message_in_the_head_keeps_no_session_from_being_listed(
    tmp_path: Path, parts: object
) -> None:
    journal = Journal.create(tmp_path, "aaaa", tmp_path)
    journal.append("message", message={"role": "user", "parts": parts})
    journal.append("switch", provider=5, model=["m"], agent="Builder")
    assert [info.id for info in list_sessions(tmp_path)] == ["aaaa"]
    story = tell(read_journal(journal.path).branch())
    assert (story.provider, story.model, story.agent) == ("", "", "Builder")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes of POSIX")
def test_what_is_no_file_is_no_session_and_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "folder.jsonl").mkdir()
    assert list_sessions(tmp_path) == []


def test_sessions_are_below_home_where_no_data_home_is_set() -> None:
    assert sessions_root({}, Path("/home/x")) == Path("/home/x/.local/share/hrns/sessions")
    relative = sessions_root({"XDG_DATA_HOME": "relative"}, Path("/home/x"))
    assert relative == Path("/home/x/.local/share/hrns/sessions")


def test_folders_of_directories_that_look_alike_differ() -> None:
    root = Path("/r")
    assert project_folder(root, Path("/a b")) != project_folder(root, Path("/a-b"))
    assert project_folder(root, Path("/")).name.startswith("root-")


# Sessions that are written down


@tool(effects=["write"])
def act(text: str) -> str:
    """Act."""
    return f"acted: {text}"


def start(
    home: Path, script: Iterable[Reply], *tools: Tool, resume: Path | None = None, **more: Any
) -> Session:
    class Guest:
        @hookimpl
        def hrns_providers(self) -> ProviderKind:
            return ProviderKind("scripted", lambda _entry: ScriptedProvider(script))

        @hookimpl
        def hrns_tools(self) -> list[Tool]:
            return [act, *tools]

    plugins = Plugins()
    plugins.register("guest", Guest())
    entry = ProviderConfig("test", api="scripted", model="m")
    return open_session(
        Config(home / "config.json"),
        plugins,
        entry,
        cwd=Path("/somewhere/here"),
        environ={"XDG_DATA_HOME": str(home)},
        mode="all",
        save=True,
        resume=read_journal(resume) if resume else None,
        **more,
    )


def test_session_is_written_as_it_happens_and_gone_on_with(tmp_path: Path) -> None:
    session = start(tmp_path, [[Say("Look."), Call("act", {"text": "x"})], Say("Done.")])
    for chunk in session.send("do it"):
        path = session.path
        assert path
        kinds = [entry.type for entry in read_journal(path).entries]
        if chunk.type == "message_done":
            assert kinds[-1] == "message"
        elif chunk.type == "tool_call_start":
            assert kinds[-1] == "started"
        elif chunk.type == "tool_call_result":
            assert kinds[-1] == "result"
    assert path
    assert [entry.type for entry in read_journal(path).entries] == [
        "switch",
        "message",
        "message",
        "started",
        "result",
        "message",
        "message",
        "end",
    ]
    resumed = start(tmp_path, [Say("Hello again.")], resume=path)
    assert resumed.id == session.id
    assert resumed.messages == session.messages
    assert list(resumed.send("and now?"))[-1] == EndChunk("done")
    assert resumed.path == path
    assert len(tell(read_journal(path).branch()).messages) == len(resumed.messages) - 1


def test_session_that_nothing_was_said_in_leaves_no_file(tmp_path: Path) -> None:
    with start(tmp_path, []):
        pass
    assert list(tmp_path.rglob("*.jsonl")) == []


def test_new_conversation_has_a_file_of_its_own(tmp_path: Path) -> None:
    session = start(tmp_path, [Say("a"), Say("b")])
    list(session.send("one"))
    first = session.path
    session.new()
    list(session.send("two"))
    assert session.path not in (None, first)
    assert len(list(tmp_path.rglob("*.jsonl"))) == 2


def test_agent_and_model_come_back(tmp_path: Path) -> None:
    session = start(tmp_path, [Say("a"), Say("b")])
    list(session.send("one"))
    session.use_agent("Pirate")
    session.use_model("m2")
    list(session.send("two"))
    assert session.path
    story = tell(read_journal(session.path).branch())
    assert (story.provider, story.model, story.agent) == ("test", "m2", "Pirate")
    assert start(tmp_path, [], resume=session.path).agent.name == "Pirate"
    known = Config(
        Path("/c"), providers={"test": ProviderConfig("test", url="http://h", model="m")}
    )
    entry, notice = choose_for_resume(story, known, "", "", {})
    assert (entry.name, entry.model, notice) == ("test", "m2", "")
    other = Config(Path("/c"), providers={"new": ProviderConfig("new", url="http://h", model="n")})
    entry, notice = choose_for_resume(story, other, "", "", {})
    assert (entry.name, entry.model) == ("new", "n")
    assert notice == "The provider 'test' of this session does not exist any more; new is used."


def test_gone_back_session_forks(tmp_path: Path) -> None:
    session = start(tmp_path, [Say("a"), Say("b"), Say("c")])
    list(session.send("one"))
    assert session.path
    leaf = read_journal(session.path).entries[-1].id
    list(session.send("two"))
    session.rewind(leaf)
    *_, before, fork = session.branch()
    assert (before.id, fork.type) == (leaf, "fork")
    assert len(tell(read_journal(session.path).branch()).messages) == 2  # also if nothing is said
    assert [m.text for m in session.messages[1:]] == ["one", "a"]  # type: ignore[union-attr]
    list(session.send("three"))
    told = tell(read_journal(session.path).branch()).messages
    assert [m.text for m in told] == ["one", "a", "three", "c"]  # type: ignore[union-attr]
    resumed = start(tmp_path, [Say("d")], resume=session.path)
    assert resumed.path == session.path
    resumed.rewind(leaf)
    list(resumed.send("four"))
    told = tell(read_journal(session.path).branch()).messages
    assert [m.text for m in told] == ["one", "a", "four", "d"]  # type: ignore[union-attr]


def test_copy_of_a_session_that_was_gone_on_with_is_found(tmp_path: Path) -> None:
    session = start(tmp_path, [Say("a")])
    list(session.send("one"))
    assert session.path
    copy = session.path.parent.parent / "elsewhere" / session.path.name
    copy.parent.mkdir()
    copy.write_bytes(session.path.read_bytes())
    root = copy.parent.parent
    os.utime(session.path, (1, 1))
    assert find_session(root, session.id[:6]).path == copy
    os.utime(copy, (0, 0))
    assert find_session(root, session.id).path == session.path


@pytest.mark.skipif(sys.platform == "win32", reason="files are locked as POSIX does")
def test_session_that_another_is_at_work_in_is_told_of(tmp_path: Path) -> None:
    first = start(tmp_path, [Say("a"), Say("b")])
    list(first.send("one"))
    assert first.path
    second = start(tmp_path, [Say("c"), Say("d")], resume=first.path)
    chunks = [*second.send("two"), *second.send("three")]
    told = [chunk.text for chunk in chunks if isinstance(chunk, NoticeChunk)]
    assert [text.partition(".")[0] for text in told] == ["another hrns is at work in this session"]
    first.close()
    second.close()
    third = start(tmp_path, [Say("e")], resume=first.path)
    assert not [c for c in third.send("four") if isinstance(c, NoticeChunk)]


def facts_of(path: Path) -> tuple[str, str, str]:
    """What the last branch of a session file goes on with."""
    story = tell(read_journal(path).branch())
    return story.provider, story.model, story.agent


def test_fork_to_before_a_switch_is_gone_on_with_as_it_was_held(tmp_path: Path) -> None:
    session = start(tmp_path, [Say("a"), Say("b"), Say("c"), Say("d")])
    list(session.send("one"))
    assert session.path
    early = read_journal(session.path).entries[-1].id
    first = facts_of(session.path)
    session.use_agent("Pirate")
    session.use_model("m2")
    list(session.send("two"))
    session.rewind(early)
    list(session.send("three"))
    assert facts_of(session.path) == ("test", "m2", "Pirate") != first
    session.use_model("m")
    session.use_agent(first[2])
    session.rewind(early)
    list(session.send("four"))
    assert facts_of(session.path) == first
    switches = [each for each in read_journal(session.path).entries if each.type == "switch"]
    assert len(switches) == 3  # none where the branch tells the same


def test_fork_to_before_the_first_entry_begins_anew(tmp_path: Path) -> None:
    session = start(tmp_path, [Say("a"), Say("b")])
    list(session.send("one"))
    session.rewind("")
    assert session.path
    assert tell(read_journal(session.path).branch()).messages == ()
    list(session.send("two"))
    story = tell(read_journal(session.path).branch())
    assert [m.text for m in story.messages] == ["two", "b"]  # type: ignore[union-attr]
    assert story.provider == "test"


def test_session_that_cannot_be_saved_says_so_once_and_goes_on(tmp_path: Path) -> None:
    (tmp_path / "hrns").write_text("in the way")
    session = start(tmp_path, [Say("a"), Say("b")])
    chunks = [*session.send("one"), *session.send("two")]
    notices = [chunk.text for chunk in chunks if isinstance(chunk, NoticeChunk)]
    assert len(notices) == 1
    assert "this session is not saved from here on: cannot make the folder" in notices[0]
    assert chunks[-1] == EndChunk("done")


def test_interrupted_call_is_told_when_the_session_is_gone_on_with(tmp_path: Path) -> None:
    session = start(tmp_path, [[Call("act", {"text": "x"})], Wait()])
    for chunk in session.send("do it"):
        if chunk.type == "tool_call_start":
            break  # as if the process had died here
    assert session.path
    resumed = start(tmp_path, [Say("ok")], resume=session.path)
    (notice,) = resumed.take_notices()
    assert 'may have run in part: act {"text": "x"}' in notice
    message = resumed.messages[-1]
    assert isinstance(message, ToolMessage)
    assert message.results[0].status == "interrupted"


# A process that is killed at any moment

NURSERY = """
import os, sys
from pathlib import Path
sys.path.insert(0, {tests!r})
import test_journal

test_journal.warm_up(Path(sys.argv[1]))
for line in sys.stdin:
    child = os.fork()
    if not child:
        test_journal.work_for_ever(*line.rstrip().split("|"))
    print(child, flush=True)
    os.waitpid(child, 0)
    print("gone", flush=True)
"""


@contextmanager
def nursery_in(home: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that forks those that are killed; it and they end with the block."""
    program = NURSERY.format(tests=str(Path(__file__).parent))
    with subprocess.Popen(
        [sys.executable, "-c", program, str(home)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as nursery:
        try:
            yield nursery
        finally:
            os.killpg(nursery.pid, signal.SIGKILL)


def warm_up(home: Path) -> None:
    """Import all that a resumed session needs, so that children are at work at once."""
    session = start(home, [[Call("act", {"text": "x"})], Say("a")])
    list(session.send("warm up"))
    start(home, [], resume=session.path)


def work_for_ever(home: str, first: str, path: str) -> None:
    """Hold a session with two calls a turn until killed; each call notes that it ran."""
    log = Path(home) / "ran.log"

    @tool(effects=["write"])
    def note(text: str) -> str:
        """Note it."""
        with log.open("a") as file:
            file.write(f"{text}\n")
        return text

    turns = itertools.count(int(first))
    script: Iterable[Reply] = itertools.chain.from_iterable(
        [[Call("note", {"text": f"{n}{x}"}, id=f"{n}{x}") for x in "ab"], Say(f"done {n}")]
        for n in turns
    )
    session = start(Path(home), script, note, resume=Path(path) if path else None)
    for number in itertools.count(int(first)):
        list(session.send(f"do {number}"))


def wait_for_growth(path: Path, lines: int) -> None:
    """Wait until that many lines are appended to a file."""

    def count() -> int:
        return path.read_text().count("\n") if path.exists() else 0

    before, deadline = count(), time.monotonic() + 20
    while count() < before + lines and time.monotonic() < deadline:
        time.sleep(0.0005)


@pytest.mark.skipif(sys.platform == "win32", reason="forks and kills as POSIX does")
def test_process_killed_at_any_moment_loses_nothing_and_repeats_nothing(tmp_path: Path) -> None:
    """What is whole in the file is kept, and what has a result is never run again."""
    generator = random.Random(7)  # noqa: S311 - moments to kill at, the same ones each time
    path, number, finished, kills = "", 0, list[str](), 48
    with nursery_in(tmp_path / "warm") as nursery:
        assert nursery.stdin
        assert nursery.stdout
        for kill in range(kills):
            nursery.stdin.write(f"{tmp_path}|{number}|{path}\n")
            nursery.stdin.flush()
            child = int(nursery.stdout.readline())
            if kill % 4:  # three lines: a turn, with its two calls, is over
                wait_for_growth(tmp_path / "ran.log", 3 if kill % 4 == 3 else 1)
            time.sleep(generator.random() * 0.02)
            os.kill(child, signal.SIGKILL)
            assert nursery.stdout.readline() == "gone\n"
            path = next((str(file) for file in (tmp_path / "hrns").rglob("*.jsonl")), "")
            if not path or not Path(path).stat().st_size:
                continue
            record = read_journal(Path(path))
            # A line that a kill cut off; when the next process wrote behind it, it ended it first.
            torn = ("is cut off; it was passed over", "cannot be read; it was passed over")
            assert all(warning.endswith(torn) for warning in record.warnings)
            assert len(record.warnings) <= kill + 1
            messages = tell(record.branch()).messages
            answered = [m for m in messages if isinstance(m, AssistantMessage | ToolMessage)]
            assert [m for m in repair(messages) if not isinstance(m, UserMessage)] == answered
            number = max(
                [
                    int(m.text.removeprefix("do ")) + 1
                    for m in messages
                    if isinstance(m, UserMessage)
                ],
                default=0,
            )
            kept = [r for m in messages if isinstance(m, ToolMessage) for r in m.results]
            assert finished == [r.text for r in kept if r.status == "ok"][: len(finished)]
            finished = [r.text for r in kept if r.status == "ok"]
    ran = (tmp_path / "ran.log").read_text().split()
    assert len(finished) > kills / 10
    assert len(ran) == len(set(ran))
    assert set(finished) <= set(ran)
    assert len(ran) - len(finished) <= kills  # at most the one that each kill struck


def test_large_session_opens_in_time_that_its_size_takes(journal: Journal) -> None:
    message = AssistantMessage([Text("word " * 200)])
    for _ in range(3000):
        journal.append("message", message=message)
    record = read_journal(journal.path)
    assert len(tell(record.branch()).messages) == 3000
