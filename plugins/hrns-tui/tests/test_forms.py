"""Picking from lists: what is found by what is typed, and which list is shown."""

from __future__ import annotations

import re

from hrns_tui.dialogue import Listing
from hrns_tui.inline.forms import Dismissed, PickForm
from hrns_tui.paint import Paint

MODELS = [("gpt-large", "big"), ("large", ""), ("large-2", ""), ("small", "not large")]


def shown(form: PickForm, typed: str = "", rows: int = 20) -> list[str]:
    """The lines of the form as they are read."""
    lines = form.lines(typed, rows, 80, Paint())
    return [re.sub(r"\x1b\[\d*m", "", line).rstrip() for line in lines]


def test_what_begins_with_the_words_comes_before_what_has_them_elsewhere() -> None:
    form = PickForm("Model", [Listing("", lambda: MODELS)])
    assert [value for value, _ in form.matching("")] == [value for value, _ in MODELS]
    assert [value for value, _ in form.matching("Large ")] == [
        "large",
        "large-2",
        "gpt-large",
        "small",
    ]
    assert form.matching("large not") == [("small", "not large")]
    assert shown(form, "gpt") == [
        "Model",
        "> gpt-large  big",
        "1 of 4; Up, Down and Enter choose, Esc leaves",
    ]
    assert not form.enter("nothing")
    assert form.enter("larg")
    assert form.reply.get() == "large"


def test_list_scrolls_around_the_marked_option() -> None:
    options = [(str(number), "") for number in range(30)]
    form = PickForm("Number", [Listing("", lambda: options)])
    form.move(20)
    rows = shown(form, rows=8)
    assert (len(rows), rows[4]) == (8, "> 20")
    form.move(-99)
    assert shown(form, rows=8)[1] == "> 0"
    form.dismiss(EOFError)
    assert form.reply.get() == Dismissed(EOFError)


def test_next_list_is_asked_for_when_it_is_shown_and_the_search_goes_on() -> None:
    asked: list[str] = []

    def options(name: str) -> list[tuple[str, str]]:
        asked.append(name)
        return [("1", f"{name} one"), ("2", f"{name} two")]

    form = PickForm(
        "Which?",
        [
            Listing("these", lambda: options("near"), named=False),
            Listing("those", lambda: options("far"), named=False),
        ],
    )
    assert asked == ["near"]
    assert shown(form, "two")[1:] == [
        "> near two",
        "1 of 2; Up, Down and Enter choose, Ctrl-A shows those, Esc leaves",
    ]
    form.show_next()
    assert shown(form, "two")[1] == "> far two"
    assert shown(form, "two")[2].endswith("Ctrl-A shows these, Esc leaves")
    assert form.enter("two")
    assert form.reply.get() == "2"
