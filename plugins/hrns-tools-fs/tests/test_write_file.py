from __future__ import annotations

import os
import stat
import sys
import threading
from pathlib import Path

import pytest
from hrns_tools_fs.testing import Toolbox

from hrns.errors import Cancelled
from hrns.messages import Diff, ToolResult
from hrns.permissions import Access, Prepared

pytest_plugins = ["hrns_tools_fs.testing"]


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def test_a_new_file_is_made_with_the_new_string(tools: Toolbox, tmp_path: Path) -> None:
    result = tools.result("write_file", fileName="a/b/new.txt", oldString="", newString="x\r\ny")
    assert result == ToolResult("OK", display=Diff("a/b/new.txt", None, "x\r\ny"))
    assert (tmp_path / "a/b/new.txt").read_bytes() == b"x\r\ny"


def test_the_name_of_a_directory_is_no_new_file(tools: Toolbox, tmp_path: Path) -> None:
    answer = tools("write_file", fileName="docs/", oldString="", newString="x")
    assert answer == "ERROR: docs/ is the name of a directory, not of a file"
    assert names(tmp_path) == []


def test_a_new_file_has_the_usual_rights(tools: Toolbox, tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    tools("write_file", fileName="new", oldString="", newString="x")
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_new_file_for_an_old_string_is_told(tools: Toolbox) -> None:
    assert tools("write_file", fileName="new", oldString="old", newString="x") == (
        "OK: there was no such file, so it was made with newString"
    )


def test_the_old_string_is_replaced(tools: Toolbox) -> None:
    path = tools.file("a.txt", "one two\n")
    result = tools.result("write_file", fileName="a.txt", oldString="two", newString="2")
    assert result == ToolResult("OK", display=Diff("a.txt", "one two\n", "one 2\n"))
    assert path.read_bytes() == b"one 2\n"


def test_the_call_shows_what_it_would_change_and_changes_nothing(
    tools: Toolbox, tmp_path: Path
) -> None:
    path = tools.file("a.txt", "one\n")
    assert tools.prepare(
        "write_file", fileName="a.txt", oldString="one", newString="1"
    ) == Prepared(
        [Access("read", str(path)), Access("write", str(path))],
        title="write_file a.txt",
        preview=Diff("a.txt", "one\n", "1\n"),
    )
    edits = [{"oldString": "zzz", "newString": ""}]
    assert tools.prepare("edit_file", fileName="a.txt", edits=edits).preview is None
    new = tools.prepare("write_file", fileName="new", oldString="", newString="x")
    assert new.preview == Diff("new", None, "x")
    assert names(tmp_path) == ["a.txt"]
    assert path.read_bytes() == b"one\n"


def test_an_empty_old_string_on_a_file_with_content_is_refused(tools: Toolbox) -> None:
    path = tools.file("a.txt", "abc")
    for every in (False, True):
        text = tools("write_file", fileName="a.txt", oldString="", newString="X", replaceAll=every)
        assert text.startswith("ERROR: oldString is empty")
    assert path.read_bytes() == b"abc"


def test_every_match_is_replaced_only_when_that_is_said(tools: Toolbox) -> None:
    path = tools.file("a.txt", "a a")
    refused = tools("write_file", fileName="a.txt", oldString="a", newString="b")
    assert refused.startswith("ERROR: oldString stands 2 times in the file (lines 1)")
    assert tools("write_file", fileName="a.txt", oldString="a", newString="b", replaceAll=True)
    assert path.read_bytes() == b"b b"


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        (b"\xef\xbb\xbfWrite-Host hi\n", "hi", "ho", b"\xef\xbb\xbfWrite-Host ho\n"),
        (b"x = 1\n# caf\xe9\n", "x = 1", "x = 2", b"x = 2\n# caf\xe9\n"),
        (b"x = 1\n# caf\xe9\n", "caf\u00e9", "\u00e9t\u00e9", b"x = 1\n# \xe9t\xe9\n"),
        (b"\xc4\xe3\xba\xc3 = 1\n", "= 1", "= 2", b"\xc4\xe3\xba\xc3 = 2\n"),
        ("a\u00e4".encode("utf-16"), "a", "b", "b\u00e4".encode("utf-16")),
        (b"no end", "no", "an", b"an end"),
        (b"a\r\nb\r\n", "a\nb", "a\nc", b"a\r\nc\r\n"),
    ],
)
def test_nothing_but_the_match_changes(
    tools: Toolbox, before: bytes, old: str, new: str, after: bytes
) -> None:
    path = tools.file("a.txt", before)
    assert tools("write_file", fileName="a.txt", oldString=old, newString=new) == "OK"
    assert path.read_bytes() == after


