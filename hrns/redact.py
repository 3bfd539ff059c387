"""Takes secrets out of texts, before they reach a model, a person, or a file.

The secrets are known values, not guesses at what a secret looks like: the keys that the
configuration and the environment hold. Each is looked for as it is, and as JSON, URLs and base64
spell it.
"""

from __future__ import annotations

import json
import re
from binascii import b2a_base64
from collections.abc import Iterable, Iterator, Mapping

from attrs import define, field

from .config import (
    ENVIRONMENT_PROVIDERS,
    Config,
    ProviderConfig,
    looks_secret,
    resolve_reference,
)
from .config.values import secrets_in_url, without_quotes
from .errors import ConfigError

__all__ = ["REDACTED", "RedactedPieces", "Redactor", "redactor_for"]

REDACTED = "[redacted]"
"""What stands in the place of a secret."""

_SHORTEST = 8

# What people write where a local server wants some key. Taken out, they would spoil honest texts.
_PLACEHOLDERS = frozenset(
    {"no-key-required", "sk-no-key-required", "not-needed", "lm-studio", "placeholder", "anything"}
)
_SAME_IN_URLS = re.compile(r"[\w.~-]*", re.ASCII)


def _spellings(secrets: Iterable[str]) -> tuple[str, ...]:
    """Every spelling of every secret, the longest first: a secret may hold another."""
    written = [secret.strip() for secret in secrets]
    known = {*written, *map(without_quotes, written)}
    spellings = {
        spelling
        for secret in known
        if len(secret) >= _SHORTEST and secret not in _PLACEHOLDERS
        for spelling in (secret, *_in_json(secret), *_in_urls(secret), *_in_base64(secret))
    }
    return tuple(sorted(spellings, key=lambda spelling: (-len(spelling), spelling)))


def _in_json(secret: str) -> Iterator[str]:
    yield json.dumps(secret)[1:-1]
    yield json.dumps(secret, ensure_ascii=False)[1:-1]


def _in_urls(secret: str) -> Iterator[str]:
    if _SAME_IN_URLS.fullmatch(secret):
        return
    from urllib.parse import quote, quote_plus

    for quoted in (quote(secret), quote(secret, safe=""), quote_plus(secret)):
        yield quoted
        yield re.sub(r"%..", lambda escape: escape[0].lower(), quoted)


def _in_base64(secret: str) -> Iterator[str]:
    """The characters that stand for the secret alone, at the three ways it may be aligned.

    So it is found inside `user:key` too, whatever the user is (RFC 4648 section 4 and 5).
    """
    data = secret.encode("utf-8", "surrogatepass")
    for shift in range(3):
        encoded = b2a_base64(bytes(shift) + data, newline=False).decode("ascii")
        inner = encoded[-(-shift * 8 // 6) : (shift + len(data)) * 8 // 6]
        yield inner
        yield inner.replace("+", "-").replace("/", "_")


@define(eq=False)
class Redactor:
    """Replaces secrets in texts by `[redacted]`.

    Parameters:
        secrets: the secrets; one with fewer than 8 characters is not treated as one, since it may
            be an ordinary word.
    """

    _spellings: tuple[str, ...] = field(
        default=(), converter=_spellings, repr=False, alias="secrets"
    )

    def __call__(self, text: str) -> str:
        """The text without the secrets; the same object if there are none in it."""
        # One search a spelling: searching is far faster than a regular expression of them all.
        for spelling in self._spellings:
            if spelling in text:
                text = text.replace(spelling, REDACTED)
        return text

    def learn(self, other: Redactor) -> None:
        """From now on take out what the other does, in place of what this one did."""
        self._spellings = other._spellings

    def pieces(self) -> RedactedPieces:
        """What takes the secrets out of one text that comes in pieces."""
        return RedactedPieces(self)

    def settled(self, text: str) -> int:
        """How much of the beginning of a text no secret will reach into, whatever follows."""
        end = min((_begins(text, each) for each in self._spellings), default=len(text))
        while (start := min(_around(text, end, self._spellings), default=end)) < end:
            end = start
        return end


class RedactedPieces:
    """Takes secrets out of a text that comes in pieces, wherever it is cut."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._held = ""

    def feed(self, piece: str) -> str:
        """The text that is complete with this piece; what may be the start of a secret is held."""
        text = self._held + piece
        end = self._redactor.settled(text)
        self._held = text[end:]
        return self._redactor(text[:end])

    def end(self) -> str:
        """What was held back: no more will come."""
        held, self._held = self._held, ""
        return self._redactor(held)


def _begins(text: str, spelling: str) -> int:
    """Where the beginning of a spelling ends the text; the text's length if it does not."""
    at = text.find(spelling[0], max(0, len(text) - len(spelling) + 1))
    while at >= 0 and not spelling.startswith(text[at:]):
        at = text.find(spelling[0], at + 1)
    return at if at >= 0 else len(text)


def _around(text: str, place: int, spellings: Iterable[str]) -> Iterator[int]:
    """Where the spellings start that a cut at this place would go through."""
    for spelling in spellings:
        most = len(spelling) - 1
        at = text.find(spelling, max(0, place - most), place + most)
        if at >= 0:
            yield at


def redactor_for(config: Config | None, environ: Mapping[str, str]) -> Redactor:
    """The redactor of everything that is secret in a configuration and an environment.

    That is: keys, also those of the environment that a provider is made from; passwords in URLs;
    the values of headers and other fields whose names say that they are secret.

    Parameters:
        config: the configuration, or None if it could not be read: then no key of it is known.
    """
    secrets = [environ.get(candidate.variable, "") for candidate in _WITH_KEY]
    if config is not None:
        secrets += _secrets_in(config.document, environ)
        for provider in config.providers.values():
            secrets += _provider_secrets(provider, environ)
    return Redactor(secrets)


_WITH_KEY = tuple(one for one in ENVIRONMENT_PROVIDERS if one.api != "ollama")


def _provider_secrets(provider: ProviderConfig, environ: Mapping[str, str]) -> Iterator[str]:
    yield _resolved(provider.key, environ)
    yield from secrets_in_url(provider.url)
    for fields in (provider.headers, provider.options, provider.extra):
        yield from _secrets_in(fields, environ)
    for model in provider.models.values():
        yield from _secrets_in(model.options, environ)


def _secrets_in(value: object, environ: Mapping[str, str], name: str = "") -> Iterator[str]:
    """The texts in a JSON value whose field's name says that they are secret."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _secrets_in(inner, environ, key)
    elif isinstance(value, list):
        for inner in value:
            yield from _secrets_in(inner, environ, name)
    elif isinstance(value, str) and looks_secret(name):
        secret = _resolved(value, environ)
        yield secret
        # `Authorization: Bearer KEY`: the key is met without the scheme as well.
        yield secret.partition(" ")[2]


def _resolved(text: str, environ: Mapping[str, str]) -> str:
    try:
        return resolve_reference(text, environ, what="a secret")
    except ConfigError:
        return ""
