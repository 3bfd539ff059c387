from __future__ import annotations

import json
from collections.abc import Mapping

import pytest
from hrns_skills.front_matter import Document, Fault, Field, Value, parse
from hypothesis import given, settings
from hypothesis import strategies as st


def values(document: Document) -> Mapping[str, Value]:
    return {key: field.value for key, field in document.fields.items()}


def parse_block(block: str) -> Document:
    return parse(f"---\n{block}\n---\nbody\n")


def test_front_matter_gives_values_with_their_lines_and_the_body() -> None:
    document = parse(
        "---\nname: demo\ntools:\n  read_file: true\n  '*': no\n# a remark\n"
        "effects: [read, network]\nversion: 1.10\nempty:\n---\n\nThe body.\n"
    )
    assert document.fields == {
        "name": Field("demo", 2),
        "tools": Field({"read_file": "true", "*": "no"}, 3),
        "effects": Field(("read", "network"), 7),
        "version": Field("1.10", 8),
    }
    assert (document.body, document.fault) == ("\nThe body.\n", None)


def test_file_without_front_matter_is_all_body() -> None:
    assert parse("# Title\n\n---\nname: x\n---\n") == Document({}, "# Title\n\n---\nname: x\n---\n")
    assert parse("") == Document({}, "")


@pytest.mark.parametrize("block", ["", "# only a remark", "\n\n"])
def test_empty_front_matter_has_no_fields(block: str) -> None:
    document = parse(f"---\n{block}\n---\nbody")
    assert (values(document), document.body, document.fault) == ({}, "body", None)


def test_crlf_and_byte_order_mark_are_taken() -> None:
    document = parse(
        "\ufeff---\r\nname: demo\r\ndescription: >-\r\n  a\r\n  b\r\n---\r\nx\r\ny\r\n"
    )
    assert values(document) == {"name": "demo", "description": "a b"}
    assert document.body == "x\ny\n"


@pytest.mark.parametrize(
    ("block", "description"),
    [
        ("description: >-\n  First line\n  Triggers: /x, y", "First line Triggers: /x, y"),
        ("description: |\n  First line\n  Triggers: /x, y", "First line Triggers: /x, y"),
        ("description: First line\n  and the second", "First line and the second"),
        ('description: "First:\n  second"', "First: second"),
        ("description: >-\n  One\n  name: z\n\n  two", "One name: z two"),
        ("description: 42", "42"),
        ("description: yes", "yes"),
        ("description: [WIP, draft]", "WIP, draft"),
        ("description: ~", ""),
        ("description: {a: b}", ""),
        ("description: 2024-13-45", "2024-13-45"),
    ],
)
def test_description_in_any_yaml_style_is_one_line_of_text(block: str, description: str) -> None:
    document = parse_block(f"name: demo\n{block}")
    assert (document.text("name"), document.text("description")) == ("demo", description)
    assert document.fault is None


@pytest.mark.parametrize(
    ("block", "description"),
    [
        ("description: Plans work: goals, risks", "Plans work: goals, risks"),
        ("description: Plans work: goals,\n  risks: all", "Plans work: goals, risks: all"),
        ("description: [draft] Plans work", "[draft] Plans work"),
        ("description: @team plans", "@team plans"),
        ("description: *bold* plans", "*bold* plans"),
        ('description: "say "hi" to all"', 'say "hi" to all'),
        ("description: 'it's fine'", "it's fine"),
        ("description: >- Plans: goals", "Plans: goals"),
        ("description:Plans work", "Plans work"),
        ("description: >-\n  Plans: goals\ntags: [a[b], c]", "Plans: goals"),
        ("tags: [a[b], c]\ndescription: Plans: goals", "Plans: goals"),
        ("argument-hint: [action] - e.g. x\ndescription: Plans", "Plans"),
        ("dependencies: [ray[train], torch]\ndescription: |\n  Plans\n  name: z", "Plans name: z"),
        ("metadata: {a: [\ndescription: Plans", "Plans"),
        ("description: Plans\nx: \tq: r", "Plans"),
        ("description: Plans\n\tx: tab", "Plans x: tab"),
        ("description: Plans\n--- what", "Plans --- what"),
        ('"description": Plans: goals', "Plans: goals"),
        ("description: Plans: goals\n# a remark\n  more", "Plans: goals more"),
    ],
)
def test_what_is_not_quite_yaml_keeps_name_and_description(block: str, description: str) -> None:
    document = parse_block(f"name: demo\n{block}")
    assert (document.text("name"), document.text("description")) == ("demo", description)
    assert document.fault is not None


def test_indented_block_is_read_leniently_too() -> None:
    document = parse_block("  name: demo\n  description: Plans: goals")
    assert (document.text("name"), document.text("description")) == ("demo", "Plans: goals")


def test_lenient_reading_leaves_good_fields_and_lines_as_they_are() -> None:
    document = parse_block("name: demo\nbad: a: b\ntools:\n  read_file: false\nempty:")
    assert document.fields == {
        "name": Field("demo", 2),
        "bad": Field("a: b", 3),
        "tools": Field({"read_file": "false"}, 4),
    }


