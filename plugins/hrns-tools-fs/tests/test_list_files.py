from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hrns_tools_fs.testing import Toolbox

from hrns.errors import Cancelled
from hrns.messages import Text, ToolResult
from hrns.permissions import Access, Prepared

pytest_plugins = ["hrns_tools_fs.testing"]


def listed(tools: Toolbox, pattern: str, directory: str = ".") -> list[str]:
    result = tools.result("list_files", dir=directory, globPattern=pattern)
    assert isinstance(result.content[0], Text)
    paths = json.loads(result.content[0].text)
    assert isinstance(paths, list)
    return paths


def notes(tools: Toolbox, pattern: str, directory: str = ".") -> str:
    return tools("list_files", dir=directory, globPattern=pattern).partition("\n")[2]


def test_paths_are_a_sorted_array_with_the_directory_before_them(tools: Toolbox) -> None:
    for name in ("src/b.py", "src/a.py", "src/a/x.py", "top.py"):
        tools.file(name, "")
    assert tools.result("list_files", dir="src", globPattern="*.py") == ToolResult(
        '["src/a.py", "src/b.py"]', structured='["src/a.py", "src/b.py"]'
    )
    assert listed(tools, "**/*.py", "src/") == ["src/a.py", "src/a/x.py", "src/b.py"]
    assert listed(tools, "*.py") == ["top.py"]
    assert listed(tools, "src/*.py", "") == ["src/a.py", "src/b.py"]


def test_the_call_says_where_it_looks(tools: Toolbox, tmp_path: Path) -> None:
    assert tools.prepare("list_files", dir=".", globPattern="src/**/*.py") == Prepared(
        [Access("read", str(tmp_path / "src"))], title="list_files . src/**/*.py"
    )
    outside = tools.prepare("list_files", dir=".", globPattern="/etc/*.conf")
    assert outside.accesses == (Access("read", "/etc"),)


def test_directories_are_marked_and_not_listed_at_any_depth(tools: Toolbox) -> None:
    tools.file("src/deep/a.py", "")
    tools.file("b.py", "")
    assert listed(tools, "*") == ["b.py", "src/"]
    assert listed(tools, "*/") == ["src/"]
    assert listed(tools, "**/*") == ["b.py", "src/deep/a.py"]
    assert listed(tools, "**/") == ["src/", "src/deep/"]


def test_an_absolute_pattern_stands_for_itself(tools: Toolbox, tmp_path: Path) -> None:
    tools.file("src/a.py", "")
    assert listed(tools, f"{tmp_path}/src/*.py", "src") == [f"{tmp_path}/src/a.py"]
    assert listed(tools, "*.py", f"{tmp_path}/src") == [f"{tmp_path}/src/a.py"]


def test_what_is_hidden_is_left_out_and_told(tools: Toolbox) -> None:
    for name in (".env", ".config/a.py", "b.py", ".git/config"):
        tools.file(name, "")
    assert listed(tools, "**/*.py") == ["b.py"]
    assert notes(tools, "**/*.py") == "[left out: 1 hidden; name them to see them]"
    assert listed(tools, ".*") == [".config/", ".env", ".git/"]
    assert listed(tools, ".config/*.py") == [".config/a.py"]
    assert listed(tools, "*.py", ".config") == [".config/a.py"]


def test_what_git_ignores_is_left_out_and_told(tools: Toolbox) -> None:
    tools.file(".gitignore", "*.log\n/build/\nnode_modules\n!keep.log\n")
    for name in (
        "a.js",
        "a.log",
        "keep.log",
        "build/b.js",
        "src/build/c.js",
        "node_modules/pkg/d.js",
        "src/node_modules/e.js",
    ):
        tools.file(name, "")
    assert listed(tools, "**/*.js") == ["a.js", "src/build/c.js"]
    assert notes(tools, "**/*.js") == "[left out: 3 ignored; name them to see them]"
    assert listed(tools, "*.log") == ["keep.log"]
    assert listed(tools, "node_modules/*/*.js") == ["node_modules/pkg/d.js"]
    assert listed(tools, "**/*.js", "node_modules") == ["node_modules/pkg/d.js"]


def test_what_programs_install_is_left_out_without_a_rule(tools: Toolbox) -> None:
    for name in ("a.js", "node_modules/pkg/b.js", "src/__pycache__/c.js", "kept/node_modules/d.js"):
        tools.file(name, "")
    tools.file("kept/.gitignore", "!node_modules\n")
    assert listed(tools, "**/*.js") == ["a.js", "kept/node_modules/d.js"]
    assert notes(tools, "**/*.js") == "[left out: 2 ignored; name them to see them]"
    assert listed(tools, "node_modules/*/*.js") == ["node_modules/pkg/b.js"]
    assert listed(tools, "**/*.js", "node_modules/pkg") == ["node_modules/pkg/b.js"]


