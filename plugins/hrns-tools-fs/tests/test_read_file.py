from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from hrns_tools_fs.testing import Toolbox

from hrns.messages import Image, Text, ToolResult
from hrns.permissions import Access, Prepared

pytest_plugins = ["hrns_tools_fs.testing"]

PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)


def test_a_file_is_read_whole(tools: Toolbox) -> None:
    tools.file("a/b.txt", "one\ntwo\n")
    assert tools.result("read_file", fileName="a/b.txt") == ToolResult("one\ntwo\n")


def test_the_call_says_which_file_it_reads(tools: Toolbox, tmp_path: Path) -> None:
    assert tools.prepare("read_file", fileName="sub/a.txt") == Prepared(
        [Access("read", str(tmp_path / "sub/a.txt"))], title="read_file sub/a.txt"
    )


def test_a_path_is_meant_from_the_session_not_from_the_process(
    tools: Toolbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools.file("here.txt", "here")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert tools("read_file", fileName="here.txt") == "here"


def test_dots_after_a_link_are_followed_on_the_disk(tools: Toolbox, tmp_path: Path) -> None:
    tools.file("deep/inner/x.txt", "inner")
    tools.file("deep/y.txt", "right")
    tools.file("y.txt", "wrong")
    (tmp_path / "link").symlink_to("deep/inner")
    assert tools("read_file", fileName="link/../y.txt") == "right"


def test_the_home_directory_can_be_named(
    tools: Toolbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    tools.file("home/notes.txt", "mine")
    assert tools("read_file", fileName="~/notes.txt") == "mine"


def test_line_ends_and_byte_order_mark_are_not_shown(tools: Toolbox) -> None:
    tools.file("w.ps1", b"\xef\xbb\xbfWrite-Host hi\r\nexit\r\n")
    assert tools("read_file", fileName="w.ps1") == "Write-Host hi\nexit\n"


def test_another_encoding_is_recognised(tools: Toolbox) -> None:
    tools.file("latin.txt", b"# caf\xe9\n")
    tools.file("wide.txt", "gr\u00fc\u00df\n".encode("utf-16"))
    assert tools("read_file", fileName="latin.txt") == "# caf\u00e9\n"
    assert tools("read_file", fileName="wide.txt") == "gr\u00fc\u00df\n"


def test_a_long_file_comes_in_pages_that_say_how_to_go_on(tools: Toolbox) -> None:
    tools.file("long.txt", "".join(f"line {n}\n" for n in range(1, 2502)))
    first = tools("read_file", fileName="long.txt").split("\n")
    assert (first[0], first[1999]) == ("line 1", "line 2000")
    assert first[2000:] == ["[lines 1 to 2000 of 2501; go on with offset=2001]"]
    second = tools("read_file", fileName="long.txt", offset=2001).split("\n")
    assert (second[0], second[500]) == ("line 2001", "line 2501")
    assert second[501:] == ["[lines 2001 to 2501 of 2501; the end of the file]"]


def test_a_part_can_be_asked_for(tools: Toolbox) -> None:
    tools.file("n.txt", "1\n2\n3\n4\n5\n")
    assert tools("read_file", fileName="n.txt", offset=2, limit=2) == (
        "2\n3\n[lines 2 to 3 of 5; go on with offset=4]"
    )


def test_a_page_is_bounded_in_bytes(tools: Toolbox) -> None:
    tools.file("wide.txt", ("x" * 1023 + "\n") * 100)
    text = tools("read_file", fileName="wide.txt")
    assert text.endswith("\n[lines 1 to 50 of 100; go on with offset=51]")
    assert len(text) < 52_000


def test_a_long_line_is_cut_with_a_mark(tools: Toolbox) -> None:
    tools.file("bundle.js", "a" * 200_000 + "\nend\n")
    assert tools("read_file", fileName="bundle.js") == (
        "a" * 2000 + " [... this line is longer]\nend\n[lines 1 to 2 of 2; the end of the file]"
    )


def test_a_short_file_with_one_long_line_is_whole(tools: Toolbox) -> None:
    tools.file("one.json", "x" * 30_000)
    assert tools("read_file", fileName="one.json") == "x" * 30_000


def test_an_offset_past_the_end_is_told(tools: Toolbox) -> None:
    tools.file("n.txt", "1\n2\n")
    assert tools("read_file", fileName="n.txt", offset=9) == (
        "ERROR: offset 9 is past the end: the file has 2 lines"
    )
    assert "begin at 1" in tools("read_file", fileName="n.txt", offset=0)


def test_an_empty_file_is_told(tools: Toolbox) -> None:
    tools.file("empty", "")
    assert tools("read_file", fileName="empty") == "[the file is empty]"


def test_a_huge_file_is_read_no_further_than_is_asked(tools: Toolbox, tmp_path: Path) -> None:
    with (tmp_path / "huge.log").open("wb") as file:
        file.write(b"first\nsecond\n" + b"y" * 100_000 + b"\nfourth\n")
        file.truncate(20_000_000_000)  # a sparse file: who read it whole would not come back
    assert tools("read_file", fileName="huge.log", offset=2, limit=3) == (
        "second\n" + "y" * 2000 + " [... this line is longer]\nfourth\n"
        "[lines 2 to 4; go on with offset=5]"
    )


def test_an_offset_that_no_file_has_is_told(tools: Toolbox, tmp_path: Path) -> None:
    with (tmp_path / "huge").open("wb") as file:
        file.write(b"line\n" * 1000)
        file.seek(20_000_000)
        file.write(b"\n")
    assert tools("read_file", fileName="huge", offset=10**20) == (
        f"[the file has fewer than {10**20} lines]"
    )


def test_an_offset_past_the_end_of_a_huge_file_is_told(tools: Toolbox) -> None:
    tools.file("large.log", "a line of some length\n" * 800_000)
    assert tools("read_file", fileName="large.log", offset=900_000) == (
        "[the file has fewer than 900000 lines]"
    )
    assert tools("read_file", fileName="large.log", offset=800_000) == (
        "a line of some length\n[lines 800000 to 800000; the end of the file]"
    )


def test_an_image_is_an_image(tools: Toolbox) -> None:
    tools.file("dot.png", PNG)
    assert tools.result("read_file", fileName="dot.png") == ToolResult(
        (Text("dot.png: image/png, 28 bytes"), Image("image/png", PNG))
    )


def test_an_image_that_no_model_takes_is_refused(tools: Toolbox) -> None:
    tools.file("big.png", PNG + bytes(6_000_000))
    assert "models take 5242880 at most" in tools("read_file", fileName="big.png")


def test_a_binary_file_is_no_text(tools: Toolbox) -> None:
    tools.file("a.out", b"\x7fELF\0\0")
    assert tools("read_file", fileName="a.out") == (
        "ERROR: a.out is a binary file of 6 bytes, not text"
    )


def test_a_directory_says_what_it_holds(tools: Toolbox) -> None:
    tools.file("d/one", "")
    tools.file("d/two", "")
    assert tools("read_file", fileName="d") == (
        "ERROR: d is a directory (use list_files); it holds one, two"
    )


@pytest.mark.timeout(5)
def test_what_is_no_regular_file_is_refused_at_once(tools: Toolbox, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "nowhere").symlink_to("gone")
    (tmp_path / "circle").symlink_to("circle")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "sock"))
        answers = {
            name: tools("read_file", fileName=name)
            for name in ("pipe", "sock", "/dev/zero", "nowhere", "circle")
        }
    assert answers == {
        "pipe": "ERROR: pipe is a fifo, not a regular file",
        "sock": "ERROR: sock is a socket, not a regular file",
        "/dev/zero": "ERROR: /dev/zero is a device, not a regular file",
        "nowhere": "ERROR: nowhere is a symbolic link that leads nowhere",
        "circle": "ERROR: circle is a symbolic link that leads nowhere",
    }


