"""The commands, through a host that is no terminal: what they change, save and say."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import hrns_tui
import pytest
from hrns_tui.dispatch import run_command

from hrns import Agent, ProviderKind, SlashCommand, SystemMessage, Tool, tool
from hrns import hookimpl as implements
from hrns.config import ProviderConfig, choose_provider, load_config
from hrns.context import SessionContext
from hrns.errors import Unreachable
from hrns.plugins import Plugins
from hrns.providers.base import ModelInfo
from hrns.session import Session, open_session
from hrns.testing import Say, ScriptedProvider


class Host:
    """Keeps what a command says and does; answers what it asks with the next of `answers`."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.said: list[str] = []
        self.errors: list[str] = []
        self.sent: list[str] = []
        self.left = False
        self.answers: deque[str | None] = deque()
        self.asked: list[str] = []
        self.offered: dict[str, str] = {}

    def say(self, text: str) -> None:
        self.said.append(text)

    def error(self, text: str) -> None:
        self.errors.append(text)

    def ask(self, prompt: str, *, default: str = "", secret: bool = False) -> str | None:
        self.asked.append(f"{prompt} [{'***' if secret else default}]")
        answer = self.answers.popleft()
        return None if answer is None else answer or default

    def pick(self, title: str, options: Sequence[tuple[str, str]]) -> str | None:
        self.offered = dict(options)
        if "connect?" in title:
            return "other" if self.answers[0] else None
        return self.answers.popleft() if self.answers else None

    def send(self, text: str) -> None:
        self.sent.append(text)

    def leave(self) -> None:
        self.left = True


class Guest:
    """A plugin: scripted models, two tools, an agent with one of them, commands of its own."""

    def __init__(self) -> None:
        self.built: list[ProviderConfig] = []

    @implements
    def hrns_providers(self) -> ProviderKind:
        return ProviderKind("scripted", self.build, lambda url: url.startswith("scripted:"))

    def build(self, entry: ProviderConfig) -> ScriptedProvider:
        self.built.append(entry)
        if entry.url == "nowhere":
            return Silent()
        return ScriptedProvider([Say("Hello.")] * 9, models=[f"{entry.name}-1", f"{entry.name}-2"])

    @implements
    def hrns_tools(self) -> list[Tool]:
        return [look, smash]

    @implements
    def hrns_agents(self) -> Agent:
        return Agent("Reader", "Only reads.", "You read.", effects=frozenset({"read"}))

    @implements
    def hrns_slash_commands(self, context: SessionContext) -> list[SlashCommand]:
        def fail(_host: object, _argument: str) -> NoReturn:
            raise KeyError(context.mode)

        return [
            SlashCommand("fail", "Fails.", fail),
            SlashCommand("fix", "Sends.", lambda host, rest: host.send(f"fix {rest}")),
            SlashCommand("odd", "Is odd.", fail, usage="X", complete=fail, needs_argument=True),
        ]


class Silent(ScriptedProvider):
    """A server that is not there."""

    def __init__(self) -> None:
        super().__init__([])

    def models(self) -> Sequence[ModelInfo]:
        raise Unreachable("nobody listens there", hint="Is it running?")


@tool(effects=["read"])
def look() -> str:
    """Looks."""
    return "ok"


@tool(effects=["execute"])
def smash() -> str:
    """Smashes."""
    return "ok"


DOCUMENT: dict[str, Any] = {
    "providers": {
        "near": {"api": "scripted", "model": "near-1", "note": "kept"},
        "far": {"api": "scripted", "model": "far-1"},
        "bare": {"api": "scripted"},
        "silent": {"api": "scripted", "url": "nowhere", "model": "s"},
        "odd": {"api": "smoke-signals", "model": "puff"},
    },
    "currentProvider": "near",
    "currentAgent": "Builder",
}


KEY_LABEL = "Key (hidden; $NAME takes it from the environment; Enter for none)"


