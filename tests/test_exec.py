"""`hrns exec` as its users run it: a server, a status, and what it says.

What a status, a format or a signal promises to scripts is tested with processes; what does not
depend on being one runs inside this one, which is quicker.
"""

from __future__ import annotations

import io
import json
import signal
import subprocess
import sys
import time
import zlib
from base64 import b64encode
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import jsonschema
import pytest

from hrns.cli.result import result_schema
from hrns.cli.streams import own_output
from hrns.messages import Usage
from hrns.serial import chunk_schema
from hrns.testing import (
    Answer,
    Call,
    Cut,
    LoopbackServer,
    Raw,
    Wait,
    chat_events,
    chat_stream,
    json_answer,
    sse,
)

if TYPE_CHECKING:
    from tests.conftest import Hrns, PlantedKey

MODE = "hrns: tools run without asking (--permission-mode all)\n"
LIST = Call("list_files", {"dir": ".", "globPattern": "*"}, id="c1")
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")


def error_body(message: str, **more: str) -> dict[str, Any]:
    return {"error": {"message": message, **more}}


def refusal(message: str, status: int, **more: str) -> Answer:
    return json_answer(error_body(message, **more), status, {"Retry-After": "0"})


# The contract: a process for each row of the table of statuses

ROWS = {
    "answered": (chat_stream("hello"), [], 0),
    "refused": (refusal("no model 'm'", 404), [], 1),
    "usage": (chat_stream("hello"), ["--max-turns", "0"], 2),
    "misfit": (chat_stream("hello"), ["--json-schema", "form.json"], 65),
    "unavailable": (refusal("oops", 503), [], 69),
    "try later": (refusal("slow down", 429), [], 75),
    "key refused": (refusal("bad key", 401), [], 77),
    "denied, strictly": (
        [chat_stream(calls=[LIST]), chat_stream("I may not.")],
        ["--strict", "--deny", "list_files"],
        77,
    ),
    "unknown provider": (chat_stream("hello"), ["--provider", "hoem"], 78),
    "limit": (chat_stream(calls=[LIST]), ["--max-turns", "2"], 124),
}


@pytest.mark.parametrize(("answers", "arguments", "status"), ROWS.values(), ids=ROWS)
def test_status_tells_how_it_went(
    hrns: Hrns, answers: Any, arguments: list[str], status: int
) -> None:
    (hrns.cwd / "form.json").write_text('{"type": "object"}')
    with LoopbackServer(answers) as server:
        hrns.use(server.url)
        done = hrns.run("exec", "hi", *arguments)
    assert done.returncode == status, done.stderr
    assert (done.stderr == MODE) == (status == 0)


def test_bug_of_hrns_leaves_one_line_and_a_file(hrns: Hrns) -> None:
    hrns.use("http://127.0.0.1:9")
    hrns.install(
        "from hrns import Frontend, hookimpl\n"
        "def run(launch):\n"
        "    raise RuntimeError(launch.config.providers['home'].key)\n"
        "@hookimpl\n"
        "def hrns_frontends():\n"
        "    return [Frontend('broken', run)]\n"
    )
    done = hrns.run(environ={"HRNS_PLUGINS": "guest"})
    assert (done.returncode, done.stdout) == (70, "")
    assert done.stderr.startswith("hrns: this is a bug in hrns: RuntimeError\n")
    (file,) = (hrns.home / "tmp").iterdir()
    assert str(file) in done.stderr
    assert file.stat().st_mode & 0o777 == 0o600
    assert "raise RuntimeError" in file.read_text()
    assert "[redacted]" in file.read_text()


# The contract: a process for each format of the output


def test_text_goes_to_stdout_and_the_rest_to_stderr(hrns: Hrns) -> None:
    with LoopbackServer(chat_stream(["Hel", "lo"])) as server:
        hrns.use(server.url)
        done = hrns.run("exec", "say", "hello")
    assert (done.returncode, done.stdout, done.stderr) == (0, "Hello\n", MODE)
    (request,) = server.requests
    assert request.path == "/v1/chat/completions"
    assert request.headers["authorization"] == f"Bearer {hrns.key}"
    assert request.json["model"] == "m"
    assert request.json["stream"] is True
    assert [message["role"] for message in request.json["messages"]] == ["system", "user"]
    assert request.json["messages"][1]["content"] == "say hello"


