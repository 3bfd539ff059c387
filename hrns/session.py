"""A session: configuration, plugins, transcript and agent around the loop.

The only place where the loop meets plugins. `Session.send` gives the chunks of one run, after
every chunk sink has seen them; what is changed between runs (model, agent, provider) keeps the
conversation.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Literal

from attrs import evolve, field, frozen

from .agents import Agent
from .cancel import Cancel
from .choosing import (
    build_provider,
    choose_agent,
    choose_for_resume,
    find_agent,
    misnamed_tools,
    offering_tools,
)
from .chunks import Chunk, DiscardChunk, ErrorChunk, NoticeChunk, RetryChunk
from .config import Config, ProviderConfig, find_provider, home_directory
from .context import Mode, SessionContext
from .errors import SessionError, UsageError, in_words
from .gathering import gather_agents, gather_callables, gather_policies, gather_tools, rules_of
from .journal import (
    Entry,
    Journal,
    Record,
    Story,
    project_folder,
    read_journal,
    sessions_root,
    tell,
)
from .loop import Limits, Loop
from .messages import Text, UserMessage
from .permissions import (
    Answer,
    Ask,
    Question,
    Rule,
    own_places,
)
from .plugins import Plugins, first_owners
from .providers.base import ModelInfo, ModelOptions
from .recording import Recorder
from .records import PromptSection, Skill, SlashCommand
from .redact import redactor_for
from .retry import RetryPolicy
from .tools import Tool
from .transcript import with_system

__all__ = [
    "BASE_PROMPT",
    "Launch",
    "Session",
    "build_provider",
    "choose_agent",
    "choose_for_resume",
    "find_agent",
    "open_session",
]

BASE_PROMPT = (
    "You are a helpful assistant with tools. Use them rather than guess, tell the truth about what "
    "they showed, and answer in a few plain sentences."
)
"""The system prompt of an agent that has none."""


@frozen
class Launch:
    """What a front end is started with.

    Parameters:
        cwd: the working directory.
        config: the configuration as it was read.
        plugins: the plugins, loaded.
        environ: the environment.
        provider: the provider named on the command line, or "".
        model: the model named there, or "".
        agent: the agent named there, or "".
        mode: the permission mode to start in.
        resume: the session to go on with, or None for a new one.
        pick: whether the person wants to pick a session to go on with.
        save: whether sessions are written down.
    """

    cwd: Path
    config: Config
    plugins: Plugins
    environ: Mapping[str, str] = field(repr=False)
    provider: str = ""
    model: str = ""
    agent: str = ""
    mode: Mode = "ask"
    resume: Record | None = None
    pick: bool = False
    save: bool = True


def open_session(
    config: Config,
    plugins: Plugins,
    provider: ProviderConfig,
    *,
    cwd: Path,
    environ: Mapping[str, str] | None = None,
    agent: str = "",
    model: str = "",
    mode: Mode = "ask",
    rules: Sequence[Rule] = (),
    ask: Ask | None = None,
    limits: Limits | None = None,
    options: ModelOptions | None = None,
    take_back: bool = True,
    system: str = "",
    append_system: str = "",
    save: bool = False,
    resume: Record | None = None,
) -> Session:
    """Start a session: ask every plugin for what it brings, and put it together.

    Parameters:
        config: the configuration.
        plugins: the plugins, loaded.
        provider: the provider and model to begin with (`hrns.config.choose_provider`).
        cwd: the working directory of the session; absolute.
        environ: where keys are looked up; the process's environment if left out.
        agent: the agent's name; "" for the saved one, or Builder.
        model: the model that was asked for now; "" for the agent's, else that of `provider`.
        mode: the permission mode.
        rules: permission rules beside those of the configuration.
        ask: puts calls to a person; None if no one is there.
        limits: when a run ends although the model would go on.
        options: what is asked of the model.
        take_back: see `hrns.loop.Loop`.
        system: takes the place of the agent's prompt, if not "".
        append_system: stands behind the whole system prompt, if not "".
        save: whether the session is written down (`hrns.journal`), from its first message on.
        resume: the session to go on with; use `choose_for_resume` for the provider.

    Raises:
        ConfigError: the agent or the provider's protocol is unknown, or a rule is none.
    """
    return Session(
        config,
        plugins,
        provider,
        context=SessionContext(
            cwd=cwd, config=config.document, mode=mode, interactive=ask is not None
        ),
        environ=os.environ if environ is None else environ,
        agent=agent,
        model=model,
        rules=[*rules_of(config), *rules],
        ask=ask,
        limits=limits,
        options=options,
        take_back=take_back,
        prompt=(system, append_system),
        save=save,
        resume=resume,
    )


class Session:
    """A conversation with a model that has tools. Made by `open_session`.

    Parameters:
        prompt: what takes the place of the agent's prompt, and what stands behind all.
    """

    def __init__(
        self,
        config: Config,
        plugins: Plugins,
        entry: ProviderConfig,
        *,
        context: SessionContext,
        environ: Mapping[str, str],
        agent: str,
        model: str,
        rules: list[Rule],
        ask: Ask | None,
        limits: Limits | None,
        options: ModelOptions | None,
        take_back: bool,
        prompt: tuple[str, str],
        save: bool,
        resume: Record | None,
    ) -> None:
        self.id = resume.id if resume else os.urandom(6).hex()
        self.context = context
        self.plugins = plugins
        self._notices: list[str] = []
        self._config = config
        self._environ = environ
        self._rules = rules
        self._ask = ask
        self._limits = limits
        self._options = options
        self._take_back = take_back
        self._prompt = prompt
        self._redact = redactor_for(config, environ)
        context.warn = self.notice
        self._provider = offering_tools(plugins, entry, environ)
        self.entry = entry
        self._gather()
        story = tell(resume.branch()) if resume else Story(())
        saved = story.agent or config.current_agent
        self.agent, stale = choose_agent(context.agents, agent, saved)
        context.agent = self.agent
        self._tell_of_tools()
        self._model_named = bool(model or (story.model and not agent))
        self._heed_agents_model()
        if stale:
            self.notice(stale)
        self._loop = self._make_loop()
        self.messages = with_system(story.messages, self.system_prompt())
        journal = Journal(resume.path, story.leaf, redact=self._redact) if resume else None
        self._recorder = Recorder(self._start_journal, self.notice, journal)
        self._save = save or resume is not None
        for text in _recalled(resume, story):
            self.notice(text)
        plugins.notify("hrns_session_start", context=context)
        self._closed = False

    def _gather(self) -> None:
        """Ask the plugins for everything that they bring, in the order of what needs what."""
        plugins, context = self.plugins, self.context
        context.agents = gather_agents(plugins, context)
        skills = plugins.collect("hrns_skills", Skill, context=context)
        context.skills = tuple(
            each.record for each in first_owners(plugins, "skill", skills, lambda s: s.name)
        )
        owned = gather_tools(plugins, context)
        self.tools = tuple(each.record for each in owned)
        self.tool_plugins = {each.record.name: each.plugin for each in owned}
        own = own_places(self._config.path)
        self._policies = gather_policies(plugins, context, self._rules, own)
        self._wrappers = gather_callables(plugins, "hrns_tool_wrappers", context)
        self._editors = gather_callables(plugins, "hrns_request_editors", context)
        self._sinks = plugins.collect_callables("hrns_chunk_sinks", context=context)

    def _tell_of_tools(self) -> None:
        """Tell of tools that the agent names and that are not there."""
        for text in misnamed_tools(self.agent, (tool.name for tool in self.tools)):
            self.notice(text)

    def _heed_agents_model(self) -> None:
        """Ask the model that the agent wants, unless somebody said which."""
        if self.agent.model and not self._model_named:
            self.entry = evolve(self.entry, model=self.agent.model)

    @property
    def config(self) -> Config:
        """The configuration as it is now."""
        return self._config

    @property
    def environ(self) -> Mapping[str, str]:
        """Where keys are looked up."""
        return self._environ

    @cached_property
    def commands(self) -> tuple[SlashCommand, ...]:
        """The commands of the interactive prompt, collected when they are first asked for."""
        owned = self.plugins.collect("hrns_slash_commands", SlashCommand, context=self.context)
        first = first_owners(self.plugins, "slash command", owned, lambda command: command.name)
        return tuple(each.record for each in first)

    @property
    def model(self) -> str:
        """The model that is asked."""
        return self.entry.model

    @property
    def offered(self) -> tuple[Tool, ...]:
        """The tools that the agent is offered."""
        return self.agent.select(self.tools)

    def system_prompt(self) -> str:
        """The system prompt: the agent's, then the plugins' sections in their order."""
        replaced, appended = self._prompt
        owned = self.plugins.collect("hrns_prompt_sections", PromptSection, context=self.context)
        first = first_owners(self.plugins, "prompt section", owned, lambda section: section.name)
        sections = sorted((each.record for each in first), key=lambda section: section.order)
        head = replaced or self.agent.prompt or BASE_PROMPT
        texts = [head, *(section.text for section in sections), appended]
        return "\n\n".join(text.strip() for text in texts if text.strip())

    def notice(self, text: str) -> None:
        """Say something to the person: it is the next chunk of a run, or in `take_notices`."""
        self._notices.append(self._redact(text))

    def take_notices(self) -> tuple[str, ...]:
        """What was to be said since the last run, the plugins' warnings first."""
        taken = (*self.plugins.take_warnings(), *self._notices)
        self._notices.clear()
        return taken

    def send(
        self, text: str | UserMessage, *, cancel: Cancel | None = None
    ) -> Generator[Chunk, None, None]:
        """Say something to the model; yields the chunks of the run to its `end`.

        The sinks have seen a chunk before it is yielded.

        Parameters:
            cancel: a flag of the caller's that ends the run as `Session.cancel` does; it may be
                set before the run begins.

        Raises:
            UsageError: there is nothing in the message, or the session is closed.
        """
        message = UserMessage(text) if isinstance(text, str) else text
        if self._closed:
            raise UsageError("the session is closed")
        if not message.text.strip() and all(isinstance(part, Text) for part in message.parts):
            raise UsageError("the message is empty", hint="Say what you want.")
        return self._send(message, cancel)

    def _send(self, message: UserMessage, cancel: Cancel | None) -> Generator[Chunk, None, None]:
        loop, conversation = self._loop, (*self.messages, message)
        chunks = loop.run(conversation, self.model, cancel=cancel)
        self.messages = conversation
        if self._save:
            self._recorder.switch(provider=self.entry.name, model=self.model, agent=self.agent.name)
            self._recorder.said(message)
        changing = {tool.name for tool in self.tools if tool.effects & {"write", "execute"}}
        ended = False
        try:
            for chunk in map(self._cleaned, chunks):
                for notice in self.take_notices():
                    yield self._shown(NoticeChunk(notice))
                if self._save:
                    self._recorder.saw(chunk, changing)
                if chunk.type == "end":
                    self.messages, ended = loop.messages, True
                yield self._shown(chunk)
        finally:
            chunks.close()
            if not ended:  # else more may have been said before this run was let go
                self.messages = loop.messages or conversation

    def _cleaned(self, chunk: Chunk) -> Chunk:
        """The chunk without secrets in what went wrong: a guest's exception may quote its key."""
        if isinstance(chunk, ErrorChunk | NoticeChunk | RetryChunk | DiscardChunk):
            return evolve(chunk, text=self._redact(chunk.text))
        return chunk

    def _shown(self, chunk: Chunk) -> Chunk:
        """The chunk, after every sink has seen it; a sink that raises is named once and dropped."""
        for sink in tuple(self._sinks):
            try:
                sink.record(chunk)
            except (Exception, SystemExit) as error:  # noqa: BLE001 - a guest; named and dropped
                self._sinks.remove(sink)
                self.notice(
                    f"the chunk sink of plugin {sink.plugin} failed and is not used any more: "
                    f"{in_words(error)}"
                )
        return chunk

    def cancel(self, reason: str = "interrupted") -> None:
        """End the run that goes on; callable from any thread or signal handler."""
        self._loop.cancel(reason)

    def queue(self, text: str, when: Literal["now", "after"] = "now") -> None:
        """Say something to a model that is at work; callable from any thread.

        `now` is delivered behind the results of the running calls, `after` when it is done.
        """
        self._loop.queue(text, when)

    def unqueue(self) -> str | None:
        """Take the last queued message back, if it was not delivered yet."""
        return self._loop.unqueue()

    def new(self) -> None:
        """Begin a new conversation, with a system message built afresh and a file of its own."""
        self.messages = with_system((), self.system_prompt())
        self._recorder.close()
        self.id = os.urandom(6).hex()
        self._recorder = Recorder(self._start_journal, self.notice)

    @property
    def path(self) -> Path | None:
        """The session's file, once something is written in it."""
        return self._recorder.journal.path if self._recorder.journal else None

    def branch(self) -> list[Entry]:
        """The entries of the session's file that the conversation is made of.

        Raises:
            SessionError: the file cannot be read any more.
        """
        journal = self._recorder.journal
        return read_journal(journal.path).branch(journal.leaf) if journal else []

    def rewind(self, leaf: str) -> None:
        """Go on behind an earlier entry of the session's file, "" for before the first: a fork.

        Provider, model and agent stay as they are now.

        Raises:
            SessionError: nothing was written yet, or there is no such entry.
        """
        journal = self._recorder.journal
        if journal is None:
            raise SessionError("nothing was said yet that could be gone back to")
        story = tell(read_journal(journal.path).branch(leaf) if leaf else [])
        self._recorder.rewind(leaf, provider=story.provider, model=story.model, agent=story.agent)
        self.messages = with_system(story.messages, self.system_prompt())

    def _start_journal(self) -> Journal:
        root = sessions_root(self._environ, home_directory(self._environ))
        folder = project_folder(root, self.context.cwd)
        return Journal.create(folder, self.id, self.context.cwd, redact=self._redact)

    def use_agent(self, name: str) -> Agent:
        """Go on with another agent: its prompt and tools, the same conversation.

        Raises:
            ConfigError: there is no such agent.
        """
        self.agent = find_agent(self.context.agents, name)
        self.context.agent = self.agent
        self._tell_of_tools()
        self._heed_agents_model()
        self._loop = self._make_loop()
        self.messages = with_system(self.messages, self.system_prompt())
        return self.agent

    def use_config(self, config: Config) -> None:
        """Look up providers, and secrets to redact, in a configuration that was saved."""
        self._config = config
        self._redact.learn(redactor_for(config, self._environ))

    def use_provider(self, entry: ProviderConfig, config: Config | None = None) -> None:
        """Go on with another provider and its model; the conversation is kept.

        Parameters:
            config: the configuration that the entry is from, if it changed.

        Raises:
            ConfigError: the entry does not do; the old provider is kept.
        """
        provider = offering_tools(self.plugins, entry, self._environ)
        if config is not None:
            self.use_config(config)
        self._provider, self.entry, self._model_named = provider, entry, True
        self._loop = self._make_loop()

    def use_model(self, model: str) -> None:
        """Go on with another model of the same provider."""
        self.entry, self._model_named = evolve(self.entry, model=model), True
        self._loop = self._make_loop()

    def use_options(self, options: ModelOptions) -> None:
        """Go on with other options of the requests."""
        self._options = options
        self._loop = self._make_loop()

    def find_provider(self, name: str) -> ProviderConfig:
        """The provider of that name in the configuration as it is now.

        Raises:
            ConfigError: there is none.
        """
        return find_provider(self._config, name, self._environ)

    def models(self) -> Sequence[ModelInfo]:
        """The models that the provider offers.

        Raises:
            ProviderError: they could not be listed.
        """
        return self._provider.models()

    def close(self) -> None:
        """Tear down: end a run that goes on, close the sinks, tell the plugins. Once."""
        if self._closed:
            return
        self._closed = True
        self.cancel("the session is closed")
        for sink in self._sinks:
            close = getattr(sink.record, "close", None)
            if callable(close):
                try:
                    close()
                except (Exception, SystemExit) as error:  # noqa: BLE001 - a guest, and it is named
                    self.plugins.warn(f"the chunk sink of plugin {sink.plugin}: {in_words(error)}")
        self._recorder.close()
        self.plugins.notify("hrns_session_end", context=self.context)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _make_loop(self) -> Loop:
        defaults = self.entry.options_for(self.entry.model)
        return Loop(
            self._provider,
            self.offered,
            options=(self._options or ModelOptions()).with_defaults(defaults),
            policies=self._policies,
            ask=self._ask and self._remembering(self._ask),
            request_editors=self._editors,
            tool_wrappers=self._wrappers,
            limits=self._limits,
            retry=_retry(self._config),
            take_back=self._take_back,
            context=self.context,
            redact=self._redact,
        )

    def _remembering(self, ask: Ask) -> Ask:
        """Ask once where the answer holds for the session: it becomes a rule."""

        def put(question: Question) -> Answer:
            answer = ask(question)
            # Where no rule is offered, nothing but this call is answered for.
            rule = answer.rule or question.verdict.rule
            if rule and answer.kind in ("session", "always"):
                self._rules.append(Rule.parse("allow", rule, "this session"))
            return answer

        return put


def _recalled(resume: Record | None, story: Story) -> list[str]:
    """What is to be said of a session that is gone on with."""
    if resume is None:
        return []
    names = ", ".join(f"{call.name} {call.arguments}"[:80] for call in story.interrupted)
    said = [f"When the session ended, this was not finished, and may have run in part: {names}"]
    return [*resume.warnings, *(said if names else [])]


def _retry(config: Config) -> RetryPolicy:
    retries = config.limits.retries
    return RetryPolicy() if retries is None else RetryPolicy(retries=retries)