class Stage:
    """A configuration file, a session over it, and the host of its commands."""

    def __init__(self, directory: Path, environ: dict[str, str]) -> None:
        self.path = directory / "config.json"
        self.path.write_text(json.dumps(DOCUMENT))
        self.guest = Guest()
        plugins = Plugins(strict=True)
        plugins.register("tui", hrns_tui, distribution="hrns-tui")
        plugins.register("guest", self.guest)
        config = load_config(self.path)
        entry = choose_provider(config, "", "", environ)
        self.session = open_session(config, plugins, entry, cwd=directory, environ=environ)
        self.send("Hello.")
        self.kept = self.session.messages
        self.host = Host(self.session)

    @property
    def saved(self) -> Any:
        """The document in the file."""
        return json.loads(self.path.read_text())

    def spoil(self) -> None:
        """From now on nothing can be saved."""
        self.path.write_text("{ this is no JSON")

    def do(self, line: str) -> Host:
        """Run a command; the host begins afresh."""
        self.host.said, self.host.errors, self.host.asked = [], [], []
        run_command(self.host, line)
        return self.host

    def send(self, text: str) -> None:
        """Say something to the model."""
        list(self.session.send(text))


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    with _staged(tmp_path, {}) as stage:
        yield stage


@contextmanager
def _staged(directory: Path, environ: dict[str, str]) -> Iterator[Stage]:
    stage = Stage(directory, environ)
    with stage.session:
        yield stage


def test_help_lists_every_command_with_its_usage(stage: Stage) -> None:
    [text] = stage.do("/help").said
    assert (
        text
        == """\
/help             Lists the commands.
/new              Begins a new conversation.
/models           Lists the models of the provider.
/model NAME       Goes on with another model, and makes it the provider's default.
/providers        Lists the providers.
/provider NAME    Goes on with another provider and its default model.
/connect          Connects a provider, and goes on with it.
/agents           Lists the agents.
/agent NAME       Goes on with another agent: its prompt and its tools.
/sessions [all]   Lists the sessions that were held in this directory, or in all.
/resume [ID]      Goes on with another session.
/fork             Goes back to one of your messages, to say it otherwise.
/export [FILE]    Writes the conversation to a Markdown file.
/copy             Copies the last answer to the clipboard.
/context          Says what the conversation takes of the model's context.
/tools            Lists the tools, and which of them the agent is offered.
/skills           Lists the skills.
/plugins          Lists the plugins.
/permissions      Says what is allowed, asked about and denied.
/mode NAME        Changes the permission mode, for this session.
/clear            Begins a new conversation on an empty screen.
/theme NAME       Takes colours for a dark or a light background.
/editor           Opens the next message in $EDITOR.
/exit             Leaves.
/fail             Fails.
/fix              Sends.
/odd X            Is odd."""
    )


def test_new_begins_a_conversation_with_a_fresh_system_message(stage: Stage) -> None:
    [text] = stage.do("/new").said
    assert stage.session.messages == (SystemMessage(stage.session.system_prompt()),)
    assert text == (
        "A new conversation; /resume goes back to the one before.\n"
        "provider near, model near-1, agent Builder, mode ask"
    )


def test_models_marks_the_current_one(stage: Stage) -> None:
    assert stage.do("/models").said == ["* near-1\n  near-2"]


def test_models_that_cannot_be_listed_are_an_error_that_says_why(stage: Stage) -> None:
    stage.do("/provider silent")
    assert stage.do("/models").errors == ["nobody listens there\nIs it running?"]


def test_model_is_used_from_now_on_and_saved_as_the_default(stage: Stage) -> None:
    host = stage.do("/model near-2")
    assert host.said == ["The model is near-2, and the default of provider near."]
    assert stage.session.model == "near-2"
    assert stage.saved["providers"]["near"] == {
        "api": "scripted",
        "model": "near-2",
        "note": "kept",
    }
    stage.do("/provider far")
    stage.do("/provider near")
    assert stage.session.model == "near-2"


def test_model_that_is_not_listed_is_used_and_that_is_told(stage: Stage) -> None:
    assert stage.do("/model near-3").said == [
        "The model is near-3, and the default of provider near.",
        "It is not in the list of near; nearest: near-2, near-1.",
    ]
    assert stage.session.model == "near-3"
    stage.do("/provider silent")  # it cannot be asked for its list
    assert stage.do("/model s2").said == ["The model is s2, and the default of provider silent."]


def test_model_that_cannot_be_saved_is_taken_back(stage: Stage) -> None:
    stage.spoil()
    host = stage.do("/model near-2")
    assert (len(host.errors), host.said) == (1, [])
    assert "config.json" in host.errors[0]
    assert "Nothing was changed." in host.errors[0]
    assert stage.session.model == "near-1"


