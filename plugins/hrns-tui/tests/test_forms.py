"""Picking from lists: what is found by what is typed, and which list is shown."""

from __future__ import annotations

import re

import pytest
from hrns_tui.dialogue import Listing
from hrns_tui.inline.forms import CallForm, Dismissed, Offer, PickForm
from hrns_tui.paint import Paint

from hrns.errors import SessionError

MODELS = [("gpt-large", "big"), ("large", ""), ("large-2", ""), ("small", "not large")]


def shown(form: PickForm | CallForm, typed: str = "", rows: int = 20) -> list[str]:
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


def test_option_in_use_is_marked_and_chosen_unless_something_is_typed() -> None:
    form = PickForm("Model", [Listing("", lambda: MODELS, current="large-2")])
    assert shown(form)[1:4] == ["    gpt-large  big", "    large", "> * large-2"]
    assert shown(form, "small")[1] == ">   small  not large"
    assert shown(form)[3] == "> * large-2"
    assert form.enter("")
    assert form.reply.get() == "large-2"
    gone = PickForm("Model", [Listing("", lambda: MODELS, current="none of them")])
    assert gone.enter("")
    assert gone.reply.get() == "gpt-large"


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


def test_option_is_removed_if_that_is_asked_for_twice_and_a_fault_is_told() -> None:
    values = ["one", "two", "three"]

    def remove(value: str) -> None:
        if value == "three":
            raise SessionError("it is not to be removed")
        values.remove(value)

    listing = Listing(
        "", lambda: [(each, "") for each in values], about=lambda v: f"about {v}\x1b", remove=remove
    )
    form = PickForm("Which?", [listing])
    footer = "3 of 3; Enter chooses, Ctrl-X removes, Esc leaves"
    sure = "Ctrl-X once more removes it for good"
    assert shown(form)[-2:] == ["  about one\ufffd", footer]
    form.remove()
    assert shown(form)[-2:] == ["  about one\ufffd", sure]
    form.move(1)
    assert shown(form)[-2:] == ["  about two\ufffd", footer]
    form.remove()
    assert shown(form)[-1] == sure
    assert shown(form, "t")[-1] == "2 of 3; Enter chooses, Ctrl-X removes, Esc leaves"
    form.remove()
    form.remove()
    assert values == ["one", "three"]
    assert shown(form)[-1] == "2 of 2; Enter chooses, Ctrl-X removes, Esc leaves"
    form.move(1)
    shown(form)
    form.remove()
    form.remove()
    assert shown(form)[-2:] == ["  about three\ufffd", "it is not to be removed"]
    assert shown(form, "nothing")[-1].startswith("0 of 2")
    form.remove()
    assert values == ["one", "three"]


CALL = ["run make", "it would run make", "1 -old", "1 +new"]
KEYS = ["Allow?", "y once   s this session   a always   n no   r no, with a reason"]
RULE = "a saves the rule run(make)"
REST = "... (all of it is above)"


@pytest.mark.parametrize(
    ("rows", "lines"),
    [
        (7, [*CALL, *KEYS, RULE]),
        (6, [*CALL[:2], REST, *KEYS, RULE]),
        (5, [CALL[0], REST, *KEYS, RULE]),
        (4, [CALL[0], REST, *KEYS]),
        (3, [CALL[0], *KEYS]),
        (2, [CALL[0], KEYS[1]]),
    ],
)
def test_low_window_shows_what_would_be_done_before_all_else(rows: int, lines: list[str]) -> None:
    form = CallForm(lambda _: CALL, Offer("run(make)"), above=True)
    assert shown(form, rows=rows) == lines


def test_answers_are_broken_between_them_and_never_in_one() -> None:
    form = CallForm(lambda _: ["do"], Offer("run(x)", "run(*)"), above=False)
    rows = form.lines("", 20, 40, Paint(colour=False))
    assert [re.sub(r"\x1b\[\d*m", "", row) for row in rows][1:5] == [
        "Allow?",
        "y once   s this session   a always",
        "p always, by a pattern   n no",
        "r no, with a reason",
    ]


def test_what_would_be_done_stays_while_something_is_typed() -> None:
    form = CallForm(lambda _: CALL, Offer("run(make)", "run(*)"), above=False)
    assert shown(form, typed="well")[:4] == CALL
    for key in "rp":
        form.key(key)
        assert shown(form, typed="well")[:4] == CALL
        form.go_back()


def test_of_too_much_the_beginning_and_the_end_are_shown() -> None:
    lines = [str(number) for number in range(50)]
    form = CallForm(lambda _: lines, Offer(""), above=True, whole=False)
    rest = "... (more is above, Ctrl-O shows all of it)"
    assert shown(form, rows=12)[:10] == [*lines[:6], rest, *lines[-3:]]
