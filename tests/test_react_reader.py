"""The parser of ReAct replies: what it takes for a step, however the text is cut up."""

from __future__ import annotations

import json
import time
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hrns.react import (
    Action,
    FinalAnswer,
    InvalidToolSignature,
    ParseError,
    ReActStep,
    Thought,
    ToolRegistry,
    ToolSpec,
    parse_react_step,
    system_prompt,
)
from hrns.react.inputs import (
    Brackets,
    as_json,
    call_in,
    looks_like_call,
    resolve,
    split_action,
)
from hrns.react.labels import label_of
from hrns.react.prompt import action_text, answer_text
from hrns.react.reader import Event, StepReader

# The forms


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("Thought: I look it up.", Thought("I look it up.")),
        ("Action: capital(France)", Action("capital", "France")),
        ("Action: capital: France", Action("capital", "France")),
        ("Action: list_files", Action("list_files", "")),
        ("Action: list_files()", Action("list_files", "")),
        ("Action: capital\nAction Input: France", Action("capital", "France")),
        ("Final Answer: Paris", FinalAnswer("Paris")),
        ("Final Answer:", FinalAnswer("")),
        ("Thought: t\nAction: capital(France)", Action("capital", "France")),
        ("Thought: t\nFinal Answer: Paris", FinalAnswer("Paris")),
        ("ACTION: capital(France)", Action("capital", "France")),
        ("final answer: Paris", FinalAnswer("Paris")),
        ("**Action:** capital(France)", Action("capital", "France")),
        ("**Action**: capital(France)", Action("capital", "France")),
        ("**Action: capital(France)**", Action("capital", "France")),
        ("### Action: capital\n### Action Input: France", Action("capital", "France")),
        ("  Action : capital\n\tAction Input : France", Action("capital", "France")),
        ("Thought 1: t\nAction 1: capital\nAction Input 1: France", Action("capital", "France")),
        ("**Final Answer: Paris**", FinalAnswer("Paris")),
        ("Action: calc((1+2)*3)", Action("calc", "(1+2)*3")),
        ('Action: calc(")", 1) # so', Action("calc", '")", 1')),
        ("Action: say(it's)", Action("say", "it's")),
        ('Action: grep {"pattern": "x"}', Action("grep", '{"pattern": "x"}')),
        ('Action: grep({"pattern": "x"})', Action("grep", '{"pattern": "x"}')),
        ("Action: say(a\nb)\nThought: done", Action("say", "a\nb")),
        ("Action:\ngrep\nAction Input: {}", Action("grep", "{}")),
        ("Action: run\nAction Input: ```\nls -l\n```", Action("run", "ls -l")),
        ("Action: grep\r\nAction Input: {}\r\n", Action("grep", "{}")),
    ],
)
def test_form_is_read(text: str, step: ReActStep) -> None:
    assert parse_react_step(text) == step


def test_thought_before_a_step_is_kept_with_it() -> None:
    action = parse_react_step("Thought: first\nsecond\n\nAction: grep(x)")
    answer = parse_react_step("I worked it out.\n\nThought: so\nFinal Answer: 8")
    assert isinstance(action, Action)
    assert isinstance(answer, FinalAnswer)
    assert (action.thought, answer.thought) == ("first\nsecond", "I worked it out.\n\nso")


def test_steps_say_what_they_are() -> None:
    steps: list[ReActStep] = [Thought("t"), Action("grep", "x"), FinalAnswer("8")]
    assert [(step.kind, step.is_final, step.content) for step in steps] == [
        ("Thought", False, "t"),
        ("Action", False, "x"),
        ("FinalAnswer", True, "8"),
    ]


@pytest.mark.parametrize("text", ["", "   \n", "Hello.", "An answer without any label.\nYes."])
def test_text_without_any_label_is_no_step(text: str) -> None:
    with pytest.raises(ParseError, match="neither an action nor a final answer"):
        parse_react_step(text)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("Action:", "the action names no tool"),
        ('Action Input: {"a": 1}', "no Action before it"),
        ("Thought: t\nAction_Input: {}", "no Action before it"),
        ('Thought: t\n{"tool": "grep", "input": {"patt', "a call in JSON is not complete"),
        ('{"tool_calls": 3}', "a call in JSON is not complete, or not of a form that is known"),
    ],
)
def test_spoilt_action_is_no_thought_and_is_named(text: str, fault: str) -> None:
    with pytest.raises(ParseError, match=fault):
        parse_react_step(text)


