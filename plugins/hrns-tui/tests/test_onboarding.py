"""Connecting a provider: what is asked in which case, and what is saved."""

from __future__ import annotations

import json
import ssl
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hrns_tui.local_servers import local_servers
from hrns_tui.onboarding import connect

from hrns.config import ProviderConfig, load_config
from hrns.plugins import Plugins
from hrns.testing import Answer, LoopbackServer, chat_stream, json_answer

LISTED = json_answer({"data": [{"id": "small"}, {"id": "large"}]})


class Person:
    """Answers one question after the other: None is "rather not", "" takes the default."""

    def __init__(self, *answers: str | None) -> None:
        self.answers = deque(answers)
        self.asked: list[str] = []
        self.told: list[str] = []
        self.errors: list[str] = []
        self.offered: dict[str, dict[str, str]] = {}

    def say(self, text: str) -> None:
        self.told.append(text)

    def error(self, text: str) -> None:
        self.errors.append(text)

    def ask(self, prompt: str, *, default: str = "", secret: bool = False) -> str | None:
        self.asked.append(prompt if secret else f"{prompt} [{default}]")
        answer = self.answers.popleft()
        return None if answer is None else answer or default

    def pick(self, title: str, options: Sequence[tuple[str, str]]) -> str | None:
        """Take what is wanted: "" is the first of them."""
        self.asked.append(title)
        self.offered[title] = dict(options)
        answer = self.answers.popleft()
        assert answer in (None, "", *self.offered[title])
        return options[0][0] if answer == "" else answer


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


WHICH = "Which provider do you want to connect?"
URL = "URL []"
KEY = "Key (hidden; $NAME takes it from the environment; Enter for none)"
MODEL = "Default model"
NEXT = "What is to be done?"


def test_provider_is_checked_and_saved(path: Path) -> None:
    with LoopbackServer(LISTED) as server:
        person = Person("other", "house", f"{server.url}/v1", "secret", "large")
        document = connected(path, person)
    assert person.errors == []
    assert person.asked == [WHICH, "Provider name or URL []", URL, KEY, MODEL]
    assert [*person.offered[MODEL]] == ["small", "large", "(another)"]
    entry = {
        "url": f"{server.url}/v1",
        "key": "secret",
        "model": "large",
        "api": "openai-chat",
    }
    assert document == {"providers": {"house": entry}, "currentProvider": "house"}
    assert [r.method for r in server.requests] == ["GET"]  # what is listed needs no other proof
    assert server.requests[0].headers["authorization"] == "Bearer secret"


def test_url_in_place_of_a_name_is_taken_and_names_the_provider(path: Path) -> None:
    with LoopbackServer([LISTED, LISTED]) as server:
        place = server.url.removeprefix("http://")
        person = Person("other", "ftp://there", f"{place}/v1", "secret", "large")
        document = connected(path, person)
        assert [error.partition("\n")[0] for error in person.errors] == [
            "the URL begins with 'ftp', which is not spoken here"
        ]
        name_or_url = "Provider name or URL []"
        assert person.asked == [WHICH, name_or_url, name_or_url, KEY, MODEL]
        assert person.told[:2] == [
            f"The URL has no scheme: taken as {server.url}/v1",
            "The provider is named local.",
        ]
        entry = {
            "url": f"{server.url}/v1",
            "key": "secret",
            "model": "large",
            "api": "openai-chat",
        }
        assert document == {"providers": {"local": entry}, "currentProvider": "local"}
        again = connected(path, Person("other", f"{server.url}/v1", "", "small"))
    assert [*again["providers"]] == ["local", "local-2"]


def test_model_that_is_not_listed_can_be_named_and_is_tried(path: Path) -> None:
    refusal = json_answer({"error": {"message": "no such model"}}, status=404)
    with LoopbackServer([LISTED, refusal, LISTED, chat_stream("Hello.")]) as server:
        person = Person(
            *("other", "house", f"{server.url}/v1", ""),
            *("(another)", "", "smal", "again", "(another)", "hidden"),
        )
        document = connected(path, person)
    assert person.errors[0] == "a model has to be named"
    assert person.errors[1].startswith("it does not work yet: ")
    assert "Did you mean small?" in person.errors[1]
    assert person.told[-2] == "Trying hidden ..."
    assert document["providers"]["house"]["model"] == "hidden"


def test_name_and_url_are_asked_for_until_they_can_be_used(path: Path) -> None:
    person = Person("other", "", "two words", "house", "", "nonsense", "ftp://there", None)
    assert connected(path, person) is None
    assert [error.partition("\n")[0] for error in person.errors] == [
        "'' cannot be the name of a provider",
        "'two words' cannot be the name of a provider",
        "there is no URL",
        "'nonsense' is neither a known name nor a URL",
        "the URL begins with 'ftp', which is not spoken here",
    ]
    assert person.told[-1] == "Nothing was saved."


def test_url_without_a_scheme_gets_one_and_that_is_told(path: Path) -> None:
    with LoopbackServer(LISTED) as server:
        bare = server.url.removeprefix("http://")
        document = connected(path, person := Person("other", "house", f"{bare}/v1", "", ""))
    assert person.told[0] == f"The URL has no scheme: taken as {server.url}/v1"
    assert document["providers"]["house"]["url"] == f"{server.url}/v1"