def test_model_of_a_provider_that_is_not_configured_is_for_the_session(stage: Stage) -> None:
    stage.do("/provider demo")
    before = stage.saved
    host = stage.do("/model other")
    assert host.said == [
        "The model is other, for this session: demo has no entry to save it in.",
        "It is not in the list of demo; /models shows it.",
    ]
    assert stage.session.model == "other"
    assert stage.saved == before


def test_providers_marks_the_current_one(tmp_path: Path) -> None:
    with _staged(tmp_path, {"GROQ_API_KEY": "g"}) as stage:
        assert stage.do("/providers").said == [
            """\
* near     near-1   scripted
  far      far-1    scripted
  bare              scripted
  silent   s        scripted
  odd      puff     smoke-signals
  groq              openai-chat
  demo     demo     demo"""
        ]


def test_provider_is_rebuilt_with_its_own_model_and_the_conversation_kept(stage: Stage) -> None:
    host = stage.do("/provider far")
    assert host.said == ["The provider is far, its model far-1, also the next time."]
    assert stage.guest.built[-1].name == "far"
    assert (stage.session.entry.name, stage.session.model) == ("far", "far-1")
    assert stage.session.messages == stage.kept
    assert stage.saved == {**DOCUMENT, "currentProvider": "far"}
    stage.send("Second.")
    assert stage.session.messages[: len(stage.kept)] == stage.kept


def test_provider_that_cannot_be_saved_is_taken_back(stage: Stage) -> None:
    stage.spoil()
    host = stage.do("/provider far")
    assert (len(host.errors), host.said) == (1, [])
    assert (stage.session.entry.name, stage.session.model) == ("near", "near-1")
    assert stage.guest.built[-1].name == "near"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("fra", "there is no provider 'fra'\nDid you mean far?"),
        ("odd", "provider 'odd' speaks 'smoke-signals', which nothing here does"),
    ],
)
def test_provider_that_is_unknown_or_unusable_changes_nothing(
    stage: Stage, name: str, why: str
) -> None:
    host = stage.do(f"/provider {name}")
    assert (len(host.errors), host.said) == (1, [])
    assert host.errors[0].startswith(why)
    assert stage.session.entry.name == "near"
    assert stage.saved == DOCUMENT


def test_provider_without_a_default_model_asks_for_one(stage: Stage) -> None:
    stage.host.answers.append("bare-2")
    host = stage.do("/provider bare")
    assert [*host.offered][:2] == ["bare-1", "bare-2"]
    assert stage.session.model == "bare-2"
    assert stage.saved["currentProvider"] == "bare"
    assert stage.saved["providers"]["bare"] == {"api": "scripted", "model": "bare-2"}


def test_provider_without_a_default_model_takes_that_of_the_environment(tmp_path: Path) -> None:
    with _staged(tmp_path, {"HRNS_MODEL": "anywhere"}) as stage:
        stage.do("/provider bare")
        assert stage.session.model == "anywhere"


def test_provider_is_not_changed_if_no_model_is_named(stage: Stage) -> None:
    stage.host.answers.append(None)
    stage.do("/provider bare")
    assert stage.session.entry.name == "near"
    assert stage.saved == DOCUMENT


def test_agents_marks_the_current_one(stage: Stage) -> None:
    [text] = stage.do("/agents").said
    lines = text.splitlines()
    assert [line.split()[:2] for line in lines[:2]] == [["*", "Builder"], ["Explorer", "Finds"]]
    assert lines[-1] == "  Reader     Only reads."


def test_agent_takes_its_prompt_and_tools_and_the_conversation_is_kept(stage: Stage) -> None:
    assert [tool.name for tool in stage.session.offered] == ["look", "smash"]
    host = stage.do("/agent reader")
    assert host.said == ["The agent is Reader, also the next time."]
    assert [tool.name for tool in stage.session.offered] == ["look"]
    system, *rest = stage.session.messages
    assert isinstance(system, SystemMessage)
    assert system.text.startswith("You read.")
    assert tuple(rest) == stage.kept[1:]
    assert stage.saved == {**DOCUMENT, "currentAgent": "Reader"}


