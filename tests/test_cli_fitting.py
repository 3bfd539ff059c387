"""`hrns exec --json-schema`: answers that fit, that are mended, that do not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hrns.cli.fitting import Fit, read_form
from hrns.errors import UsageError
from hrns.testing import Call, LoopbackServer, chat_stream

if TYPE_CHECKING:
    from tests.conftest import Hrns

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name"],
    "additionalProperties": False,
}
GOOD = '{"name": "Ada", "age": 36}'


def form_file(folder: Path, schema: object = SCHEMA) -> Path:
    file = folder / "form.json"
    file.write_text(schema if isinstance(schema, str) else json.dumps(schema))
    return file


@pytest.fixture
def fit(tmp_path: Path) -> Fit:
    return Fit(read_form(form_file(tmp_path)))


@pytest.mark.parametrize(
    "answer",
    [
        GOOD,
        f"\n  {GOOD}\n",
        f"```json\n{GOOD}\n```",
        f"```\n{GOOD}\n```\n",
        f"Here it is:\n\n```json\n{GOOD}\n```\n\nDone.",
    ],
)
def test_answer_that_fits_is_taken_out_of_its_fence(fit: Fit, answer: str) -> None:
    assert fit.judge(answer)
    assert (fit.text, fit.value, fit.faults) == (GOOD, json.loads(GOOD), [])


@pytest.mark.parametrize(
    ("answer", "faults"),
    [
        ("Ada is 36.", ["it is not JSON: Expecting value: line 1 column 1 (char 0)"]),
        ("", ["it is not JSON: Expecting value: line 1 column 1 (char 0)"]),
        ("NaN", ["it is not JSON: NaN is no JSON number"]),
        (f"{GOOD} {GOOD}", ["it is not JSON: Extra data: line 1 column 28 (char 27)"]),
        ("[]", ["$: [] is not of type 'object'"]),
        ('{"name": 1}', ["$.name: 1 is not of type 'string'"]),
        (
            '{"age": "x"}',
            ["$: 'name' is a required property", "$.age: 'x' is not of type 'integer'"],
        ),
    ],
)
def test_answer_that_does_not_fit_has_its_faults_told(
    fit: Fit, answer: str, faults: list[str]
) -> None:
    assert not fit.judge(answer)
    assert (fit.text, fit.value, fit.faults) == ("", None, faults)


def test_two_fences_are_not_guessed_between(fit: Fit) -> None:
    assert not fit.judge(f"```json\n{GOOD}\n```\nor\n```json\n{GOOD}\n```")


def test_many_faults_are_counted(tmp_path: Path) -> None:
    fit = Fit(read_form(form_file(tmp_path, {"items": {"type": "string"}})))
    assert not fit.judge(json.dumps(list(range(8))))
    assert fit.faults[0] == "$[0]: 0 is not of type 'string'"
    assert fit.faults[-1] == "and 3 more"


@pytest.mark.parametrize(
    ("schema", "says"),
    [
        ("{", "cannot be read as JSON"),
        ("[]", "holds no JSON Schema"),
        ({"type": "objet"}, "is no JSON Schema: $.type"),
        ({"properties": 3}, "is no JSON Schema: $.properties"),
    ],
)
def test_file_without_a_schema_is_refused(tmp_path: Path, schema: object, says: str) -> None:
    with pytest.raises(UsageError, match=r"form\.json") as caught:
        read_form(form_file(tmp_path, schema))
    assert says in str(caught.value)


def test_other_schemas_are_not_fetched(tmp_path: Path) -> None:
    with LoopbackServer([]) as server:
        schema = {"$ref": f"{server.url}/other.json", "$defs": {"part": {"$id": "http://h/part"}}}
        fit = Fit(read_form(form_file(tmp_path, schema)))
        with pytest.raises(UsageError, match=r"other\.json"):
            fit.judge("{}")
    assert server.requests == []


# In a run


def test_answer_that_fits_is_all_that_is_printed(hrns: Hrns) -> None:
    form_file(hrns.cwd)
    call = Call("list_files", {"dir": ".", "globPattern": "*"})
    answers = [chat_stream("Let me look.", [call]), chat_stream(f"```json\n{GOOD}\n```")]
    with LoopbackServer(answers) as server:
        hrns.use(server.url)
        done = hrns.call("exec", "-q", "--json-schema", "form.json", "who?")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{GOOD}\n", "")
    request = server.requests[0].json
    assert json.dumps(SCHEMA) in request["messages"][0]["content"]
    assert "response_format" not in request  # it would keep servers from calling tools


def test_schema_is_sent_where_there_are_no_tools(hrns: Hrns) -> None:
    form_file(hrns.cwd)
    with LoopbackServer(chat_stream(GOOD)) as server:
        hrns.use(server.url)
        arguments = ["exec", "--json-schema", "form.json", "--output-format", "json", "who?"]
        done = hrns.call(*arguments, environ={"HRNS_PLUGINS": ""})
    assert server.requests[0].json["response_format"]["json_schema"]["schema"] == SCHEMA
    result = json.loads(done.stdout)
    assert (result["result"], result["value"]) == (GOOD, json.loads(GOOD))


def test_answer_that_does_not_fit_is_mended_in_the_same_run(hrns: Hrns) -> None:
    form_file(hrns.cwd)
    with LoopbackServer([chat_stream('{"nam": "Ada"}'), chat_stream(GOOD)]) as server:
        hrns.use(server.url)
        arguments = ["exec", "--json-schema", "form.json", "--output-format", "stream-json"]
        done = hrns.call(*arguments, "who?")
    assert done.returncode == 0
    plea = server.requests[1].json["messages"][-1]
    assert plea["role"] == "user"
    assert "$: 'name' is a required property" in plea["content"]
    types = [json.loads(line)["type"] for line in done.stdout.splitlines()]
    assert types.count("end") == 1
    assert types[-1] == "end"


@pytest.mark.parametrize("output_format", ["text", "json", "stream-json"])
def test_answer_that_never_fits_is_65(hrns: Hrns, output_format: str) -> None:
    form_file(hrns.cwd)
    with LoopbackServer([chat_stream("Ada"), chat_stream('"Ada"')]) as server:
        hrns.use(server.url)
        arguments = ["exec", "--json-schema", "form.json", "--output-format", output_format]
        done = hrns.call(*arguments, "who?")
    assert done.returncode == 65
    assert len(server.requests) == 2
    assert "$: 'Ada' is not of type 'object'" in done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    expected: dict[str, Any] = {
        "text": [],
        "json": [("misfit", None, '"Ada"')],
        "stream-json": [("error", "misfit")],
    }
    match output_format:
        case "json":
            found: list[Any] = [(r["error"]["reason"], r["value"], r["result"]) for r in lines]
        case "stream-json":
            found = [(line["reason"], line["text"]) for line in lines if line["type"] == "end"]
        case _:
            found = lines
    assert found == expected[output_format]


@pytest.mark.parametrize(
    ("schema", "reference"),
    [
        ({"$ref": "http://127.0.0.1:9/other.json"}, "http://127.0.0.1:9/other.json"),
        ({"$ref": "#/$defs/nope"}, "/$defs/nope"),
        ({"$id": "http://h/a", "properties": {"x": {"$ref": "other.json"}}}, "other.json"),
    ],
)
def test_schema_that_refers_to_nothing_is_refused_before_a_model_is_asked(
    hrns: Hrns, schema: dict[str, Any], reference: str
) -> None:
    form_file(hrns.cwd, schema)
    with LoopbackServer([]) as server:
        hrns.use(server.url)
        done = hrns.call("exec", "--json-schema", "form.json", "hi")
    assert (done.returncode, server.requests) == (2, [])
    assert reference in done.stderr
    assert "which is not in it" in done.stderr


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#/$defs/any", "$defs": {"any": {"type": "object"}}},
        {"$id": "http://h/a", "$ref": "#/$defs/any", "$defs": {"any": {"type": "object"}}},
        {"$defs": {"any": {"$id": "http://h/b", "type": "object"}}, "$ref": "http://h/b"},
        {"$defs": {"any": {"$anchor": "here", "type": "object"}}, "$ref": "#here"},
        {"type": "object", "examples": [{"$ref": "no reference"}]},
        {"properties": {"$ref": {"type": "string"}}},
    ],
)
def test_schema_with_references_of_its_own_is_taken(tmp_path: Path, schema: dict[str, Any]) -> None:
    assert Fit(read_form(form_file(tmp_path, schema))).judge("{}")


def test_reply_that_is_cut_off_is_not_mended(hrns: Hrns) -> None:
    form_file(hrns.cwd)
    with LoopbackServer([chat_stream('{"name": "A', finish="length")]) as server:
        hrns.use(server.url)
        done = hrns.call("exec", "--json-schema", "form.json", "who?")
    assert done.returncode == 1
    assert done.stdout == ""


def test_repair_counts_as_a_turn(hrns: Hrns) -> None:
    form_file(hrns.cwd)
    with LoopbackServer([chat_stream("Ada")]) as server:
        hrns.use(server.url)
        done = hrns.call("exec", "--json-schema", "form.json", "--max-turns", "1", "who?")
    assert done.returncode == 124


def test_missing_library_is_named_with_the_way_to_get_it(hrns: Hrns) -> None:
    form_file(hrns.cwd)
    (hrns.home / "site/sitecustomize.py").write_text("import sys\nsys.modules['jsonschema'] = None")
    done = hrns.run("exec", "--provider", "demo", "--json-schema", "form.json", "hi")
    assert (done.returncode, done.stdout) == (78, "")
    assert 'pip install "hrns[json-schema]"' in done.stderr
