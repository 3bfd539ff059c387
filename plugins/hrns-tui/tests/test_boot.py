"""From how the program was started to a session, in the cases that a terminal rarely sees."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from hrns_tui.boot import boot, boot_unattended
from hrns_tui.dialogue import Listing

from hrns import Agent, ProviderKind
from hrns import hookimpl as implements
from hrns.config import ProviderConfig, load_config
from hrns.errors import ConfigError, Unreachable
from hrns.journal import read_journal
from hrns.permissions import Answer, Question
from hrns.plugins import Plugins
from hrns.providers.base import ModelInfo
from hrns.session import Launch, Session
from hrns.testing import Say, ScriptedProvider


class Person:
    """Answers one question after the other: None is "rather not", "" takes the default."""

    def __init__(self, *answers: str | None) -> None:
        self.answers = deque(answers)
        self.errors: list[str] = []
        self.asked: list[str] = []

    def say(self, text: str) -> None:
        """Listen."""

    def error(self, text: str) -> None:
        self.errors.append(text)

    def ask(self, prompt: str, *, default: str = "", secret: bool = False) -> str | None:
        assert not secret
        self.asked.append(prompt)
        answer = self.answers.popleft()
        return None if answer is None else answer or default

    def pick(self, title: str, options: Sequence[tuple[str, str]]) -> str | None:
        self.asked.append(f"{title} {dict(options)}")
        return self.answers.popleft()

    def pick_from(self, title: str, lists: Sequence[Listing]) -> str | None:
        return self.pick(title, [each for some in lists for each in some.options()])


class Providers:
    """A plugin with a protocol whose server lists its models unless its URL is `nowhere`.

    Its agent wants a model of its own.
    """

    @implements
    def hrns_agents(self) -> Agent:
        return Agent("Poet", "Writes.", model="verse")

    @implements
    def hrns_providers(self) -> ProviderKind:
        return ProviderKind("scripted", self.build)

    def build(self, entry: ProviderConfig) -> ScriptedProvider:
        if entry.url == "nowhere":
            return Silent([])
        return ScriptedProvider([Say("Hello.")], models=["first", "second"])


class Silent(ScriptedProvider):
    """A server that is not there."""

    def models(self) -> Sequence[ModelInfo]:
        raise Unreachable("nobody listens there")


BARE = {"api": "scripted"}
NEAR = {**BARE, "model": "n"}
PICK = "Which provider is to be used from now on?"


def launched(path: Path, document: dict[str, Any] | None, **more: Any) -> Launch:
    """The program started with a configuration."""
    if document is not None:
        path.write_text(json.dumps(document))
    plugins = Plugins(strict=True)
    plugins.register("providers", Providers())
    fields: dict[str, Any] = {"environ": {}, "save": False, **more}
    return Launch(cwd=path.parent, config=load_config(path), plugins=plugins, **fields)


def ask(question: Question) -> Answer:
    raise AssertionError(question)


def booted(launch: Launch, person: Person) -> Session:
    session = boot(launch, person, ask)
    assert session is not None
    assert not person.answers
    return session


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "config.json"


def test_agent_is_chosen_and_saved_where_none_was(path: Path) -> None:
    document = {"providers": {"near": NEAR}}
    with booted(launched(path, document), Person()) as session:
        assert session.agent.name == "Builder"
    assert json.loads(path.read_text()) == {**document, "currentAgent": "Builder"}


@pytest.mark.parametrize(("document", "named"), [({"currentAgent": "builder"}, ""), ({}, "Pirate")])
def test_agent_that_is_saved_or_named_is_not_saved(
    path: Path, document: dict[str, Any], named: str
) -> None:
    document = {"providers": {"near": NEAR}, **document}
    booted(launched(path, document, agent=named), Person()).close()
    assert json.loads(path.read_text()) == document


def test_agent_that_cannot_be_saved_is_used_and_that_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    environ = {"GROQ_API_KEY": "g"}
    launch = launched(tmp_path / "file/config.json", None, model="m", environ=environ)
    with booted(launch, Person()) as session:
        [notice] = session.take_notices()
        assert session.agent.name == "Builder"
    assert "the configuration cannot be saved: " in notice


def test_one_of_several_providers_is_picked_and_saved(path: Path) -> None:
    document = {"providers": {"near": NEAR, "far": BARE}, "currentAgent": "Builder"}
    person = Person("near")
    with booted(launched(path, document), person) as session:
        assert (session.entry.name, session.model) == ("near", "n")
    assert person.asked == [f"{PICK} {{'near': 'n', 'far': '', 'demo': 'demo'}}"]
    assert json.loads(path.read_text()) == {**document, "currentProvider": "near"}


def test_provider_that_is_picked_is_used_though_it_cannot_be_saved(path: Path) -> None:
    document = {"providers": {"near": NEAR, "far": BARE}, "currentAgent": "Builder"}
    launch, person = launched(path, document), Person("near")
    path.write_text("{ no JSON")
    with booted(launch, person) as session:
        assert session.entry.name == "near"
    assert "Nothing was changed." in person.errors[-1]


@pytest.mark.parametrize(
    "document",
    [{}, {"providers": {"near": NEAR}, "currentProvider": "gone"}, {"providers": {"bare": BARE}}],
)
def test_person_who_would_rather_not_gets_no_session(path: Path, document: dict[str, Any]) -> None:
    assert boot(launched(path, document), Person(None), ask) is None
    assert json.loads(path.read_text()) == document


@pytest.mark.parametrize(
    ("entry", "more", "answers", "model"),
    [
        (BARE, {}, ["second"], "second"),
        (BARE, {}, ["(another)", "third"], "third"),
        ({**BARE, "url": "nowhere"}, {}, ["", "any"], "any"),
        (BARE, {"environ": {"HRNS_MODEL": "of-environ"}}, [], "of-environ"),
        (NEAR, {"environ": {"HRNS_MODEL": "of-environ"}}, [], "n"),
        (NEAR, {"model": "named"}, [], "named"),
    ],
)
def test_model_is_the_named_one_else_the_default_else_asked_for(
    path: Path, entry: dict[str, Any], more: dict[str, Any], answers: list[str], model: str
) -> None:
    document = {"providers": {"only": entry}, "currentAgent": "Builder"}
    with booted(launched(path, document, **more), Person(*answers)) as session:
        assert session.model == model
        if answers:  # what was asked for is not asked for again
            entry = {**entry, "model": model}
            assert session.config.providers["only"].model == model
    assert json.loads(path.read_text()) == {**document, "providers": {"only": entry}}


def test_model_that_cannot_be_saved_is_used_and_that_is_told(path: Path) -> None:
    launch = launched(path, {"providers": {"only": BARE}, "currentAgent": "Builder"})
    path.write_text("{ no JSON")
    person = Person("first")
    with booted(launch, person) as session:
        assert session.model == "first"
    assert "Nothing was changed." in person.errors[0]


def test_provider_that_is_named_and_unknown_is_an_error(path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no provider 'naer'"):
        boot(launched(path, {"providers": {"near": NEAR}}, provider="naer"), Person(), ask)


@pytest.mark.parametrize("attended", [True, False])
def test_session_is_gone_on_with_as_it_was(path: Path, attended: bool) -> None:
    document = {
        "providers": {"near": NEAR, "far": {**BARE, "model": "f"}},
        "currentProvider": "far",
        "currentAgent": "Builder",
    }
    environ = {"XDG_DATA_HOME": str(path.parent)}
    first = launched(path, document, environ=environ, save=True, provider="near", agent="Pirate")
    with booted(first, Person()) as session:
        list(session.send("Hi."))
        assert session.path is not None
        record = read_journal(session.path)
        said = session.messages
    again = evolve(launched(path, document, environ=environ), resume=record)
    with booted(again, Person()) if attended else boot_unattended(again) as session:
        assert (session.entry.name, session.agent.name) == ("near", "Pirate")
        assert session.messages == said
        assert session.take_notices() == ()
    assert json.loads(path.read_text()) == document


@pytest.mark.parametrize("attended", [True, False])
@pytest.mark.parametrize("again", [True, False])
@pytest.mark.parametrize(
    ("named", "used"),
    [
        ({}, "near n Builder ask"),
        ({"model": "m"}, "near m Builder ask"),
        ({"provider": "far"}, "far f Builder ask"),
        ({"provider": "far", "model": "m"}, "far m Builder ask"),
        ({"agent": "poet"}, "near verse Poet ask"),
        ({"agent": "poet", "model": "m"}, "near m Poet ask"),
        ({"provider": "far", "agent": "poet"}, "far verse Poet ask"),
        ({"mode": "plan"}, "near n Builder plan"),
    ],
)
def test_command_line_comes_before_the_agent_the_session_and_the_configuration(
    path: Path, named: dict[str, Any], used: str, again: bool, attended: bool
) -> None:
    document = {
        "providers": {"near": NEAR, "far": {**BARE, "model": "f"}},
        "currentProvider": "near",
        "currentAgent": "Builder",
    }
    environ = {"XDG_DATA_HOME": str(path.parent)}
    record = None
    if again:
        with booted(launched(path, document, environ=environ, save=True), Person()) as session:
            list(session.send("Hi."))
            assert session.path is not None
            record = read_journal(session.path)
    launch = launched(path, document, environ=environ, resume=record, **named)
    with booted(launch, Person()) if attended else boot_unattended(launch) as session:
        facts = (session.entry.name, session.model, session.agent.name, session.context.mode)
        assert " ".join(facts) == used
    assert json.loads(path.read_text()) == document


def test_session_of_another_directory_is_gone_on_with_here_and_that_is_told(path: Path) -> None:
    environ = {"XDG_DATA_HOME": str(path.parent)}
    document = {"providers": {"near": NEAR}}
    with booted(launched(path, document, environ=environ, save=True), Person()) as session:
        list(session.send("Hi."))
    other = path.parent / "other"
    other.mkdir()
    launch = evolve(launched(path, None, environ=environ, pick=True), cwd=other)
    with booted(launch, Person(session.id)) as again:
        assert again.id == session.id
        assert again.context.cwd == other
        [notice] = again.take_notices()
    assert notice == f"This session was held in {path.parent}; it goes on in {other}."


def test_notice_of_a_provider_that_is_gone_is_passed_on(path: Path) -> None:
    environ = {"XDG_DATA_HOME": str(path.parent)}
    first = launched(path, {"providers": {"near": NEAR}}, environ=environ, save=True)
    with booted(first, Person()) as session:
        list(session.send("Hi."))
        assert session.path is not None
        record = read_journal(session.path)
    again = launched(path, {"providers": {"far": NEAR}}, environ=environ, resume=record)
    with booted(again, Person()) as session:
        [notice] = session.take_notices()
    assert notice.startswith("The provider 'near' of this session does not exist any more; far")


def test_limits_and_warnings_of_the_configuration_are_passed_on(path: Path) -> None:
    launch = launched(path, {"providers": {"near": NEAR}, "limits": {"turns": 1}})
    launch = evolve(launch, config=evolve(launch.config, warnings=("mind this",)))
    with boot_unattended(launch) as session:
        assert session.take_notices() == ("mind this",)
