"""The interactive program that hrns began from, row by row, at a front end without a terminal."""

from __future__ import annotations

import json
import ssl
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import hrns_skills
import hrns_tools_fs
import hrns_tui
import pytest
from hrns_tui.boot import boot
from hrns_tui.dialogue import Listing
from hrns_tui.dispatch import run_command

from hrns import Answer, Question, Session, SystemMessage
from hrns.config import load_config
from hrns.plugins import Plugins
from hrns.session import Launch
from hrns.testing import LoopbackServer, Received, chat_stream, json_answer

NONE: Mapping[str, str] = {}
PLUGINS = {"hrns-tools-fs": hrns_tools_fs, "hrns-skills": hrns_skills, "hrns-tui": hrns_tui}


class Person:
    """Somebody who answers by what the question is about, and runs commands."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.path = home / "config.json"
        self.answers: Mapping[str, str] = {}
        self.said: list[str] = []
        self.errors: list[str] = []
        self.sent: list[str] = []
        self.session: Session
        self.sessions: list[Session] = []

    # What a front end offers

    def say(self, text: str) -> None:
        self.said.append(text)

    def error(self, text: str) -> None:
        self.errors.append(text)

    def ask(self, prompt: str, *, default: str = "", secret: bool = False) -> str | None:  # noqa: ARG002
        return self._answer(prompt) or default

    def pick(self, title: str, options: Sequence[tuple[str, str]]) -> str | None:
        self.said.append(f"{title} {[name for name, _ in options]}")
        return self._answer(title)

    def pick_from(self, title: str, lists: Sequence[Listing]) -> str | None:
        return self.pick(title, [each for some in lists for each in some.options()])

    def _answer(self, question: str) -> str | None:
        return next((self.answers[about] for about in self.answers if about in question), None)

    def send(self, text: str) -> None:
        self.sent.append(text)

    def leave(self) -> None:
        raise AssertionError("nobody leaves here")

    # What a person does

    def configure(self, document: dict[str, Any]) -> None:
        self.path.write_text(json.dumps(document), encoding="utf-8")

    @property
    def saved(self) -> Any:
        return json.loads(self.path.read_text("utf-8"))

    def start(self, answers: Mapping[str, str] = NONE) -> None:
        self.answers = answers
        plugins = Plugins(strict=True)
        for name, plugin in PLUGINS.items():
            plugins.register(name, plugin, distribution=name)
        launch = Launch(self.home, load_config(self.path), plugins, environ={})
        session = boot(launch, self, _refuse)
        if session is not None:
            self.session = session
            self.sessions.append(session)
            self.told_at_start = session.take_notices()

    def do(self, line: str, answers: Mapping[str, str] = NONE) -> str:
        """Run a command; gives what was said, or went wrong."""
        self.answers, self.said, self.errors = answers, [], []
        run_command(self, line)
        return "\n".join([*self.said, *self.errors])

    def chat(self, text: str) -> None:
        assert list(self.session.send(text))[-1].type == "end"


def _refuse(_question: Question) -> Answer:
    return Answer("no")


def served(request: Received) -> Any:
    """Two providers, `near` and `far`, by path."""
    who = request.path.split("/")[1]
    if request.method == "GET":
        return json_answer({"data": [{"id": f"{who}-large"}, {"id": f"{who}-small"}]})
    return chat_stream("Hello.")


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    with LoopbackServer(served) as server:
        yield server


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Person]:
    monkeypatch.setenv("HOME", str(tmp_path))
    person = Person(tmp_path)
    yield person
    for session in person.sessions:
        session.close()


@pytest.fixture
def at_work(person: Person, server: LoopbackServer) -> Person:
    """A person who has said one thing, with two providers to choose from."""
    person.configure(
        {
            "providers": {
                "near": {"url": f"{server.url}/near/v1", "model": "near-large"},
                "far": {"url": f"{server.url}/far/v1", "model": "far-large"},
            },
            "currentProvider": "near",
            "currentAgent": "Builder",
        }
    )
    person.start()
    person.chat("Hi.")
    return person


def asked(server: LoopbackServer) -> list[tuple[str, str]]:
    """Provider and model of each question."""
    return [(r.path.split("/")[1], r.json["model"]) for r in server.requests if r.method == "POST"]


# How it begins


def test_without_a_provider_one_is_asked_for_saved_and_made_current(
    person: Person, server_tls: ssl.SSLContext
) -> None:
    with LoopbackServer(served, tls=server_tls) as server:
        url = f"{server.url}/near/v1"
        person.start(
            {
                "want to connect?": "other",
                "Provider name": "home",
                "URL": url,
                "Key": "sk-planted-key",
                "Skip the verification": "y",
                "Default model": "near-small",
            }
        )
        person.chat("Hi.")
    entry = {"url": url, "key": "sk-planted-key", "model": "near-small", "skipVerify": True}
    assert entry.items() <= person.saved["providers"]["home"].items()
    assert person.saved["currentProvider"] == "home"
    assert asked(server) == [("near", "near-small")]
    assert server.requests[-1].headers["authorization"] == "Bearer sk-planted-key"


def test_chosen_agent_is_saved_where_none_was(person: Person, server: LoopbackServer) -> None:
    entry = {"url": f"{server.url}/near/v1", "model": "near-large"}
    person.configure({"providers": {"near": entry}, "currentProvider": "near"})
    person.start()
    assert person.session.agent.name == "Builder"
    assert person.saved["currentAgent"] == "Builder"


def test_stale_agent_is_told_replaced_and_saved(person: Person, server: LoopbackServer) -> None:
    entry = {"url": f"{server.url}/near/v1", "model": "near-large"}
    person.configure(
        {"providers": {"near": entry}, "currentProvider": "near", "currentAgent": "Ghost"}
    )
    person.start()
    assert any("Ghost" in notice for notice in person.told_at_start)
    assert person.saved["currentAgent"] == person.session.agent.name == "Builder"


def test_stale_provider_is_replaced_by_one_that_is_picked(
    person: Person, server: LoopbackServer
) -> None:
    entry = {"url": f"{server.url}/near/v1", "model": "near-large"}
    person.configure({"providers": {"near": entry, "far": entry}, "currentProvider": "gone"})
    person.start({"be used": "far"})
    assert any("gone" in error for error in person.errors)
    assert any("near" in said and "far" in said for said in person.said)
    assert person.saved["currentProvider"] == person.session.entry.name == "far"


# The commands


def test_new_begins_a_conversation_and_shows_provider_and_model(at_work: Person) -> None:
    shown = at_work.do("/new")
    (message,) = at_work.session.messages
    assert isinstance(message, SystemMessage)
    assert "near" in shown
    assert "near-large" in shown


def test_models_lists_those_of_the_provider(at_work: Person) -> None:
    shown = at_work.do("/models")
    assert "near-large" in shown
    assert "near-small" in shown


def test_model_is_used_and_becomes_the_default_of_its_provider(
    at_work: Person, server: LoopbackServer
) -> None:
    at_work.do("/model near-small")
    at_work.chat("Again.")
    assert asked(server) == [("near", "near-large"), ("near", "near-small")]
    assert at_work.saved["providers"]["near"]["model"] == "near-small"


def test_providers_lists_them(at_work: Person) -> None:
    shown = at_work.do("/providers")
    assert "near" in shown
    assert "far" in shown


def test_provider_becomes_current_with_its_model_and_the_conversation_goes_on(
    at_work: Person, server: LoopbackServer
) -> None:
    before = at_work.session.messages
    at_work.do("/provider far")
    assert at_work.session.messages == before
    at_work.chat("Again.")
    assert asked(server) == [("near", "near-large"), ("far", "far-large")]
    assert at_work.saved["currentProvider"] == "far"
    assert len(server.requests[-1].json["messages"]) == 4


def test_agents_lists_them_with_their_descriptions(at_work: Person) -> None:
    shown = at_work.do("/agents")
    for agent in at_work.session.context.agents:
        assert agent.name in shown
        assert agent.description in shown


def test_agent_becomes_current_with_its_prompt_and_tools_and_the_conversation_goes_on(
    at_work: Person, server: LoopbackServer
) -> None:
    system, *conversation = at_work.session.messages
    at_work.do("/agent Planner")
    planner_system, *kept = at_work.session.messages
    assert kept == conversation
    assert isinstance(planner_system, SystemMessage)
    assert planner_system != system
    assert planner_system.text.startswith(at_work.session.agent.prompt)
    assert at_work.saved["currentAgent"] == "Planner"
    at_work.chat("Again.")
    offered = [tool["function"]["name"] for tool in server.requests[-1].json["tools"]]
    assert "read_file" in offered
    assert "write_file" not in offered


def test_connect_saves_a_provider_and_switches_to_it(
    at_work: Person, server: LoopbackServer
) -> None:
    at_work.do(
        "/connect",
        {
            "want to connect?": "other",
            "Provider name": "third",
            "URL": f"{server.url}/third/v1",
            "Default model": "third-small",
        },
    )
    at_work.chat("Again.")
    assert asked(server)[-1] == ("third", "third-small")
    assert at_work.saved["currentProvider"] == "third"
    assert set(at_work.saved["providers"]) == {"near", "far", "third"}


def test_help_comes_from_the_commands_that_there_are(at_work: Person) -> None:
    shown = at_work.do("/help")
    names = {command.name for command in at_work.session.commands}
    nine = {"new", "models", "model", "providers", "provider", "agents", "agent", "connect", "help"}
    assert nine <= names
    for name in names:
        assert f"/{name}" in shown


def test_unknown_command_is_an_error_and_nothing_is_sent(
    at_work: Person, server: LoopbackServer
) -> None:
    at_work.do("/modle x")
    (error,) = at_work.errors
    assert "/modle" in error
    assert at_work.sent == []
    assert len(asked(server)) == 1


@pytest.mark.parametrize("name", ["model", "provider", "agent"])
def test_missing_argument_shows_the_usage(at_work: Person, name: str) -> None:
    before = at_work.saved
    assert f"/{name}" in at_work.do(f"/{name}")
    assert at_work.saved == before


@pytest.mark.parametrize("line", ["/model near-small", "/provider far", "/agent Planner"])
def test_save_that_fails_rolls_the_change_back(
    at_work: Person, server: LoopbackServer, line: str
) -> None:
    at_work.path.write_text("{ no JSON", encoding="utf-8")
    at_work.do(line)
    assert at_work.errors
    assert at_work.session.agent.name == "Builder"
    at_work.chat("Again.")
    assert asked(server)[-1] == ("near", "near-large")
    assert at_work.path.read_text("utf-8") == "{ no JSON"