def test_a_character_that_the_encoding_has_not_is_refused(tools: Toolbox) -> None:
    path = tools.file("a.txt", b"caf\xe9\n")
    assert tools("write_file", fileName="a.txt", oldString="caf", newString="\u2192") == (
        "ERROR: a.txt is latin-1, which has no '\u2192'; nothing was written"
    )
    assert path.read_bytes() == b"caf\xe9\n"


def test_an_encoding_is_remembered_where_the_bytes_no_longer_tell(tools: Toolbox) -> None:
    path = tools.file("a.txt", b"caf\xe9\n")
    tools("read_file", fileName="a.txt")
    tools("write_file", fileName="a.txt", oldString="\u00e9", newString="e")
    tools("write_file", fileName="a.txt", oldString="e", newString="\u00e8")
    assert path.read_bytes() == b"caf\xe8\n"


@pytest.mark.parametrize("mode", [0o755, 0o600, 0o4750])
def test_the_mode_stays(tools: Toolbox, mode: int) -> None:
    path = tools.file("s.sh", "echo 1\n")
    path.chmod(mode)
    assert tools("write_file", fileName="s.sh", oldString="1", newString="2") == "OK"
    assert stat.S_IMODE(path.stat().st_mode) == mode


@pytest.mark.skipif(not hasattr(os, "setxattr"), reason="a system without extended attributes")
def test_the_extended_attributes_stay(tools: Toolbox) -> None:
    path = tools.file("a.txt", "1")
    try:
        os.setxattr(path, "user.origin", b"elsewhere")
    except OSError:
        pytest.skip("a file system without extended attributes")
    assert tools("write_file", fileName="a.txt", oldString="1", newString="2") == "OK"
    assert os.getxattr(path, "user.origin") == b"elsewhere"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has /proc")
def test_file_that_does_not_say_how_long_it_is_is_read_no_further_than_can_be_edited(
    tools: Toolbox,
) -> None:
    name = "/proc/self/pagemap"  # 256 GB, and says 0
    assert tools("write_file", fileName=name, oldString="a", newString="b") == (
        f"ERROR: {name} has more than 67108864 bytes, too many to edit"
    )


def test_what_was_interrupted_is_not_written(tools: Toolbox) -> None:
    path = tools.file("a.txt", "1")
    tools.session.cancel.set("interrupted")
    with pytest.raises(Cancelled):
        tools("write_file", fileName="a.txt", oldString="1", newString="2")
    assert path.read_text() == "1"


def test_a_symbolic_link_stays_one(tools: Toolbox, tmp_path: Path) -> None:
    target = tools.file("real/target.txt", "1")
    (tmp_path / "link").symlink_to("real/target.txt")
    assert tools("write_file", fileName="link", oldString="1", newString="2") == "OK"
    assert ((tmp_path / "link").is_symlink(), target.read_bytes()) == (True, b"2")