def test_json_is_one_object_that_fits_its_schema(hrns: Hrns) -> None:
    calls = [LIST, Call("run_command", {"command": "true"}, id="c2")]
    with LoopbackServer(
        [
            chat_stream("Look", calls, usage=Usage(10, 2)),
            chat_stream("Done é", usage=Usage(30, 5, cache_read=8)),
        ]
    ) as server:
        hrns.use(server.url)
        done = hrns.run("exec", "--output-format", "json", "--deny", "run_command", "hi")
    assert (done.returncode, done.stderr) == (0, MODE)
    assert done.stdout.count("\n") == 1
    result = json.loads(done.stdout)
    jsonschema.validate(result, result_schema())
    assert 0 < result.pop("duration_s") < 50
    assert len(result.pop("session")) == 12
    (denied,) = result.pop("denied_calls")
    assert "denied" in denied.pop("reason")
    call = {"call_id": "c2", "name": "run_command", "arguments": '{"command": "true"}'}
    assert denied == {**call, "status": "denied"}
    assert sorted(result.pop("tool_calls"), key=lambda call: str(call["call_id"])) == [
        {
            "call_id": "c1",
            "name": "list_files",
            "arguments": '{"dir": ".", "globPattern": "*"}',
            "status": "ok",
        },
        denied,
    ]
    assert result == {
        "version": 1,
        "result": "Done é",
        "value": None,
        "provider": "home",
        "model": "m",
        "agent": "Builder",
        "usage": {"input": 40, "output": 7, "cache_read": 8, "cache_write": 0, "reasoning": 0},
        "turns": 2,
        "end": {"reason": "done", "text": ""},
        "error": None,
    }


def test_stream_json_is_every_chunk_as_a_line_that_fits_its_schema(hrns: Hrns) -> None:
    (hrns.cwd / "a.txt").write_text("the content")
    call = Call("read_file", {"fileName": "a.txt"}, id="c1")
    with LoopbackServer([chat_stream("Look", [call]), chat_stream("Done")]) as server:
        hrns.use(server.url)
        done = hrns.run("exec", "--output-format", "stream-json", "hi")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    check = jsonschema.Draft202012Validator(chunk_schema())
    assert [fault.message for line in lines for fault in check.iter_errors(line)] == []
    assert [line["type"] for line in lines] == [
        "start",
        "message",
        "message_done",
        "tool_call_start",
        "tool_call_result",
        "message_done",
        "message",
        "message_done",
        "end",
    ]
    assert len(lines[0].pop("session")) == 12
    assert lines[0] == {
        "type": "start",
        "version": 1,
        "cwd": str(hrns.cwd),
        "provider": "home",
        "model": "m",
        "agent": "Builder",
        "mode": "all",
    }
    assert lines[1] == {"type": "message", "text": "Look"}
    assert lines[3]["tool_name"] == "read_file"
    assert lines[3]["tool_args"] == '{"fileName": "a.txt"}'
    assert lines[4]["call_id"] == "c1"
    assert lines[-1]["reason"] == "done"


@pytest.mark.parametrize("output_format", ["json", "stream-json"])
def test_json_says_what_failed_and_so_does_stderr(hrns: Hrns, output_format: str) -> None:
    with LoopbackServer(refusal("bad key", 401)) as server:
        hrns.use(server.url)
        done = hrns.call("exec", "hi", "--output-format", output_format)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    error = lines[-1]["error"] if output_format == "json" else lines[-2]
    assert (error["reason"], error["http_status"]) == ("authentication", 401)
    assert "bad key" in error["text"]
    assert "hrns: error: " in done.stderr
    assert "bad key" in done.stderr


def test_json_with_nothing_but_a_broken_reply_has_no_result(hrns: Hrns) -> None:
    half = Answer([sse(*chat_events("half")[:2]), Cut()])
    with LoopbackServer(half) as server:
        hrns.use(server.url)
        done = hrns.call("exec", "hi", "--output-format", "json")
    result = json.loads(done.stdout)
    assert done.returncode == 69
    assert (result["result"], result["turns"]) == ("", 0)
    assert (result["end"]["reason"], result["error"]["reason"]) == ("error", "broken_stream")


