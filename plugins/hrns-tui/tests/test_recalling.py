"""What a list of sessions says about each."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from hrns_tui.recalling import gone_on_with, last_answer, session_lists, titles_of_calls

from hrns.config import ProviderConfig, load_config
from hrns.errors import SessionError
from hrns.journal import Journal, project_folder, read_journal
from hrns.messages import AssistantMessage, Text, ToolCall, ToolResult, UserMessage
from hrns.plugins import Plugins
from hrns.session import Session, open_session


def journal(root: Path, session_id: str = "abc") -> Journal:
    """A session file that a question stands in."""
    written = Journal.create(project_folder(root, root), session_id, root)
    written.append("message", message=UserMessage('Say "assistant".'))
    return written


def test_last_answer_is_what_the_model_said_last(tmp_path: Path) -> None:
    written = journal(tmp_path)
    assert last_answer(written.path) == ""
    written.append("message", message=AssistantMessage([Text("First.")]))
    written.append("message", message=AssistantMessage([Text(" Two\nlines. ")]))
    written.append("message", message=AssistantMessage([ToolCall("1", "look", "{}")]))
    written.append("end", reason="done", text="")
    assert last_answer(written.path) == "Two lines."
    with written.path.open("a") as file:
        file.write('{"type": "message", "message": {"role": "assistant", "par')
    assert last_answer(written.path) == "Two lines."
    written.append("message", message=AssistantMessage([Text("x" * 200_000)]))
    assert last_answer(written.path) == ""  # no more than the end of a file is read for it
    written.append("message", message=AssistantMessage([Text("Short.")]))
    assert last_answer(written.path) == "Short."
    assert last_answer(tmp_path / "nowhere") == ""


def test_removed_session_is_not_listed_any_more(tmp_path: Path) -> None:
    paths = [journal(tmp_path, session_id).path for session_id in ("abc", "def")]
    here, everywhere = session_lists(tmp_path, tmp_path)
    assert {value for value, _ in here.options()} == {"abc", "def"}
    assert here.remove is not None
    here.remove("def")
    assert [path.exists() for path in paths] == [True, False]
    assert [value for value, _ in here.options()] == ["abc"]
    assert [value for value, _ in everywhere.options()] == ["abc"]


def test_session_that_cannot_be_removed_is_an_error_that_names_it(tmp_path: Path) -> None:
    path = journal(tmp_path).path
    [here, _] = session_lists(tmp_path, tmp_path)
    path.unlink()
    path.mkdir()  # which is no file, whoever asks
    assert here.remove is not None
    with pytest.raises(SessionError, match=f"cannot remove {path}: "):
        here.remove("abc")


def resumed(folder: Path, path: Path) -> Session:
    """The session of a file, gone on with."""
    config = load_config(folder / "config.json")
    entry = ProviderConfig("demo", api="demo", model="demo")
    plugins = Plugins(strict=True)
    return open_session(config, plugins, entry, cwd=folder, environ={}, resume=read_journal(path))


def test_calls_are_called_what_they_were_when_they_ran(tmp_path: Path) -> None:
    written = journal(tmp_path)
    calls = [ToolCall("1", "write_file", '{"fileName": "a.txt"}'), ToolCall("2", "look", "{}")]
    written.append("message", message=AssistantMessage(calls))
    started = {"name": "write_file", "arguments": calls[0].arguments}
    written.append("started", call_id="1", title="write_file a.txt", **started)
    written.append("result", result=ToolResult("ok", call_id="1", name="write_file"), arguments="")
    with resumed(tmp_path, written.path) as session:
        assert titles_of_calls(session) == {"1": "write_file a.txt"}
        written.path.unlink()
        assert titles_of_calls(session) == {}


def test_session_that_is_gone_on_with_is_named_with_its_length_and_age(tmp_path: Path) -> None:
    written = journal(tmp_path)
    ago = time.time() - 200
    os.utime(written.path, (ago, ago))
    with resumed(tmp_path, written.path) as session:
        assert gone_on_with(session) == "Going on with session abc, 1 message, 3 min ago."
    written.append("message", message=AssistantMessage([Text("Yes.")]))
    with resumed(tmp_path, written.path) as session:
        assert gone_on_with(session) == "Going on with session abc, 2 messages, just now."