def test_rules_hold_from_the_top_of_the_repository_down(tools: Toolbox) -> None:
    (tools.session.cwd / "repo/.git/info").mkdir(parents=True)
    tools.file(".gitignore", "*.py\n")  # outside of the repository
    tools.file("repo/.gitignore", "*.tmp\nsub/only.py\n")
    tools.file("repo/.git/info/exclude", "secret.py\n")
    tools.file("repo/sub/.gitignore", "!kept.tmp\n*.bak\n")
    for name in ("a.py", "a.tmp", "kept.tmp", "a.bak", "only.py", "secret.py"):
        tools.file(f"repo/sub/{name}", "")
    assert listed(tools, "*", "repo/sub") == ["repo/sub/a.py", "repo/sub/kept.tmp"]
    (tools.session.cwd / "repo/inner/.git").mkdir(parents=True)
    tools.file("repo/inner/x.tmp", "")  # a repository of its own
    assert listed(tools, "**/*.tmp", "repo") == ["repo/inner/x.tmp", "repo/sub/kept.tmp"]


def test_lines_that_are_no_rules_do_no_harm(tools: Toolbox, tmp_path: Path) -> None:
    (tmp_path / "sub/.gitignore").mkdir(parents=True)
    tools.file(".gitignore", b"!\n/\n\\\n[z-a]\n\xff\n*.tmp\n")
    tools.file("a.tmp", "")
    tools.file("a.py", "")
    assert listed(tools, "*") == ["a.py", "sub/"]


def test_an_empty_list_says_what_was_left_out(tools: Toolbox) -> None:
    tools.file(".gitignore", "dist\n")
    tools.file("dist/a.py", "")
    assert tools("list_files", dir=".", globPattern="**/*.py") == (
        "[]\n[left out: 1 ignored; name them to see them]"
    )
    assert tools("list_files", dir=".", globPattern="none/*.py") == "[]"


def test_a_long_list_is_capped_with_a_count(tools: Toolbox, tmp_path: Path) -> None:
    for number in range(620):
        (tmp_path / f"{number:03}.txt").touch()
    assert listed(tools, "*.txt") == [f"{number:03}.txt" for number in range(500)]
    assert notes(tools, "*.txt") == "[500 of 620 are shown; narrow the pattern]"


def test_links_are_listed_and_not_followed(tools: Toolbox, tmp_path: Path) -> None:
    tools.file("real/a.py", "")
    (tmp_path / "real/back").symlink_to("..")
    assert listed(tools, "**/*") == ["real/a.py", "real/back"]


def test_names_that_are_no_text_do_no_harm(tools: Toolbox, tmp_path: Path) -> None:
    with open(os.fsencode(tmp_path) + b"/\xff.py", "wb"):  # noqa: PTH123 - a name of bytes
        pass
    assert tools("list_files", dir=".", globPattern="*.py") == '["\ufffd.py"]'


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_what_may_not_be_read_is_told(tools: Toolbox, tmp_path: Path) -> None:
    tools.file("closed/a.py", "")
    (tmp_path / "closed").chmod(0)
    told = notes(tools, "**/*.py")
    (tmp_path / "closed").chmod(0o755)
    assert told == "[left out: 1 unreadable; name them to see them]"


def test_what_is_no_directory_is_told(tools: Toolbox) -> None:
    tools.file("a.py", "")
    assert tools("list_files", dir="a.py", globPattern="*") == (
        "ERROR: a.py is a file, not a directory"
    )
    assert tools("list_files", dir="b.py", globPattern="*") == (
        "ERROR: b.py: there is no such file; did you mean a.py?"
    )
    assert "has no '..'" in tools("list_files", dir=".", globPattern="../*")


def test_a_listing_stops_when_it_is_interrupted(tools: Toolbox) -> None:
    tools.file("a/b/c.py", "")
    tools.session.cancel.set()
    with pytest.raises(Cancelled):
        tools("list_files", dir=".", globPattern="**/*.py")


@pytest.mark.parametrize("rule", ["*a" * 40 + "*b", "a/**/" * 30 + "b"])
def test_rule_that_would_take_for_ever_is_passed_over(tools: Toolbox, rule: str) -> None:
    tools.file(".gitignore", f"{rule}\n*.log\n*-*-*-*.tmp\n")
    deep = "/".join(["a"] * 40)
    for name in ("a" * 200, "x.log", "a-b-c-d.tmp", f"{deep}/c"):
        tools.file(name, "")
    assert listed(tools, "**/*") == [f"{deep}/c", "a" * 200]


def test_rule_that_takes_a_directory_back_takes_nothing_in_it_back(tools: Toolbox) -> None:
    tools.file(".gitignore", "*.log\n[[:upper:]]*\na{b}\nx/**\n!x/y\n")
    tools.file("sub/.gitignore", "!*.log\n*.log\n!keep\n!/x.log\r\n")
    names = (
        "sub/keep/a.log",
        "sub/keep/b",
        "sub/x.log",
        "sub/y.log",
        "UP",
        "a{b}",
        "ab",
        "x/y",
        "x/z",
        "d/e/f",
        "d/g",
    )
    for name in names:
        tools.file(name, "")
    tools.file("d/.gitignore", "*/\n")
    assert listed(tools, "**/*") == ["ab", "d/g", "sub/keep/b", "sub/x.log", "x/y"]
