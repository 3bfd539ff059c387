"""What `hrns connect` does: describe a provider, try it, save it. Nothing is saved before the end.

Without a terminal every fault ends the command; with one, the person is asked what to change.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from urllib.parse import urlsplit

import click
from attrs import evolve, field, frozen

from ..config import (
    ENVIRONMENT_PROVIDERS,
    Config,
    ProviderConfig,
    edit_config,
    load_config,
    put_provider,
    set_current_provider,
)
from ..config.values import public_url
from ..connecting import (
    LISTING_S,
    api_of,
    checked_name,
    entry_for,
    full_url,
    has_key,
    is_about_trust,
    list_models,
    name_for,
    provider_of,
    try_model,
    within,
)
from ..errors import (
    AuthenticationFailed,
    BrokenStream,
    ConfigError,
    HrnsError,
    RequestRefused,
    ServerFault,
    UsageError,
)
from ..plugins import Plugins, load_plugins
from ..providers.base import Provider
from ..providers.endpoints import read_endpoint
from . import status
from .common import tell, user_config_path
from .providers import shown_key

__all__ = ["Given", "connect"]

_SHOWN_MODELS = 40


@frozen
class Given:
    """What the flags of `hrns connect` say; "" is not given, and so is None of the key."""

    name: str
    url: str
    key: str | None = field(repr=False)
    model: str
    api: str
    skip_verify: bool
    no_check: bool


def connect(given: Given) -> int:
    """Connect a model; returns the exit status.

    Raises:
        HrnsError: it cannot be connected, and no one can be asked.
    """
    config = load_config(user_config_path())
    plugins = load_plugins(os.environ, config.plugins.disabled)
    for warning in plugins.take_warnings():
        tell(f"warning: {warning}")
    if given.name and given.name not in config.providers:
        checked_name(given.name)
    given = evolve(given, key=_typed_key(given.key))
    try:
        connection = _Connection(given, config, plugins)
        entry = connection.asked() if _is_to_be_asked(given, config) else connection.described()
    except (click.Abort, KeyboardInterrupt):
        sys.stderr.write("\n")  # behind what was typed
        tell("nothing was saved")
        return status.INTERRUPTED
    _save(entry, config)
    return status.DONE


def _add_hint(error: HrnsError, hint: str) -> None:
    error.hint = f"{error.hint}\n{hint}".lstrip()


def _told_url(url: str) -> str:
    """The URL with a scheme; which one is told if it was given without."""
    full = full_url(url)
    if full != url.strip():
        tell(f"the URL has no scheme: taken as {public_url(full)}")
    return full


def _typed_key(key: str | None) -> str | None:
    """The key as it was given, or from standard input in the place of `-`."""
    if key != "-":
        return key
    if sys.stdin.isatty():
        return str(click.prompt("Key (hidden)", hide_input=True, err=True))
    return sys.stdin.readline().strip()


def _is_to_be_asked(given: Given, config: Config) -> bool:
    """Whether a person is there, and something is left to ask."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    known = entry_for(given.name, config, os.environ) or ProviderConfig("")
    is_keyed = given.key is not None or has_key(known, os.environ)
    return not ((given.url or known.url) and is_keyed and (given.model or known.model))


def _save(entry: ProviderConfig, config: Config) -> None:
    path = config.path
    edit_config(path, put_provider(entry), set_current_provider(entry.name))
    verb = "updated" if entry.name in config.providers else "saved"
    model = f" with model {entry.model}" if entry.model else ""
    click.echo(f"Provider {entry.name}{model} is {verb} in {path}, and is the current one.")
    if entry.model:
        click.echo('Try it: hrns exec "hello"')
    else:
        click.echo(f"It has no model yet: hrns config set providers.{entry.name}.model NAME")