@pytest.mark.parametrize("arguments", [[], ["--output-format", "json"]])
def test_any_encoding_of_the_output_is_written(hrns: Hrns, arguments: list[str]) -> None:
    with LoopbackServer(chat_stream("é 漢 😀")) as server:
        hrns.use(server.url)
        done = subprocess.run(
            [sys.executable, "-m", "hrns", "exec", "--quiet", "--no-stdin", "hi", *arguments],
            cwd=hrns.cwd,
            env={**hrns.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C"},
            capture_output=True,
            check=False,
        )
    assert (done.returncode, done.stderr) == (0, b"")
    if arguments:
        assert json.loads(done.stdout)["result"] == "é 漢 😀"
    else:
        assert done.stdout == b"? ? ?\n"


def test_escape_sequences_pass_to_a_file_and_errors_are_cleaned(hrns: Hrns) -> None:
    with LoopbackServer([chat_stream("a\x1b[2Jb"), refusal("x\x1b[2Jy", 400)]) as server:
        hrns.use(server.url)
        assert hrns.call("exec", "hi").stdout == "a\x1b[2Jb\n"
        assert "\x1b" not in hrns.call("exec", "hi").stderr


@POSIX
def test_reader_that_goes_away_ends_the_run_quietly(hrns: Hrns) -> None:
    events = chat_events(["many words "] * 20_000)
    with LoopbackServer(Answer([sse(*events), Wait()])) as server:
        hrns.use(server.url)
        process = hrns.start("exec", "hi", "--no-stdin")
        assert process.stdin
        assert process.stdout
        assert process.stderr
        process.stdout.read(100)
        process.stdout.close()
        assert process.wait(50) == 141
        assert process.stderr.read() == MODE


@POSIX
def test_output_that_was_closed_before_the_start_does_no_harm(hrns: Hrns) -> None:
    with LoopbackServer(chat_stream("hello")) as server:
        hrns.use(server.url)
        done = subprocess.run(
            ["sh", "-c", 'exec "$0" -m hrns exec hi <&- >&- 2>&-', sys.executable],
            cwd=hrns.cwd,
            env=hrns.environ,
            check=False,
        )
    assert done.returncode == 0
    assert server.requests[0].json["messages"][-1]["content"] == "hi"


@pytest.mark.skipif(sys.platform != "linux", reason="a device that is always full")
def test_answer_does_not_need_a_standard_error_that_takes_anything(hrns: Hrns) -> None:
    with LoopbackServer(chat_stream("hello")) as server, open("/dev/full", "w") as full:  # noqa: PTH123
        hrns.use(server.url)
        done = subprocess.run(
            [sys.executable, "-m", "hrns", "exec", "--verbose", "--no-stdin", "hi"],
            cwd=hrns.cwd,
            env=hrns.environ,
            stdout=subprocess.PIPE,
            stderr=full,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stdout) == (0, "hello\n")


@pytest.mark.skipif(sys.platform != "linux", reason="a device that is always full")
def test_full_disk_is_told(hrns: Hrns) -> None:
    with LoopbackServer(chat_stream("hello")) as server, open("/dev/full", "w") as full:  # noqa: PTH123
        hrns.use(server.url)
        done = subprocess.run(
            [sys.executable, "-m", "hrns", "exec", "-q", "--no-stdin", "hi"],
            cwd=hrns.cwd,
            env=hrns.environ,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == "hrns: the output cannot be written: No space left on device\n"


# The message


@pytest.mark.parametrize(
    ("arguments", "stdin", "content"),
    [
        (["exec", "summarise"], "one\ntwo\n", "summarise\n\none\ntwo\n"),
        (["exec", "-"], "only this", "only this"),
        (["exec", "--no-stdin", "summarise"], "not this", "summarise"),
    ],
)
def test_piped_input_is_added_to_the_message(
    hrns: Hrns, arguments: list[str], stdin: str, content: str
) -> None:
    with LoopbackServer(chat_stream("ok")) as server:
        hrns.use(server.url)
        assert hrns.run(*arguments, stdin=stdin).returncode == 0
    assert server.requests[0].json["messages"][-1]["content"] == content


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_byte_order_mark_tells_how_piped_input_is_read(hrns: Hrns, encoding: str) -> None:
    with LoopbackServer(chat_stream("ok")) as server:
        hrns.use(server.url)
        command = [sys.executable, "-m", "hrns", "exec", "-"]
        done = subprocess.run(
            command,
            cwd=hrns.cwd,
            env=hrns.environ,
            input="größer".encode(encoding),
            capture_output=True,
            timeout=50,
            check=False,
        )
    assert done.returncode == 0
    assert server.requests[0].json["messages"][-1]["content"] == "größer"


@POSIX
def test_words_are_read_as_utf_8_where_the_locale_knows_only_ascii(hrns: Hrns) -> None:
    environ = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    with LoopbackServer(chat_stream("ok")) as server:
        hrns.use(server.url)
        assert hrns.run("exec", "größer ☃", environ=environ).returncode == 0
    assert server.requests[0].json["messages"][-1]["content"] == "größer ☃"


def test_input_that_does_not_end_is_said_to_be_awaited(hrns: Hrns) -> None:
    with LoopbackServer(chat_stream("ok")) as server:
        hrns.use(server.url)
        process = hrns.start("exec", "hi")
        assert process.stderr
        told = process.stderr.readline()
        assert told.startswith("hrns: waiting for the end of standard input")
        out, _ = process.communicate("more", timeout=30)
    assert out == "ok\n"
    assert server.requests[0].json["messages"][-1]["content"] == "hi\n\nmore"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["exec"], "no message"),
        (["exec", "--message", "a", "b"], "both words and --message"),
        (["exec", "--no-such-option", "hi"], "--no-such-option"),
        (["exec", "-5 degrees"], "hrns exec [OPTIONS] -- MESSAGE"),
        (["exec", "- one\n- two"], "the message begins with a dash"),
        (["exec", "--resume", "", "hi"], "--resume is given no session"),
        (["exec", "--json-schema", "nope.json", "hi"], "nope.json"),
        (["exec", "--log", "nope/chunks", "hi", "--provider", "demo"], "--log"),
    ],
)
def test_fault_of_the_command_line_is_told(hrns: Hrns, arguments: list[str], says: str) -> None:
    done = hrns.call(*arguments)
    assert done.returncode in (2, 78)
    assert says in done.stderr
    assert done.stdout == ""