def test_a_link_that_leads_nowhere_is_filled_where_it_leads(tools: Toolbox, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("made.txt")
    assert tools("write_file", fileName="link", oldString="", newString="x") == "OK"
    assert ((tmp_path / "link").is_symlink(), (tmp_path / "made.txt").read_text()) == (True, "x")


def test_what_cannot_be_written_says_why(tools: Toolbox, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    tools.file("a", "")
    (tmp_path / "circle").symlink_to("circle")
    answers = [
        tools("write_file", fileName=name, oldString="a", newString="b")
        for name in (".", "pipe", "a/b", "circle", "x" * 300)
    ]
    assert answers == [
        "ERROR: . is a directory, not a regular file",
        "ERROR: pipe is a fifo, not a regular file",
        "ERROR: a/b cannot be written: a file is in the way",
        "ERROR: circle cannot be written: Too many levels of symbolic links",
        f"ERROR: {'x' * 300}: File name too long",
    ]


def test_a_file_that_changed_since_it_was_read_is_left_alone(tools: Toolbox) -> None:
    path = tools.file("a.txt", "one\n")
    tools("read_file", fileName="a.txt")
    path.write_bytes(b"one\nby somebody else\n")
    assert tools("write_file", fileName="a.txt", oldString="one", newString="1") == (
        "ERROR: a.txt has changed since you read it; nothing was written. Read it again first."
    )
    tools("read_file", fileName="a.txt")
    assert tools("write_file", fileName="a.txt", oldString="one", newString="1") == "OK"
    assert tools("write_file", fileName="a.txt", oldString="1", newString="2") == "OK"
    assert path.read_bytes() == b"2\nby somebody else\n"


def test_a_file_that_was_only_touched_is_written(tools: Toolbox) -> None:
    path = tools.file("a.txt", "one\n")
    tools("read_file", fileName="a.txt")
    os.utime(path, (1, 1))
    assert tools("write_file", fileName="a.txt", oldString="one", newString="1") == "OK"


def test_no_twin_of_a_name_that_looks_the_same_is_made(tools: Toolbox, tmp_path: Path) -> None:
    path = tools.file("u\u0308ber\u00a0uns/a\u0308.txt", "1")
    answer = tools("write_file", fileName="\u00fcber uns/\u00e4.txt", oldString="1", newString="2")
    assert answer == f"OK: on the disk it is {str(path)!r}"
    tools("write_file", fileName="\u00fcber uns/new.txt", oldString="", newString="3")
    assert path.read_text() == "2"
    assert names(tmp_path) == ["u\u0308ber\u00a0uns"]
    assert names(path.parent) == ["a\u0308.txt", "new.txt"]


def test_a_loose_match_is_told(tools: Toolbox) -> None:
    tools.file("a.py", "if x:\n    y()  \n")
    assert tools(
        "write_file", fileName="a.py", oldString="if x:\n    y()\n", newString="z()\n"
    ) == ("OK: matched at line 1 by ignoring differences in white space")


def test_several_edits_are_made_together(tools: Toolbox) -> None:
    path = tools.file("n.txt", "50\r\n75\r\n")
    edits = [
        {"oldString": "50", "newString": "FIFTY"},
        {"oldString": "75\n", "newString": "SEVENTYFIVE\n"},
    ]
    result = tools.result("edit_file", fileName="n.txt", edits=edits)
    assert result == ToolResult("OK", display=Diff("n.txt", "50\n75\n", "FIFTY\nSEVENTYFIVE\n"))
    assert path.read_bytes() == b"FIFTY\r\nSEVENTYFIVE\r\n"


def test_of_edits_that_do_not_all_fit_none_is_made(tools: Toolbox) -> None:
    path = tools.file("n.txt", "50\n75\n")
    edits = [{"oldString": "50", "newString": "5"}, {"oldString": "99", "newString": "9"}]
    answer = tools("edit_file", fileName="n.txt", edits=edits)
    assert answer.startswith("ERROR: edit 2 of 2: oldString is not in the file")
    assert path.read_bytes() == b"50\n75\n"
    assert tools("edit_file", fileName="n.txt", edits=[]) == "ERROR: edits is empty"
    assert tools("edit_file", fileName="m.txt", edits=edits) == (
        "ERROR: m.txt: there is no such file; did you mean n.txt?"
    )


def test_edits_of_one_file_at_once_are_all_kept(tools: Toolbox) -> None:
    names = [f"<{n}>" for n in range(40)]
    path = tools.file("n.txt", "\n".join(names))
    answers: list[str] = []

    def edit(name: str) -> None:
        answers.append(
            tools("write_file", fileName="n.txt", oldString=name, newString=name.upper() + "!")
        )

    threads = [threading.Thread(target=edit, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == ["OK"] * 40
    assert path.read_text() == "\n".join(name + "!" for name in names)


def test_people_see_of_a_large_file_the_lines_that_differ(tools: Toolbox) -> None:
    lines = [f"line {n}\n" for n in range(30_000)]
    tools.file("large.txt", "".join(lines))
    result = tools.result("write_file", fileName="large.txt", oldString="line 9\n", newString="")
    around = "".join(lines[6:9]), "".join(lines[10:13])
    assert result.display == Diff("large.txt", f"{around[0]}line 9\n{around[1]}", "".join(around))
