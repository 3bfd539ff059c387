"""The commands of the prompt. Each works through its host and the host's session alone.

What a command changes for good is saved; if it cannot be saved, the session goes on as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress

from attrs import evolve

from hrns.config import (
    Change,
    edit_config,
    find_provider,
    known_providers,
    set_current_agent,
    set_current_provider,
    set_model,
)
from hrns.connecting import within
from hrns.errors import ConfigError, HrnsError
from hrns.nearest import nearest
from hrns.records import CommandHost, SlashCommand
from hrns.session import Session

from .banner import banner
from .hosting import TerminalHost
from .informing import INFORMING, MODES
from .listed import keep_models, list_models, listed_models
from .models import missing_model, told_window
from .onboarding import connect
from .recalling import RECALLING
from .tables import marked, table
from .terminal_commands import NEW_CONVERSATION, TERMINAL_COMMANDS

__all__ = ["COMMANDS", "choices", "current_choice"]

_LISTING_S = 5.0
"""How long it is waited for a list that only a notice or a completion depends on."""


def _help(host: CommandHost, _argument: str) -> None:
    rows = [
        (f"/{command.name} {command.usage}".rstrip(), command.help)
        for command in host.session.commands
    ]
    host.say(table(rows))
    if isinstance(host, TerminalHost):
        host.say(f"\n{table(host.keys)}")


def _new(host: CommandHost, _argument: str) -> None:
    host.session.new()
    host.say(f"{NEW_CONVERSATION}\n{banner(host.session)}")


def _models(host: CommandHost, _argument: str) -> None:
    session = host.session
    rows = [(marked(model.id, session.model), told_window(model)) for model in list_models(session)]
    host.say(table(rows) or f"Provider {session.entry.name} lists no models.")


def _model(host: CommandHost, name: str) -> None:
    session = host.session
    provider, before = session.entry.name, session.model
    session.use_model(name)
    if provider not in session.config.providers:
        host.say(f"The model is {name}, for this session: {provider} has no entry to save it in.")
    elif _saved(host, set_model(provider, name), lambda: session.use_model(before)):
        host.say(f"The model is {name}, and the default of provider {provider}.")
    else:
        return
    if doubt := _doubt(session, name):
        host.say(doubt)


def _doubt(session: Session, name: str) -> str:
    """What to say of a model that the provider does not list; "" if it does, or lists none."""
    try:
        models = listed_models(session) or within(_LISTING_S, lambda: list_models(session))
    except HrnsError:  # it may well answer without a list
        return ""
    names = [model.id for model in models]
    if not names or name in names:
        return ""
    near = nearest(name, names, 3)
    hint = f"; nearest: {', '.join(near)}" if near else "; /models shows it"
    return f"It is not in the list of {session.entry.name}{hint}."


def _providers(host: CommandHost, _argument: str) -> None:
    session = host.session
    rows = [
        (marked(name, session.entry.name), entry.model, entry.api)
        for name, entry in known_providers(session.config, session.environ).items()
    ]
    host.say(table(rows))


def _provider(host: CommandHost, name: str) -> None:
    session = host.session
    before = session.entry
    entry = session.find_provider(name)
    if not entry.model:
        named = missing_model(host, session.config, session.plugins, entry, session.environ)
        if named is None:
            return
        model, config = named
        session.use_config(config)
        entry = evolve(entry, model=model)
    session.use_provider(entry)
    if _saved(host, set_current_provider(name), lambda: session.use_provider(before)):
        host.say(f"The provider is {name}, its model {entry.model}, also the next time.")


def _agents(host: CommandHost, _argument: str) -> None:
    session = host.session
    rows = [
        (marked(agent.name, session.agent.name), agent.description)
        for agent in session.context.agents
    ]
    host.say(table(rows))


def _agent(host: CommandHost, name: str) -> None:
    session = host.session
    before = session.agent
    agent = session.use_agent(name)
    if _saved(host, set_current_agent(agent.name), lambda: session.use_agent(before.name)):
        host.say(f"The agent is {agent.name}, also the next time.")


def _connect(host: CommandHost, _argument: str) -> None:
    session = host.session
    saved = connect(host, session.config, session.plugins, session.environ)
    if saved is not None:
        session.use_provider(find_provider(saved, "", session.environ), saved)


def _exit(host: CommandHost, _argument: str) -> None:
    host.leave()


def _saved(host: CommandHost, change: Change, take_back: Callable[[], object]) -> bool:
    """Whether the change is saved; if it cannot be, that is told, and the session changed back."""
    try:
        config = edit_config(host.session.config.path, change)
    except ConfigError as error:
        take_back()
        host.error(str(error))
        return False
    host.session.use_config(config)
    return True


def _listed_models(session: Session, word: str) -> Iterator[str]:
    if listed_models(session) is None:
        keep_models(session, session.entry.name, ())  # asked once, not with every key
        with suppress(HrnsError):
            within(_LISTING_S, lambda: list_models(session))
    return _beginning((model.id for model in listed_models(session) or ()), word)


def _provider_names(session: Session, word: str) -> Iterator[str]:
    return _beginning(known_providers(session.config, session.environ), word)


def _agent_names(session: Session, word: str) -> Iterator[str]:
    return _beginning((agent.name for agent in session.context.agents), word)


def _beginning(names: Iterable[str], word: str) -> Iterator[str]:
    return (name for name in names if name.casefold().startswith(word.casefold()))


def current_choice(session: Session, command: SlashCommand) -> str:
    """What is in use of that which `choices` gives; "" if that is not known."""
    match command.name if command in COMMANDS else "":
        case "model":
            return session.model
        case "provider":
            return session.entry.name
        case "agent":
            return session.agent.name
        case "mode":
            return session.context.mode
    return ""


def choices(host: CommandHost, command: SlashCommand) -> list[tuple[str, str]]:
    """What can be given to a command that needs an argument: (word, description).

    Raises:
        ProviderError: the models could not be listed.
    """
    session = host.session
    match command.name if command in COMMANDS else "":
        case "model":
            models = listed_models(session) or list_models(session)
            return [(model.id, told_window(model)) for model in models]
        case "provider":
            known = known_providers(session.config, session.environ)
            return [(name, entry.model) for name, entry in known.items()]
        case "agent":
            return [(agent.name, agent.description) for agent in session.context.agents]
        case "mode":
            return [*MODES.items()]
    return [(word, "") for word in command.complete(session, "")]


COMMANDS = (
    SlashCommand("help", "Lists the commands.", _help, at_once=True),
    SlashCommand("new", "Begins a new conversation.", _new),
    SlashCommand("models", "Lists the models of the provider.", _models, at_once=True),
    SlashCommand(
        "model",
        "Goes on with another model, and makes it the provider's default.",
        _model,
        usage="NAME",
        complete=_listed_models,
        needs_argument=True,
    ),
    SlashCommand("providers", "Lists the providers.", _providers, at_once=True),
    SlashCommand(
        "provider",
        "Goes on with another provider and its default model.",
        _provider,
        usage="NAME",
        complete=_provider_names,
        needs_argument=True,
    ),
    SlashCommand("connect", "Connects a provider, and goes on with it.", _connect),
    SlashCommand("agents", "Lists the agents.", _agents, at_once=True),
    SlashCommand(
        "agent",
        "Goes on with another agent: its prompt and its tools.",
        _agent,
        usage="NAME",
        complete=_agent_names,
        needs_argument=True,
    ),
    *RECALLING,
    *INFORMING,
    *TERMINAL_COMMANDS,
    SlashCommand("exit", "Leaves.", _exit),
)
"""The commands, in the order in which `/help` lists them."""