def test_search_for_the_key_would_find_it(tmp_path: Path, planted_key: PlantedKey) -> None:
    """The search at the end of all tests is worth something."""
    probe = type(planted_key)()
    for name, text in {
        "config.json": probe.text,
        "log": f"key={probe.text}",
        "url": "?key=" + quote(probe.text, safe=""),
        "basic": b64encode(probe.text.encode()).decode(),
        "none": "[redacted]",
    }.items():
        (tmp_path / name).write_text(text)
    probe.watch(tmp_path)
    probe.printed("nothing")
    found = sorted(leak.partition(":")[0].rpartition("/")[2] for leak in probe.leaks())
    assert found == ["basic", "log", "url"]


# What is used


@pytest.mark.parametrize(
    "arguments",
    [
        ("exec", "-provider", "other", "-model", "x", "-agent", "pirate", "-message", "hi"),
        ("exec", "--provider", "other", "--model", "x", "--agent", "Pirate", "--message", "hi"),
        ("exec", "--provider=other", "--model=x", "--agent=Pirate", "hi"),
        ("--provider", "other", "--model", "x", "--agent", "Pirate", "exec", "hi"),
    ],
)
def test_overrides_count_for_this_run_only(hrns: Hrns, arguments: Sequence[str]) -> None:
    with LoopbackServer(chat_stream("ok")) as server:
        providers = {
            "home": {"url": "http://127.0.0.1:9/v1", "model": "m"},
            "other": {"url": f"{server.url}/v1", "model": "o"},
        }
        text = json.dumps({"providers": providers, "currentProvider": "home"})
        hrns.configure(text)
        assert hrns.call(*arguments).stdout == "ok\n"
    assert server.requests[0].json["model"] == "x"
    assert "pirate" in server.requests[0].json["messages"][0]["content"]
    assert hrns.config.read_text() == text


def test_provider_without_model_takes_its_own_default(hrns: Hrns) -> None:
    with LoopbackServer(chat_stream("ok")) as server:
        hrns.use(server.url)
        hrns.call("exec", "-provider", "home", "hi")
    assert server.requests[0].json["model"] == "m"


def test_provider_comes_from_the_environment_where_none_is_configured(hrns: Hrns) -> None:
    with LoopbackServer(refusal("no", 401)) as server:
        environ = {
            "OPENAI_API_KEY": hrns.key,
            "OPENAI_BASE_URL": f"{server.url}/v1",
            "HRNS_MODEL": "m",
        }
        assert hrns.call("exec", "hi", environ=environ).returncode == 77
    assert server.requests[0].headers["authorization"] == f"Bearer {hrns.key}"


def test_system_prompt_is_replaced_and_added_to(hrns: Hrns) -> None:
    with LoopbackServer(chat_stream("ok")) as server:
        hrns.use(server.url)
        hrns.call("exec", "hi", "--system", "Be a poet.", "--append-system", "Rhyme.")
    system = server.requests[0].json["messages"][0]["content"]
    assert system.startswith("Be a poet.\n")
    assert system.endswith("\nRhyme.")
    assert "software engineer" not in system


def test_exec_without_tools_answers(hrns: Hrns) -> None:
    with LoopbackServer(chat_stream("hello")) as server:
        hrns.use(server.url)
        done = hrns.call("exec", "hi", environ={"HRNS_PLUGINS": ""})
    assert (done.stdout, done.stderr) == ("hello\n", "")
    assert "tools" not in server.requests[0].json


# Tools


def test_call_is_run_and_answered(hrns: Hrns) -> None:
    (hrns.cwd / "a.txt").write_text("the content")
    with LoopbackServer(
        [
            chat_stream("Let me look.", [Call("read_file", {"fileName": "a.txt"}, pieces=3)]),
            chat_stream("It says so."),
        ]
    ) as server:
        hrns.use(server.url)
        done = hrns.call("exec", "read it", "--verbose")
    assert done.stdout == "Let me look.\nIt says so.\n"
    assert "a.txt" in done.stderr
    assistant, tool = server.requests[1].json["messages"][-2:]
    assert assistant["tool_calls"][0]["function"]["name"] == "read_file"
    assert tool["tool_call_id"] == assistant["tool_calls"][0]["id"]
    assert "the content" in tool["content"]


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (Call("read_flie", {}), "Did you mean read_file"),
        (Call("read_file", '{"fileName": "a'), "not valid JSON"),
        (Call("read_file", {}), "fileName"),
        (Call("read_file", {"fileName": "nope.txt"}), "nope.txt"),
    ],
)
def test_call_that_fails_is_told_to_the_model_and_the_run_goes_on(
    hrns: Hrns, call: Call, says: str
) -> None:
    with LoopbackServer([chat_stream("", [call]), chat_stream("sorry")]) as server:
        hrns.use(server.url)
        done = hrns.call("exec", "read it")
    assert (done.returncode, done.stdout) == (0, "sorry\n")
    content = server.requests[1].json["messages"][-1]["content"]
    assert content.startswith("ERROR:")
    assert says in content


