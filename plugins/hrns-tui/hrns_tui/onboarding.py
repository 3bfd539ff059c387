"""Connecting a model: what is asked, checked and saved. Nothing is written before the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import evolve

from hrns.config import (
    DEMO,
    ENVIRONMENT_PROVIDERS,
    Config,
    ProviderConfig,
    edit_config,
    put_provider,
    set_current_provider,
)
from hrns.connecting import api_of, entry_for
from hrns.errors import ConfigError, HrnsError
from hrns.plugins import Plugins
from hrns.providers.base import ModelInfo
from hrns.providers.endpoints import read_endpoint
from hrns.providers.http import APIS
from hrns.session import build_provider

from .dialogue import Dialogue, confirm
from .local_servers import local_servers
from .models import ask_model

__all__ = ["connect"]

_OTHER = "other"


def connect(
    dialogue: Dialogue, config: Config, plugins: Plugins, environ: Mapping[str, str]
) -> Config | None:
    """Ask for a provider, check it, save it and make it the current one.

    Returns the configuration as it was saved; None if the person would rather not, or if it
    could not be saved. Either is told.
    """
    entry = _ask_provider(dialogue, config, plugins, environ)
    if entry is None:
        dialogue.say("Nothing was saved.")
        return None
    changes = [set_current_provider(entry.name)]
    if entry != DEMO:
        changes.insert(0, put_provider(entry))
    try:
        saved = edit_config(config.path, *changes)
    except ConfigError as error:
        dialogue.error(str(error))
        return None
    dialogue.say(f"Provider {entry.name} with model {entry.model} is saved in {config.path}.")
    return saved


def _ask_provider(
    dialogue: Dialogue, config: Config, plugins: Plugins, environ: Mapping[str, str]
) -> ProviderConfig | None:
    """A whole entry: one whose models could be listed, or that is wanted all the same."""
    entry = _ask_entry(dialogue, config, environ)
    if entry is None or entry == DEMO:
        return entry
    if entry.url and (entry.resolved_key(environ) or entry in local_servers()):
        found = _list_models(dialogue, entry, plugins, environ)
        if found is not None:
            model = ask_model(dialogue, "Default model", found, entry.model)
            return None if model is None else evolve(entry, model=model)
    while True:
        asked = _ask_server(dialogue, entry, plugins)
        if asked is None:
            return None
        models = _list_models(dialogue, asked, plugins, environ)
        wanted = True if models is not None else confirm(dialogue, "Save it all the same?")
        if wanted is None:
            return None
        if wanted:
            model = ask_model(dialogue, "Default model", models or (), asked.model)
            return None if model is None else evolve(asked, model=model)
        entry = asked


def _ask_entry(
    dialogue: Dialogue, config: Config, environ: Mapping[str, str]
) -> ProviderConfig | None:
    """What to begin with: a server that listens here, a known service, the demo, or a new name."""
    local = {each.name: each for each in local_servers()}
    options = [(name, f"listens at {each.url}") for name, each in local.items()]
    for each in ENVIRONMENT_PROVIDERS:
        has_key = bool(environ.get(each.variable, "").strip())
        found = f"the key in ${each.variable} is used" if has_key else f"at {each.url}"
        options.insert(0 if has_key else len(options), (each.name, found))
    options += [(DEMO.name, "needs neither key nor network"), (_OTHER, "a server of your own")]
    chosen = dialogue.pick("Which provider is to be connected?", _distinct(options))
    if chosen == _OTHER:
        chosen = _ask_name(dialogue)
    if chosen is None or chosen == DEMO.name:
        return DEMO if chosen else None
    if chosen in local:
        return local[chosen]
    return entry_for(chosen, config, environ) or ProviderConfig(chosen)


def _distinct(options: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The options without those whose name came before."""
    first: dict[str, str] = {}
    for name, description in options:
        first.setdefault(name, description)
    return [*first.items()]


def _ask_name(dialogue: Dialogue) -> str | None:
    while (name := dialogue.ask("Provider name")) == "":
        dialogue.error("the provider needs a name, such as openai or home")
    return name


def _ask_server(
    dialogue: Dialogue, entry: ProviderConfig, plugins: Plugins
) -> ProviderConfig | None:
    """The entry with the URL, key and TLS verification that the person gives."""
    located = _ask_url(dialogue, entry, plugins)
    if located is None:
        return None
    key = dialogue.ask(_key_label(entry.key), default=entry.key, secret=True)
    if key is None:
        return None
    skip = False
    if located.url.lower().startswith("https:"):
        question = "Skip the verification of TLS certificates?"
        answer = confirm(dialogue, question, default=entry.skip_verify)
        if answer is None:
            return None
        skip = answer
    return evolve(located, key=key, skip_verify=skip)


def _ask_url(dialogue: Dialogue, entry: ProviderConfig, plugins: Plugins) -> ProviderConfig | None:
    while True:
        url = dialogue.ask("URL", default=entry.url)
        if url is None:
            return None
        if url == entry.url and (url or entry.api not in APIS):
            return entry
        api = api_of(url, plugins)
        try:
            if api in APIS:
                read_endpoint(url, api)
        except ConfigError as error:
            dialogue.error(str(error))
        else:
            return evolve(entry, url=url, api=api)


def _key_label(key: str) -> str:
    if key.startswith(("$", "env:")):
        return f"Key (hidden; Enter takes it from {key})"
    if key:
        return "Key (hidden; Enter keeps the one there is)"
    return "Key (hidden; $NAME takes it from the environment; Enter for none)"


def _list_models(
    dialogue: Dialogue, entry: ProviderConfig, plugins: Plugins, environ: Mapping[str, str]
) -> Sequence[ModelInfo] | None:
    """The models there; None if they could not be listed, which is told."""
    dialogue.say("Checking the connection ...")
    try:
        return build_provider(plugins, entry, environ).models()
    except HrnsError as error:
        dialogue.error(f"the models could not be listed: {error}")
        return None
