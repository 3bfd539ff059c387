"""Which provider is meant.

The one that is named, else the current one, else the only one, else one that the environment has
a key for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from attrs import evolve, frozen

from ..errors import ConfigError
from ..nearest import nearest
from .values import Config, ProviderConfig

__all__ = [
    "DEMO",
    "ENVIRONMENT_PROVIDERS",
    "EnvironmentProvider",
    "choose_provider",
    "find_provider",
    "known_providers",
]

DEMO = ProviderConfig("demo", model="demo", api="demo")
"""The built-in provider that needs neither key nor network."""

_HOW_TO_CONNECT = "Connect a model with `hrns connect`, or try `--provider demo`."

_DEFAULT_URLS = {
    "openai-chat": "https://api.openai.com/v1",
    "openai-responses": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com/v1",
    "ollama": "http://127.0.0.1:11434",
}


@frozen
class EnvironmentProvider:
    """A provider that a variable of the environment is enough for.

    Parameters:
        variable: the variable that holds its key (for Ollama: its address).
        name: what the provider is called.
        url: its base URL.
        api: its protocol.
        url_variable: a variable that names another base URL, or "".
    """

    variable: str
    name: str
    url: str
    api: str = "openai-chat"
    url_variable: str = ""

    def config(self, environ: Mapping[str, str]) -> ProviderConfig:
        """The entry that it stands for; the key stays a reference."""
        if self.api == "ollama":
            return ProviderConfig(self.name, _ollama_url(environ[self.variable]), api=self.api)
        url = environ.get(self.url_variable, "").strip() or self.url
        return ProviderConfig(self.name, url, key=f"${self.variable}", api=self.api)


ENVIRONMENT_PROVIDERS = (
    EnvironmentProvider(
        "OPENAI_API_KEY",
        "openai",
        _DEFAULT_URLS["openai-chat"],
        url_variable="OPENAI_BASE_URL",
    ),
    EnvironmentProvider(
        "ANTHROPIC_API_KEY",
        "anthropic",
        _DEFAULT_URLS["anthropic"],
        api="anthropic",
        url_variable="ANTHROPIC_BASE_URL",
    ),
    EnvironmentProvider(
        "GEMINI_API_KEY", "gemini", "https://generativelanguage.googleapis.com/v1beta/openai"
    ),
    EnvironmentProvider("MISTRAL_API_KEY", "mistral", "https://api.mistral.ai/v1"),
    EnvironmentProvider("GROQ_API_KEY", "groq", "https://api.groq.com/openai/v1"),
    EnvironmentProvider("OPENROUTER_API_KEY", "openrouter", "https://openrouter.ai/api/v1"),
    EnvironmentProvider("DEEPSEEK_API_KEY", "deepseek", "https://api.deepseek.com/v1"),
    EnvironmentProvider("XAI_API_KEY", "xai", "https://api.x.ai/v1"),
    EnvironmentProvider("OLLAMA_HOST", "ollama", _DEFAULT_URLS["ollama"], api="ollama"),
)
"""In the order in which the environment is searched."""


def choose_provider(
    config: Config, name: str, model: str, environ: Mapping[str, str]
) -> ProviderConfig:
    """The provider to use, with the model to use as its `model`.

    Parameters:
        name: the provider that was asked for, or "".
        model: the model that was asked for, or "": then the provider's own, then `HRNS_MODEL`.

    Raises:
        ConfigError: there is none, the name is unknown, or no model is named.
    """
    provider = find_provider(config, name, environ)
    asked = (model, provider.model, environ.get("HRNS_MODEL", ""))
    model = next((each.strip() for each in asked if each.strip()), "")
    if not model:
        raise ConfigError(
            f"no model is named for provider {provider.name!r}",
            hint="Name one with --model or HRNS_MODEL; `hrns models` lists what is there.",
        )
    return evolve(provider, model=model)


def find_provider(config: Config, name: str, environ: Mapping[str, str]) -> ProviderConfig:
    """The provider to use, whether it has a model or not.

    Its `url` is that of its protocol if none is configured; its `options` stand on top of those
    for all providers. So it is for use, not for saving.

    Parameters:
        name: the provider that was asked for, or "".

    Raises:
        ConfigError: there is none, or the name is unknown.
    """
    provider = _found(config, name, environ)
    return evolve(
        provider,
        url=provider.url or _DEFAULT_URLS.get(provider.api, ""),
        options={**config.options, **provider.options},
    )


def _found(config: Config, name: str, environ: Mapping[str, str]) -> ProviderConfig:
    if name:
        return _named(config, name, environ)
    if config.current_provider:
        return _current(config, environ)
    if len(config.providers) == 1:
        return next(iter(config.providers.values()))
    for candidate in ENVIRONMENT_PROVIDERS:
        if environ.get(candidate.variable, "").strip():
            return candidate.config(environ)
    raise _nothing_to_choose(config)


def _named(config: Config, name: str, environ: Mapping[str, str]) -> ProviderConfig:
    known = known_providers(config, environ)
    if name in known:
        return known[name]
    for candidate in ENVIRONMENT_PROVIDERS:
        if candidate.name == name:
            raise ConfigError(
                f"provider {name!r} is not configured, and {candidate.variable} is not set",
                hint=f"Set {candidate.variable}, or connect it with `hrns connect`.",
            )
    raise ConfigError(f"there is no provider {name!r}", hint=_suggest(name, known))


def _current(config: Config, environ: Mapping[str, str]) -> ProviderConfig:
    known = known_providers(config, environ)
    if config.current_provider in known:
        return known[config.current_provider]
    raise ConfigError(
        f"the current provider {config.current_provider!r} is not configured",
        hint=_suggest(config.current_provider, known),
        path=config.path,
        key_path="$.currentProvider",
    )


def known_providers(config: Config, environ: Mapping[str, str]) -> dict[str, ProviderConfig]:
    """Every provider that can be named: the configured ones, before those of the environment."""
    by_variable = {
        candidate.name: candidate.config(environ)
        for candidate in ENVIRONMENT_PROVIDERS
        if environ.get(candidate.variable, "").strip()
    }
    return {**config.providers, **by_variable, DEMO.name: DEMO, **config.providers}


def _nothing_to_choose(config: Config) -> ConfigError:
    if not config.providers:
        return ConfigError("no provider is configured", hint=_HOW_TO_CONNECT)
    return ConfigError(
        f"several providers are configured, and none is current: {', '.join(config.providers)}",
        hint="Name one with --provider, or keep one: `hrns config set currentProvider NAME`.",
        path=config.path,
    )


def _suggest(name: str, known: Iterable[str]) -> str:
    names = sorted(known)
    near = nearest(name, names)
    question = f"Did you mean {near[0]}? " if near else ""
    return f"{question}Known providers: {', '.join(names)}. {_HOW_TO_CONNECT}"


def _ollama_url(host: str) -> str:
    """The base URL that `OLLAMA_HOST` stands for: it may lack scheme, host or port.

    `0.0.0.0` is an address to listen on; it is reached at the loopback address.
    """
    from urllib.parse import urlsplit

    host = host.strip().rstrip("/")
    try:
        parts = urlsplit(host if "://" in host else f"http://{host}")
        port = parts.port
    except ValueError as error:
        hint = "Write it as host:port."
        raise ConfigError(f"OLLAMA_HOST is not an address: {error}", hint=hint) from error
    name = parts.hostname or "127.0.0.1"
    name = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(name, name)  # noqa: S104 - not listened on
    default_port = 11434 if "://" not in host else 443 if parts.scheme == "https" else 80
    bracketed = f"[{name}]" if ":" in name else name
    return f"{parts.scheme}://{bracketed}:{port or default_port}{parts.path}"