def test_key_that_a_tool_prints_does_not_reach_the_model(hrns: Hrns) -> None:
    call = Call("run_command", {"command": "cat ../.config/hrns/config.json; echo $THE_KEY"})
    with LoopbackServer([chat_stream("", [call]), chat_stream("done")]) as server:
        hrns.use(server.url)
        arguments = ["exec", "--output-format", "stream-json", "--log", "log.jsonl", "hi"]
        done = hrns.run(*arguments, environ={"THE_KEY": hrns.key})
    assert done.returncode == 0
    assert hrns.key.encode() not in server.requests[1].body
    assert "[redacted]" in server.requests[1].json["messages"][-1]["content"]


@pytest.mark.parametrize(
    ("arguments", "ran"),
    [
        ([], True),
        (["--permission-mode", "plan"], False),
        (["--permission-mode", "ask"], False),
        (["--permission-mode", "ask", "--allow", "run_command"], True),
        (["--deny", "run_command"], False),
    ],
)
def test_permissions_decide_whether_a_command_runs(
    hrns: Hrns, arguments: list[str], ran: bool
) -> None:
    call = Call("run_command", {"command": "touch ran"})
    with LoopbackServer([chat_stream("", [call]), chat_stream("done")]) as server:
        hrns.use(server.url)
        assert hrns.call("exec", "hi", *arguments).returncode == 0
    assert (hrns.cwd / "ran").exists() == ran
    if not ran:
        assert "denied" in server.requests[1].json["messages"][-1]["content"]


def test_rule_that_looks_misspelt_is_refused(hrns: Hrns) -> None:
    done = hrns.call("exec", "--provider", "demo", "--deny", "run_comand", "hi")
    assert done.returncode == 2
    assert "Did you mean run_command?" in done.stderr


def test_rule_for_a_tool_that_is_not_here_is_told(hrns: Hrns) -> None:
    with LoopbackServer(chat_stream("ok")) as server:
        hrns.use(server.url)
        done = hrns.call("exec", "--deny", "launch_rocket", "hi")
    assert done.returncode == 0
    assert "hrns: warning: --deny launch_rocket: there is no such tool\n" in done.stderr


def test_misspelt_rule_of_the_configuration_is_told(hrns: Hrns) -> None:
    with LoopbackServer(chat_stream("ok")) as server:
        entry = {"url": f"{server.url}/v1", "model": "m"}
        deny = ["run_comand", "launch_rocket"]
        hrns.configure({"providers": {"home": entry}, "permissions": {"deny": deny}})
        done = hrns.call("exec", "hi")
    warning = "hrns: warning: a rule in config.json names run_comand; is run_command meant?\n"
    assert done.stderr == warning + MODE


@pytest.mark.parametrize(
    ("rule", "meant"),
    [("Bash(rm *)", "run_command"), ("shell", "run_command"), ("Glob", "list_files")],
)
def test_rule_with_the_name_of_a_tool_elsewhere_is_told(hrns: Hrns, rule: str, meant: str) -> None:
    with LoopbackServer(chat_stream("ok")) as server:
        entry = {"url": f"{server.url}/v1", "model": "m"}
        hrns.configure({"providers": {"home": entry}, "permissions": {"deny": [rule]}})
        told = hrns.call("exec", "hi").stderr
        refused = hrns.call("exec", "hi", "--deny", rule)
    name = rule.partition("(")[0]
    assert told == f"hrns: warning: a rule in config.json names {name}; is {meant} meant?\n{MODE}"
    assert refused.returncode == 2
    assert f"Did you mean {meant}?" in refused.stderr


# Failures: clear words, and the status


SERVED = {
    "model unknown": (refusal("no model 'm'", 404), 1, "hrns models"),
    "bad request": (refusal("bad field", 400), 1, "bad field"),
    "forbidden": (refusal("not you", 403), 77, "not you"),
    "too long": (refusal("too long", 400, code="context_length_exceeded"), 1, "too long"),
    "garbage": (Answer(b"\xff\xfe<<<not json>>>\n\n"), 69, ""),
    "error in the stream": (
        sse(
            chat_events("par")[0],
            chat_events("par")[1],
            {"choices": [], "error": {"message": "worker limit"}},
        ),
        69,
        "worker limit",
    ),
    "half way": (Answer([sse(*chat_events("half")[:2]), Cut()]), 69, ""),
    "cut off": (chat_stream("half", finish="length"), 1, "cut off"),
    "filtered": (chat_stream("half", finish="content_filter"), 1, "content filter"),
}


