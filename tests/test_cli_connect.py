"""`hrns connect`: by flags, and by being asked at a terminal."""

from __future__ import annotations

import json
import ssl
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from hrns.testing import Answer, LoopbackServer, Received, chat_stream, json_answer

if TYPE_CHECKING:
    from tests.conftest import Hrns

pexpect = pytest.importorskip("pexpect")

NOT_FOUND = json_answer({"error": {"message": "no such path"}}, 404)
NO_KEY = json_answer({"error": {"message": "who are you?"}}, 401)


def listing(*models: str) -> Answer:
    return json_answer({"data": [{"id": model} for model in models]})


def serving(models: Answer, reply: Any = b"") -> Callable[[Received], Any]:
    """Answers that list models, and that reply."""
    return lambda request: models if request.method == "GET" else reply


def entry(url: str, **more: Any) -> dict[str, Any]:
    return {"url": f"{url}/v1", "model": "m", "api": "openai-chat", **more}


# By flags


def test_listed_model_is_saved_and_made_current(hrns: Hrns) -> None:
    with LoopbackServer(listing("m", "n")) as server:
        arguments = ["connect", "--name", "box", "--url", f"{server.url}/v1", "--model", "m"]
        done = hrns.call(*arguments, "--key", hrns.key)
    assert done.returncode == 0
    assert done.stdout == (
        f"Provider box with model m is saved in {hrns.config}, and is the current one.\n"
        'Try it: hrns exec "hello"\n'
    )
    (request,) = server.requests
    assert request.path == "/v1/models"
    assert request.headers["authorization"] == f"Bearer {hrns.key}"
    assert json.loads(hrns.config.read_text()) == {
        "providers": {"box": entry(server.url, key=hrns.key)},
        "currentProvider": "box",
    }
    assert hrns.config.stat().st_mode & 0o777 == 0o600


def test_only_model_and_a_name_are_found(hrns: Hrns) -> None:
    with LoopbackServer(listing("m")) as server:
        done = hrns.call("connect", "--url", f"{server.url}/v1")
    assert done.returncode == 0
    assert json.loads(hrns.config.read_text())["providers"] == {"local": entry(server.url)}


def test_word_is_asked_for_where_models_are_not_listed(hrns: Hrns) -> None:
    with LoopbackServer(serving(NOT_FOUND, chat_stream("Hello"))) as server:
        done = hrns.call("connect", "--url", f"{server.url}/v1", "--model", "m")
    assert done.returncode == 0
    listed, asked = server.requests
    assert (listed.method, asked.method) == ("GET", "POST")
    assert (asked.json["model"], asked.json["max_tokens"]) == ("m", 16)


def test_fault_of_the_path_comes_before_the_model_that_is_not_named(hrns: Hrns) -> None:
    with LoopbackServer(NOT_FOUND) as server:
        done = hrns.call("connect", "--url", f"{server.url}/foo")
    assert done.returncode == 1
    assert done.stderr == (
        f"hrns: trying {server.url}/foo (openai-chat)\n"
        f"hrns: 127.0.0.1:{server.port}: the request was refused (404): no such path\n"
        f"The base path /foo is probably wrong: most end in /v1, such as {server.url}/v1.\n"
        "If it lists none, name one with --model.\n"
        "--no-check saves it untried.\n"
    )


def test_missing_key_is_told_as_missing(hrns: Hrns) -> None:
    with LoopbackServer(NO_KEY) as server:
        done = hrns.call("connect", "--url", f"{server.url}/v1", "--model", "m")
        wrong = hrns.call("connect", "--url", f"{server.url}/v1", "--key", hrns.key)
    assert done.stderr.splitlines()[2:] == [
        "No key was given; the server wants one as the key of this provider.",
        "Give one with --key KEY, or --key '$NAME' for a variable.",
        "--no-check saves it untried.",
    ]
    assert "Look at the key of this provider.\n--no-check" in wrong.stderr


def test_unset_variable_of_a_known_name_is_told_before_anything_is_tried(hrns: Hrns) -> None:
    done = hrns.call("connect", "--name", "openai", "--model", "m")
    assert done.returncode == 78
    assert done.stderr == (
        "hrns: the key of provider 'openai' is taken from the environment variable "
        "OPENAI_API_KEY, which is not set\n"
        "Set it, or give the key itself with --key.\n"
        "--no-check saves it untried.\n"
    )


def test_url_without_a_scheme_is_taken_and_told(hrns: Hrns) -> None:
    with LoopbackServer(listing("m")) as server:
        done = hrns.call("connect", "--url", f"127.0.0.1:{server.port}/v1")
    assert done.returncode == 0
    assert f"the URL has no scheme: taken as {server.url}/v1" in done.stderr
    assert json.loads(hrns.config.read_text())["providers"] == {"local": entry(server.url)}


