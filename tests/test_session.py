"""A session: plugins, agent, permissions and sinks around the loop."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from hrns import hookimpl
from hrns.agents import Agent
from hrns.chunks import Chunk, EndChunk, MessageChunk, NoticeChunk
from hrns.config import Config, ProviderConfig, config_from
from hrns.context import Mode, SessionContext
from hrns.errors import ConfigError, ToolsRefused, UsageError
from hrns.messages import SystemMessage, ToolMessage, ToolResult, UserMessage
from hrns.permissions import Answer, Question, Rule
from hrns.plugins import Plugins
from hrns.providers.base import ModelOptions
from hrns.records import PromptSection, ProviderKind, Skill
from hrns.session import BASE_PROMPT, Session, build_provider, choose_agent, open_session
from hrns.testing import Call, Fail, Reply, Say, ScriptedProvider
from hrns.tools import Tool, ToolContext, tool

ENTRY = ProviderConfig("test", api="scripted", model="m")


class Guest:
    """A plugin whose hooks give what the test says."""

    def __init__(self, **given: Any) -> None:
        self.given = given

    def _of(self, name: str, context: SessionContext | None = None) -> Any:
        given = self.given.get(name, ())
        return given(context) if callable(given) and context is not None else given

    @hookimpl
    def hrns_tools(self, context: SessionContext) -> Iterable[Tool]:
        return list(self._of("tools", context))

    @hookimpl
    def hrns_agents(self) -> Iterable[Agent]:
        return list(self._of("agents"))

    @hookimpl
    def hrns_skills(self) -> Iterable[Skill]:
        return list(self._of("skills"))

    @hookimpl
    def hrns_prompt_sections(self) -> Iterable[PromptSection]:
        return list(self._of("sections"))

    @hookimpl
    def hrns_chunk_sinks(self) -> Iterable[Callable[[Chunk], None]]:
        return list(self._of("sinks"))

    @hookimpl
    def hrns_permission_policies(self, context: SessionContext) -> Iterable[Any]:
        return list(self._of("policies", context))

    @hookimpl
    def hrns_session_start(self) -> None:
        self.given.get("events", []).append("start")

    @hookimpl
    def hrns_session_end(self) -> None:
        self.given.get("events", []).append("end")


class Providers:
    """A plugin that brings the protocol `scripted`."""

    def __init__(self, provider: ScriptedProvider) -> None:
        self.provider = provider
        self.entries: list[ProviderConfig] = []

    @hookimpl
    def hrns_providers(self) -> ProviderKind:
        def build(entry: ProviderConfig) -> ScriptedProvider:
            self.entries.append(entry)
            return self.provider

        return ProviderKind("scripted", build)


def make(
    script: Sequence[Reply],
    *guests: Guest,
    config: Config | None = None,
    entry: ProviderConfig = ENTRY,
    mode: Mode = "all",
    environ: dict[str, str] | None = None,
    **options: Any,
) -> Session:
    plugins = Plugins()
    plugins.register("providers", Providers(ScriptedProvider(script)))
    for number, guest in enumerate(guests):
        plugins.register(
            f"guest{number}", guest, distribution=guest.given.get("dist", "guest-dist")
        )
    return open_session(
        config or Config(Path("/nowhere/config.json")),
        plugins,
        entry,
        cwd=options.pop("cwd", Path("/nowhere")),
        environ=environ or {},
        mode=mode,
        **options,
    )


def requests(session: Session) -> Any:
    return session._provider.inner.requests  # type: ignore[attr-defined]


def results(session: Session) -> list[ToolResult]:
    return [r for m in session.messages if isinstance(m, ToolMessage) for r in m.results]


@tool(effects=["write"])
def act(text: str) -> str:
    """Act."""
    return f"acted: {text}"


def look(returns: str, *, replaces: bool = False) -> Tool:
    return Tool("look", "", {"type": "object"}, lambda *_: returns, effects=(), replaces=replaces)


def test_conversation_goes_on_from_turn_to_turn() -> None:
    session = make([Say("one"), Say("two")])
    assert list(session.send("a"))[-1] == EndChunk("done")
    assert list(session.send("b"))[-1] == EndChunk("done")
    roles = [type(message).__name__ for message in session.messages]
    assert roles == ["SystemMessage", *["UserMessage", "AssistantMessage"] * 2]
    assert requests(session)[1].model == "m"


@pytest.mark.parametrize("text", ["", " \n"])
def test_empty_message_is_misuse(text: str) -> None:
    with pytest.raises(UsageError, match="empty"):
        make([]).send(text)


def test_closed_session_takes_no_message() -> None:
    events: list[str] = []
    session = make([], Guest(events=events))
    session.close()
    session.close()
    assert events == ["start", "end"]
    with pytest.raises(UsageError, match="closed"):
        session.send("a")


def test_system_prompt_is_the_agents_then_the_sections_in_order() -> None:
    guest = Guest(
        agents=[Agent("Plain", prompt="Be plain.")],
        sections=[PromptSection("late", "Late.", 200), PromptSection("early", "Early.", 10)],
    )
    session = make([], guest, agent="plain", append_system="The end.")
    parts = session.system_prompt().split("\n\n")
    assert parts[0] == "Be plain."
    assert parts[1] == "Early."
    assert parts[2].startswith("Working directory: /nowhere\n")
    assert parts[3:] == ["Late.", "The end."]
    assert session.messages == (SystemMessage(session.system_prompt()),)


def test_system_text_takes_the_place_of_the_agents_prompt() -> None:
    session = make([], Guest(agents=[Agent("Bare")]), agent="Bare")
    assert session.system_prompt().startswith(BASE_PROMPT)
    assert make([], system="Only this.").system_prompt().startswith("Only this.\n\nWorking")


def test_new_begins_afresh() -> None:
    session = make([Say("one")])
    list(session.send("a"))
    session.new()
    assert session.messages == (SystemMessage(session.system_prompt()),)


# Agents


def test_agent_without_an_effect_is_not_offered_its_tools() -> None:
    session = make([Say("a"), Say("b")], Guest(tools=[act, look("")]), agent="Explorer")
    list(session.send("x"))
    assert [spec.name for spec in requests(session)[0].tools] == ["look"]
    session.use_agent("Builder")
    list(session.send("y"))
    assert [spec.name for spec in requests(session)[1].tools] == ["act", "look"]
    assert requests(session)[1].messages[0].text.startswith(session.agent.prompt)
    assert session.messages[1] == UserMessage("x")


def test_tool_that_declares_nothing_is_kept_from_read_only_agents() -> None:
    undeclared = Tool("look", "", {"type": "object"}, lambda *_: "")
    assert make([], Guest(tools=[undeclared]), agent="Planner").offered == ()


def test_file_agent_replaces_the_built_in_of_its_name() -> None:
    session = make([], Guest(agents=[Agent("builder", prompt="Mine."), Agent("builder")]))
    assert session.agent.prompt == "Mine."
    assert [agent.name for agent in session.context.agents] == [
        "builder",
        "Explorer",
        "Planner",
        "Pirate",
    ]


def test_unknown_agent_is_an_error_that_names_the_nearest() -> None:
    with pytest.raises(ConfigError, match="there is no agent 'explorr'") as caught:
        make([], agent="explorr")
    assert caught.value.hint == (
        "Did you mean Explorer? The agents are: Builder, Explorer, Planner, Pirate."
    )


@pytest.mark.parametrize(
    ("saved", "name", "notice"),
    [
        ("", "Builder", ""),
        ("pirate", "Pirate", ""),
        ("Gone", "Builder", "The agent 'Gone' does not exist any more; Builder is used."),
    ],
)
def test_saved_agent_is_used_while_it_exists(saved: str, name: str, notice: str) -> None:
    agents = [Agent("Pirate"), Agent("Builder")]
    agent, told = choose_agent(agents, "", saved)
    assert (agent.name, told) == (name, notice)


def test_stale_agent_is_told_before_the_first_answer() -> None:
    session = make([Say("a")], config=config_from({"currentAgent": "Gone"}, Path("/c.json")))
    assert next(session.send("x")) == NoticeChunk(
        "The agent 'Gone' does not exist any more; Builder is used."
    )


# Tools of one name


def test_bundled_tool_wins_over_a_guest_of_its_name() -> None:
    session = make(
        [],
        Guest(tools=[look("guest")]),
        Guest(tools=[look("bundled")], dist="hrns-tools-fs"),
    )
    assert [t.run({}, ToolContext()).text for t in session.tools] == ["bundled"]
    (warning,) = session.take_notices()
    assert warning == (
        "two tools are called 'look': the one of plugin guest1 (hrns-tools-fs) is used, "
        "the one of plugin guest0 (guest-dist) is left out"
    )


def test_tool_that_replaces_wins_over_a_bundled_one() -> None:
    session = make(
        [],
        Guest(tools=[look("bundled")], dist="hrns-tools-fs"),
        Guest(tools=[look("guest", replaces=True)]),
    )
    assert [t.run({}, ToolContext()).text for t in session.tools] == ["guest"]


def test_tool_whose_name_no_server_takes_is_left_out() -> None:
    odd = [Tool(name, "", {}, lambda *_: "") for name in ("git.status", "x" * 80, "fine")]
    session = make([], Guest(tools=odd))
    assert [t.name for t in session.tools] == ["fine"]
    warnings = session.take_notices()
    assert len(warnings) == 2
    assert "'git.status' of plugin guest0 (guest-dist) is left out" in warnings[0]


@pytest.mark.parametrize(
    ("description", "schema", "why"),
    [
        ("d", {"x": {1, 2}}, "Object of type set is not JSON serializable"),
        ("d", {"x": float("nan")}, "Out of range float values are not JSON compliant"),
        ("half \ud83d", {}, "surrogates not allowed"),
    ],
)
def test_tool_that_cannot_be_written_as_json_is_left_out(
    description: str, schema: dict[str, Any], why: str
) -> None:
    odd = Tool("odd", description, schema, lambda *_: "")
    session = make([], Guest(tools=[odd, Tool("fine", "", {}, lambda *_: "")]))
    assert [t.name for t in session.tools] == ["fine"]
    (warning,) = session.take_notices()
    begin = "the tool 'odd' of plugin guest0 (guest-dist) is left out: its description or schema "
    assert warning.startswith(begin)
    assert why in warning


def test_tool_whose_arguments_are_no_object_is_left_out() -> None:
    session = make([], Guest(tools=[Tool("odd", "", {"type": "array"}, lambda *_: "")]))
    assert session.tools == ()
    assert session.take_notices() == (
        (
            "the tool 'odd' of plugin guest0 (guest-dist) is left out: its schema is no object, "
            "as the arguments of a call are"
        ),
    )


def test_tools_are_asked_for_when_agents_and_skills_are_known() -> None:
    seen: list[tuple[int, int]] = []

    def tools(context: SessionContext) -> list[Tool]:
        seen.append((len(context.agents), len(context.skills)))
        return []

    make([], Guest(tools=tools), Guest(skills=[Skill("s", "d", read=lambda: "")]))
    assert seen == [(4, 1)]


# Sinks


def test_sinks_see_every_chunk_before_the_consumer() -> None:
    seen: list[Chunk] = []
    session = make([Say("a", pieces=1)], Guest(sinks=[seen.append]))
    for number, chunk in enumerate(session.send("x")):
        assert seen[number] == chunk
    assert seen[-1] == EndChunk("done")


def test_sink_that_raises_is_named_once_and_dropped() -> None:
    seen: list[Chunk] = []

    def bad(_chunk: Chunk) -> None:
        raise KeyError("x")

    session = make([Say("abc", pieces=3), Say("d")], Guest(sinks=[bad, seen.append]))
    chunks = [*session.send("x"), *session.send("y")]
    notices = [chunk.text for chunk in chunks if isinstance(chunk, NoticeChunk)]
    assert len(notices) == 1
    assert notices[0].startswith("the chunk sink of plugin guest0 (guest-dist) failed")
    assert [c for c in seen if not isinstance(c, NoticeChunk)] == [
        c for c in chunks if not isinstance(c, NoticeChunk)
    ]
    assert "".join(c.text for c in chunks if isinstance(c, MessageChunk)) == "abcd"


def test_sink_with_close_is_closed_with_the_session() -> None:
    class Sink:
        closed = 0

        def __call__(self, _chunk: Chunk) -> None:
            pass

        def close(self) -> None:
            self.closed += 1

    sink = Sink()
    with make([], Guest(sinks=[sink])):
        pass
    assert sink.closed == 1


# Permissions


def status(session: Session) -> str:
    list(session.send("go"))
    return results(session)[-1].status


CALL_ACT: list[Reply] = [[Call("act", {"text": "x"})], Say("done")]


@pytest.mark.parametrize(
    ("mode", "answer", "expected"),
    [
        ("all", None, "ok"),
        ("plan", "once", "denied"),
        ("ask", None, "denied"),
        ("ask", "once", "ok"),
        ("ask", "no", "denied"),
        ("edits", "no", "denied"),
    ],
)
def test_mode_decides(mode: Mode, answer: Any, expected: str) -> None:
    def ask(_question: Question) -> Answer:
        return Answer(answer)

    session = make(CALL_ACT, Guest(tools=[act]), mode=mode, ask=ask if answer else None)
    assert status(session) == expected


def test_deny_rule_holds_in_every_mode_and_an_allow_rule_saves_the_question() -> None:
    deny = Rule.parse("deny", "act", "--deny")
    allow = Rule.parse("allow", "act", "--allow")
    assert status(make(CALL_ACT, Guest(tools=[act]), mode="all", rules=[deny])) == "denied"
    assert status(make(CALL_ACT, Guest(tools=[act]), mode="ask", rules=[allow])) == "ok"
    assert status(make(CALL_ACT, Guest(tools=[act]), mode="ask", rules=[allow, deny])) == "denied"
    assert status(make(CALL_ACT, Guest(tools=[act]), mode="plan", rules=[allow])) == "denied"


def test_rules_of_the_configuration_hold() -> None:
    config = config_from({"permissions": {"deny": ["act"]}}, Path("/c.json"))
    session = make(CALL_ACT, Guest(tools=[act]), config=config)
    assert status(session) == "denied"
    assert "c.json" in results(session)[-1].text


def test_answer_for_the_session_is_asked_once() -> None:
    asked: list[Question] = []

    def ask(question: Question) -> Answer:
        asked.append(question)
        return Answer("session")

    session = make([*CALL_ACT, *CALL_ACT], Guest(tools=[act]), mode="ask", ask=ask)
    assert [status(session), status(session)] == ["ok", "ok"]
    assert len(asked) == 1


def test_policy_hook_that_raises_denies_every_call_with_an_effect() -> None:
    def broken(_context: SessionContext) -> Any:
        raise RuntimeError("no rules today")

    session = make(
        [[Call("act", {"text": "x"}), Call("look")], Say("done")],
        Guest(tools=[act, look("seen")]),
        Guest(policies=broken),
    )
    list(session.send("go"))
    assert [r.status for r in results(session)] == ["denied", "ok"]
    assert "permission policies of plugin guest1" in results(session)[0].text


# Providers


def test_unknown_protocol_is_an_error_that_names_the_known() -> None:
    with pytest.raises(ConfigError, match="speaks 'morse'") as caught:
        make([], entry=ProviderConfig("p", api="morse", model="m"))
    assert "demo" in caught.value.hint
    assert "scripted" in caught.value.hint


def test_key_is_looked_up_in_the_environment_when_the_provider_is_built() -> None:
    plugins = Plugins()
    providers = Providers(ScriptedProvider([]))
    plugins.register("providers", providers)
    entry = ProviderConfig("p", api="scripted", model="m", key="$MY_KEY")
    config = Config(Path("/c.json"), providers={"p": entry})
    environ = {"MY_KEY": "k-123456789"}
    open_session(config, plugins, entry, cwd=Path("/"), environ=environ)
    assert [each.key for each in providers.entries] == ["k-123456789"]
    with pytest.raises(ConfigError, match="MY_KEY, which is not set"):
        open_session(config, plugins, entry, cwd=Path("/"), environ={})


def test_key_in_what_a_provider_raises_is_not_told() -> None:
    entry = ProviderConfig("p", api="scripted", model="m", key="sk-planted-key-123")
    config = Config(Path("/c.json"), providers={"p": entry})
    failing = Fail(RuntimeError("refused: sk-planted-key-123"))
    session = make([failing], config=config, entry=entry)
    chunks = list(session.send("go"))
    assert [chunk.type for chunk in chunks] == ["error", "end"]
    assert "refused: [redacted]" in repr(chunks)
    assert "sk-planted" not in repr(chunks)


def test_configured_key_never_reaches_the_model() -> None:
    @tool(effects=())
    def env() -> str:
        """Print the environment."""
        return "KEY=sk-planted-key-123"

    entry = ProviderConfig("p", api="scripted", model="m", key="sk-planted-key-123")
    config = Config(Path("/c.json"), providers={"p": entry})
    session = make([[Call("env")], Say("done")], Guest(tools=[env]), config=config, entry=entry)
    chunks = list(session.send("go"))
    assert "sk-planted" not in repr((chunks, session.messages))
    assert results(session)[0].text == "KEY=[redacted]"


def test_other_provider_and_model_keep_the_conversation() -> None:
    session = make([Say("one"), Say("two"), Say("three")])
    list(session.send("a"))
    session.use_model("m2")
    list(session.send("b"))
    session.use_provider(ProviderConfig("other", api="scripted", model="m3"))
    list(session.send("c"))
    assert [request.model for request in requests(session)] == ["m", "m2", "m3"]
    assert len(requests(session)[2].messages) == 6
    with pytest.raises(ConfigError):
        session.use_provider(ProviderConfig("bad", api="morse", model="x"))
    assert session.entry.name == "other"


def test_model_that_is_refused_tools_goes_on_with_tools_as_text() -> None:
    refusal = Fail(ToolsRefused("no tools here"))
    action = Say("Thought: look\nAction: look\nAction Input: {}")
    answer = Say("Thought: done\nFinal Answer: it is seen")
    session = make([refusal, action, answer], Guest(tools=[look("seen")]))
    chunks = list(session.send("go"))
    assert [chunk.type for chunk in chunks].count("notice") == 1
    assert [r.text for r in results(session)] == ["seen"]
    assert "".join(c.text for c in chunks if isinstance(c, MessageChunk)) == "it is seen"
    assert requests(session)[1].tools == ()


def test_options_of_the_provider_are_sent() -> None:
    entry = ProviderConfig("p", api="scripted", model="m", options={"seed": 7, "top_k": 3})
    session = make([Say("a")], entry=entry)
    list(session.send("x"))
    assert requests(session)[0].options == ModelOptions(seed=7, extra={"top_k": 3})


def test_interrupted_turn_keeps_the_message_and_the_session_goes_on() -> None:
    from hrns.testing import Wait

    session = make([[Say("half"), Wait()], Say("whole")])
    for chunk in session.send("a"):
        if chunk.type == "message":
            session.cancel()
    assert [m.text for m in session.messages[1:]] == ["a", "half"]  # type: ignore[union-attr]
    assert list(session.send("b"))[-1] == EndChunk("done")


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (lambda _entry: 1 / 0, "plugin broken (broken-dist) cannot make the provider 'test': "),
        (lambda _entry: None, "plugin broken (broken-dist) gave None as the provider 'test'"),
    ],
)
def test_provider_that_cannot_be_made_is_told_with_its_plugin(build: Any, says: str) -> None:
    class Broken:
        @hookimpl
        def hrns_providers(self) -> ProviderKind:
            return ProviderKind("scripted", build)

    plugins = Plugins()
    plugins.register("broken", Broken(), distribution="broken-dist")
    with pytest.raises(ConfigError) as caught:
        build_provider(plugins, ENTRY, {})
    assert caught.value.message.startswith(says)


REVIEWER = Agent("Reviewer", prompt="Review.", model="sharp")


@pytest.mark.parametrize(
    ("options", "model"),
    [
        ({"agent": "Reviewer"}, "sharp"),
        ({"agent": "Reviewer", "model": "m"}, "m"),
        ({"agent": "Builder"}, "m"),
    ],
)
def test_agents_own_model_is_asked_unless_one_was_named(
    options: dict[str, Any], model: str
) -> None:
    session = make([Say("hi")], Guest(agents=[REVIEWER]), **options)
    list(session.send("a"))
    assert (session.model, requests(session)[0].model) == (model, model)


def test_agents_own_model_is_heeded_when_it_is_switched_to() -> None:
    session = make([], Guest(agents=[REVIEWER]))
    session.use_agent("Reviewer")
    assert session.model == "sharp"
    session.use_model("other")
    session.use_agent("Reviewer")
    assert session.model == "other"


def test_second_message_while_one_is_answered_is_misuse_and_changes_nothing() -> None:
    session = make([Say("one", pieces=2)])
    first = session.send("a")
    next(first)
    with pytest.raises(UsageError, match="at work"):
        next(session.send("b"))
    assert list(first)[-1] == EndChunk("done")
    said = [
        message.text for message in session.messages[1:] if not isinstance(message, ToolMessage)
    ]
    assert said == ["a", "one"]


def test_run_that_is_let_go_late_takes_nothing_back() -> None:
    session = make([Say("one")])
    chunks = session.send("a")
    while next(chunks).type != "end":
        pass
    session.use_model("other")
    chunks.close()
    assert len(session.messages) == 3


def test_sink_that_exits_is_dropped_and_the_run_goes_on() -> None:
    class Sink:
        def __call__(self, _chunk: Chunk) -> None:
            raise SystemExit(3)

        def close(self) -> None:
            raise SystemExit(4)

    session = make([Say("hi")], Guest(sinks=[Sink()]))
    assert list(session.send("a"))[-1] == EndChunk("done")
    session = make([], Guest(sinks=[Sink()]))
    session.close()
    assert session.take_notices() == (
        "the chunk sink of plugin guest0 (guest-dist): SystemExit: 4",
    )