@pytest.mark.parametrize(("answer", "status", "says"), SERVED.values(), ids=SERVED)
def test_failure_of_the_server_has_its_status_and_words(
    hrns: Hrns, answer: Any, status: int, says: str
) -> None:
    with LoopbackServer(answer) as server:
        hrns.use(server.url)
        done = hrns.call("exec", "hi")
    assert done.returncode == status, done.stderr
    assert says in done.stderr
    assert "hrns: " in done.stderr


def test_key_that_the_server_repeats_is_not_printed(hrns: Hrns) -> None:
    with LoopbackServer(refusal(f"bad key {hrns.key}", 401)) as server:
        hrns.use(server.url)
        done = hrns.call("exec", "hi", "--output-format", "json")
    assert "bad key" in done.stderr
    assert hrns.key not in done.stderr + done.stdout


def test_model_that_may_be_meant_is_named(hrns: Hrns) -> None:
    models = json_answer({"data": [{"id": "mistral-small"}, {"id": "qwen3"}]})
    unknown = refusal("no such model", 404)
    with LoopbackServer(lambda request: models if request.method == "GET" else unknown) as server:
        hrns.use(server.url, model="mistral-smal")
        done = hrns.call("exec", "hi")
    assert done.returncode == 1
    assert "did you mean mistral-small?" in done.stderr


def test_first_refusal_for_load_is_tried_again(hrns: Hrns) -> None:
    with LoopbackServer([refusal("slow down", 429), chat_stream("hello")]) as server:
        hrns.configure({"providers": {"home": {"url": f"{server.url}/v1", "model": "m"}}})
        done = hrns.call("exec", "hi")
    assert (done.returncode, done.stdout) == (0, "hello\n")
    assert "slow down" in done.stderr
    assert "trying again" in done.stderr


def test_quiet_tells_only_errors(hrns: Hrns) -> None:
    busy, called = refusal("slow down", 429), chat_stream("", [LIST])
    with LoopbackServer([busy, called, refusal("oops", 400)]) as server:
        hrns.configure({"providers": {"home": {"url": f"{server.url}/v1", "model": "m"}}})
        done = hrns.call("exec", "-q", "-v", "hi")
    assert done.stderr.startswith("hrns: error: ")
    assert "slow down" not in done.stderr
    assert "list_files" not in done.stderr


def test_empty_answer_is_told_once_and_is_no_failure(hrns: Hrns) -> None:
    answers = [chat_stream(text) for text in ("", " \n", "Hello.")]
    with LoopbackServer(answers) as server:
        hrns.use(server.url)
        loud, quiet, full = (hrns.call("exec", *more, "hi") for more in ([], ["-q"], ["-q"]))
    told = "hrns: the model gave no answer\n"
    assert [done.returncode for done in (loud, quiet, full)] == [0, 0, 0]
    assert [done.stderr.count(told) for done in (loud, quiet, full)] == [1, 1, 0]
    assert [quiet.stderr, full.stderr] == [told, ""]


def test_unreachable_server_is_named(hrns: Hrns, closed_port: int) -> None:
    hrns.use(f"http://127.0.0.1:{closed_port}")
    done = hrns.call("exec", "hi")
    assert done.returncode == 69
    assert f"127.0.0.1:{closed_port}" in done.stderr


HOME = {"url": "http://127.0.0.1:9/v1", "model": "m"}
CONFIGURED: dict[str, tuple[Any, list[str], list[str]]] = {
    "nothing": ({}, [], ["hrns connect", "--provider demo"]),
    "unknown provider": ({"providers": {"home": HOME}}, ["--provider", "hoem"], ["mean home?"]),
    "unknown agent": ({"providers": {"home": HOME}}, ["--agent", "Buildr"], ["mean Builder?"]),
    "no model": ({"providers": {"home": {"url": "http://h"}}}, [], ["--model"]),
    "no scheme": (
        {"providers": {"home": {"url": "localhost:8080/v1", "model": "m"}}},
        [],
        ["http://localhost:8080"],
    ),
    "does not parse": ('{"providers": {},}', [], ["config.json:1:"]),
    "key not set": ({"providers": {"home": {**HOME, "key": "$NOT_SET"}}}, [], ["NOT_SET"]),
    "unknown protocol": (
        {"providers": {"home": {**HOME, "api": "morse"}}},
        [],
        ["morse", "openai-chat"],
    ),
    "bad rule": ({"providers": {"home": HOME}}, ["--deny", "a b c"], ["a b c"]),
}


