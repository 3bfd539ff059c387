from __future__ import annotations

import fnmatch

import pytest
from hrns_tools_fs.globs import Glob
from hypothesis import assume, given, settings
from hypothesis import strategies as st

PATHS = [
    "a.py",
    "b.txt",
    "src/a.py",
    "src/b.ts",
    "src/deep/a.py",
    "src/deep/x.tsx",
    ".env",
    ".github/ci.yml",
    "src/.hidden/a.py",
    "odd[1].txt",
    "-x",
    "caf\u00e9.md",
]


def matching(pattern: str) -> list[str]:
    plain, glob = Glob.parse(pattern)
    before = f"{plain}/" if plain else ""
    return [
        path
        for path in PATHS
        if path.startswith(before) and glob.matches(path.removeprefix(before))
    ]


@pytest.mark.parametrize(
    ("pattern", "paths"),
    [
        ("*.py", ["a.py"]),
        ("./*.py", ["a.py"]),
        ("**/*.py", ["a.py", "src/a.py", "src/deep/a.py"]),
        ("src/**/*.py", ["src/a.py", "src/deep/a.py"]),
        ("src/**", ["src/a.py", "src/b.ts", "src/deep/a.py", "src/deep/x.tsx"]),
        ("**/deep/*", ["src/deep/a.py", "src/deep/x.tsx"]),
        ("**/**/a.py", ["a.py", "src/a.py", "src/deep/a.py"]),
        ("src/*.{py,ts}", ["src/a.py", "src/b.ts"]),
        ("**/*.ts{,x}", ["src/b.ts", "src/deep/x.tsx"]),
        ("[ab].*", ["a.py", "b.txt"]),
        ("[!a].*", ["b.txt"]),
        ("?.py", ["a.py"]),
        ("caf?.md", ["caf\u00e9.md"]),
        ("[a", []),
        ("odd[[]1].txt", ["odd[1].txt"]),
        ("odd[[]1[]].txt", ["odd[1].txt"]),
        ("[]-]x", ["-x"]),
        (".*", [".env"]),
        ("**/.hidden/*", ["src/.hidden/a.py"]),
        (".github/*", [".github/ci.yml"]),
        ("src\\*.py", ["src/a.py"]),
        ("{a,{b,c}}.*", ["a.py", "b.txt"]),
        ("{a.{py,js},b.*}", ["a.py", "b.txt"]),
        ("[{]a,b}", []),
        ("[!--0].py", ["a.py"]),
        ("{a,b", []),
    ],
)
def test_a_pattern_matches_as_in_a_shell(pattern: str, paths: list[str]) -> None:
    assert matching(pattern) == paths


@pytest.mark.parametrize(
    ("pattern", "plain", "parts"),
    [
        ("*.py", "", ("*.py",)),
        ("a/b/*.py", "a/b", ("*.py",)),
        ("a/b.py", "a", ("b.py",)),
        ("a/**", "a", ("**", "*")),
        ("a/*/c/d", "a", ("*", "c", "d")),
    ],
)
def test_plain_names_at_the_beginning_are_no_pattern(
    pattern: str, plain: str, parts: tuple[str, ...]
) -> None:
    found, glob = Glob.parse(pattern)
    assert (found, glob.parts) == (plain, parts)


@pytest.mark.parametrize("pattern", ["", "/", "../x", "a/../b", "[z-a]"])
def test_what_is_no_pattern_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match=r"pattern"):
        Glob.parse(pattern)


def test_a_directory_that_cannot_lead_to_a_match_is_left() -> None:
    _, glob = Glob.parse("*/test/*.py")
    assert glob.step(glob.start, "src")[1] != frozenset()
    assert glob.step(glob.step(glob.start, "src")[1], "other") == (False, frozenset())


@settings(max_examples=100)
@given(st.text("ab*?[]!-.", min_size=1, max_size=8), st.text("ab-]!.", min_size=1, max_size=6))
def test_a_name_is_matched_as_by_the_standard_library(pattern: str, name: str) -> None:
    assume(not name.startswith(".") and "**" not in pattern and pattern not in (".", ".."))
    try:
        _, glob = Glob.parse(pattern)
    except ValueError:  # a range that runs backwards matches nothing there
        return
    assert glob.matches(name) == fnmatch.fnmatchcase(name, pattern)


@pytest.mark.parametrize(
    "pattern", ["*a" * 40 + "*b", "{*a,*a?}" * 7 + "b", "**/" * 40 + "*a*a*a*b"]
)
def test_no_name_takes_long(pattern: str) -> None:
    assert not Glob.parse(pattern)[1].matches("a" * 250)


@pytest.mark.parametrize("pattern", ["{a,b}" * 20, "a" * 2000, "{src/a,b}/*.py"])
def test_pattern_that_cannot_be_followed_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match=r"braces|long"):
        Glob.parse(pattern)