# What follows the first step


def test_first_action_wins_over_an_answer_in_the_same_reply() -> None:
    text = (
        'Thought: t\nAction: grep\nAction Input: {"pattern":"x"}\nObservation: 3 hits\n'
        "Thought: done\nFinal Answer: 3"
    )
    assert parse_react_step(text) == Action("grep", '{"pattern":"x"}')


@pytest.mark.parametrize(
    "text",
    [
        "Action: a\nAction Input: {}\nObservation: fake\nAction: b\nAction Input: {}",
        "Action: a\nAction Input: {}\nObservation 2: fake",
        "Action: a\nAction Input: {}\n**Observation:** fake\nFinal Answer: 3",
        "Action: a\nAction Input: {}\nThought: and now\nAction: b",
    ],
)
def test_reply_is_read_up_to_the_next_label_after_an_action(text: str) -> None:
    reader = StepReader()
    reader.feed(f"{text}\n")
    assert reader.done
    assert (reader.step, reader.kept) == (Action("a", "{}"), "Action: a\nAction Input: {}")


def test_made_up_observation_on_the_line_of_the_action_is_no_input() -> None:
    assert parse_react_step("Action: x Observation 2: none") == Action("x", "")


def test_made_up_observation_ends_an_answer() -> None:
    assert parse_react_step("Final Answer: 3\nObservation: yes\nThought: x") == FinalAnswer("3")


def test_answer_may_hold_any_other_label() -> None:
    text = "Final Answer: Minutes\n\nAction: buy milk\nThought: none\nThe observation: late."
    assert parse_react_step(text) == FinalAnswer(text.removeprefix("Final Answer: "))


# Input


def test_json_input_over_lines_is_taken_whole_and_chatter_dropped() -> None:
    value = "{\n  \"code\": \"d = {'a': {'b': 1}}; s = '}'\"\n}"
    text = f"Action: run\nAction Input: {value}\ntrailing chatter\nmore"
    assert parse_react_step(text) == Action("run", value)
    assert parse_react_step(f"Action: run({value}) and more") == Action("run", value)


def test_python_literal_becomes_json_with_all_its_keys() -> None:
    text = "Action: find\nAction Input: {'pages': ['A'], 'q': '', 'deep': True, 'n': None}"
    value = '{"pages": ["A"], "q": "", "deep": true, "n": null}'
    assert parse_react_step(text) == Action("find", value)


def test_two_halves_of_a_character_in_a_python_literal_are_one() -> None:
    step = parse_react_step("Action: order\nAction Input: {'drink': '\\ud83c\\udf78', 'ice': True}")
    assert isinstance(step, Action)
    assert json.loads(step.input) == {"drink": "\U0001f378", "ice": True}


@pytest.mark.parametrize(
    "broken", ["{pattern: x}", '{"a": 1', "{'a': (1, 2)}", "{1: 2}", "{'a': open('x')}", "{'a'}"]
)
def test_input_that_says_nothing_for_certain_stays_as_it_is(broken: str) -> None:
    assert parse_react_step(f"Action: f\nAction Input: {broken}") == Action("f", broken)


def test_string_with_raw_line_breaks_may_hold_labels() -> None:
    text = 'Action: write\nAction Input: {"text": "a\nObservation: b\nAction: c"}\nObservation: x'
    step = parse_react_step(text)
    assert isinstance(step, Action)
    assert json.loads(step.input) == {"text": "a\nObservation: b\nAction: c"}


def test_string_that_is_never_closed_hides_no_label() -> None:
    text = 'Action: write\nAction Input: {"text": "a\nObservation: b\nFinal Answer: c'
    assert parse_react_step(text) == Action("write", '{"text": "a')


@pytest.mark.parametrize("given", ['"foo" OR "bar"', "[ -f x ] && echo y", "[1] + [2]"])
def test_text_that_only_begins_like_json_loses_nothing(given: str) -> None:
    assert parse_react_step(f"Action: run\nAction Input: {given}") == Action("run", given)


def test_blank_line_may_stand_between_the_labels() -> None:
    text = 'Action: calc\n\nAction Input: {"e":"1+1"}'
    assert parse_react_step(text) == Action("calc", '{"e":"1+1"}')