@pytest.mark.parametrize(("document", "arguments", "says"), CONFIGURED.values(), ids=CONFIGURED)
def test_fault_of_the_configuration_is_78_and_leaves_the_file_alone(
    hrns: Hrns, document: Any, arguments: list[str], says: list[str]
) -> None:
    hrns.configure(document)
    text = hrns.config.read_text()
    done = hrns.call("exec", "hi", *arguments)
    assert (done.returncode, done.stdout) == (78, "")
    for words in says:
        assert words in done.stderr
    assert hrns.config.read_text() == text


def test_plugin_that_is_missed_for_its_fault_is_named(hrns: Hrns) -> None:
    hrns.configure({"providers": {"home": {**HOME, "api": "morse"}}})
    hrns.install("import no_such_module")
    done = hrns.run("exec", "hi")
    assert done.returncode == 78
    assert "morse" in done.stderr
    assert "hrns: warning: plugin guest (hrns-guest): cannot be imported" in done.stderr


# Limits


@pytest.mark.parametrize("configured", [True, False])
def test_turn_limit_is_told(hrns: Hrns, configured: bool) -> None:
    with LoopbackServer(chat_stream("", [LIST])) as server:
        entry = {"url": f"{server.url}/v1", "model": "m"}
        limits = {"turns": 2} if configured else {"turns": 9}
        hrns.configure({"providers": {"home": entry}, "limits": limits})
        done = hrns.call("exec", "hi", *([] if configured else ["--max-turns", "2"]))
    assert done.returncode == 124
    assert "the limit of 2 turns is reached" in done.stderr
    assert len(server.requests) == 2


def test_token_limit_is_told(hrns: Hrns) -> None:
    with LoopbackServer(chat_stream("", [LIST], usage=Usage(90, 20))) as server:
        hrns.use(server.url)
        done = hrns.call("exec", "--max-tokens", "100", "hi")
    assert done.returncode == 124
    assert "100 tokens" in done.stderr


def test_time_limit_is_told(hrns: Hrns) -> None:
    with LoopbackServer(Raw([Wait()])) as server:
        hrns.use(server.url)
        done = hrns.call("exec", "--timeout", "0.3", "--output-format", "json", "hi")
    assert done.returncode == 124
    assert "0.3 seconds" in done.stderr
    assert json.loads(done.stdout)["end"]["reason"] == "limit"


# Signals, at any moment


def long_command(hrns: Hrns) -> str:
    """A command that no other test runs."""
    return f"sleep 98.{zlib.crc32(str(hrns.home).encode())}"


def gone(marker: str) -> bool:
    """Whether no process has the marker in its command line any more."""
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    return not any(marker in line for line in listed.stdout.splitlines())