def test_fault_says_which_line_is_not_yaml() -> None:
    fault = parse_block("name: demo\n\ndescription: Plans work: goals").fault
    assert fault is not None
    assert fault.line == 4
    assert fault.message.startswith("the front matter is not YAML: mapping values are not allowed")
    assert fault.message.endswith("; put the value in quotes")


@pytest.mark.parametrize("block", ["only words", "- a\n- list"])
def test_block_without_keys_is_a_fault(block: str) -> None:
    document = parse_block(block)
    assert values(document) == {}
    assert document.fault is not None
    assert "no `name: value` lines" in document.fault.message


def test_value_that_lies_deeper_is_left_empty() -> None:
    document = parse_block("tools: {a: {b: c}, d: true}\nlist: [[x], y]\nself: &s [*s, z]")
    assert values(document) == {
        "tools": {"a": "", "d": "true"},
        "list": ("", "y"),
        "self": ("", "z"),
    }


def test_aliases_do_not_grow() -> None:
    levels = [f"k{n + 1}: &k{n + 1} [{', '.join([f'*k{n}'] * 9)}]" for n in range(40)]
    document = parse_block("\n".join(["name: demo", "k0: &k0 [x, x]", *levels]))
    assert document.text("name") == "demo"
    assert document.fields["k40"].value == ("",) * 9


def test_missing_closing_fence_is_reported_and_absorbs_nothing() -> None:
    with pytest.raises(Fault, match="has no end; close it with a line '---'") as caught:
        parse("---\nname: a\ndescription: d\nbody: with no closing fence\n --- \n----\n")
    assert caught.value.line == 1


def test_fence_is_a_line_of_exactly_three_dashes() -> None:
    document = parse("---\nname: a\nx: |\n  ---\n  ----\n---\nbody\n---\n----\nend")
    assert values(document) == {"name": "a", "x": "---\n----"}
    assert document.body == "body\n---\n----\nend"


def test_blanks_around_the_fences_are_no_matter() -> None:
    document = parse("\n \n--- \nname: a\nx: y: z\n---\t\nbody\n--- \n")
    assert document.fields == {"name": Field("a", 4), "x": Field("y: z", 5)}
    assert document.body == "body\n--- \n"
    assert document.fault is not None
    assert document.fault.line == 5


def test_text_has_no_control_characters() -> None:
    document = parse_block('name: "a\\nb\\e[31mc\\x9d"\ndescription: "d\\ae"')
    assert document.text("name") == "a b [31mc"
    assert document.text("description") == "d e"


def test_case_of_a_key_is_no_matter() -> None:
    assert values(parse_block("Name: a\nDESCRIPTION: d")) == {"name": "a", "description": "d"}
    assert values(parse_block("Name: a\nDescription: d: e")) == {"name": "a", "description": "d: e"}


def test_endless_front_matter_is_refused() -> None:
    with pytest.raises(Fault, match="longer than 65536 characters"):
        parse_block("a: b\n" * 20_000)


def test_deeply_nested_front_matter_costs_only_itself() -> None:
    document = parse_block("name: demo\nx: " + "[" * 30_000 + "\ndescription: d")
    assert (document.text("name"), document.text("description")) == ("demo", "d")


LINES = st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=60)

PRINTABLE = st.text(st.characters(exclude_categories=["Cs", "Cc", "Cn"]), max_size=60)


@settings(max_examples=100)
@given(st.lists(LINES | st.sampled_from(["---", "name: a", "- b", "  c: [", "d: |", '"', "e:"])))
def test_any_text_is_parsed_or_reported(lines: list[str]) -> None:
    text = "\n".join(["---", *lines])
    if "---" not in lines:
        with pytest.raises(Fault, match="has no end"):
            parse(text)
        return
    document = parse(text)
    assert text.endswith(document.body)
    assert all(2 <= field.line <= len(lines) for field in document.fields.values())


@settings(max_examples=100)
@given(PRINTABLE)
def test_quoted_text_comes_back_whole(text: str) -> None:
    document = parse_block(f"description: {json.dumps(text, ensure_ascii=False)}")
    assert document.text("description") == " ".join(text.split())


@settings(max_examples=100)
@given(LINES)
def test_one_bad_key_never_loses_the_others(junk: str) -> None:
    document = parse_block(f"name: demo\nextra: {junk}\ndescription: plans")
    assert (document.text("name"), document.text("description")) == ("demo", "plans")


@settings(max_examples=100)
@given(st.lists(st.from_regex(r"[a-z/]{1,9}:?", fullmatch=True), min_size=1, max_size=8))
def test_plain_words_with_colons_come_back_whole(words: list[str]) -> None:
    text = " ".join(words)
    document = parse_block(f"name: demo\ndescription: {text}")
    assert document.text("name") == "demo"
    assert document.text("description") == text or document.fault is None
