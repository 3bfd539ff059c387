from __future__ import annotations

import re

import pytest
from hrns_tools_fs.brackets import plain_brackets


@pytest.mark.parametrize(
    ("pattern", "plain"),
    [
        ("a[[:digit:]]", "a[0-9]"),
        ("[[:upper:]_[:digit:]]*", "[A-Z_0-9]*"),
        ("[^[:alnum:]-]", "[^0-9A-Za-z-]"),
        ("[][:lower:]]", "[]a-z]"),
        ("[!][:lower:]]", "[!]a-z]"),
        ("[:digit:]", "[:digit:]"),
        ("\\[[:digit:]]", "\\[[:digit:]]"),
        ("[a\\][:digit:]]", "[a\\]0-9]"),
        ("[[:nonesuch:]]", "[[:nonesuch:]]"),
        ("[a][:digit:]", "[a][:digit:]"),
        ("[[:digit:]", "[0-9"),
        ("[", "["),
    ],
)
def test_named_classes_become_ranges(pattern: str, plain: str) -> None:
    assert plain_brackets(pattern) == plain


def test_signs_are_those_that_are_no_letters_digits_or_blanks() -> None:
    signs = re.compile(plain_brackets("[[:punct:]]"))
    graphic = re.compile(plain_brackets("[[:graph:]]"))
    found = {chr(code) for code in range(256) if signs.fullmatch(chr(code))}
    shown = {chr(code) for code in range(256) if graphic.fullmatch(chr(code))}
    assert found == {each for each in shown if not each.isalnum()}
