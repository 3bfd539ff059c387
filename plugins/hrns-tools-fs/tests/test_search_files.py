"""Every test runs with `rg`, where it is there, and with our own engine: they find the same."""

from __future__ import annotations

import os
import time
from pathlib import Path
from threading import Timer

import pytest
from hrns_tools_fs.host import LocalHost
from hrns_tools_fs.testing import Toolbox

from hrns.context import SessionContext
from hrns.errors import Cancelled
from hrns.permissions import Access, Prepared


class WithoutRipgrep(LocalHost):
    def program(self, name: str) -> str | None:
        return None if name == "rg" else super().program(name)


@pytest.fixture(params=["rg", "ours"])
def tools(request: pytest.FixtureRequest, tmp_path: Path) -> Toolbox:
    host = LocalHost() if request.param == "rg" else WithoutRipgrep()
    if request.param == "rg" and host.program("rg") is None:
        pytest.skip("there is no rg")
    return Toolbox(SessionContext(cwd=tmp_path), host)


NOTHING = "[no match; hidden and ignored files are searched only if they are named]"


def test_lines_stand_under_their_files_with_their_numbers(tools: Toolbox) -> None:
    tools.file("b.py", "import os\n\ndef main():\n    os.main()\n")
    tools.file("a/c.py", "main = 1\r\n")
    assert tools("search_files", pattern="main") == (
        "a/c.py\n1: main = 1\n\nb.py\n3: def main():\n4:     os.main()"
    )


def test_the_call_says_where_it_looks(tools: Toolbox, tmp_path: Path) -> None:
    assert tools.prepare("search_files", pattern="x", dir="src", glob="deep/*.py") == Prepared(
        [Access("read", str(tmp_path / "src/deep"))], title="search_files x in src"
    )


def test_lines_around_can_be_shown(tools: Toolbox) -> None:
    tools.file("n.txt", "".join(f"{n}\n" for n in range(1, 21)))
    assert tools("search_files", pattern="^(5|6|15)$", context=1) == (
        "n.txt\n4- 4\n5: 5\n6: 6\n7- 7\n--\n14- 14\n15: 15\n16- 16"
    )


def test_classes_by_name_are_known(tools: Toolbox) -> None:
    tools.file("a.txt", "ab1\nA-\n::\n")
    assert tools("search_files", pattern=r"[[:lower:][:digit:]]$") == "a.txt\n1: ab1"
    assert tools("search_files", pattern=r"^[^[:alpha:]]") == "a.txt\n3: ::"


@pytest.mark.skipif(os.name == "nt", reason="no name holds a line end there")
def test_a_name_with_line_ends_is_told_whole(tools: Toolbox) -> None:
    for name in ("b\n\na.txt", "c\n/a.txt", "d.txt"):
        tools.file(name, "hit\nhit\n")
    assert tools("search_files", pattern="hit") == "\n\n".join(
        f"{name}\n1: hit\n2: hit" for name in ("b\n\na.txt", "c\n/a.txt", "d.txt")
    )


def test_files_are_chosen_by_a_glob(tools: Toolbox) -> None:
    for name in ("x.py", "x.txt", "deep/y.py", "deep/er/z.py"):
        tools.file(name, "hit\n")
    found = {
        glob: tools("search_files", pattern="hit", glob=glob).split("\n")[::3]
        for glob in ("*.py", "deep/*.py", "deep/**/*.{py,txt}", "**/er/*")
    }
    assert found == {
        "*.py": ["deep/er/z.py", "deep/y.py", "x.py"],
        "deep/*.py": ["deep/y.py"],
        "deep/**/*.{py,txt}": ["deep/er/z.py", "deep/y.py"],
        "**/er/*": ["deep/er/z.py"],
    }


def test_a_pattern_can_be_plain_text_and_without_regard_to_case(tools: Toolbox) -> None:
    tools.file("a.txt", "f(x)\nF(X)\nfx\n\u00c4\n")
    assert tools("search_files", pattern="f(x)", literal=True) == "a.txt\n1: f(x)"
    assert tools("search_files", pattern="f(x)", ignoreCase=True) == "a.txt\n3: fx"
    assert tools("search_files", pattern="f(x)", literal=True, ignoreCase=True) == (
        "a.txt\n1: f(x)\n2: F(X)"
    )
    assert tools("search_files", pattern="\u00e4", ignoreCase=True) == "a.txt\n4: \u00c4"
    assert tools("search_files", pattern="-", literal=True) == NOTHING


def test_line_ends_are_no_part_of_a_line(tools: Toolbox) -> None:
    tools.file("dos.txt", "one\r\ntwo\r\n\r\n")
    assert tools("search_files", pattern="one$") == "dos.txt\n1: one"
    assert tools("search_files", pattern=r"one\s") == NOTHING
    assert tools("search_files", pattern=r"^$") == "dos.txt\n3: "


def test_what_rust_does_not_know_is_still_found(tools: Toolbox) -> None:
    tools.file("a.txt", "foobar\nbar\nxx\n")
    assert tools("search_files", pattern="(?<=foo)bar") == "a.txt\n1: foobar"
    assert tools("search_files", pattern="(?<!foo)bar") == "a.txt\n2: bar"
    assert tools("search_files", pattern=r"(x)\1") == "a.txt\n3: xx"


def test_what_is_no_pattern_is_told(tools: Toolbox) -> None:
    tools.file("a.txt", "x\n")
    assert tools("search_files", pattern="f(x").startswith("ERROR: the pattern cannot be used: ")
    assert tools("search_files", pattern="") == "ERROR: the pattern is empty"
    assert tools("search_files", pattern="x" * 20_000) == "ERROR: the pattern is too long"


