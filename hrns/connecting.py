"""Connecting a model: what a name or a URL stands for, and whether somebody answers there."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Mapping
from queue import Empty, SimpleQueue
from typing import TypeVar
from urllib.parse import urlsplit

from attrs import evolve

from .cancel import Cancel
from .choosing import build_provider
from .config import ENVIRONMENT_PROVIDERS, Config, ProviderConfig, find_provider
from .errors import ConfigError, RequestRefused, Unreachable, UsageError, in_words
from .messages import UserMessage
from .nearest import nearest
from .plugins import Owned, Plugins
from .providers.base import ModelInfo, ModelOptions, ModelRequest, Provider
from .providers.endpoints import guess_api
from .records import ProviderKind

__all__ = [
    "LISTING_S",
    "api_of",
    "ask_a_word",
    "checked_name",
    "entry_for",
    "full_url",
    "has_key",
    "is_about_trust",
    "list_models",
    "name_for",
    "provider_of",
    "try_model",
    "within",
]

LISTING_S = 20.0
"""How long a list of models is waited for when a provider is connected."""

WORD_S = 60.0
"""How long the first words of a model are waited for: it may have to be loaded."""

T = TypeVar("T")

_LOCAL = ("localhost", "127.0.0.1", "::1", "0.0.0.0")  # noqa: S104 - recognised, not listened on
_PRIVATE_DOMAINS = (".localhost", ".local", ".lan", ".home", ".internal", ".home.arpa")
_NAME = re.compile(r"\w[\w.:/@+-]*")
_SAYS_NOTHING = ("api", "www", "llm", "ai", "com", "org", "net", "io", "co")
_TOKENS = 16
"""What a trial request may cost; some servers refuse fewer."""


def entry_for(name: str, config: Config, environ: Mapping[str, str]) -> ProviderConfig | None:
    """What is there, or known, of a provider: its entry, or that of a well-known service.

    The key of a well-known one is a reference to its variable, whether that is set or not.
    """
    if name in config.providers:
        return config.providers[name]
    known = next((each for each in ENVIRONMENT_PROVIDERS if each.name == name), None)
    if known is None:
        return None
    if known.api == "ollama" and not environ.get(known.variable, "").strip():
        return ProviderConfig(name, known.url, api=known.api)
    return known.config(environ)


def checked_name(name: str) -> str:
    """The name for a provider, if it is one word.

    Raises:
        UsageError: it is none.
    """
    if _NAME.fullmatch(name):
        return name
    raise UsageError(
        f"{name!r} cannot be the name of a provider",
        hint="A name is one word of letters, digits, - and _, such as home.",
    )


def full_url(text: str) -> str:
    """The base URL that a text means; one without a scheme gets one.

    That is http for this machine and private networks, and https for all others.

    Raises:
        ConfigError: it means none.
    """
    text = text.strip()
    if "://" in text or not text:
        return text
    host = _host_of(text)
    if not re.fullmatch(r"[\w.:%-]+", host) or not (set(".:/[") & set(text) or host in _LOCAL):
        shown = text.rpartition("@")[2]  # without a password
        raise ConfigError(f"{shown!r} is neither a known name nor a URL", hint=_suggest(text))
    return f"{'http' if _is_private(host) else 'https'}://{text}"


def _host_of(url: str) -> str:
    """The host of a URL with or without a scheme, in lower case; "" if there is none."""
    try:
        return (urlsplit(url if "://" in url else f"//{url}").hostname or "").lower()
    except ValueError:  # brackets that are not closed
        return ""


def _is_private(host: str) -> bool:
    """Whether a host is this machine or one of a private network, as far as its name tells."""
    from ipaddress import ip_address

    try:
        return not ip_address(host).is_global
    except ValueError:
        return "." not in host or host.endswith(_PRIVATE_DOMAINS)


def _suggest(text: str) -> str:
    near = nearest(text, [each.name for each in ENVIRONMENT_PROVIDERS])
    question = f"Did you mean {near[0]}? " if near else ""
    return f"{question}A URL is such as http://localhost:8080/v1."


def api_of(url: str, plugins: Plugins) -> str:
    """The protocol that is most likely spoken at a URL; the word of a plugin comes first."""
    kinds = plugins.collect("hrns_providers", ProviderKind)
    recognised = (each.record.api for each in kinds if _recognises(each, url, plugins))
    return next(recognised, None) or guess_api(url)


def _recognises(kind: Owned[ProviderKind], url: str, plugins: Plugins) -> bool:
    try:
        return bool(kind.record.recognises(url))
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a guest's code, and it is named
        plugins.warn(f"plugin {kind.plugin} cannot tell whose URL this is: {in_words(error)}")
        return False


def name_for(url: str, taken: Iterable[str]) -> str:
    """A name for the provider at a URL that is not taken yet: the service's, or its host's."""
    host = _host_of(url)
    for known in ENVIRONMENT_PROVIDERS:
        if known.api != "ollama" and urlsplit(known.url).hostname == host:
            return _free(known.name, taken)
    if host in _LOCAL:
        return _free("local", taken)
    words = [word for word in re.split(r"[^a-z0-9-]+", host) if word not in _SAYS_NOTHING]
    is_address = ":" in host or host.replace(".", "").isdigit()
    return _free(host if is_address or not words else words[-1], taken)


def _free(name: str, taken: Iterable[str]) -> str:
    names = set(taken)
    numbered = (f"{name}-{number}" for number in range(2, len(names) + 3))
    return next(each for each in (name, *numbered) if each not in names)


def within(seconds: float, ask: Callable[[], T]) -> T:
    """What `ask` returns or raises, if it does so in time; else it is left behind.

    Raises:
        Unreachable: it took longer.
    """
    answers: SimpleQueue[tuple[T, None] | tuple[None, Exception]] = SimpleQueue()

    def run() -> None:
        try:
            answers.put((ask(), None))
        except Exception as error:  # noqa: BLE001 - raised in the thread that waits
            answers.put((None, error))

    threading.Thread(target=run, name="hrns within", daemon=True).start()
    try:
        answer, error = answers.get(timeout=seconds)
    except Empty:
        raise Unreachable(f"there was no answer within {seconds:g} s") from None
    if error is not None:
        raise error
    return answer  # type: ignore[return-value]  # None only beside an error


def list_models(provider: Provider) -> list[ModelInfo]:
    """The models that a provider offers; where there is no such list, the hint is on the path.

    Raises:
        ProviderError: they could not be listed.
        ConfigError: the URL, a header or the proxy cannot be used.
    """
    try:
        return list(provider.models())
    except RequestRefused as error:
        if error.status in (404, 405):
            error.hint = _about_path(provider.endpoint, provider.api)
        raise


def _about_path(base: str, api: str) -> str:
    parts = urlsplit(base)
    if parts.path.rstrip("/").endswith("/v1") or not api.startswith("openai-"):
        return f"Is the base path {parts.path or '/'} right, and does this server list its models?"
    return (
        f"The base path {parts.path or '/'} is probably wrong: most end in /v1, "
        f"such as {parts.scheme}://{parts.netloc}/v1."
    )


def has_key(entry: ProviderConfig, environ: Mapping[str, str]) -> bool:
    """Whether there is a key now: a reference may lead nowhere."""
    try:
        return bool(entry.resolved_key(environ))
    except ConfigError:
        return False


def provider_of(
    entry: ProviderConfig, config: Config, plugins: Plugins, environ: Mapping[str, str]
) -> Provider:
    """The provider that an entry describes, which need not be saved.

    Raises:
        ConfigError: it cannot be used.
    """
    config = evolve(config, providers={entry.name: entry})
    found = find_provider(config, entry.name, environ)  # with the URL of its protocol
    return build_provider(plugins, found, environ)


def try_model(provider: Provider, model: str, listed: Iterable[str]) -> None:
    """Have the model write a word, within `WORD_S`: proof that key and model are good.

    Parameters:
        listed: the models on offer, one of which may be meant where it is refused.

    Raises:
        ProviderError: they are not, or the way there is not.
    """
    try:
        within(WORD_S, lambda: ask_a_word(provider, model))
    except RequestRefused as error:
        if near := nearest(model, listed, 3):
            error.hint = f"Did you mean {' or '.join(near)}? {error.hint}".rstrip()
        raise


def ask_a_word(provider: Provider, model: str) -> None:
    """Make the model write a word or two.

    Raises:
        ProviderError: it does not, or the way there is not.
    """
    request = ModelRequest(
        model, (UserMessage("Say hello."),), options=ModelOptions(max_tokens=_TOKENS)
    )
    for _ in provider.reply(request, Cancel()):
        pass


def is_about_trust(error: BaseException) -> bool:
    """Whether a certificate that nobody vouches for is the cause."""
    from ssl import SSLCertVerificationError

    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, SSLCertVerificationError):
            return True
        cause = cause.__cause__ or cause.__context__
    return False
