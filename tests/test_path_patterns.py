"""Patterns of paths in rules, on real directories and symbolic links."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hrns.permissions.paths import PathPattern, quoted_path
from hrns.permissions.places import Place

CWD = Path("/nowhere/project")


def covers(pattern: str, path: str | Path, cwd: Path = CWD) -> bool:
    return PathPattern.parse(pattern).covers(Place.of(path, cwd), cwd)


def touches(pattern: str, path: str | Path, cwd: Path = CWD) -> bool:
    return PathPattern.parse(pattern).touches(Place.of(path, cwd), cwd)


FITTING = [
    ("*.py", "a.py"),
    ("*.py", "src/deep/a.py"),
    ("a.py", "src/a.py"),
    ("src/*.py", "src/a.py"),
    ("./*.py", "a.py"),
    ("src/**", "src/a"),
    ("src/**", "src/a/b/c"),
    ("src/**/a", "src/a"),
    ("src/**/a", "src/x/y/a"),
    ("**/a", "x/a"),
    ("**", "x/y"),
    ("src", "src"),
    ("src", "src/a/b"),
    ("src/", "src/a"),
    ("build/", "x/build/y"),
    (".", "anything/here"),
    (".", "."),
    ("/nowhere/project/src/*", "src/a"),
    ("/nowhere/**", "src/a"),
    ("/", "a"),
    ("../other/*", "../other/a"),
    ("../other/*", "/nowhere/other/a"),
    ("/etc/hosts", "/etc/hosts"),
    ("/etc/**", "/etc/x/y"),
    ("/*/hosts", "/etc/hosts"),
    ("a[0-9]", "a7"),
    ("a[!0-9]", "ax"),
    ("a[^0-9]", "ax"),
    ("a?c", "abc"),
    (r"a\*", "a*"),
    (r"\[x]", "[x]"),
    ("[x", "[x"),
    ("[]]", "]"),
    ("[a-]", "-"),
    ("ü/*", "ü/ß"),
    ("!x", "!x"),
    ("#x", "#x"),
    ("src//a", "src/a"),
]

NOT_FITTING = [
    ("*.py", "a.pyc"),
    ("*.py", "py"),
    ("src/*.py", "src/deep/a.py"),
    ("src/*.py", "other/src/a.py"),
    ("./*.py", "src/a.py"),
    ("src/**", "src"),
    ("src/**", "srcs/a"),
    ("src/**/a", "src/x/ab"),
    ("src", "srcs"),
    ("src/a", "a"),
    (".", "../other"),
    (".", "/nowhere/project-too/a"),
    ("/etc/hosts", "etc/hosts"),
    ("/etc/hosts", "/etc/hosts.allow"),
    ("a[0-9]", "ax"),
    ("a[!0-9]", "a7"),
    ("a?c", "a/c"),
    ("a?c", "ac"),
    ("a*c", "a/c"),
    (r"a\*", "ab"),
    ("~/x", "~/y"),
]


@pytest.mark.parametrize(("pattern", "path"), FITTING)
def test_pattern_fits(pattern: str, path: str) -> None:
    assert (covers(pattern, path), touches(pattern, path)) == (True, True)


@pytest.mark.parametrize(("pattern", "path"), NOT_FITTING)
def test_pattern_does_not_fit(pattern: str, path: str) -> None:
    assert (covers(pattern, path), touches(pattern, path)) == (False, False)


def test_home_is_known_by_its_sign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert covers("~/notes/*", tmp_path / "notes" / "a")
    assert covers("~", tmp_path / "anything")
    assert not covers("~/notes/*", tmp_path / "other")
    assert not covers("~x/notes", tmp_path / "notes")


@pytest.mark.parametrize("path", ["/other/.env", "../.env", "/nowhere/.env", "/a/.env/b"])
def test_name_alone_is_denied_everywhere_and_allowed_only_in_the_working_directory(
    path: str,
) -> None:
    assert (covers(".env", path), touches(".env", path)) == (False, True)


def test_name_of_a_directory_above_the_working_directory_denies_nothing() -> None:
    assert not touches("nowhere", "src/a")
    assert not touches("project", "src/a")
    assert not touches("nowhere", "/nowhere")


@pytest.fixture
def linked(tmp_path: Path) -> Path:
    """A directory with links out of it and into it; the whole of it is reached by a link too."""
    cwd, outside = tmp_path / "project", tmp_path / "outside"
    (cwd / "src").mkdir(parents=True)
    outside.mkdir()
    (outside / "secret").touch()
    (cwd / "src" / "out").symlink_to(outside)
    (cwd / "src" / "file").symlink_to(outside / "secret")
    (cwd / "src" / "dangling").symlink_to(outside / "new")
    (outside / "in").symlink_to(cwd / "src")
    (tmp_path / "alias").symlink_to(cwd)
    return cwd


@pytest.mark.parametrize("path", ["src/out/secret", "src/file", "src/dangling", "src/out"])
def test_links_do_not_lead_out_of_what_a_rule_allows(path: str, linked: Path) -> None:
    assert not covers("src/**", path, linked)
    assert not covers("src", path, linked)
    assert not covers(".", path, linked)


@pytest.mark.parametrize("path", ["src/out/secret", "src/file"])
def test_link_is_denied_by_its_name_and_by_what_it_leads_to(path: str, linked: Path) -> None:
    assert touches("src/**", path, linked)
    assert touches("secret", path, linked)
    assert touches("../outside/**", path, linked)


def test_link_that_leads_into_what_a_rule_allows_is_allowed(linked: Path) -> None:
    assert covers("src/**", linked.parent / "outside" / "in" / "a", linked)


def test_pattern_may_be_written_by_way_of_a_link(linked: Path) -> None:
    alias = linked.parent / "alias"
    assert covers("src/*", "src/a", alias)
    assert covers(f"{alias}/src/*", "src/a", linked)
    assert covers(f"{linked}/src/*", "src/a", alias)
    assert touches(f"{alias}/src/*", "src/a", linked)


def test_parent_of_a_link_is_where_the_link_leads(linked: Path) -> None:
    path = "src/out/../project/src/a"
    assert covers("src/*", path, linked)
    assert not covers("src/*", "src/out/../a", linked)


# As git has it

NAMES = st.text("ab.*?", min_size=1, max_size=4).filter(lambda name: name not in (".", ".."))
PARTS = st.one_of(NAMES, st.just("**"), st.sampled_from(["[ab]", "[!a]*", r"\*", "a", "b"]))
PATTERNS = st.lists(PARTS, min_size=1, max_size=4).map("/".join)
PATHS = st.lists(st.text("ab.*", min_size=1, max_size=3), min_size=1, max_size=4).filter(
    lambda names: not {".", ".."} & set(names)
)


@settings(max_examples=200)
@given(PATTERNS, st.sampled_from(["", "/"]), PATHS)
def test_pattern_fits_what_git_would_ignore(pattern: str, slash: str, names: list[str]) -> None:
    pathspec = pytest.importorskip("pathspec")
    path = "/".join(names)
    expected = bool(pathspec.GitIgnoreSpec.from_lines([pattern]).match_file(path))
    assert covers(pattern, path) == expected
    if expected:
        assert touches(pattern + slash, path)


@given(PATTERNS, PATHS)
def test_what_is_allowed_by_a_pattern_is_denied_by_it(pattern: str, names: list[str]) -> None:
    path = "/".join(names)
    assert not covers(pattern, path) or touches(pattern, path)


@given(st.text(min_size=1, max_size=20), st.text(max_size=5))
def test_quoted_path_fits_itself_and_what_is_in_it_alone(text: str, more: str) -> None:
    path = "/base/" + re.sub(r"[/\0]|^\.+$", "x", text)
    pattern = quoted_path(path)
    assert covers(pattern, path)
    assert covers(pattern, f"{path}/inside")
    other = path + re.sub(r"[/\0]", "x", more) + "y"
    assert not covers(pattern, other)


def test_pattern_of_many_stars_is_matched_at_once() -> None:
    assert not covers("/".join(["*a" * 50] * 5), "/".join(["a" * 200 + "b"] * 5))
    assert not covers("/".join(["**", "a"] * 20), "/".join(["a"] * 19 + ["b"]))