def test_model_that_is_not_listed_is_tried(hrns: Hrns) -> None:
    models = listing("mistral-small", "qwen3")
    with LoopbackServer(serving(models, NOT_FOUND)) as server:
        done = hrns.call("connect", "--url", f"{server.url}/v1", "--model", "mistral-smal")
    assert done.returncode == 1
    assert "mistral-smal is not among the 2 models that are listed" in done.stderr
    assert "Did you mean mistral-small?" in done.stderr
    assert not hrns.config.exists()


FAULTS: dict[str, tuple[Any, list[str], int, str]] = {
    "no model": (listing("a", "b"), [], 2, "It offers: a, b."),
    "no key": (NO_KEY, ["--model", "m"], 77, "who are you?"),
    "no page of an API": (
        Answer(b"<html>Welcome</html>", content_type="text/html"),
        ["--model", "m"],
        1,
        "Most end in /v1",
    ),
    "unset variable": (listing("m"), ["--key", "$NOT_SET"], 78, "NOT_SET"),
}


@pytest.mark.parametrize(("answer", "flags", "status", "says"), FAULTS.values(), ids=FAULTS)
def test_what_does_not_work_is_not_saved(
    hrns: Hrns, answer: Answer, flags: list[str], status: int, says: str
) -> None:
    with LoopbackServer(answer) as server:
        done = hrns.call("connect", "--url", f"{server.url}/v1", *flags)
    assert done.returncode == status, done.stderr
    assert says in done.stderr
    assert ("--no-check" in done.stderr) == (status != 2)
    assert not hrns.config.exists()


def test_unchecked_provider_is_saved_without_a_request(hrns: Hrns) -> None:
    arguments = ["--url", "http://127.0.0.1:9/v1", "--model", "m", "--key", "env:LATER"]
    done = hrns.call("connect", "--no-check", *arguments)
    assert done.returncode == 0
    providers = json.loads(hrns.config.read_text())["providers"]
    assert providers == {"local": entry("http://127.0.0.1:9", key="env:LATER")}


def test_unchecked_provider_without_a_model_says_how_to_name_one(hrns: Hrns) -> None:
    done = hrns.call("connect", "--no-check", "--url", "http://127.0.0.1:9/v1")
    assert "hrns config set providers.local.model NAME" in done.stdout


@pytest.mark.parametrize(
    ("flags", "provider"),
    [
        (
            ["--name", "anthropic"],
            {
                "url": "https://api.anthropic.com/v1",
                "key": "$ANTHROPIC_API_KEY",
                "api": "anthropic",
            },
        ),
        (["--api", "anthropic", "--key", "k"], {"key": "k", "api": "anthropic"}),
        (
            ["--url", "http://localhost:11434"],
            {"url": "http://localhost:11434", "api": "ollama"},
        ),
        (
            ["--url", "https://h/v1", "--api", "openai-responses", "--skip-verify"],
            {"url": "https://h/v1", "api": "openai-responses", "skipVerify": True},
        ),
    ],
)
def test_what_is_left_open_comes_from_what_is_known(
    hrns: Hrns, flags: list[str], provider: dict[str, Any]
) -> None:
    assert hrns.call("connect", "--no-check", "--model", "m", *flags).returncode == 0
    (saved,) = json.loads(hrns.config.read_text())["providers"].values()
    assert saved == {"model": "m", **provider}


def test_provider_of_that_name_is_updated_and_what_is_not_said_stays(hrns: Hrns) -> None:
    old = {**entry("http://127.0.0.1:9", key=hrns.key), "headers": {"X-Team": "blue"}}
    hrns.configure({"providers": {"box": old, "other": {}}, "currentProvider": "other"})
    done = hrns.call("connect", "--no-check", "--name", "box", "--model", "new")
    assert "Provider box with model new is updated" in done.stdout
    document = json.loads(hrns.config.read_text())
    assert document["providers"]["box"] == {**old, "model": "new"}
    assert document["currentProvider"] == "box"


def test_key_does_not_follow_to_another_server(hrns: Hrns) -> None:
    hrns.configure({"providers": {"box": entry("http://127.0.0.1:9", key=hrns.key)}})
    with LoopbackServer(listing("m")) as server:
        hrns.call("connect", "--name", "box", "--url", f"{server.url}/v1")
    assert "authorization" not in server.requests[0].headers
    assert json.loads(hrns.config.read_text())["providers"]["box"]["key"] == ""


