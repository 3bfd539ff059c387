"""The one-shot command of the program that hrns began from, row by row."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hrns.testing import LoopbackServer, chat_stream


class Person:
    """Somebody with a home, who runs hrns there."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.path = home / ".config/hrns/config.json"

    def configure(self, document: Any) -> str:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        text = document if isinstance(document, str) else json.dumps(document)
        self.path.write_text(text, encoding="utf-8")
        return text

    def run(self, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        return subprocess.run(
            [sys.executable, "-m", "hrns", *words],
            cwd=self.home,
            env={**kept, "HOME": str(self.home)},
            input=stdin,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(tmp_path)


def two_providers(url: str) -> dict[str, Any]:
    """As the original program writes it."""
    entry = {"key": "sk-planted-key", "skipVerify": False}
    return {
        "providers": {
            "near": {"url": f"{url}/near/v1", "model": "near-model", **entry},
            "far": {"url": f"{url}/far/v1", "model": "far-model", **entry},
        },
        "currentProvider": "near",
        "currentAgent": "Builder",
    }


def test_question_is_asked_of_the_current_provider_with_its_model_and_key(person: Person) -> None:
    with LoopbackServer(chat_stream("Hello.")) as server:
        person.configure(two_providers(server.url))
        done = person.run("exec", "-message", "hi")
    assert (done.returncode, done.stdout) == (0, "Hello.\n")
    (request,) = server.requests
    assert request.path == "/near/v1/chat/completions"
    assert request.headers["authorization"] == "Bearer sk-planted-key"
    assert request.json["model"] == "near-model"
    assert [message["role"] for message in request.json["messages"]] == ["system", "user"]


@pytest.mark.parametrize("dashes", ["-", "--"])
def test_overrides_count_once_and_are_not_saved(person: Person, dashes: str) -> None:
    with LoopbackServer(chat_stream("Arr.")) as server:
        text = person.configure(two_providers(server.url))
        words = {"provider": "far", "model": "other", "agent": "Pirate", "message": "hi"}
        done = person.run("exec", *(w for k, v in words.items() for w in (f"{dashes}{k}", v)))
    assert done.returncode == 0
    (request,) = server.requests
    assert (request.path, request.json["model"]) == ("/far/v1/chat/completions", "other")
    assert "pirate" in request.json["messages"][0]["content"]
    assert person.path.read_text("utf-8") == text


def test_provider_without_a_model_takes_its_saved_default(person: Person) -> None:
    with LoopbackServer(chat_stream("Hello.")) as server:
        person.configure(two_providers(server.url))
        person.run("exec", "-provider", "far", "-message", "hi")
    assert server.requests[0].json["model"] == "far-model"


@pytest.mark.parametrize(
    ("words", "status", "says"),
    [
        (["-provider", "fra", "hi"], 78, "far"),
        (["-agent", "Bilder", "hi"], 78, "Builder"),
        ([], 2, "hrns exec"),
        (["-message", ""], 2, "hrns exec"),
    ],
)
def test_unknown_names_and_an_empty_message_are_errors(
    person: Person, words: list[str], status: int, says: str
) -> None:
    person.configure(two_providers("http://127.0.0.1:9"))
    done = person.run("exec", *words)
    assert (done.returncode, done.stdout) == (status, "")
    assert says in done.stderr


def test_current_provider_that_is_gone_is_an_error_that_lists_the_names(person: Person) -> None:
    person.configure({**two_providers("http://127.0.0.1:9"), "currentProvider": "gone"})
    done = person.run("exec", "hi")
    assert done.returncode == 78
    assert "gone" in done.stderr
    assert "near" in done.stderr
    assert "far" in done.stderr


def test_configuration_that_does_not_parse_is_an_error_and_left_alone(person: Person) -> None:
    text = person.configure('{"providers": {},}')
    for words in (["exec", "hi"], []):
        done = person.run(*words, stdin="hi")
        assert done.returncode == 78
        assert "config.json:1:" in done.stderr
    assert person.path.read_text("utf-8") == text


def test_without_a_provider_it_says_how_to_connect_one(person: Person) -> None:
    done = person.run("exec", "hi")
    assert done.returncode == 78
    assert "hrns connect" in done.stderr
    assert "--provider demo" in done.stderr


def test_first_argument_decides_between_one_shot_and_interactive(person: Person) -> None:
    with LoopbackServer([chat_stream("Once."), chat_stream("Here.")]) as server:
        person.configure(two_providers(server.url))
        assert person.run("exec", "hi").stdout == "Once.\n"
        assert "Here." in person.run(stdin="hi").stdout


def test_stale_agent_is_told_and_the_answer_comes(person: Person) -> None:
    with LoopbackServer(chat_stream("Hello.")) as server:
        person.configure({**two_providers(server.url), "currentAgent": "Ghost"})
        done = person.run("exec", "hi")
    assert (done.returncode, done.stdout) == (0, "Hello.\n")
    assert "Ghost" in done.stderr


def test_conversation_can_be_continued(person: Person) -> None:
    with LoopbackServer([chat_stream("Hello."), chat_stream("Again.")]) as server:
        person.configure(two_providers(server.url))
        person.run("exec", "hi")
        assert person.run("exec", "--continue", "and?").stdout == "Again.\n"
    contents = [message["content"] for message in server.requests[1].json["messages"]]
    assert contents[1:] == ["hi", "Hello.", "and?"]


def test_self_signed_server_is_reached_only_where_it_is_not_verified(
    person: Person, server_tls: Any
) -> None:
    with LoopbackServer(lambda _request: chat_stream("Hello."), tls=server_tls) as server:
        document = two_providers(server.url)
        document["limits"] = {"retries": 0}
        person.configure(document)
        assert person.run("exec", "hi").returncode == 69
        document["providers"]["near"]["skipVerify"] = True
        person.configure(document)
        assert person.run("exec", "hi").stdout == "Hello.\n"
