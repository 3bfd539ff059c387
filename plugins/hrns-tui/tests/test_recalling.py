"""What a list of sessions says about each."""

from __future__ import annotations

from pathlib import Path

import pytest
from hrns_tui.recalling import last_answer, session_lists

from hrns.errors import SessionError
from hrns.journal import Journal, project_folder
from hrns.messages import AssistantMessage, Text, ToolCall, UserMessage


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
