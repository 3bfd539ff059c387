"""Completing values of options and arguments in a shell; nothing where something cannot be read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

import click

if TYPE_CHECKING:
    from ..config import KeyPath
    from ..session import Session

__all__ = [
    "agent_names",
    "completer",
    "config_keys",
    "model_names",
    "provider_names",
    "session_ids",
    "tool_names",
]

Completer: TypeAlias = Callable[[click.Context, click.Parameter, str], list[str]]


def completer(words: Callable[[str], Iterable[str]]) -> Completer:
    """A completer of click that offers those of the words that begin as what is typed.

    Parameters:
        words: gives all words there are; it is told what is typed.
    """

    def complete(_context: click.Context, _parameter: click.Parameter, typed: str) -> list[str]:
        from ..errors import HrnsError

        try:
            return [word for word in words(typed) if word.startswith(typed)]
        except HrnsError:
            return []

    return complete


@completer
def provider_names(_typed: str) -> list[str]:
    """The names of the providers that can be named."""
    import os

    from ..config import load_config
    from .common import user_config_path
    from .providers import known_providers

    known = known_providers(load_config(user_config_path()), os.environ)
    return [entry.name for entry, _ in known]


def model_names(context: click.Context, parameter: click.Parameter, typed: str) -> list[str]:
    """The models that the configuration names for the provider; no server is asked."""
    import os

    from ..config import find_provider, load_config
    from .common import user_config_path

    named = context.params.get("provider") or ""

    def names(_typed: str) -> Iterable[str]:
        entry = find_provider(load_config(user_config_path()), named, os.environ)
        return dict.fromkeys(name for name in (entry.model, *entry.models) if name)

    return completer(names)(context, parameter, typed)


@completer
def agent_names(_typed: str) -> list[str]:
    """The names of the agents."""
    return _looked_up(lambda session: [agent.name for agent in session.context.agents])


@completer
def tool_names(_typed: str) -> list[str]:
    """The names of the tools: the shortest rules there are."""
    return _looked_up(lambda session: [tool.name for tool in session.tools])


@completer
def session_ids(typed: str) -> list[str]:
    """The ids of this directory's sessions, the last used first; of all once one is begun."""
    from ..journal import list_sessions, project_folder
    from .common import working_directory
    from .sessions import root

    folder = root() if typed else project_folder(root(), working_directory())
    return [info.id for info in list_sessions(folder)]


@completer
def config_keys(_typed: str) -> list[str]:
    """The key paths of the configuration, and of what could be in it."""
    from ..config import read_document, spell_key_path
    from .common import user_config_path
    from .doubts import config_schema

    written = _paths((), read_document(user_config_path())[0])
    known = _paths((), config_schema()["properties"], "properties")
    paths = dict.fromkeys([*written, *known])
    return [spell_key_path(path).removeprefix("$").removeprefix(".") for path in paths]


def _paths(at: KeyPath, value: Any, inside: str = "") -> Iterator[KeyPath]:
    """The key paths in an object, where those of each field are found inside of it."""
    for name, field in value.items() if isinstance(value, dict) else ():
        yield (*at, name)
        yield from _paths((*at, name), field.get(inside) if inside else field, inside)


def _looked_up(find: Callable[[Session], list[str]]) -> list[str]:
    """What is found in a session that is not begun; what is warned of stays untold."""
    import os

    from ..config import DEMO, load_config, load_project_config, merge
    from ..plugins import load_plugins
    from ..session import open_session
    from .common import user_config_path, working_directory

    cwd = working_directory()
    config = merge(load_config(user_config_path()), load_project_config(cwd))
    plugins = load_plugins(os.environ, config.plugins.disabled)
    with open_session(config, plugins, DEMO, cwd=cwd) as session:
        return find(session)