def test_input_without_its_label_is_not_lost() -> None:
    assert parse_react_step('Action: grep\n{"pattern": "x"}') == Action("grep", '{"pattern": "x"}')
    assert parse_react_step("Action: search\ncats and dogs") == Action("search", "cats and dogs")


@pytest.mark.parametrize("fence", ["```json\n{}\n```", "```{}```", "```\n{}\n```\nThere."])
def test_fenced_input_is_the_json_inside(fence: str) -> None:
    text = fence.replace("{}", '{"a": 1}')
    assert parse_react_step(f"Action: f\nAction Input: {text}") == Action("f", '{"a": 1}')


# Other spellings


@pytest.mark.parametrize(
    "text",
    [
        'Thought: x\n{"tool_call":{"action":"grep","action_input":{"pattern":"x"}}}',
        'action: grep\naction_input: {"pattern":"x"}',
        'Action: {"name": "grep", "arguments": {"pattern":"x"}}',
        'Action:\n```json\n{"action": "grep", "action_input": {"pattern":"x"}}\n```',
        '<tool_call>\n{"name": "grep", "arguments": {"pattern":"x"}}\n</tool_call>',
        'I will.\n```json\n{"tool": "grep",\n "input": {"pattern":"x"}}\n```\nThere.',
        "{'action': 'grep', 'action_input': {'pattern': 'x'}}",
        '{"function": {"name": "grep", "arguments": "{\\"pattern\\": \\"x\\"}"}}',
    ],
)
def test_wrapped_or_misspelt_action_is_recognised(text: str) -> None:
    step = parse_react_step(text)
    assert isinstance(step, Action)
    assert (step.tool, json.loads(step.input)) == ("grep", {"pattern": "x"})


def test_answer_in_the_shape_of_an_action_is_the_answer() -> None:
    text = '{"action": "Final Answer", "action_input": "8"}'
    assert parse_react_step(text) == FinalAnswer("8")
    assert parse_react_step(f"Thought: t\n{text}\nmore") == FinalAnswer("8")


def test_object_that_is_no_call_is_part_of_the_thought() -> None:
    step = parse_react_step('Thought: the file has\n{"a": [1]}\nin it.\nAction: grep(a)')
    assert isinstance(step, Action)
    assert (step.tool, step.thought) == ("grep", 'the file has\n{"a": [1]}\nin it.')


@pytest.mark.parametrize(
    "value",
    [
        {"name": "Ann"},
        {"name": "Ann", "age": 3},
        {"action": " ", "input": 1},
        {"a": 1},
        {},
        [],
        "grep",
        {"action": {"a": 1}},
    ],
)
def test_object_without_tool_and_input_is_no_call(value: Any) -> None:
    assert call_in(value) is None


def test_tool_alone_is_a_call_without_input() -> None:
    assert call_in({"tool": "list_files"}) == ("list_files", "")


@pytest.mark.parametrize("written", ["grep", "`grep`", '"grep"', "grep()", "**grep**", "`grep()`"])
def test_name_is_found_behind_its_decoration(written: str) -> None:
    assert resolve(written, {"grep"}) == "grep"


def test_name_with_decoration_of_its_own_is_itself() -> None:
    assert resolve("`grep`", {"grep", "`grep`"}) == "`grep`"
    assert resolve("nothing()", {"grep"}) == "nothing()"


# What is thought in tags


def test_nothing_in_think_tags_is_a_step() -> None:
    text = "<think>Action: rm\nAction Input: {}</think>\nThought: ok\nFinal Answer: hi"
    step = parse_react_step(text)
    assert isinstance(step, FinalAnswer)
    assert (step.content, step.thought) == ("hi", "ok")


@pytest.mark.parametrize(
    "text",
    [
        "Action: rm\nAction Input: {}\n</think>\nFinal Answer: hi",
        "Action: rm\nAction Input: {} </think> Final Answer: hi",
        "Action: rm(x)\n</think>\n\nThought: ok\nFinal Answer: hi",
        'I could\n{"tool": "rm"}\nor not</think>Final Answer: hi',
        "Let me think.</think>\nFinal Answer: hi",
        "Thought: hm\n<think>\nAction: rm\nObservation: x\n</think>\nFinal Answer: hi",
        "\n\n<THINK>Final Answer: no\n</THINK>Final Answer: hi",
        "Thought: a\n</think>Final Answer: hi",
    ],
)
def test_closing_tag_makes_all_before_it_thought(text: str) -> None:
    assert parse_react_step(text) == FinalAnswer("hi")


