"""From how the program was started to a session: which provider, model and agent.

A provider or agent that is chosen on the way is saved; what the command line names is not.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from attrs import evolve

from hrns.config import (
    DEMO,
    Config,
    ProviderConfig,
    choose_provider,
    edit_config,
    find_provider,
    home_directory,
    known_providers,
    set_current_agent,
    set_current_provider,
)
from hrns.errors import ConfigError
from hrns.journal import Record, find_session, read_journal, sessions_root, tell
from hrns.loop import Limits
from hrns.permissions import Ask
from hrns.session import Launch, Session, choose_for_resume, open_session

from .dialogue import Dialogue, TerminalDialogue
from .models import missing_model
from .onboarding import connect
from .recalling import WHICH_SESSION, session_lists

__all__ = ["boot", "boot_unattended", "resumed"]


def boot(launch: Launch, dialogue: TerminalDialogue, ask: Ask) -> Session | None:
    """A session with someone at the terminal; None if they would rather not begin one.

    Without any provider one is connected; one that is gone is replaced by choice; an agent that
    is gone is replaced by another, which is told.

    Raises:
        ConfigError: the command line names what there is not, or the provider cannot be used.
    """
    record = launch.resume or (_picked(launch, dialogue) if launch.pick else None)
    if record is not None:
        return resumed(launch, record, ask)
    found = _provider(launch, dialogue)
    if found is None:
        return None
    config, entry = found
    model = launch.model or entry.model
    if not model:
        named = missing_model(dialogue, config, launch.plugins, entry, launch.environ)
        if named is None:
            return None
        model, config = named
    session = _start(evolve(launch, config=config), evolve(entry, model=model), ask)
    if not launch.agent:
        _keep_agent(session)
    return session


def boot_unattended(launch: Launch) -> Session:
    """A session with nobody there to be asked.

    Raises:
        ConfigError: no provider can be used, or the agent is unknown.
    """
    if launch.resume is not None:
        return resumed(launch, launch.resume, None)
    entry = choose_provider(launch.config, launch.provider, launch.model, launch.environ)
    return _start(launch, entry, None)


def _picked(launch: Launch, dialogue: TerminalDialogue) -> Record | None:
    """The session that the person picks; None if there is none, or none is wanted."""
    root = sessions_root(launch.environ, home_directory(launch.environ))
    lists = session_lists(root, launch.cwd)
    if not lists:
        dialogue.say("No session was held yet: this is a new one.")
        return None
    chosen = dialogue.pick_from(WHICH_SESSION, lists)
    return read_journal(find_session(root, chosen).path) if chosen else None


def resumed(launch: Launch, record: Record, ask: Ask | None) -> Session:
    """The session that the record is of, with its own provider, model and agent."""
    entry, notice = choose_for_resume(
        tell(record.branch()), launch.config, launch.provider, launch.model, launch.environ
    )
    session = _start(evolve(launch, resume=record), entry, ask)
    if notice:
        session.notice(notice)
    if record.cwd and Path(record.cwd) != launch.cwd:
        session.notice(f"This session was held in {record.cwd}; it goes on in {launch.cwd}.")
    return session


def _start(launch: Launch, entry: ProviderConfig, ask: Ask | None) -> Session:
    """A session with a provider, within the limits of the configuration.

    Raises:
        ConfigError: the agent is unknown, or the provider cannot be used.
    """
    config = launch.config
    session = open_session(
        config,
        launch.plugins,
        entry,
        cwd=launch.cwd,
        environ=launch.environ,
        agent=launch.agent,
        model=launch.model,
        mode=launch.mode,
        ask=ask,
        limits=Limits(config.limits.turns, config.limits.seconds, config.limits.tokens),
        save=launch.save,
        resume=launch.resume,
    )
    for warning in config.warnings:
        session.notice(warning)
    return session


def _provider(launch: Launch, dialogue: Dialogue) -> tuple[Config, ProviderConfig] | None:
    """The provider to use, and the configuration as it is after it was chosen."""
    config, environ = launch.config, launch.environ
    try:
        return config, find_provider(config, launch.provider, environ)
    except ConfigError as error:
        if launch.provider:
            raise
        fault = error
    known = known_providers(config, environ)
    if [*known] == [DEMO.name]:
        dialogue.say("No model is connected yet. Ctrl-C leaves; until the end nothing is saved.")
        saved = connect(dialogue, config, launch.plugins, environ)
    else:
        dialogue.error(fault.message)
        saved = _pick_provider(dialogue, config, known)
    return None if saved is None else (saved, find_provider(saved, "", environ))


def _pick_provider(
    dialogue: Dialogue, config: Config, known: Mapping[str, ProviderConfig]
) -> Config | None:
    """The configuration with another provider as the current one."""
    options = [(name, entry.model) for name, entry in known.items()]
    name = dialogue.pick("Which provider is to be used from now on?", options)
    if name is None:
        return None
    try:
        return edit_config(config.path, set_current_provider(name))
    except ConfigError as error:
        dialogue.error(str(error))
        return evolve(config, current_provider=name)


def _keep_agent(session: Session) -> None:
    """Save the agent, unless it is the saved one."""
    saved = session.config.current_agent
    if saved.casefold() != session.agent.name.casefold():
        try:
            change = set_current_agent(session.agent.name)
            session.use_config(edit_config(session.config.path, change))
        except ConfigError as error:
            session.notice(str(error))
