"""Connecting a provider: what is asked in which case, and what is saved."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hrns_tui.onboarding import connect

from hrns.config import load_config
from hrns.plugins import Plugins
from hrns.testing import LoopbackServer, json_answer

LISTED = json_answer({"data": [{"id": "small"}, {"id": "large"}]})


class Person:
    """Answers one question after the other: None is "rather not", "" takes the default."""

    def __init__(self, *answers: str | None) -> None:
        self.answers = deque(answers)
        self.asked: list[str] = []
        self.told: list[str] = []
        self.errors: list[str] = []
        self.offered: dict[str, str] = {}

    def say(self, text: str) -> None:
        self.told.append(text)

    def error(self, text: str) -> None:
        self.errors.append(text)

    def ask(self, prompt: str, *, default: str = "", secret: bool = False) -> str | None:
        self.asked.append(prompt if secret else f"{prompt} [{default}]")
        answer = self.answers.popleft()
        return None if answer is None else answer or default

    def pick(self, title: str, options: Sequence[tuple[str, str]]) -> str | None:
        """Take what is wanted if it is offered, or else name it."""
        assert title == "Which provider is to be connected?"
        self.offered = dict(options)
        wanted = self.answers[0] if self.answers else None
        if wanted is None or wanted in self.offered:
            return self.answers.popleft()
        return "other"


def connected(path: Path, person: Person, environ: Mapping[str, str] | None = None) -> Any:
    """The document in the file after that person was asked; None if there is no file."""
    saved = connect(person, load_config(path), Plugins(strict=True), environ or {})
    assert not person.answers
    document = json.loads(path.read_text()) if path.exists() else None
    assert (saved is None) == (document is None)
    return document


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "config.json"


def test_provider_is_checked_and_saved(path: Path) -> None:
    with LoopbackServer(LISTED) as server:
        person = Person("house", f"{server.url}/v1", "secret", "2")
        document = connected(path, person)
    assert person.errors == []
    assert person.asked[-1] == "Default model [small]"
    assert person.told[-2] == "Its models:\n   1  small\n   2  large"
    entry = {
        "url": f"{server.url}/v1",
        "key": "secret",
        "model": "large",
        "api": "openai-chat",
    }
    assert document == {"providers": {"house": entry}, "currentProvider": "house"}
    assert server.requests[0].headers["authorization"] == "Bearer secret"


def test_model_that_is_not_listed_can_be_named(path: Path) -> None:
    with LoopbackServer(LISTED) as server:
        person = Person("house", server.url, "", "9", "secret-model")
        document = connected(path, person)
    assert person.errors == ["a model has to be named, by number or by name"]
    assert document["providers"]["house"]["model"] == "secret-model"


def test_name_and_url_are_asked_for_until_they_can_be_used(path: Path) -> None:
    person = Person("", "house", "", "localhost:1/v1", "ftp://there", None)
    assert connected(path, person) is None
    assert [error.partition("\n")[0] for error in person.errors] == [
        "the provider needs a name, such as openai or home",
        "there is no URL",
        "the URL 'localhost:1/v1' has no scheme",
        "the URL begins with 'ftp', which is not spoken here",
    ]
    assert person.told[-1] == "Nothing was saved."


def test_failed_check_is_told_and_asked_again_with_what_was_said(path: Path) -> None:
    refusal = json_answer({"error": {"message": "bad key"}}, status=401)
    with LoopbackServer([refusal, LISTED]) as server:
        person = Person("house", server.url, "wrong", "n", "", "right", "")
        document = connected(path, person)
    assert len(person.errors) == 1
    assert person.errors[0].startswith("the models could not be listed: ")
    assert "wrong" not in person.errors[0]
    assert person.asked[3:6] == [
        "Save it all the same? (y/n) [n]",
        f"URL [{server.url}]",
        "Key (hidden; Enter keeps the one there is)",
    ]
    assert document["providers"]["house"]["key"] == "right"


def test_provider_that_could_not_be_checked_is_saved_all_the_same(path: Path) -> None:
    with LoopbackServer(json_answer({}, status=404)) as server:
        person = Person("house", server.url, "", "y", "", "any")
        document = connected(path, person)
    assert person.errors[1:] == ["a model has to be named, by number or by name"]
    assert document["providers"]["house"]["model"] == "any"


def test_verification_is_asked_for_where_there_is_tls(path: Path) -> None:
    with LoopbackServer(LISTED) as server:
        url = f"https://127.0.0.1:{server.port}"  # it speaks no TLS: the check fails
        person = Person("house", url, "", "yes", "y", "any")
        document = connected(path, person)
    assert person.asked[3] == "Skip the verification of TLS certificates? (y/n) [n]"
    assert document["providers"]["house"]["skipVerify"] is True


def test_well_known_provider_offers_its_url_and_the_key_of_the_environment(path: Path) -> None:
    with LoopbackServer(LISTED) as server:
        environ = {"OPENAI_API_KEY": "sk-env", "OPENAI_BASE_URL": server.url}
        person = Person("openai", "")
        document = connected(path, person, environ)
    assert next(iter(person.offered.items())) == ("openai", "the key in $OPENAI_API_KEY is used")
    assert person.asked == ["Default model [small]"]
    assert document["providers"]["openai"]["key"] == "$OPENAI_API_KEY"
    assert server.requests[0].headers["authorization"] == "Bearer sk-env"


def test_demo_is_made_current_without_an_entry(path: Path) -> None:
    person = Person("demo")
    assert connected(path, person) == {"currentProvider": "demo"}


@pytest.mark.parametrize("answered", range(4))
def test_giving_up_at_any_question_writes_nothing(path: Path, answered: int) -> None:
    with LoopbackServer(LISTED) as server:
        person = Person(*["house", server.url, "key"][:answered], None)
        assert connected(path, person) is None
    assert person.told[-1] == "Nothing was saved."
    assert list(path.parent.iterdir()) == []


def test_what_cannot_be_saved_is_told(path: Path) -> None:
    with LoopbackServer(LISTED) as server:
        person = Person("house", server.url, "", "")
        config = load_config(path)
        path.write_text("{ no JSON")
        assert connect(person, config, Plugins(strict=True), {}) is None
    assert len(person.errors) == 1
    assert "Nothing was changed." in person.errors[0]
    assert path.read_text() == "{ no JSON"