@pytest.mark.parametrize(
    ("flags", "status", "says"),
    [
        ([], 2, "openai, anthropic"),
        (["--url", "localhos"], 78, "'localhos' is neither a known name nor a URL"),
        (["--url", "http://h", "--name", "?"], 2, "'?' cannot be the name of a provider"),
        (["--url", "http://h", "--name", "my box"], 2, "one word"),
        (["--url", "http://h", "--api", "morse", "--model", "m"], 78, "openai-chat"),
        (["--url", "http://127.0.0.1:1/v1", "--model", "m"], 69, "127.0.0.1:1"),
    ],
)
def test_fault_of_the_flags_is_told(hrns: Hrns, flags: list[str], status: int, says: str) -> None:
    done = hrns.call("connect", *flags)
    assert (done.returncode, done.stdout) == (status, "")
    assert says in done.stderr
    assert not hrns.config.exists()


def test_key_is_read_from_standard_input(hrns: Hrns) -> None:
    with LoopbackServer(listing("m")) as server:
        arguments = ["connect", "--url", f"{server.url}/v1", "--key", "-"]
        assert hrns.run(*arguments, stdin=f"{hrns.key}\n").returncode == 0
    assert server.requests[0].headers["authorization"] == f"Bearer {hrns.key}"


# At a terminal


class Terminal:
    """`hrns connect` at a terminal."""

    def __init__(self, hrns: Hrns, *arguments: str) -> None:
        self.child = pexpect.spawn(
            sys.executable,
            ["-m", "hrns", "connect", *arguments],
            cwd=str(hrns.cwd),
            env={**hrns.environ, "TERM": "xterm"},
            timeout=50,
            encoding="utf-8",
            dimensions=(40, 120),
        )
        self.child.delaybeforesend = None

    def answer(self, prompt: str, line: str) -> None:
        """Wait for the prompt, and type."""
        self.child.expect_exact(prompt)
        self.child.sendline(line)

    def end(self) -> tuple[int, str]:
        """The status, and what was shown since the last prompt."""
        self.child.expect(pexpect.EOF)
        self.child.wait()
        self.child.close()
        return self.child.exitstatus, self.child.before


@pytest.fixture
def terminal(hrns: Hrns) -> Iterator[Callable[..., Terminal]]:
    opened: list[Terminal] = []

    def start(*arguments: str) -> Terminal:
        opened.append(Terminal(hrns, *arguments))
        return opened[-1]

    yield start
    for each in opened:
        each.child.close(force=True)


@pytest.mark.skipif(sys.platform == "win32", reason="a terminal of POSIX")
def test_person_is_led_from_a_url_to_a_model(hrns: Hrns, terminal: Callable[..., Terminal]) -> None:
    with LoopbackServer(
        lambda request: listing("m", "n") if "authorization" in request.headers else NO_KEY
    ) as server:
        shown = terminal()
        shown.answer("Name or base URL:", "?")
        shown.child.expect_exact("'?' is neither a known name nor a URL")
        shown.answer("Name or base URL:", f"127.0.0.1:{server.port}/v1")
        shown.child.expect_exact(f"taken as http://127.0.0.1:{server.port}/v1")
        shown.child.expect_exact("speaks openai-chat")
        shown.answer("Enter for none):", "")
        shown.child.expect_exact("who are you?")
        shown.answer("or quit? (again, url, key, save, quit) [again]:", "key")
        shown.answer("Enter for none):", hrns.key)
        shown.child.expect_exact("2  n")
        assert hrns.key not in shown.child.before
        shown.answer("Model (number or name) [m]:", "2")
        shown.answer("Name it [local]:", "my box")
        shown.answer("Name it [local]:", "box")
        status, last = shown.end()
    assert status == 0
    assert "Provider box with model n is saved" in last
    providers = json.loads(hrns.config.read_text())["providers"]
    assert providers == {"box": entry(server.url, key=hrns.key, model="n")}


@pytest.mark.skipif(sys.platform == "win32", reason="a terminal of POSIX")
def test_certificate_that_nobody_vouches_for_may_be_trusted(
    hrns: Hrns, terminal: Callable[..., Terminal], server_tls: ssl.SSLContext
) -> None:
    with LoopbackServer(listing("m"), tls=server_tls) as server:
        shown = terminal("--url", f"{server.url}/v1", "--key", "", "--name", "box")
        shown.child.expect_exact("is not trusted")
        shown.answer("[again]:", "trust")
        shown.answer("[m]:", "")
        assert shown.end()[0] == 0
    providers = json.loads(hrns.config.read_text())["providers"]
    assert providers == {"box": entry(server.url, skipVerify=True)}


@pytest.mark.skipif(sys.platform == "win32", reason="a terminal of POSIX")
def test_interrupted_questions_save_nothing(hrns: Hrns, terminal: Callable[..., Terminal]) -> None:
    shown = terminal()
    shown.child.expect_exact("Name or base URL:")
    shown.child.sendintr()
    status, last = shown.end()
    assert status == 130
    assert "nothing was saved" in last
    assert "Traceback" not in last
    assert not hrns.config.exists()