def test_a_missing_file_names_its_neighbours(tools: Toolbox) -> None:
    tools.file("src/config.py", "")
    tools.file("src/other.py", "")
    assert tools("read_file", fileName="src/confg.py") == (
        "ERROR: src/confg.py: there is no such file; did you mean config.py?"
    )


def test_a_missing_directory_names_the_one_that_exists(tools: Toolbox, tmp_path: Path) -> None:
    tools.file("src/a.py", "")
    assert tools("read_file", fileName="src/lib/a.py") == (
        f"ERROR: src/lib/a.py: there is no directory {tmp_path}/src/lib; {tmp_path}/src exists"
    )


@pytest.mark.parametrize(
    ("on_disk", "asked"),
    [("Shot 1.02.03\u202fAM.txt", "Shot 1.02.03 AM.txt"), ("a\u0308.txt", "\u00e4.txt")],
)
def test_a_name_that_looks_the_same_is_found_and_told(
    tools: Toolbox, on_disk: str, asked: str
) -> None:
    path = tools.file(on_disk, "found")
    assert tools("read_file", fileName=asked) == f"[on the disk it is {str(path)!r}]\nfound"


def test_of_two_names_that_look_the_same_none_is_taken(tools: Toolbox) -> None:
    tools.file("a\u00a0b", "1")
    tools.file("a\u2003b", "2")
    assert "there is no such file; did you mean" in tools("read_file", fileName="a b")


@pytest.mark.parametrize("name", ["", "a\0b", "\ud800"])
def test_what_is_no_path_is_refused(tools: Toolbox, name: str) -> None:
    with pytest.raises(Exception, match=r"path"):
        tools.prepare("read_file", fileName=name)


def test_a_name_that_is_too_long_is_refused(tools: Toolbox) -> None:
    assert tools("read_file", fileName="x" * 5000) == f"ERROR: {'x' * 5000}: File name too long"