def test_tag_that_is_never_closed_leaves_no_step() -> None:
    with pytest.raises(ParseError):
        parse_react_step("<think>\nAction: rm\nAction Input: {}\nFinal Answer: hi")


@pytest.mark.parametrize("tags", ["<think></think>", "</think>", "<think>", "{}</think>"])
def test_any_number_of_tags_is_read(tags: str) -> None:
    text = f"{tags * 5000}</think>Final Answer: hi"
    assert parse_react_step(text) == FinalAnswer("hi")


def test_what_is_kept_of_a_reply_has_no_think_tags() -> None:
    reader = StepReader()
    reader.feed("<think>a\nb</think>\nThought: ok\nAction: f(1)\nObservation: made up\n")
    assert reader.kept == "Thought: ok\nAction: f(1)"


# However it is cut up


def merged(events: list[Event]) -> list[Event]:
    """The events with neighbouring texts of one kind as one."""
    result: list[Event] = []
    for event in events:
        last = result[-1] if result else None
        if isinstance(event, tuple) and isinstance(last, tuple) and event[0] == last[0]:
            result[-1] = (event[0], last[1] + event[1])
        else:
            result.append(event)
    return result


def read(pieces: list[str]) -> tuple[list[Event], ReActStep | None, str, str, str, str]:
    """All that a reader says of a text in pieces."""
    reader = StepReader()
    events = [event for piece in pieces for event in reader.feed(piece)]
    events += reader.end()
    step = reader.step
    assert [event for event in events if isinstance(event, Action)] == (
        [step] if isinstance(step, Action) else []
    )
    thought = step.thought if isinstance(step, Action | FinalAnswer) else ""
    return merged(events), step, thought, reader.kept, reader.loose, reader.fault


REPLIES = [
    'Thought: t\n\n more \nAction: grep\n\nAction Input: {"a": "b\\n"}\nso\nObservation: 3\nx',
    "<think>\nAction: rm</thin</think> **Thought:** a\n*b*\n## Final Answer: 1\n\nObserv: x\n\n",
    'Hm\n```\n{"tool": "f", "input": {"x": [1, "}"]}}\n```\n</think>\nThought:\nFinal Answer: 2',
    "Thoughts: a\nActions speak louder\nAction taken\nfinal answers\n<tool\n{no\nAction: f(a\nb)\n",
    "Action: f {\"a\": 'it'}\nAction_Input: {'a': \"x\nObservation: y\"}\nThought: z",
    "Plain\n\ntext, { with braces }\nand Final Answer in it",
    "**Final Answer: 8**\nObservation\nObservation 1 : x",
]


@pytest.mark.parametrize("text", REPLIES)
def test_every_place_to_cut_gives_the_same(text: str) -> None:
    whole = read([text])
    assert read(list(text)) == whole
    for at in range(len(text)):
        assert read([text[:at], text[at:]]) == whole


LABELS = "Thought: |Action: |Action Input: |action_input:|Final Answer: |Observation: "
DECORATED = "Observation 2:|**Action:** |# Thought:|**|<think>|</think>|<tool_call>|```json\n|```"
PIECES = '\n|\n\n|\r\n|{|}|[|]|"|\'|\\| |:|o|thou|f|f(x)|{"a": 1}|{"tool": "f", "input": "x"}'
FRAGMENTS = st.one_of(
    st.sampled_from(f"{LABELS}|{DECORATED}|{PIECES}".split("|")), st.text(max_size=5)
)


@settings(max_examples=100, deadline=None)
@given(st.lists(FRAGMENTS, max_size=14).map("".join), st.data())
def test_any_text_gives_the_same_in_any_pieces(text: str, data: st.DataObject) -> None:
    cuts = data.draw(st.lists(st.integers(0, len(text)), max_size=8).map(sorted))
    bounds = [0, *cuts, len(text)]
    assert read([text[a:b] for a, b in pairwise(bounds)]) == read([text])