def test_agent_that_cannot_be_saved_is_taken_back(stage: Stage) -> None:
    stage.do("/agent explorer")
    conversation = stage.session.messages
    stage.spoil()
    host = stage.do("/agent reader")
    assert (len(host.errors), host.said) == (1, [])
    assert stage.session.agent.name == "Explorer"
    assert stage.session.messages == conversation


def test_agent_that_is_unknown_changes_nothing(stage: Stage) -> None:
    host = stage.do("/agent Raeder")
    assert host.errors[0].startswith("there is no agent 'Raeder'\nDid you mean Reader?")
    assert (stage.session.messages, stage.saved) == (stage.kept, DOCUMENT)


def test_connect_saves_and_goes_on_with_the_new_provider(stage: Stage) -> None:
    stage.host.answers.extend(["new", "scripted://1", "secret", "new-2"])
    host = stage.do("/connect")
    assert host.errors == []
    assert host.asked == ["Provider name or URL []", "URL []", f"{KEY_LABEL} [***]"]
    assert host.offered == {"new-1": "", "new-2": "", "(another)": "a model that is not listed"}
    new = {
        "url": "scripted://1",
        "key": "secret",
        "model": "new-2",
        "api": "scripted",
    }
    assert stage.saved == {
        **DOCUMENT,
        "providers": {**DOCUMENT["providers"], "new": new},
        "currentProvider": "new",
    }
    assert (stage.session.entry.name, stage.session.model) == ("new", "new-2")
    assert stage.session.messages == stage.kept
    assert stage.do("/providers").said[0].splitlines()[-2] == "* new      new-2    scripted"


def test_connect_offers_what_is_there_and_keeps_fields_it_does_not_ask_for(stage: Stage) -> None:
    stage.host.answers.extend(["near", "", "", "near-1"])
    stage.do("/connect")
    near = {"api": "scripted", "model": "near-1", "note": "kept"}
    assert stage.saved["providers"]["near"] == near


def test_connect_that_cannot_be_saved_changes_nothing(stage: Stage) -> None:
    stage.spoil()
    stage.host.answers.extend(["far", "", "", "far-1"])
    host = stage.do("/connect")
    assert len(host.errors) == 1
    assert "Nothing was changed." in host.errors[0]
    assert stage.session.entry.name == "near"


@pytest.mark.parametrize("answered", range(4))
def test_connect_that_is_given_up_changes_nothing(stage: Stage, answered: int) -> None:
    stage.host.answers.extend([*["far", "", "", ""][:answered], None])
    host = stage.do("/connect")
    assert host.said[-1] == "Nothing was saved."
    assert stage.saved == DOCUMENT
    assert stage.session.entry.name == "near"


def test_exit_leaves(stage: Stage) -> None:
    assert stage.do("/exit").left


@pytest.mark.parametrize("name", ["model", "provider", "agent"])
def test_missing_argument_shows_the_usage(stage: Stage, name: str) -> None:
    host = stage.do(f"/{name} ")
    assert host.errors == []
    assert host.said[0].startswith(f"Usage: /{name} NAME\n")
    assert stage.saved == DOCUMENT


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("/modles", "there is no command /modles, and nothing was sent\nDid you mean /models or"),
        ("/MODEL x", "there is no command /MODEL, and nothing was sent\nDid you mean /model or"),
        ("/", "there is no command /, and nothing was sent\n/help lists all"),
        ("/ new", "there is no command /, and nothing was sent\n/help lists all"),
        ("/etc/hosts is odd", "there is no command /etc/hosts, and nothing was sent\n/help lists"),
    ],
)
def test_unknown_command_is_an_error_and_nothing_is_sent(
    stage: Stage, line: str, told: str
) -> None:
    host = stage.do(line)
    assert (len(host.errors), host.said, host.sent) == (1, [], [])
    assert host.errors[0].startswith(told)


def test_commands_of_other_plugins_run_and_may_fail(stage: Stage) -> None:
    assert stage.do("/fix  it\nnow ").sent == ["fix it\nnow"]
    assert stage.do("/fail").errors == ["/fail failed: KeyError: 'ask'"]
    assert stage.do("/odd").errors == ["/odd cannot say what there is: KeyError: 'ask'"]


