"""Connecting a model: what a name or a URL stands for, and whether somebody answers there."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Mapping
from queue import Empty, SimpleQueue
from typing import TypeVar
from urllib.parse import urlsplit

from .cancel import Cancel
from .config import ENVIRONMENT_PROVIDERS, Config, ProviderConfig
from .errors import Unreachable, in_words
from .messages import UserMessage
from .plugins import Owned, Plugins
from .providers.base import ModelOptions, ModelRequest, Provider
from .providers.endpoints import guess_api
from .records import ProviderKind

__all__ = ["api_of", "ask_a_word", "entry_for", "name_for", "within"]

T = TypeVar("T")

_LOCAL = ("localhost", "127.0.0.1", "::1", "0.0.0.0")  # noqa: S104 - recognised, not listened on
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
    host = (urlsplit(url if "://" in url else f"//{url}").hostname or "").lower()
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


def ask_a_word(provider: Provider, model: str) -> None:
    """Make the model write a word or two: proof that key and model are good.

    Raises:
        ProviderError: they are not, or the way there is not.
    """
    request = ModelRequest(
        model, (UserMessage("Say hello."),), options=ModelOptions(max_tokens=_TOKENS)
    )
    for _ in provider.reply(request, Cancel()):
        pass