def test_hidden_and_ignored_files_are_searched_only_if_they_are_named(tools: Toolbox) -> None:
    tools.file(".gitignore", "*.log\nnode_modules/\n")
    for name in (".env", ".github/ci.yml", "a.log", "node_modules/m/i.js", "sub/x.log", "sub/y"):
        tools.file(name, "hit\n")
    assert tools("search_files", pattern="hit") == "sub/y\n1: hit"
    assert tools("search_files", pattern="hit", glob="*.log") == NOTHING
    assert tools("search_files", pattern="hit", glob="**/.env") == ".env\n1: hit"
    assert tools("search_files", pattern="hit", glob=".github/*") == ".github/ci.yml\n1: hit"
    assert tools("search_files", pattern="hit", dir="node_modules") == (
        "node_modules/m/i.js\n1: hit"
    )
    assert tools("search_files", pattern="hit", dir="a.log") == "a.log\n1: hit"


def test_what_programs_install_is_searched_only_if_it_is_named(tools: Toolbox) -> None:
    for name in ("a.js", "node_modules/m/b.js", "sub/__pycache__/c.js", "kept/node_modules/d.js"):
        tools.file(name, "hit\n")
    tools.file("kept/.gitignore", "!node_modules\n")
    assert tools("search_files", pattern="hit") == "a.js\n1: hit\n\nkept/node_modules/d.js\n1: hit"
    assert tools("search_files", pattern="hit", dir="node_modules") == (
        "node_modules/m/b.js\n1: hit"
    )
    assert tools("search_files", pattern="hit(?!x)", dir=".", glob="b.js") == NOTHING


def test_rules_hold_from_the_top_of_the_repository_down(tools: Toolbox) -> None:
    (tools.session.cwd / "repo/.git/info").mkdir(parents=True)
    (tools.session.cwd / "repo/inner/.git").mkdir(parents=True)
    tools.file(".gitignore", "*.py\n")
    tools.file("repo/.gitignore", "*.tmp\n")
    tools.file("repo/.git/info/exclude", "secret.py\n")
    tools.file("repo/sub/.gitignore", "!kept.tmp\n")
    for name in ("sub/a.py", "sub/a.tmp", "sub/kept.tmp", "sub/secret.py", "inner/x.tmp"):
        tools.file(f"repo/{name}", "hit\n")
    assert tools("search_files", pattern="hit", dir="repo/sub") == (
        "repo/sub/a.py\n1: hit\n\nrepo/sub/kept.tmp\n1: hit"
    )
    assert tools("search_files", pattern="hit", dir="repo", glob="*.tmp") == (
        "repo/inner/x.tmp\n1: hit\n\nrepo/sub/kept.tmp\n1: hit"
    )


def test_what_is_no_regular_file_is_passed_over(tools: Toolbox, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("real.txt")
    (tmp_path / "up").symlink_to("..")
    tools.file("real.txt", "hit\n")
    tools.file("binary.bin", b"hit\0hit\n")
    tools.file("wide.txt", "hit \u00e4\n".encode("utf-16"))
    tools.file("latin.txt", b"hit caf\xe9\n")
    assert tools("search_files", pattern="hit") == (
        "latin.txt\n1: hit caf\u00e9\n\nreal.txt\n1: hit\n\nwide.txt\n1: hit \u00e4"
    )


def test_matches_are_bounded_and_that_is_told(tools: Toolbox) -> None:
    tools.file("n.txt", "hit\n" * 500)
    few = tools("search_files", pattern="hit", limit=3)
    assert few == (
        "n.txt\n1: hit\n2: hit\n3: hit\n\n[the first 3 matches; there are more: narrow the search]"
    )
    assert tools("search_files", pattern="hit", limit=500).endswith("\n500: hit")


def test_what_is_shown_is_bounded(tools: Toolbox) -> None:
    tools.file("long.txt", ("hit " + "x" * 100_000 + "\n") * 300)
    text = tools("search_files", pattern="hit", limit=1000)
    assert len(text) < 50_000
    assert text.split("\n")[1] == f"1: hit {'x' * 296} [... this line is longer]"
    assert "there are more: narrow the search]" in text


def test_a_long_file_in_another_encoding_is_searched_to_its_end(tools: Toolbox) -> None:
    tools.file("wide.txt", ("a line\n" * 20_000 + "hit\n").encode("utf-16"))
    assert tools("search_files", pattern="hit") == "wide.txt\n20001: hit"


def test_long_files_are_searched_in_blocks(tools: Toolbox) -> None:
    tools.file("long.txt", "a line\n" * 3_000_000 + "hit\n")
    assert tools("search_files", pattern="hit", context=1) == (
        "long.txt\n3000000- a line\n3000001: hit"
    )


def test_an_endless_expression_can_be_interrupted(tools: Toolbox) -> None:
    tools.file("a.txt", "a" * 40 + "!\n")
    Timer(0.5, tools.session.cancel.set).start()
    started = time.monotonic()
    # The backreference keeps it from rg, whose expressions take no longer than their text.
    with pytest.raises(Cancelled):
        tools("search_files", pattern=r"^((a+)+)+\2$")
    assert time.monotonic() - started < 20


def test_what_is_not_there_is_told(tools: Toolbox) -> None:
    tools.file("src/a.py", "")
    assert tools("search_files", pattern="x", dir="scr") == (
        "ERROR: scr: there is no such file; did you mean src?"
    )
    assert tools("search_files", pattern="x", glob="none/*.py") == NOTHING