@frozen
class _Connection:
    """One attempt to connect a provider."""

    given: Given
    config: Config
    plugins: Plugins

    # Without a person

    def described(self) -> ProviderConfig:
        """The entry that the flags describe, tried unless they say otherwise."""
        entry = self._entry(self.given.name, self.given.url)
        if self.given.no_check:
            return entry
        try:
            models = self._models(entry, needed=not entry.model)
            if not entry.model:
                entry = evolve(entry, model=_only(models))
            self._try(entry, models)
        except HrnsError as error:
            if isinstance(error, AuthenticationFailed) and not entry.key:
                _add_hint(error, "Give one with --key KEY, or --key '$NAME' for a variable.")
            if not isinstance(error, UsageError):
                _add_hint(error, "--no-check saves it untried.")
            raise
        return entry

    def _entry(self, name: str, url: str) -> ProviderConfig:
        """The entry of this name and URL; what is left open comes from what is there or known.

        Raises:
            UsageError: there is neither URL nor protocol.
            ConfigError: the URL is none.
        """
        given = self.given
        url = _told_url(url)
        known = entry_for(name, self.config, os.environ) if name else None
        if not url and not given.api and not (known and known.url):
            raise UsageError(
                "there is no URL",
                hint=f"Give --url, or one of these names as --name: {_known_names()}.",
            )
        if not name:
            name = name_for(url, self.config.providers) if url else given.api
        entry = known or ProviderConfig(name)
        if url and urlsplit(url).netloc != urlsplit(entry.url).netloc:
            entry = evolve(entry, key="")  # a key goes to the server that it was given for
        api = given.api or (entry.api if known and not url else api_of(url, self.plugins))
        if url:
            read_endpoint(url, api)
        return evolve(
            entry,
            url=url or entry.url,
            api=api,
            key=entry.key if given.key is None else given.key,
            model=given.model or entry.model,
            skip_verify=given.skip_verify or entry.skip_verify,
        )

    # Trying it

    def _provider(self, entry: ProviderConfig) -> Provider:
        try:
            entry.resolved_key(os.environ)
        except ConfigError as error:
            error.hint = "Set it, or give the key itself with --key."
            raise
        return provider_of(entry, self.config, self.plugins, os.environ)

    def _models(self, entry: ProviderConfig, *, needed: bool) -> list[str] | None:
        """The models on offer; None if the server does not list them, and that is told.

        Raises:
            HrnsError: the server is not reached, or does not take the key; it does not list its
                models although they are needed.
        """
        provider = self._provider(entry)
        tell(f"trying {public_url(entry.url) or entry.api} ({entry.api})")
        try:
            return [model.id for model in within(LISTING_S, lambda: list_models(provider))]
        except (RequestRefused, ServerFault, BrokenStream) as error:
            if needed:
                _add_hint(error, "If it lists none, name one with --model.")
                raise
            # where a model is named, it may well answer without a list
            tell(f"it lists no models: {error.message if entry.model else error}")
            return None

    def _try(self, entry: ProviderConfig, models: Sequence[str] | None) -> None:
        """Have the model write a word, unless the server lists it.

        Raises:
            HrnsError: it did not.
        """
        if entry.model in (models or ()):
            return
        if models:
            tell(f"{entry.model} is not among the {len(models)} models that are listed")
        try_model(self._provider(entry), entry.model, models or ())

    # With a person

    def asked(self) -> ProviderConfig:
        """The entry that a person describes, tried until it works or is wanted all the same."""
        entry = self._ask_server()
        if self.given.key is None:
            entry = _ask_key(entry)
        while not self.given.no_check:
            try:
                models = self._models(entry, needed=False)
                chosen = evolve(entry, model=self.given.model or _ask_model(models, entry.model))
                self._try(chosen, models)
            except HrnsError as error:
                click.echo(f"hrns: {error}", err=True)
                changed = self._ask_what_next(entry, error)
                if changed is None:
                    break
                entry = changed
            else:
                return self._ask_name(chosen)
        model = self.given.model or click.prompt("Model", default=entry.model or None, err=True)
        return self._ask_name(evolve(entry, model=model))

    def _ask_server(self) -> ProviderConfig:
        name, url = self.given.name, self.given.url
        while True:
            try:
                if url or (name and entry_for(name, self.config, os.environ)):
                    entry = self._entry(name, url)
                    click.echo(f"{entry.url}  (speaks {entry.api}; --api names another)", err=True)
                    return entry
            except HrnsError as error:
                click.echo(f"hrns: {error}", err=True)
            click.echo(f"Known by name: {', '.join(self._names())}.", err=True)
            said = click.prompt("Name or base URL", err=True).strip()
            name, url = (said, "") if said in self._names() else (self.given.name, said)

    def _names(self) -> list[str]:
        return [*self.config.providers, *_known_names().split(", ")]

    def _ask_name(self, entry: ProviderConfig) -> ProviderConfig:
        """The entry by the name that it is to have."""
        if self.given.name or entry.name in self._names():
            return entry
        while True:
            name = click.prompt("Name it", default=entry.name, err=True).strip()
            try:
                return evolve(entry, name=checked_name(name))
            except UsageError as error:
                click.echo(f"hrns: {error}", err=True)

    def _ask_url(self, entry: ProviderConfig) -> ProviderConfig:
        """The entry at the URL that is typed."""
        while True:
            typed = click.prompt("Base URL", default=entry.url, err=True).strip()
            try:
                url = _told_url(typed)
                api = self.given.api or api_of(url, self.plugins)
                read_endpoint(url, api)
            except ConfigError as error:
                click.echo(f"hrns: {error}", err=True)
            else:
                return evolve(entry, url=url, api=api)

    def _ask_what_next(self, entry: ProviderConfig, error: HrnsError) -> ProviderConfig | None:
        """The entry to try next; None if it is wanted as it is."""
        words = ["again", "url", "key", "save", "quit"]
        if is_about_trust(error):
            words.insert(0, "trust")
            click.echo("trust: leave the certificates of this server unchecked.", err=True)
        word = click.prompt(
            "Try again, change the url or the key, save it all the same, or quit?",
            type=click.Choice(words),
            default="again",
            err=True,
        )
        match word:
            case "quit":
                raise click.Abort
            case "save":
                return None
            case "trust":
                return evolve(entry, skip_verify=True)
            case "key":
                return _ask_key(entry)
            case "url":
                return self._ask_url(entry)
        return entry


