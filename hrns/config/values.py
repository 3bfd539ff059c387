"""What the configuration says, as frozen values, and which of it is secret.

A secret is never in a `repr`, and never in `Config.document`, which plugins are given.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import Factory, field, frozen

from ..errors import ConfigError

if TYPE_CHECKING:
    from ..context import Mode

__all__ = [
    "Config",
    "LimitsConfig",
    "ModelConfig",
    "PermissionsConfig",
    "PluginsConfig",
    "ProviderConfig",
    "WebFetchConfig",
    "looks_secret",
    "public_provider",
    "public_url",
    "resolve_reference",
    "secrets_in_url",
    "without_quotes",
]

_REFERENCE = re.compile(r"\$(\w+)|\$\{(\w+)\}|env:(\w+)", re.ASCII)
_SECRET_NAME = re.compile(
    r"(key|secret|token|password|passwd|credentials?|authorization|cookie)$", re.IGNORECASE
)
_USER_IN_URL = re.compile(r"(?<=//)[^/@\s]*@")
_PASSWORD_IN_URL = re.compile(r"//[^/@\s:]*:([^/@\s]+)@")
_QUERY_FIELD = re.compile(r"(?<=[?&])([^=&#\s]+)=([^&#\s]+)")


def looks_secret(name: str) -> bool:
    """Whether a field or header of this name holds a secret: `key`, `X-Api-Key`, `accessToken`."""
    return _SECRET_NAME.search(name) is not None


def public_url(url: str) -> str:
    """The URL without the user name and password before its host, and without keys behind it."""
    return _QUERY_FIELD.sub(
        lambda field: f"{field[1]}=..." if looks_secret(field[1]) else field[0],
        _USER_IN_URL.sub("", url),
    )


def secrets_in_url(url: str) -> list[str]:
    """The password, and what the query holds under names that look secret."""
    fields = _QUERY_FIELD.findall(url)
    return [
        *_PASSWORD_IN_URL.findall(url),
        *(value for name, value in fields if looks_secret(name)),
    ]


def resolve_reference(text: str, environ: Mapping[str, str], *, what: str) -> str:
    """The text, or the value of the variable that `$NAME`, `${NAME}` or `env:NAME` stands for.

    Parameters:
        what: what the text is, for the error: `the key of provider 'home'`.

    Raises:
        ConfigError: the variable is not set, or is empty.
    """
    text = text.strip()
    match = _REFERENCE.fullmatch(text)
    if match is None:
        return text
    name = match[match.lastindex or 0]
    value = environ.get(name, "").strip()
    if not value:
        raise ConfigError(
            f"{what} is taken from the environment variable {name}, which is not set",
            hint=f"Set {name}, or write the value down with hrns connect.",
        )
    return value


def without_quotes(key: str) -> str:
    """The key without quotes around it: `--env-file` of docker, and who pastes, keep them."""
    quoted = len(key) > 1 and key[0] == key[-1] and key[0] in "\"'"
    return key[1:-1].strip() if quoted else key


def public_provider(entry: Mapping[str, Any]) -> dict[str, Any]:
    """A provider's entry without its key, its secret headers, and a password in its URL."""
    return {
        name: _public_value(name, value) for name, value in entry.items() if not looks_secret(name)
    }


def _public_value(name: str, value: object) -> object:
    if isinstance(value, Mapping):
        return public_provider(value)
    if isinstance(value, list):
        return [_public_value(name, item) for item in value]
    return public_url(value) if isinstance(value, str) else value


def _key_repr(key: str) -> str:
    return repr(key if not key or _REFERENCE.fullmatch(key) else "[redacted]")


def _mapping_repr(mapping: Mapping[str, Any]) -> str:
    return repr(public_provider(mapping))


def _url_repr(url: str) -> str:
    return repr(public_url(url))


@frozen
class ModelConfig:
    """What is said of one model of a provider.

    Parameters:
        options: options of its requests, on top of the provider's.
        tool_mode: `native`, `react`, `auto`, or "" for what the provider says.
        context_window: how many tokens it takes, or None.
    """

    options: Mapping[str, Any] = field(default=Factory(dict), hash=False)
    tool_mode: str = ""
    context_window: int | None = None