def test_failed_check_is_told_and_asked_again_with_what_was_said(path: Path) -> None:
    refusal = json_answer({"error": {"message": "bad key"}}, status=401)
    with LoopbackServer([refusal, LISTED]) as server:
        person = Person("other", "house", server.url, "wrong", "change", "", "right", "")
        document = connected(path, person)
    assert len(person.errors) == 1
    assert person.errors[0].startswith("it does not work yet: ")
    assert "wrong" not in person.errors[0]
    assert person.asked[4:7] == [
        NEXT,
        f"URL [{server.url}]",
        "Key (hidden; Enter keeps the one there is)",
    ]
    assert document["providers"]["house"]["key"] == "right"


def test_key_goes_to_the_server_that_it_was_given_for(path: Path) -> None:
    refusal = json_answer({"error": {"message": "bad key"}}, status=401)
    with LoopbackServer(refusal) as server, LoopbackServer(LISTED) as other:
        person = Person("other", "house", server.url, "secret", "change", other.url, "", "")
        document = connected(path, person)
    assert "authorization" not in other.requests[0].headers
    assert "key" not in document["providers"]["house"]


def test_provider_that_could_not_be_checked_is_saved_all_the_same(path: Path) -> None:
    with LoopbackServer(json_answer({}, status=404)) as server:
        person = Person("other", "house", f"{server.url}/api", "", "any", "save", "any")
        document = connected(path, person)
    assert person.told[1].startswith("It lists no models: ")
    assert "is probably wrong: most end in /v1" in person.told[1]
    assert document["providers"]["house"]["model"] == "any"


def test_verification_can_be_skipped_where_a_certificate_is_not_trusted(
    path: Path, server_tls: ssl.SSLContext
) -> None:
    with LoopbackServer(LISTED, tls=server_tls) as server:
        person = Person("other", "house", server.url, "", "y", "")
        document = connected(path, person)
    assert person.asked[4:] == ["Skip the verification of TLS certificates? (y/n) [n]", MODEL]
    assert document["providers"]["house"]["skipVerify"] is True


def test_verification_is_not_skipped_unasked(path: Path, server_tls: ssl.SSLContext) -> None:
    with LoopbackServer(LISTED, tls=server_tls) as server:
        for answers in ((None,), ("n", None)):
            assert connected(path, Person("other", "house", server.url, "", *answers)) is None


def test_well_known_provider_takes_the_key_of_the_environment(path: Path) -> None:
    with LoopbackServer(LISTED) as server:
        environ = {"OPENAI_API_KEY": "sk-env", "OPENAI_BASE_URL": server.url}
        person = Person("", "")
        document = connected(path, person, environ)
    offered = person.offered[WHICH]
    assert next(iter(offered.items())) == ("openai", "the key in $OPENAI_API_KEY is used")
    assert [*offered][-2:] == ["demo", "other"]
    assert person.asked == [WHICH, MODEL]
    assert document["providers"]["openai"]["key"] == "$OPENAI_API_KEY"
    assert server.requests[0].headers["authorization"] == "Bearer sk-env"


def test_well_known_provider_asks_only_for_its_key(path: Path) -> None:
    with LoopbackServer(LISTED) as server:
        person = Person("openai", "secret", "")
        document = connected(path, person, {"OPENAI_BASE_URL": server.url})
    assert person.asked == [WHICH, KEY, MODEL]
    assert person.told[0] == f"openai at {server.url}. Its key may be in $OPENAI_API_KEY as well."
    assert document["providers"]["openai"]["key"] == "secret"
    assert document["providers"]["openai"]["url"] == server.url


def test_demo_is_made_current_without_an_entry(path: Path) -> None:
    person = Person("demo")
    assert connected(path, person) == {"currentProvider": "demo"}


@pytest.mark.parametrize("answered", range(5))
def test_giving_up_at_any_question_writes_nothing(path: Path, answered: int) -> None:
    with LoopbackServer(LISTED) as server:
        person = Person(*["other", "house", server.url, "key"][:answered], None)
        assert connected(path, person) is None
    assert person.told[-1] == "Nothing was saved."
    assert list(path.parent.iterdir()) == []


@pytest.mark.parametrize("after", [["again", None], ["save", None], ["change", None], [None]])
def test_giving_up_after_a_failure_writes_nothing(path: Path, after: list[str | None]) -> None:
    with LoopbackServer(json_answer({}, status=401)) as server:
        if after[0] == "again":
            after = ["again", *after]
        person = Person("other", "house", server.url, "key", *after)
        assert connected(path, person) is None
    assert list(path.parent.iterdir()) == []


def test_what_cannot_be_saved_is_told(path: Path) -> None:
    with LoopbackServer(LISTED) as server:
        person = Person("other", "house", server.url, "", "")
        config = load_config(path)
        path.write_text("{ no JSON")
        assert connect(person, config, Plugins(strict=True), {}) is None
    assert len(person.errors) == 1
    assert "Nothing was changed." in person.errors[0]
    assert path.read_text() == "{ no JSON"


def test_local_servers_are_those_that_list_their_models_or_want_a_key() -> None:
    plugins = Plugins(strict=True)
    with (
        LoopbackServer(LISTED) as lists,
        LoopbackServer(json_answer({}, status=401)) as locked,
        LoopbackServer(Answer([b"<html>"], content_type="text/html")) as other,
    ):
        known = [
            ProviderConfig(name, f"{server.url}/v1")
            for name, server in (("lists", lists), ("locked", locked), ("other", other))
        ]
        # a busy machine may once take longer than a person is made to wait, but not each time
        assert any(local_servers(plugins, known) == known[:2] for _ in range(5))
    assert local_servers(plugins, known) == []