def _known_names() -> str:
    return ", ".join(known.name for known in ENVIRONMENT_PROVIDERS)


def _only(models: Sequence[str] | None) -> str:
    """The one model that is offered.

    Raises:
        UsageError: it is not clear which is meant.
    """
    if models and len(models) == 1:
        return models[0]
    offered = f" It offers: {', '.join(models[:_SHOWN_MODELS])}." if models else ""
    raise UsageError("no model is named", hint=f"Name one with --model.{offered}")


def _ask_key(entry: ProviderConfig) -> ProviderConfig:
    """The entry with the key that is typed, hidden; nothing typed keeps the one there is."""
    shown = shown_key(entry.key)
    enter = {"": "for none", "set": "keeps the one saved"}.get(shown, f"takes it from {shown}")
    prompt = f"Key (hidden; $NAME takes it from the environment; Enter {enter})"
    key = click.prompt(prompt, default="", hide_input=True, show_default=False, err=True)
    return evolve(entry, key=key.strip() or entry.key)


def _ask_model(models: Sequence[str] | None, saved: str) -> str:
    """The model that a person chooses by number or name."""
    if not models:
        return str(click.prompt("Model", default=saved or None, err=True)).strip()
    for number, model in enumerate(models[:_SHOWN_MODELS], 1):
        click.echo(f"{number:4}  {model}", err=True)
    if len(models) > _SHOWN_MODELS:
        click.echo(f"      and {len(models) - _SHOWN_MODELS} more, by name", err=True)
    default = saved if saved in models else models[0]
    said = str(click.prompt("Model (number or name)", default=default, err=True)).strip()
    if said not in models and said.isdecimal() and 1 <= int(said) <= len(models):
        return models[int(said) - 1]
    return said