@frozen
class ProviderConfig:
    """A provider's entry.

    Parameters:
        name: its name in the configuration.
        url: the base URL; "" where the protocol needs none.
        key: the key, or a reference to an environment variable; use `resolved_key`.
        model: the default model.
        skip_verify: whether TLS certificates are not checked.
        api: the protocol: `openai-chat`, `openai-responses`, `anthropic`, `ollama`, `demo`, or
            one that a plugin brings.
        options: options of each request, by their JSON names.
        headers: headers of each request; use `resolved_headers`.
        tool_mode: `native`, `react`, `auto`, or "" for the default.
        ca_file: a file of certificate authorities to trust as well, or "".
        models: what is said of single models.
        extra: the fields that hrns itself does not know.
    """

    name: str
    url: str = field(default="", repr=_url_repr)
    key: str = field(default="", repr=_key_repr)
    model: str = ""
    skip_verify: bool = False
    api: str = "openai-chat"
    options: Mapping[str, Any] = field(default=Factory(dict), hash=False, repr=_mapping_repr)
    headers: Mapping[str, str] = field(default=Factory(dict), hash=False, repr=_mapping_repr)
    tool_mode: str = ""
    ca_file: str = ""
    models: Mapping[str, ModelConfig] = field(default=Factory(dict), hash=False)
    extra: Mapping[str, Any] = field(default=Factory(dict), hash=False, repr=_mapping_repr)

    def resolved_key(self, environ: Mapping[str, str]) -> str:
        """The key itself, without quotes around it; "" if there is none.

        Raises:
            ConfigError: it refers to an environment variable that is not set.
        """
        what = f"the key of provider {self.name!r}"
        return without_quotes(resolve_reference(self.key, environ, what=what))

    def resolved_headers(self, environ: Mapping[str, str]) -> dict[str, str]:
        """The headers, with references to environment variables replaced.

        Raises:
            ConfigError: one refers to an environment variable that is not set.
        """
        return {
            name: resolve_reference(
                value, environ, what=f"the header {name} of provider {self.name!r}"
            )
            for name, value in self.headers.items()
        }

    def options_for(self, model: str) -> dict[str, Any]:
        """The options of a request to this model: the provider's, and the model's on top."""
        return {**self.options, **self._said_of(model).options}

    def tool_mode_for(self, model: str) -> str:
        """How this model is offered tools: the model's word, else the provider's, else `auto`."""
        return self._said_of(model).tool_mode or self.tool_mode or "auto"

    def _said_of(self, model: str) -> ModelConfig:
        return self.models.get(model, ModelConfig())


@frozen
class PermissionsConfig:
    """The permission mode, None if none is said, and the rules as they are written."""

    mode: Mode | None = None
    allow: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()


@frozen
class PluginsConfig:
    """The entry-point names of plugins that are not loaded."""

    disabled: tuple[str, ...] = ()


@frozen
class LimitsConfig:
    """Limits of one run: model turns, seconds of wall time, tokens; None if nothing is said.

    `retries` says how often a failed request is made again, 0 for never.
    """

    turns: int | None = None
    seconds: float | None = None
    tokens: int | None = None
    retries: int | None = None


@frozen
class WebFetchConfig:
    """Hosts and address ranges that may be fetched though they are private."""

    allow: tuple[str, ...] = ()


@frozen
class Config:
    """The whole configuration.

    Parameters:
        path: the file that it is saved to, whether it is there yet or not.
        providers: the providers by name, in the file's order.
        current_provider: the provider that is used when none is named, or "".
        current_agent: the agent likewise, or "".
        permissions: the permission mode and rules.
        plugins: which plugins are not loaded.
        limits: limits of a run.
        web_fetch: what may be fetched.
        options: options of the requests to any provider, beneath the provider's own.
        log: the file that chunks are logged to, or "".
        frontend: the front end that `hrns` starts, or "" for the first.
        trusted_projects: directories whose project configuration may allow things.
        document: the whole document, providers without their secrets; what plugins are given.
        warnings: what of a project's configuration was passed over, for people.
    """

    path: Path
    providers: Mapping[str, ProviderConfig] = field(default=Factory(dict), hash=False)
    current_provider: str = ""
    current_agent: str = ""
    permissions: PermissionsConfig = PermissionsConfig()
    plugins: PluginsConfig = PluginsConfig()
    limits: LimitsConfig = LimitsConfig()
    web_fetch: WebFetchConfig = WebFetchConfig()
    options: Mapping[str, Any] = field(default=Factory(dict), hash=False)
    log: str = ""
    frontend: str = ""
    trusted_projects: tuple[str, ...] = ()
    document: Mapping[str, Any] = field(default=Factory(dict), hash=False, repr=False)
    warnings: tuple[str, ...] = ()