def test_thought_and_answer_are_given_out_before_their_line_is_complete() -> None:
    reader = StepReader()
    assert reader.feed("Thought: I") == [("thought", "I")]
    assert reader.feed(" look") == [("thought", " look")]
    assert reader.feed("\nFinal") == []
    assert reader.feed(" Answer: 4") == [("answer", "4")]
    assert reader.feed("2") == [("answer", "2")]


def seconds_to_read(reply: str) -> float:
    """The time of a processor that a reply in pieces of four characters takes; the best of 3."""
    pieces = [reply[i : i + 4] for i in range(0, len(reply), 4)]
    times = []
    for _ in range(3):
        start = time.process_time()
        reader = StepReader()
        for piece in pieces:
            reader.feed(piece)
        reader.end()
        times.append(time.process_time() - start)
    return min(times)


@pytest.mark.parametrize(
    "reply",
    [
        'Action: write\nAction Input: {"text": "%s"}',
        'Action: write\nAction Input: {"text": "%s',
        "Final Answer: %s",
        "%s",
        '{"tool": "f", "input": "%s"}',
        "<think>%s",
    ],
)
@pytest.mark.parametrize("filling", ["x", "x\n"])
def test_long_replies_are_read_in_linear_time(reply: str, filling: str) -> None:
    def is_linear() -> bool:
        short, long = (seconds_to_read(reply % (filling * size)) for size in (1_000, 16_000))
        return long < 100 * short  # 16 times as long; it would be 256 if each look cost all of it

    assert any(is_linear() for _ in range(10))  # a busy machine may be slower, but not each time


# What the prompt asks for


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def is_name(name: str) -> bool:
    """Whether a registry takes it."""
    try:
        ToolRegistry().register(ToolSpec(name, ""), str)
    except InvalidToolSignature:
        return False
    return True


NAMES = st.one_of(
    st.from_regex(r"[a-zA-Z0-9_-]{1,64}", fullmatch=True),
    st.text(min_size=1, max_size=12).filter(is_name),
    st.sampled_from(
        ["f(x)", "a: b", "{x", 'g {"', "Observation: x", "**x**", "Action", "`x`", "1:"]
    ),
)


@settings(max_examples=100, deadline=None)
@given(NAMES, JSON, st.sampled_from([None, 2]), st.booleans())
@example('g {"', {"a": "\nAction Input: {}"}, None, True)
def test_what_the_prompt_asks_for_is_read_back(
    name: str, value: Any, indent: int | None, ascii_only: bool
) -> None:
    given_input = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    text = action_text(name, given_input, "I need it.")
    assert read(list(text))[1:3] == (Action(name, given_input), "I need it.")


@settings(max_examples=50)
@given(st.text().filter(lambda answer: "observation" not in answer.lower()))
def test_answer_that_the_prompt_asks_for_is_read_back(answer: str) -> None:
    step = parse_react_step(answer_text(answer, "I can answer."))
    assert step == FinalAnswer(answer.strip())


def test_prompt_shows_the_forms_that_are_read() -> None:
    prompt = system_prompt(ToolRegistry())
    shown = prompt[prompt.index("Thought:") : prompt.index("To answer:")]
    assert parse_react_step(shown) == Action(
        "<name of the tool>", "<its input as JSON, on one line>"
    )


def test_braces_and_percent_signs_survive_in_the_prompt() -> None:
    registry = ToolRegistry()
    schema = '{"type": "object", "properties": {"a": {"description": "{0} {b!r} %s {{"}}}'
    registry.register(ToolSpec("f", 'takes {"type":"object"} and {', schema), str)
    prompt = system_prompt(registry)
    assert prompt.endswith(f'- f: takes {{"type":"object"}} and {{\n  Input: {schema}')


# The parts


@given(JSON.filter(lambda value: isinstance(value, dict | list)), st.text())
@settings(max_examples=50)
def test_bracket_is_found_where_json_ends(value: Any, behind: str) -> None:
    text = json.dumps(value)
    brackets = Brackets()
    ends = [brackets.feed(character) for character in text + behind]
    assert next(end for end in ends if end) == len(text)
    assert Brackets().feed(text + behind) == len(text)


@given(JSON)
@settings(max_examples=50)
def test_python_literal_is_the_json_that_it_means(value: Any) -> None:
    text = as_json(repr(value))
    if isinstance(value, dict | list):
        assert text is not None
        assert json.loads(text) == value
    else:
        assert text is None


