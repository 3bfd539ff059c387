from __future__ import annotations

import pytest
from hrns_tools_fs.edits import Edit, Edited, apply
from hrns_tools_fs.texts import decode
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hrns.errors import ToolFailure

NOISY = st.text(alphabet="ab \t\r\n\u00e9\U0001f600", max_size=40)


def test_the_line_ends_of_the_file_are_kept() -> None:
    text = "def f():\r\n    return 1\r\n"
    edit = Edit("def f():\n    return 1", "def f():\n    return 2")
    assert apply(text, [edit]) == Edited("def f():\r\n    return 2\r\n")


def test_crlf_from_the_model_fits_a_file_with_lf() -> None:
    assert apply("a\nb\n", [Edit("a\r\nb", "a\r\nc\r\nd")]) == Edited("a\nc\nd\n")


def test_new_lines_have_the_ends_of_their_place() -> None:
    mixed = "one\ntwo\r\nthree\r\n"
    assert apply(mixed, [Edit("one", "one\nand")]).text == "one\r\nand\ntwo\r\nthree\r\n"
    assert apply(mixed, [Edit("one\ntwo", "1\n1.5\n2")]).text == "1\n1.5\n2\r\nthree\r\n"


def test_lines_that_stay_keep_their_own_ends() -> None:
    mixed = "a\r\nb\nc\r\nd\n"
    assert apply(mixed, [Edit("a\nb\nc\nd", "a\nb\nc\nD")]).text == "a\r\nb\nc\r\nD\n"


def test_an_empty_old_string_changes_nothing() -> None:
    with pytest.raises(ToolFailure, match="oldString is empty"):
        apply("abc", [Edit("", "X", every=True)])


def test_an_empty_file_can_be_filled() -> None:
    assert apply("", [Edit("", "X")]) == Edited("X")


def test_white_space_alone_matches_only_itself() -> None:
    with pytest.raises(ToolFailure, match="not in the file"):
        apply("abc\n\n", [Edit(" ", "X", every=True)])


def test_several_matches_are_refused_with_their_lines() -> None:
    with pytest.raises(ToolFailure, match=r"stands 3 times in the file \(lines 1, 3\)"):
        apply("x x\ny\nx\n", [Edit("x", "z")])


def test_matches_that_overlap_are_several() -> None:
    with pytest.raises(ToolFailure, match=r"stands 2 times in the file \(lines 1, 2\)"):
        apply("  }\n  }\n  }\n", [Edit("  }\n  }\n", "  }\n")])
    assert apply("aaa", [Edit("aa", "b", every=True)]) == Edited("ba")


def test_several_matches_are_replaced_when_that_is_meant() -> None:
    assert apply("x x\r\ny\r\nx\r\n", [Edit("x", "a\nb", every=True)]).text == (
        "a\r\nb a\r\nb\r\ny\r\na\r\nb\r\n"
    )


def test_nothing_to_change_is_told() -> None:
    with pytest.raises(ToolFailure, match="the same"):
        apply("a", [Edit("a", "a")])


def test_the_nearest_lines_are_shown_where_nothing_matches() -> None:
    text = "import os\n\ndef compute_total(items):\n    return sum(items)\n"
    with pytest.raises(ToolFailure) as caught:
        apply(text, [Edit("def compute_totals(items):", "x")])
    assert caught.value.message == (
        "oldString is not in the file; the nearest lines are\n"
        "1: import os\n2: \n3: def compute_total(items):\n4:     return sum(items)\n5: "
    )


def test_white_space_may_differ_where_that_leaves_one_place_and_is_told() -> None:
    text = "class A:\n    def f(self):\n        return 1   \n"
    edit = Edit("def f(self):\n    return 1\n", "def f(self):\n    if x:\n        return 2\n")
    assert apply(text, [edit]) == Edited(
        "class A:\n    def f(self):\n        if x:\n            return 2\n",
        ("matched at line 2 by ignoring differences in white space",),
    )


def test_less_indented_lines_are_matched_as_well() -> None:
    edit = Edit("    if x:\n        pass", "    if x:\n        go()\n\n        stop()")
    assert apply("if  x:\n    pass\n", [edit]).text == "if x:\n    go()\n\n    stop()\n"


def test_a_loose_match_at_the_end_of_a_file_needs_no_line_end() -> None:
    edit = Edit("if x:\n    pass\n", "go()\n")
    assert apply("a\nif  x:\n    pass", [edit]).text == "a\ngo()"


def test_long_lines_are_compared_in_no_time() -> None:
    with pytest.raises(ToolFailure, match="the nearest lines are\n1: aba"):
        apply("ab" * 500_000, [Edit("ab" * 200_000 + "c", "x")])


def test_a_loose_match_of_several_places_is_refused() -> None:
    with pytest.raises(ToolFailure, match="2 places are like it but for white space"):
        apply("a  b\nc\na   b\n", [Edit("a b", "x")])


def test_an_indentation_that_cannot_be_carried_over_is_refused() -> None:
    with pytest.raises(ToolFailure, match="not in the file"):
        apply("if x:\n      a\n  b\n", [Edit("if x:\n  a\n  b", "if y:\n  a\n  b")])


def test_a_lone_surrogate_from_a_model_is_refused() -> None:
    with pytest.raises(ToolFailure, match="surrogate"):
        apply("a", [Edit("a", "\udce9")])


def test_edits_build_on_each_other() -> None:
    edits = [Edit("50", "FIFTY"), Edit("FIFTY", "fifty"), Edit("75", "SEVENTYFIVE")]
    assert apply("50\n75\n", edits).text == "fifty\nSEVENTYFIVE\n"


def test_one_edit_that_fails_undoes_all_and_is_named() -> None:
    with pytest.raises(ToolFailure, match=r"^edit 2 of 2: (.|\n)*None of the edits was made\.$"):
        apply("a b", [Edit("a", "x"), Edit("zzz", "y")])


@settings(max_examples=100)
@given(NOISY, st.text("ab\n", min_size=1, max_size=5), NOISY, st.text("xy\n", max_size=5))
def test_what_is_around_a_match_stays(before: str, old: str, after: str, new: str) -> None:
    text = before + old + after
    assume(not before.endswith("\r") and not after.startswith("\r"))
    folded = text.replace("\r\n", "\n")
    assume(folded.count(old) == 1 and folded.find(old, folded.find(old) + 1) < 0 and old != new)
    edited = apply(text, [Edit(old, new)]).text
    assert edited.startswith(before)
    assert edited.endswith(after)
    assert edited[len(before) : len(edited) - len(after)].replace("\r\n", "\n") == new


@settings(max_examples=100)
@given(st.binary(max_size=60), st.binary(max_size=60))
def test_bytes_outside_the_match_stay_whatever_they_are(before: bytes, after: bytes) -> None:
    old, new = b"<<the match>>", "<<another>>"
    decoded = decode(before + old + after)
    assume(decoded is not None and decoded.encoding in ("utf-8", "latin-1"))
    assert decoded is not None
    edited = decoded.with_text(apply(decoded.text, [Edit(old.decode(), new)]).text)
    assert edited.encode() == before + new.encode() + after
