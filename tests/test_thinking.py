"""Reasoning in tags is told from the text around it wherever the pieces are cut."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hrns.providers.thinking import ThinkTags


def read(pieces: Iterable[str]) -> tuple[str, str]:
    """The reasoning and the text."""
    tags = ThinkTags()
    found = [piece for text in pieces for piece in tags.feed(text)] + tags.end()
    assert all(text for _, text in found)
    return tuple("".join(t for k, t in found if k == kind) for kind in ("reasoning", "text"))  # type: ignore[return-value]


CASES = {
    "<think>plan</think>\nDone.": ("plan", "Done."),
    "\n <think>\nplan\n</think>\n\nDone.": ("\nplan\n", "Done."),
    "</think>Done.": ("", "Done."),
    "<think></think>Done.": ("", "Done."),
    "<think>a</think><think>b</think>Done.": ("ab", "Done."),
    "<think>a < b </thin k> c</think>d": ("a < b </thin k> c", "d"),
    "Use `<think>` and `</think>`.": ("", "Use `<think>` and `</think>`."),
    "<think>p</think>Use `<think>`.": ("p", "Use `<think>`."),
    "<thinker>is another tag": ("", "<thinker>is another tag"),
    "  indented": ("", "  indented"),
    "<thi": ("", "<thi"),
    "<think>never closed </th": ("never closed </th", ""),
    "<think>p</think>": ("p", ""),
    "<think>p</think>\n\n": ("p", ""),
    "  \n": ("", "  \n"),
    "": ("", ""),
}


@pytest.mark.parametrize(("text", "expected"), CASES.items())
def test_tags_are_found_wherever_the_text_is_cut(text: str, expected: tuple[str, str]) -> None:
    assert read(text) == expected
    for cut in range(len(text) + 1):
        assert read([text[:cut], text[cut:]]) == expected, cut


@settings(max_examples=100)
@given(st.lists(st.sampled_from(["<think>", "</think>", "<", "</th", " ", "a", "\n"]), max_size=8))
def test_any_text_is_read_the_same_in_single_characters(words: list[str]) -> None:
    text = "".join(words)
    assert read(text) == read([text])


def test_text_is_held_back_only_while_it_may_be_a_tag() -> None:
    tags = ThinkTags()
    assert tags.feed("<th") == []
    assert tags.feed("e") == [("text", "<the")]
    assert tags.plain
    assert tags.feed("<think>") == [("text", "<think>")]