@pytest.mark.parametrize("head", ["[", "{'a':", '{"a":', '["\n",'])
def test_input_that_is_nested_too_deeply_is_left_as_it_is(head: str) -> None:
    tail = "]" if head[0] == "[" else "}"
    assert as_json(head * 100_000) is None
    for depth in (900, 3_000, 100_000):  # what is too deep differs from Python to Python
        text = f"{head * depth}1{tail * depth}"
        read = as_json(text)
        assert read is None or json.dumps(read).count(tail) == depth


# Forms that are further from the prompt


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("Action: search[weather in Rome]", Action("search", "weather in Rome")),
        ("Action: Finish[42]", FinalAnswer("42")),
        ("Action: Final Answer\nAction Input: 42", FinalAnswer("42")),
        ('Action: grep Action Input: {"p": 1}', Action("grep", '{"p": 1}')),
        ('Action: grep {"p": "a Action Input: b"}', Action("grep", '{"p": "a Action Input: b"}')),
        ('Action: grep\nInput: {"p": 1}', Action("grep", '{"p": 1}')),
        ('Action: grep\nArguments: {"p": 1}', Action("grep", '{"p": 1}')),
        ("Action: list\nAction Input: None", Action("list", "")),
        ("Action: list\nAction Input: (none)", Action("list", "")),
        ("Action: None\nAction Input: None\nFinal Answer: 5", FinalAnswer("5")),
        ("### Final Answer\n42", FinalAnswer("42")),
        ("**Final Answer**\n42", FinalAnswer("42")),
        ("### Action\ngrep\n### Action Input\n{}", Action("grep", "{}")),
        ('{"thought": "t", "final_answer": "42"}', FinalAnswer("42")),
        ('{"Action": "grep", "Action Input": {"p": 1}}', Action("grep", '{"p": 1}')),
        ("Final Answer:\nAction: grep\nAction Input: {}", Action("grep", "{}")),
        (
            "\u601d\u8003\uff1at\n\u884c\u52a8\uff1agrep\n\u884c\u52a8\u8f93\u5165\uff1a{}",
            Action("grep", "{}"),
        ),
        ("\u6700\u7ec8\u7b54\u6848\uff1a42", FinalAnswer("42")),
    ],
)
def test_form_that_the_prompt_does_not_name_is_read(text: str, step: ReActStep) -> None:
    assert parse_react_step(text) == step
    assert read(list(text)) == read([text])


@pytest.mark.parametrize(
    "text",
    [
        "Action: None (the answer is known)",
        "Thought: I know it.\nAction: N/A\nAction Input: N/A",
    ],
)
def test_action_that_is_none_is_no_step(text: str) -> None:
    with pytest.raises(ParseError, match="names no tool"):
        parse_react_step(text)


def test_answer_may_have_headings() -> None:
    text = "Final Answer: two parts\n## Thoughts\nnone\n**Action**\nnone"
    step = parse_react_step(text)
    assert step == FinalAnswer(text.removeprefix("Final Answer: "))


@pytest.mark.parametrize("name", ["[grep]", "<grep>", "grep.", "`grep`"])
def test_name_in_any_brackets_is_found(name: str) -> None:
    assert resolve(name, {"grep"}) == "grep"


@pytest.mark.parametrize(
    "text",
    [
        '[{"name": "grep", "arguments": {}}]',
        "<function=grep>{}</function>",
        "[TOOL_CALLS] grep",
        "- Action: grep\n- Action Input: {}",
        "2. Action: grep\n3. Action Input: {}",
    ],
)
def test_text_that_is_meant_as_a_call_is_known(text: str) -> None:
    assert looks_like_call(text)


@pytest.mark.parametrize("text", ["1. Act.\n2. Rest.", "A <function> is f.", "The action is done."])
def test_text_about_calls_is_none(text: str) -> None:
    assert not looks_like_call(text)


@pytest.mark.parametrize("filling", [" ", "\t", "#", "*", "-", "a ", "1", "<", "\n"])
def test_line_of_one_character_is_read_in_linear_time(filling: str) -> None:
    line = filling * 20_000
    started = time.process_time()
    label_of(line)
    label_of(f"action{line}")
    looks_like_call(line)
    split_action(f"a{line}b")
    assert time.process_time() - started < 1
