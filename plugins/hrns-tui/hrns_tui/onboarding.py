"""Connecting a model: what is asked, checked and saved. Nothing is written before the end.

What a name or a URL stands for, and how it is tried, is the same as for `hrns connect`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from attrs import evolve, frozen

from hrns.config import (
    DEMO,
    ENVIRONMENT_PROVIDERS,
    Config,
    ProviderConfig,
    edit_config,
    put_provider,
    set_current_provider,
)
from hrns.config.values import public_url
from hrns.connecting import (
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
from hrns.errors import (
    BrokenStream,
    ConfigError,
    HrnsError,
    RequestRefused,
    ServerFault,
    UsageError,
)
from hrns.plugins import Plugins
from hrns.providers.base import ModelInfo, Provider
from hrns.providers.endpoints import read_endpoint
from hrns.providers.http import APIS

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
    entry = _Connection(dialogue, config, plugins, environ).asked()
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


@frozen
class _Connection:
    """One attempt to connect a provider. Where a question is not answered, None is returned."""

    dialogue: Dialogue
    config: Config
    plugins: Plugins
    environ: Mapping[str, str]

    def asked(self) -> ProviderConfig | None:
        """A whole entry: one that was tried, or that is wanted all the same."""
        local = local_servers(self.plugins)
        chosen = self._choose(local)
        if chosen is None:
            return None
        if chosen == DEMO.name:
            return DEMO
        for server in local:
            if server.name == chosen:
                return self._settled(server)
        entry = self._of_name() if chosen == _OTHER else self._of_service(chosen)
        return None if entry is None else self._settled(entry)

    def _of_service(self, name: str) -> ProviderConfig | None:
        """The entry of a well-known service, with its key if it needs one."""
        entry = self._entry(name)
        if entry.api == "ollama" or has_key(entry, self.environ):
            return entry
        variable = next(each.variable for each in ENVIRONMENT_PROVIDERS if each.name == name)
        self.dialogue.say(f"{name} at {entry.url}. Its key may be in ${variable} as well.")
        return self._ask_key(entry)

    def _of_name(self) -> ProviderConfig | None:
        """The entry of a server of one's own."""
        said = self._ask_name()
        if said is None or isinstance(said, ProviderConfig):
            return said and self._ask_key(said)
        return self._ask_server(self._entry(said))

    def _entry(self, name: str) -> ProviderConfig:
        return entry_for(name, self.config, self.environ) or ProviderConfig(name)

    # What is asked

    def _choose(self, local: Sequence[ProviderConfig]) -> str | None:
        """What to begin with: a server that listens here, a known service, the demo, or another."""
        options = {each.name: f"listens at {each.url}" for each in local}
        with_key = {
            known.name: f"the key in ${known.variable} is used"
            for known in ENVIRONMENT_PROVIDERS
            if self.environ.get(known.variable, "").strip()
        }
        services = {known.name: f"at {known.url}" for known in ENVIRONMENT_PROVIDERS}
        options = {**services, **options, **with_key}
        first = [*with_key, *(each.name for each in local)]
        named = dict.fromkeys([*first, *services])
        return self.dialogue.pick(
            "Which provider do you want to connect?",
            [
                *((name, options[name]) for name in named),
                (DEMO.name, "needs neither key nor network"),
                (_OTHER, "a server of your own"),
            ],
        )

    def _ask_name(self) -> str | ProviderConfig | None:
        """The name; of a URL in its place, the entry of the server there."""
        while (said := self.dialogue.ask("Provider name or URL")) is not None:
            try:
                return self._of_url(said) if _is_url(said) else checked_name(said)
            except (UsageError, ConfigError) as error:
                self.dialogue.error(str(error))
        return None

    def _of_url(self, typed: str) -> ProviderConfig:
        """The entry of a server under the name that its URL suggests, which is told."""
        name = name_for(full_url(typed), self.config.providers)
        entry = self._located(ProviderConfig(name), typed)
        self.dialogue.say(f"The provider is named {name}.")
        return entry

    def _ask_server(self, entry: ProviderConfig) -> ProviderConfig | None:
        """The entry with the URL and the key that the person gives."""
        located = self._ask_url(entry)
        return None if located is None else self._ask_key(located)

    def _ask_url(self, entry: ProviderConfig) -> ProviderConfig | None:
        while (typed := self.dialogue.ask("URL", default=entry.url)) is not None:
            if typed == entry.url and (typed or entry.api not in APIS):
                return entry
            try:
                return self._located(entry, typed)
            except ConfigError as error:
                self.dialogue.error(str(error))
        return None

    def _located(self, entry: ProviderConfig, typed: str) -> ProviderConfig:
        """The entry at the URL that was typed; a key goes to the server that it was given for."""
        url = full_url(typed)
        api = api_of(url, self.plugins)
        if api in APIS:
            read_endpoint(url, api)
        if url != typed.strip():
            self.dialogue.say(f"The URL has no scheme: taken as {public_url(url)}")
        moved = urlsplit(url).netloc != urlsplit(entry.url).netloc
        return evolve(entry, url=url, api=api, key="" if moved else entry.key)

    def _ask_key(self, entry: ProviderConfig) -> ProviderConfig | None:
        kept = entry.key if has_key(entry, self.environ) else ""
        key = self.dialogue.ask(_key_label(kept), default=kept, secret=True)
        return None if key is None else evolve(entry, key=key)

    # What is tried

    def _settled(self, entry: ProviderConfig) -> ProviderConfig | None:
        """The entry with its model, tried until it works or is wanted all the same."""
        while True:
            try:
                return self._tried(entry)
            except HrnsError as error:
                self.dialogue.error(f"it does not work yet: {error}")
                step = self._next_step(entry, error)
            match step:
                case "trust":
                    entry = evolve(entry, skip_verify=True)
                case "change":
                    asked = self._ask_server(entry)
                    if asked is None:
                        return None
                    entry = asked
                case "save":
                    model = ask_model(self.dialogue, "Default model", (), entry.model)
                    return None if model is None else evolve(entry, model=model)
                case None:
                    return None

    def _tried(self, entry: ProviderConfig) -> ProviderConfig | None:
        """The entry with a model that is listed, or that wrote a word.

        Raises:
            HrnsError: the server is not reached, or does not take the key or the model.
        """
        self.dialogue.say("Checking the connection ...")
        provider = provider_of(entry, self.config, self.plugins, self.environ)
        models = self._listed(provider)
        model = ask_model(self.dialogue, "Default model", models, entry.model)
        if model is None:
            return None
        names = [each.id for each in models]
        if model not in names:
            self.dialogue.say(f"Trying {model} ...")
            try_model(provider, model, names)
        return evolve(entry, model=model)

    def _listed(self, provider: Provider) -> Sequence[ModelInfo]:
        """Its models; none if it answers, but does not list them."""
        try:
            return within(LISTING_S, lambda: list_models(provider))
        except (RequestRefused, ServerFault, BrokenStream) as error:
            self.dialogue.say(f"It lists no models: {error}")
            return ()

    def _next_step(self, entry: ProviderConfig, error: HrnsError) -> str | None:
        """What is to be done about a failure."""
        if is_about_trust(error) and not entry.skip_verify:
            skip = confirm(self.dialogue, "Skip the verification of TLS certificates?")
            if skip is None or skip:
                return "trust" if skip else None
        return self.dialogue.pick(
            "What is to be done?",
            [
                ("change", "another URL or key"),
                ("again", "try it once more, or another model"),
                ("save", "save it all the same"),
            ],
        )


def _is_url(said: str) -> bool:
    """Whether it is no name but a URL, perhaps without its scheme: no name has such signs."""
    return not set(".:/[").isdisjoint(said)


def _key_label(key: str) -> str:
    if key.startswith(("$", "env:")):
        return f"Key (hidden; Enter takes it from {key})"
    if key:
        return "Key (hidden; Enter keeps the one there is)"
    return "Key (hidden; $NAME takes it from the environment; Enter for none)"