def comes(happened: Callable[[], object]) -> bool:
    """Whether it is so, or soon will be."""
    deadline = time.monotonic() + 20
    while not (is_so := happened()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return bool(is_so)


def before_headers(_hrns: Hrns) -> tuple[list[Any], Callable[[LoopbackServer], object]]:
    return [Raw([Wait()])], lambda server: server.requests


def in_the_stream(_hrns: Hrns) -> tuple[list[Any], Callable[[LoopbackServer], object]]:
    return [Answer([sse(*chat_events("half")[:2]), Wait()])], lambda server: server.requests


def in_a_tool(hrns: Hrns) -> tuple[list[Any], Callable[[LoopbackServer], object]]:
    call = Call("run_command", {"command": f"touch started; {long_command(hrns)}; echo x"})
    return [chat_stream("", [call])], lambda _server: (hrns.cwd / "started").exists()


def while_plugins_load(hrns: Hrns) -> tuple[list[Any], Callable[[LoopbackServer], object]]:
    hrns.install("import pathlib, time\npathlib.Path('started').touch()\ntime.sleep(60)")
    return [], lambda _server: (hrns.cwd / "started").exists()


@POSIX
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("moment", [while_plugins_load, before_headers, in_the_stream, in_a_tool])
def test_signal_ends_the_run_within_a_second_and_leaves_nothing(
    hrns: Hrns, number: signal.Signals, moment: Any
) -> None:
    answers, reached = moment(hrns)
    with LoopbackServer(answers) as server:
        hrns.use(server.url)
        process = hrns.start("exec", "hi", "--no-stdin")
        assert comes(lambda: reached(server))
        time.sleep(0.1)
        sent = time.monotonic()
        process.send_signal(number)
        process.send_signal(number)  # as a terminal and a wrapper do
        _, err = process.communicate(timeout=30)
        took = time.monotonic() - sent
    assert process.returncode == 128 + number
    assert took < 15  # what is waited for takes a minute or more
    assert "Traceback" not in err
    if moment is not while_plugins_load:
        assert ("interrupted" if number == signal.SIGINT else "terminated") in err
    assert comes(lambda: gone(long_command(hrns)))


@POSIX
def test_hang_up_ends_the_run_as_well(hrns: Hrns) -> None:
    with LoopbackServer(Raw([Wait()])) as server:
        hrns.use(server.url)
        process = hrns.start("exec", "hi", "--no-stdin")
        assert server.wait_for(lambda server: server.requests)
        process.send_signal(signal.SIGHUP)
        _, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (129, f"{MODE}hrns: terminated\n")


@POSIX
def test_signal_ends_the_program_even_if_nobody_reads_its_output(hrns: Hrns) -> None:
    events = chat_events(["many words " * 100] * 2000)
    with LoopbackServer(Answer([sse(*events), Wait()])) as server:
        hrns.use(server.url)
        process = hrns.start("exec", "hi", "--no-stdin")
        assert process.stdout
        process.stdout.read(100)
        time.sleep(0.3)  # until the pipe is full
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 143


@POSIX
def test_signal_while_input_is_awaited_ends_the_program(hrns: Hrns) -> None:
    hrns.use("http://127.0.0.1:9")
    process = hrns.start("exec", "hi")
    assert process.stderr
    assert process.stderr.readline().startswith("hrns: waiting")
    process.send_signal(signal.SIGINT)
    process.wait(30)
    _, err = process.communicate()
    assert (process.returncode, err) == (130, "")


UNNOTICED = """
import signal, threading, time
from hrns.cancel import Cancel
from hrns.cli.signals import handled

def interrupt():
    time.sleep(0.2)  # the main thread waits, and goes on waiting if another has the signal
    signal.pthread_kill(threading.get_ident(), signal.SIGINT)

cancel = Cancel()
with handled(cancel) as signals:
    signals.raising = False
    threading.Thread(target=interrupt, daemon=True).start()
    print(cancel.wait(3600), cancel.reason)
"""


@POSIX
def test_signal_that_interrupts_no_wait_is_handled_all_the_same() -> None:
    done = subprocess.run(
        [sys.executable, "-c", UNNOTICED], capture_output=True, text=True, timeout=40, check=False
    )
    assert (done.stdout, done.stderr) == ("True interrupted\n", "")


INTERRUPTING = """
import os, signal, sys

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == os.environ["INTERRUPT_AT"]:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Finder())
"""


@POSIX
@pytest.mark.parametrize("module", ["hrns.cli.app", "click", "hrns.cli.exec", "hrns.cli.asking"])
def test_interrupt_before_a_command_has_begun_is_quiet(hrns: Hrns, module: str) -> None:
    (hrns.home / "site/sitecustomize.py").write_text(INTERRUPTING)
    done = hrns.run("exec", "--provider", "demo", "hi", environ={"INTERRUPT_AT": module})
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


# Without a command


def test_without_a_front_end_it_says_how_to_get_one(hrns: Hrns) -> None:
    done = hrns.call(environ={"HRNS_PLUGINS": ""})
    assert done.returncode == 1
    assert 'pip install "hrns[tui]"' in done.stderr
    assert "hrns exec" in done.stderr


@POSIX
def test_tool_calls_are_told_on_a_terminal(hrns: Hrns) -> None:
    pexpect = pytest.importorskip("pexpect")
    child = pexpect.spawn(
        sys.executable,
        ["-m", "hrns", "exec", "--provider", "demo", "list the Python files under ."],
        cwd=str(hrns.cwd),
        env={**hrns.environ, "TERM": "xterm"},
        timeout=50,
        encoding="utf-8",
    )
    child.expect(pexpect.EOF)
    child.wait()
    child.close()
    assert child.exitstatus == 0
    assert child.before.splitlines()[:2] == [MODE.strip(), "* list_files . **/*.py"]


NOISY = """
import os, subprocess, sys
from hrns import hookimpl, tool

print("noise of an import")

@tool(effects=())
def chatter() -> str:
    "Print."
    print("noise of a tool")
    os.write(1, b"noise of a library\\n")
    subprocess.run([sys.executable, "-c", "print('noise of a process')"], check=True)
    {then}
    return "done"

@hookimpl
def hrns_tools():
    return [chatter]

@hookimpl
def hrns_session_end():
    print("noise of an end")
"""


@pytest.mark.parametrize("then", ["pass", "sys.stdout.close()", "sys.stdout = None", "os.close(1)"])
def test_what_guests_print_or_close_is_not_the_output(hrns: Hrns, then: str) -> None:
    hrns.install(NOISY.format(then=then))
    with LoopbackServer([chat_stream(calls=[Call("chatter")]), chat_stream("hello")]) as server:
        hrns.use(server.url)
        done = hrns.run("exec", "--quiet", "--no-stdin", "--output-format", "json", "hi")
    assert (done.returncode, json.loads(done.stdout)["result"]) == (0, "hello")
    assert {"noise of a library", "noise of a process"} <= set(done.stderr.splitlines())


def test_what_is_printed_beside_captured_output_goes_to_the_errors() -> None:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), own_output() as own:
        sys.stdout.write("noise\n")
        own.write("answer")
    assert (out.getvalue(), err.getvalue()) == ("answer", "noise\n")