def test_arguments_are_completed(tmp_path: Path) -> None:
    with _staged(tmp_path, {"GROQ_API_KEY": "g"}) as stage:
        commands = {command.name: command for command in stage.session.commands}

        def completed(name: str, word: str) -> list[str]:
            return list(commands[name].complete(stage.session, word))

        assert completed("provider", "") == [*DOCUMENT["providers"], "groq", "demo"]
        assert completed("agent", "p") == ["Planner", "Pirate"]
        assert completed("model", "near") == ["near-1", "near-2"]
        stage.do("/provider silent")
        assert completed("model", "") == []
        assert completed("help", "") == []


# What a session has


def test_mode_is_changed_or_said_what_there_is(stage: Stage) -> None:
    assert stage.do("/mode plan").said == ["mode plan: nothing may be changed"]
    assert stage.session.context.mode == "plan"
    assert stage.do("/mode wild").errors[0].startswith("there is no mode 'wild'\n  ask ")
    assert stage.session.context.mode == "plan"


@pytest.mark.parametrize(
    ("name", "word", "description"),
    [("model", "near-2", ""), ("provider", "far", "far-1"), ("agent", "Reader", "Only reads.")],
)
def test_argument_that_is_missing_is_picked_from_what_there_is(
    stage: Stage, name: str, word: str, description: str
) -> None:
    stage.host.answers.append(word)
    host = stage.do(f"/{name}")
    assert host.offered[word] == description
    assert word in (stage.session.model, stage.session.entry.name, stage.session.agent.name)


def test_argument_that_is_missing_is_picked(stage: Stage) -> None:
    stage.host.answers.append("all")
    host = stage.do("/mode")
    assert [*host.offered] == ["ask", "edits", "all", "plan"]
    assert host.offered["plan"] == "nothing may be changed"
    assert host.said[0].startswith("Usage: /mode NAME")
    assert stage.session.context.mode == "all"


def test_tools_plugins_and_rules_are_listed(stage: Stage) -> None:
    [tools] = stage.do("/tools").said
    assert [line.split() for line in tools.splitlines()[:2]] == [
        ["*", "look", "read", "guest"],
        ["*", "smash", "execute", "guest"],
    ]
    [plugins] = stage.do("/plugins").said
    assert ["tui", "(hrns-tui)", "loaded"] in [line.split() for line in plugins.splitlines()]
    assert stage.do("/skills").said == ["There are no skills."]
    stage.path.write_text(json.dumps({**DOCUMENT, "permissions": {"deny": ["smash"]}}))
    stage.session.use_config(load_config(stage.path))
    [rules] = stage.do("/permissions").said
    assert rules == "mode ask: what changes something is asked about\ndeny   smash"


def test_context_says_what_is_used(stage: Stage) -> None:
    rows = dict(line.split(None, 1) for line in stage.do("/context").said[0].splitlines())
    assert rows["messages"] == "2"  # the system prompt is told apart
    assert rows["tools"] == "offered    2"


def test_conversation_is_exported_once(stage: Stage) -> None:
    [said] = stage.do("/export talk.md").said
    path = stage.path.parent / "talk.md"
    assert said == f"The conversation is in {path}."
    assert "## User\n\nHello.\n\n## Assistant\n\nHello.\n" in path.read_text()
    assert stage.do("/export talk.md").errors == [
        f"cannot write {path}: File exists\nName another file: /export FILE"
    ]


def test_copy_and_theme_work_in_any_front_end(stage: Stage) -> None:
    assert stage.do("/copy").said == ["Hello."]
    stage.do("/new")
    assert stage.do("/copy").errors == ["there is no answer yet that could be copied"]
    assert stage.do("/theme light").said == ["The theme is light, also the next time."]
    assert stage.saved["tui"] == {"theme": "light"}
    assert stage.do("/theme pink").errors == ["there is no theme 'pink'; there are dark and light"]
    assert stage.do("/editor").errors == ["that is for the prompt of a terminal"]


def test_sessions_without_a_file_are_none(tmp_path: Path) -> None:
    with _staged(tmp_path, {"XDG_DATA_HOME": str(tmp_path)}) as stage:
        [said] = stage.do("/sessions").said
        assert said.startswith("No session was held in this directory yet.\n")
        assert stage.do("/sessions all").said == ["No session was held yet."]
        assert stage.do("/sessions few").errors == ["/sessions takes 'all', or nothing"]
        assert stage.do("/fork").errors == ["nothing was said yet that could be gone back to"]
        assert stage.do("/resume").errors[0].startswith("sessions are gone on with at the prompt")
