"""`hrns exec` as its users run it: a process, a server, a status, and what it says."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

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

KEY = "sk-planted-0123456789"


class Hrns:
    """A home of its own, and `hrns` in it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.cwd = home / "work"
        self.cwd.mkdir()
        self.environ = {
            **{k: v for k, v in os.environ.items() if not k.endswith(("_KEY", "_HOST"))},
            "HOME": str(home),
            "XDG_CONFIG_HOME": str(home / ".config"),
            "XDG_DATA_HOME": str(home / ".local/share"),
        }
        for name in ("HRNS_CONFIG", "HRNS_PLUGINS", "HRNS_MODEL"):
            self.environ.pop(name, None)

    def configure(self, text: str) -> None:
        path = self.home / ".config/hrns/config.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def use(self, url: str, **more: Any) -> None:
        """Make the server at this URL the configured provider."""
        entry = {"url": f"{url}/v1", "key": KEY, "model": "m", **more}
        document = {"providers": {"home": entry}, "currentProvider": "home"}
        self.configure(json.dumps({**document, "limits": {"retries": 1}}))

    def start(
        self, *arguments: str, environ: Mapping[str, str] | None = None
    ) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "hrns", *arguments],
            cwd=self.cwd,
            env={**self.environ, **(environ or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )

    def run(
        self, *arguments: str, stdin: str = "", environ: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        process = self.start(*arguments, environ=environ)
        out, err = process.communicate(stdin, timeout=50)
        assert KEY not in out + err
        assert "Traceback" not in err
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)


@pytest.fixture
def hrns(tmp_path: Path) -> Hrns:
    return Hrns(tmp_path)


def test_answer_goes_to_stdout_and_the_mode_to_stderr(hrns: Hrns) -> None:
    with LoopbackServer(chat_stream(["Hel", "lo"])) as server:
        hrns.use(server.url)
        done = hrns.run("exec", "say", "hello")
    assert (done.returncode, done.stdout) == (0, "Hello\n")
    assert done.stderr == "hrns: tools run without asking (--permission-mode all)\n"
    (request,) = server.requests
    assert request.path == "/v1/chat/completions"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.json["model"] == "m"
    assert request.json["stream"] is True
    assert [message["role"] for message in request.json["messages"]] == ["system", "user"]
    assert request.json["messages"][1]["content"] == "say hello"


@pytest.mark.parametrize(
    "arguments",
    [
        ("-provider", "other", "-model", "x", "-agent", "pirate", "-message", "hi"),
        ("--provider", "other", "--model", "x", "--agent", "Pirate", "--message", "hi"),
        ("--provider=other", "--model=x", "--agent=Pirate", "hi"),
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
        assert hrns.run("exec", "--quiet", *arguments).stdout == "ok\n"
    assert server.requests[0].json["model"] == "x"
    assert "pirate" in server.requests[0].json["messages"][0]["content"]
    assert (hrns.home / ".config/hrns/config.json").read_text() == text


def test_provider_without_model_takes_its_own_default(hrns: Hrns) -> None:
    with LoopbackServer(chat_stream("ok")) as server:
        hrns.use(server.url)
        hrns.run("exec", "-provider", "home", "hi")
    assert server.requests[0].json["model"] == "m"


def test_provider_comes_from_the_environment_where_none_is_configured(hrns: Hrns) -> None:
    with LoopbackServer(json_answer({"error": {"message": "no"}}, 401)) as server:
        environ = {"OLLAMA_HOST": f"127.0.0.1:{server.port}", "HRNS_MODEL": "m"}
        assert hrns.run("exec", "hi", environ=environ).returncode == 77
    assert server.requests


@pytest.mark.parametrize(
    ("arguments", "stdin", "content"),
    [
        (["exec", "summarise"], "one\ntwo\n", "summarise\n\none\ntwo\n"),
        (["exec", "-"], "only this", "only this"),
        (["exec", "--no-stdin", "summarise"], "not this", "summarise"),
        (["exec", "summarise"], "", "summarise"),
    ],
)
def test_piped_input_is_added_to_the_message(
    hrns: Hrns, arguments: list[str], stdin: str, content: str
) -> None:
    with LoopbackServer(chat_stream("ok")) as server:
        hrns.use(server.url)
        assert hrns.run(*arguments, stdin=stdin).returncode == 0
    assert server.requests[0].json["messages"][-1]["content"] == content


def test_input_that_does_not_end_is_said_to_be_awaited(hrns: Hrns) -> None:
    with LoopbackServer(chat_stream("ok")) as server:
        hrns.use(server.url)
        process = hrns.start("exec", "hi")
        assert process.stderr
        assert process.stderr.readline().startswith("hrns: waiting for the end of standard input")
        out, _ = process.communicate("more", timeout=20)
    assert out == "ok\n"
    assert server.requests[0].json["messages"][-1]["content"] == "hi\n\nmore"


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
        done = hrns.run("exec", "read it", "--verbose")
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
        done = hrns.run("exec", "read it")
    assert (done.returncode, done.stdout) == (0, "sorry\n")
    content = server.requests[1].json["messages"][-1]["content"]
    assert content.startswith("ERROR:")
    assert says in content


def test_key_that_a_tool_prints_does_not_reach_the_model(hrns: Hrns) -> None:
    call = Call("run_command", {"command": "cat ../.config/hrns/config.json; echo $THE_KEY"})
    with LoopbackServer([chat_stream("", [call]), chat_stream("done")]) as server:
        hrns.use(server.url)
        done = hrns.run("exec", "--output-format", "stream-json", "hi", environ={"THE_KEY": KEY})
    assert done.returncode == 0
    assert KEY.encode() not in server.requests[1].body
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
        assert hrns.run("exec", "hi", *arguments).returncode == 0
    assert (hrns.cwd / "ran").exists() == ran
    if not ran:
        assert "denied" in server.requests[1].json["messages"][-1]["content"]


# Output formats


def test_stream_json_writes_every_chunk_as_a_line(hrns: Hrns) -> None:
    (hrns.cwd / "a.txt").write_text("the content")
    call = Call("read_file", {"fileName": "a.txt"}, id="c1")
    with LoopbackServer([chat_stream("Look", [call]), chat_stream("Done")]) as server:
        hrns.use(server.url)
        done = hrns.run("exec", "--output-format", "stream-json", "hi")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
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
    assert lines[0]["version"] == 1
    assert (lines[0]["provider"], lines[0]["model"], lines[0]["agent"]) == ("home", "m", "Builder")
    assert lines[1] == {"type": "message", "text": "Look"}
    assert lines[3]["tool_name"] == "read_file"
    assert lines[3]["tool_args"] == '{"fileName": "a.txt"}'
    assert lines[4]["call_id"] == "c1"
    assert lines[-1]["reason"] == "done"


def test_escape_sequences_pass_to_a_file_and_errors_are_cleaned(hrns: Hrns) -> None:
    with LoopbackServer(
        [chat_stream("a\x1b[2Jb"), json_answer({"error": "x\x1b[2Jy"}, 400)]
    ) as server:
        hrns.use(server.url)
        assert hrns.run("exec", "hi").stdout == "a\x1b[2Jb\n"
        assert "\x1b" not in hrns.run("exec", "hi").stderr


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_any_encoding_of_the_output_is_written(hrns: Hrns, encoding: str) -> None:
    with LoopbackServer(chat_stream("é 漢 😀")) as server:
        hrns.use(server.url)
        process = subprocess.run(
            [sys.executable, "-m", "hrns", "exec", "--quiet", "--no-stdin", "hi"],
            cwd=hrns.cwd,
            env={**hrns.environ, "PYTHONIOENCODING": encoding, "LC_ALL": "C"},
            capture_output=True,
            check=False,
        )
    assert process.returncode == 0, process.stderr
    assert process.stdout.decode(encoding).startswith("é" if encoding != "ascii" else "?")


def test_reader_that_goes_away_ends_the_run_quietly(hrns: Hrns) -> None:
    events = chat_events(["many words "] * 20_000)
    with LoopbackServer(Answer([sse(*events), Wait()])) as server:
        hrns.use(server.url)
        process = hrns.start("exec", "hi", "--no-stdin")
        assert process.stdout
        process.stdout.read(100)
        process.stdout.close()
        assert process.stderr
        assert process.wait(20) == 141
        assert process.stderr.read() == "hrns: tools run without asking (--permission-mode all)\n"
        process.stderr.close()
        if process.stdin:
            process.stdin.close()


# Each failure: a clear message and its status


def error_body(message: str, **more: str) -> dict[str, Any]:
    return {"error": {"message": message, **more}}


SERVED = {
    "model refused": (json_answer(error_body("no model 'm'"), 404), 1, "no model 'm'"),
    "bad request": (json_answer(error_body("bad field"), 400), 1, "bad field"),
    "wrong key": (json_answer(error_body(f"bad key {KEY}"), 401), 77, "bad key"),
    "forbidden": (json_answer(error_body("not you"), 403), 77, "not you"),
    "slow down": (json_answer(error_body("slow down"), 429, {"Retry-After": "0"}), 75, "slow down"),
    "server fault": (json_answer(error_body("oops"), 503, {"Retry-After": "0"}), 69, "oops"),
    "too long": (
        json_answer(error_body("too long", code="context_length_exceeded"), 400),
        1,
        "too long",
    ),
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
        done = hrns.run("exec", "hi")
    assert done.returncode == status, done.stderr
    assert says in done.stderr
    assert "hrns: " in done.stderr


def test_first_refusal_for_load_is_tried_again(hrns: Hrns) -> None:
    busy = json_answer(error_body("slow down"), 429, {"Retry-After": "0"})
    with LoopbackServer([busy, chat_stream("hello")]) as server:
        hrns.use(server.url)
        done = hrns.run("exec", "hi")
    assert (done.returncode, done.stdout) == (0, "hello\n")
    assert "slow down" in done.stderr
    assert "trying again" in done.stderr


def test_unreachable_server_is_named(hrns: Hrns) -> None:
    with LoopbackServer([]) as server:
        port = server.port
    hrns.use(f"http://127.0.0.1:{port}")
    done = hrns.run("exec", "hi")
    assert done.returncode == 69
    assert f"127.0.0.1:{port}" in done.stderr


CONFIGURED = {
    "nothing": ("{}", [], 78, ["hrns connect", "--provider demo"]),
    "unknown provider": (
        '{"providers": {"home": {"url": "http://h"}}}',
        ["--provider", "hoem"],
        78,
        ["home"],
    ),
    "unknown agent": (
        '{"providers": {"home": {"url": "http://h", "model": "m"}}}',
        ["--agent", "Buildr"],
        78,
        ["Builder"],
    ),
    "no model": ('{"providers": {"home": {"url": "http://h"}}}', [], 78, ["--model"]),
    "no scheme": (
        '{"providers": {"home": {"url": "localhost:8080/v1", "model": "m"}}}',
        [],
        78,
        ["localhost:8080"],
    ),
    "does not parse": ('{"providers": {},}', [], 78, ["config.json:1:"]),
    "key not set": (
        '{"providers": {"home": {"url": "http://h", "model": "m", "key": "$NOT_SET"}}}',
        [],
        78,
        ["NOT_SET"],
    ),
    "unknown protocol": (
        '{"providers": {"home": {"url": "http://h", "model": "m", "api": "morse"}}}',
        [],
        78,
        ["morse", "openai-chat"],
    ),
    "bad rule": (
        '{"providers": {"home": {"url": "http://h", "model": "m"}}}',
        ["--deny", "a b c"],
        78,
        ["a b c"],
    ),
}


@pytest.mark.parametrize(
    ("text", "arguments", "status", "says"), CONFIGURED.values(), ids=CONFIGURED
)
def test_fault_of_the_configuration_has_its_status_and_words(
    hrns: Hrns, text: str, arguments: list[str], status: int, says: list[str]
) -> None:
    hrns.configure(text)
    done = hrns.run("exec", "hi", *arguments)
    assert done.returncode == status, done.stderr
    assert done.stdout == ""
    for words in says:
        assert words in done.stderr
    assert (hrns.home / ".config/hrns/config.json").read_text() == text


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["exec"], "no message"),
        (["exec", "--message", "a", "b"], "both words and --message"),
        (["exec", "--max-turns", "0", "hi"], "max-turns"),
        (["exec", "--no-such-option", "hi"], "--no-such-option"),
        (["exce", "hi"], "hrns exec"),
    ],
)
def test_fault_of_the_command_line_is_usage(hrns: Hrns, arguments: list[str], says: str) -> None:
    done = hrns.run(*arguments)
    assert done.returncode == 2
    assert says in done.stderr
    assert done.stdout == ""


def test_turn_limit_is_124(hrns: Hrns) -> None:
    call = Call("list_files", {"dir": ".", "globPattern": "*"})
    with LoopbackServer(chat_stream("", [call])) as server:
        hrns.use(server.url)
        done = hrns.run("exec", "--max-turns", "2", "hi")
    assert done.returncode == 124
    assert "the limit of 2 turns is reached" in done.stderr
    assert len(server.requests) == 2


def test_time_limit_is_124(hrns: Hrns) -> None:
    with LoopbackServer(Raw([Wait()])) as server:
        hrns.use(server.url)
        done = hrns.run("exec", "--timeout", "0.3", "hi")
    assert done.returncode == 124
    assert "0.3 seconds" in done.stderr


# Signals, at any moment


def gone(marker: str) -> bool:
    """Whether no process has the marker in its command line any more."""
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    return not any(marker in line for line in listed.stdout.splitlines())


def mark(hrns: Hrns) -> str:
    """Seconds that no other test sleeps."""
    return f"98.{hash(str(hrns.home)) % 1_000_000:06}"


def before_headers(_hrns: Hrns) -> tuple[list[Any], Callable[[LoopbackServer], object]]:
    return [Raw([Wait()])], lambda server: server.requests


def in_the_stream(_hrns: Hrns) -> tuple[list[Any], Callable[[LoopbackServer], object]]:
    return [Answer([sse(*chat_events("half")[:2]), Wait()])], lambda server: server.requests


def in_a_tool(hrns: Hrns) -> tuple[list[Any], Callable[[LoopbackServer], object]]:
    call = Call("run_command", {"command": f"touch started; sleep {mark(hrns)}; echo x"})
    return [chat_stream("", [call])], lambda _server: (hrns.cwd / "started").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("moment", [before_headers, in_the_stream, in_a_tool])
def test_signal_ends_the_run_within_a_second_and_leaves_nothing(
    hrns: Hrns, number: signal.Signals, moment: Any
) -> None:
    answers, reached = moment(hrns)
    with LoopbackServer(answers) as server:
        hrns.use(server.url)
        process = hrns.start("exec", "hi", "--no-stdin")
        deadline = time.monotonic() + 20
        while not reached(server) and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(0.2)
        sent = time.monotonic()
        process.send_signal(number)
        _, err = process.communicate(timeout=20)
        took = time.monotonic() - sent
    assert process.returncode == 128 + number
    assert took < 2
    assert "Traceback" not in err
    assert ("interrupted" if number == signal.SIGINT else "terminated") in err
    assert gone(f"sleep {mark(hrns)}")


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_signal_while_input_is_awaited_ends_the_program(hrns: Hrns) -> None:
    hrns.use("http://127.0.0.1:9")
    process = hrns.start("exec", "hi")
    assert process.stderr
    assert process.stderr.readline().startswith("hrns: waiting")
    process.send_signal(signal.SIGINT)
    process.wait(20)
    _, err = process.communicate()
    assert process.returncode == 130
    assert "Traceback" not in err


# Without a command


def test_without_a_front_end_it_says_how_to_get_one(hrns: Hrns) -> None:
    done = hrns.run(environ={"HRNS_PLUGINS": ""})
    assert done.returncode == 1
    assert 'pip install "hrns[tui]"' in done.stderr
    assert "hrns exec" in done.stderr


def test_exec_without_tools_answers(hrns: Hrns) -> None:
    with LoopbackServer(chat_stream("hello")) as server:
        hrns.use(server.url)
        done = hrns.run("exec", "hi", environ={"HRNS_PLUGINS": ""})
    assert done.stdout == "hello\n"
    assert "tools" not in server.requests[0].json


def test_version_is_told(hrns: Hrns) -> None:
    from hrns import __version__

    assert hrns.run("--version").stdout == f"hrns {__version__}\n"
