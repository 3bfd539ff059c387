"""The configuration file, read into values.

Checked by hand rather than with cattrs: the file is read at each start, and each fault is told
with its place in the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn, cast

from attrs import frozen

from ..errors import ConfigError
from .keys import KeyPath, spell_key_path
from .syntax import decode_text, line_and_column, offset_of, parse_document
from .values import (
    Config,
    LimitsConfig,
    ModelConfig,
    PermissionsConfig,
    PluginsConfig,
    ProviderConfig,
    WebFetchConfig,
    public_provider,
)

__all__ = ["SETTER", "config_from", "config_path", "home_directory", "load_config", "read_document"]

_PROVIDER_FIELDS = frozenset(
    {
        "api",
        "caFile",
        "headers",
        "key",
        "model",
        "models",
        "options",
        "skipVerify",
        "toolMode",
        "url",
    }
)
_LOOKED_INTO = ("stream", "extra", "response_schema", "stop")
_MOST_BYTES = 100_000_000  # a path may lead to a device that never ends
_MODES = ("ask", "edits", "all", "plan")
_TOOL_MODES = ("native", "react", "auto")
_KINDS = {
    dict: "an object",
    list: "a list",
    str: "text",
    bool: "true or false",
    int: "a number",
    float: "a number",
    type(None): "null",
}
_FITS = {bool: "true", int: "5", float: "5", str: "TEXT"}
"""A value of each kind that can be typed, for hints."""

SETTER = "hrns config set"
"""The command that sets values in the user's configuration."""


def config_path(environ: Mapping[str, str], home: Path) -> Path:
    """Where the configuration lies: `HRNS_CONFIG`, else under `XDG_CONFIG_HOME` or `~/.config`.

    A relative `XDG_CONFIG_HOME` is ignored, as the XDG Base Directory Specification asks.
    """
    if named := environ.get("HRNS_CONFIG"):
        return home / named[2:] if named.startswith("~/") else Path(named)
    base = Path(environ.get("XDG_CONFIG_HOME", ""))
    return (base if base.is_absolute() else home / ".config") / "hrns" / "config.json"


def home_directory(environ: Mapping[str, str]) -> Path:
    """The user's home; `/` where nobody says (a container runs as a user that it does not know)."""
    try:
        return Path.home()
    except RuntimeError:
        return Path(environ.get("HOME") or "/")


def load_config(path: Path, *, setter: str = SETTER) -> Config:
    """The configuration in a file; an empty one if there is no file.

    Parameters:
        setter: the command that sets values in this file, for hints; or "".

    Raises:
        ConfigError: it cannot be read, does not parse, or has a value of the wrong type.
    """
    document, text = read_document(path)
    return config_from(document, path, text, setter=setter)


def read_document(path: Path) -> tuple[dict[str, Any], str]:
    """The JSON document in a file, and its text; `({}, "")` if there is no file.

    Raises:
        ConfigError: it cannot be read or does not parse.
    """
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return {}, ""
    except OSError as error:
        raise ConfigError(
            f"the configuration cannot be read: {error.strerror or error}",
            hint="Set HRNS_CONFIG to use another file.",
            path=path,
        ) from error
    if len(data) > _MOST_BYTES:
        raise ConfigError("the file has more than 100 MB: this is no configuration", path=path)
    text = decode_text(data, path)
    return parse_document(text, path), text


def config_from(
    document: Mapping[str, Any], path: Path, text: str = "", *, setter: str = ""
) -> Config:
    """The values that a document stands for.

    Parameters:
        text: the text that it was read from, for the places of faults; or "".
        setter: the command that sets values in it, for hints; or "".

    Raises:
        ConfigError: a value is of the wrong type; with its key path, and its place if known.
    """
    try:
        return _config(_Entry(document, ()), path)
    except _Fault as fault:
        line, column = line_and_column(text, offset_of(text, fault.key_path)) if text else (0, 0)
        raise ConfigError(
            str(fault),
            hint=_hint(fault, setter),
            path=path,
            line=line,
            column=column,
            key_path=spell_key_path(fault.key_path),
        ) from None


class _Fault(Exception):
    """A value is off. The message never quotes it: it may be a key in the wrong place."""

    def __init__(self, key_path: KeyPath, message: str, fits: str = "") -> None:
        super().__init__(message)
        self.key_path = key_path
        self.fits = fits


def _hint(fault: _Fault, setter: str) -> str:
    """The command that puts a value that fits in the place of one that does not."""
    from shlex import quote

    if not (setter and fault.fits):
        return ""
    where = quote(spell_key_path(fault.key_path).removeprefix("$").removeprefix("."))
    return f"Set one that fits: {setter} {where} {fault.fits}"


@frozen
class _Entry:
    """An object in the document. A field that is null counts as absent."""

    value: Mapping[str, Any]
    key_path: KeyPath

    def field(self, name: str, kinds: type | tuple[type, ...], default: Any) -> Any:
        value = self.value.get(name)
        if value is None:
            return default
        kinds = kinds if isinstance(kinds, tuple) else (kinds,)
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            needs = "a whole number" if kinds == (int,) else _KINDS[kinds[0]]
            message = f"must be {needs}, not {_KINDS[type(value)]}"
            self.refuse(name, message, _FITS.get(kinds[0], ""))
        return value

    def refuse(self, name: str, message: str, fits: str) -> NoReturn:
        raise _Fault((*self.key_path, name), message, fits)

    def text(self, name: str, default: str = "") -> str:
        return cast("str", self.field(name, str, default))

    def flag(self, name: str) -> bool:
        return cast("bool", self.field(name, bool, default=False))

    def count(self, name: str, least: int = 1) -> int | None:
        number = self.value.get(name)
        if not (isinstance(number, float) and number.is_integer()):  # 1e3, as a program may write
            number = self.field(name, int, None)
        if number is not None and number < least:
            self.refuse(name, f"must be {least} or more", _FITS[int])
        return None if number is None else int(number)

    def seconds(self, name: str) -> float | None:
        number = self.field(name, (int, float), None)
        if number is not None and not number > 0:
            self.refuse(name, "must be more than 0", _FITS[int])
        return cast("float | None", number)

    def one_of(self, name: str, words: tuple[str, ...]) -> str:
        word = self.text(name)
        if word and word not in words:
            self.refuse(name, f"must be one of {', '.join(words)}", words[0])
        return word

    def texts(self, name: str) -> tuple[str, ...]:
        items = self.field(name, list, [])
        for index, item in enumerate(items):
            if not isinstance(item, str):
                message = f"must be text, not {_KINDS[type(item)]}"
                raise _Fault((*self.key_path, name, index), message)
        return tuple(items)

    def text_by_name(self, name: str) -> dict[str, str]:
        entry = self.entry(name)
        return {key: entry.text(key) for key in entry.value}

    def options(self) -> Mapping[str, Any]:
        """The options of requests: those that hrns itself looks into are of their types."""
        entry = self.entry("options")
        entry.flag("stream")
        entry.entry("extra")
        entry.entry("response_schema")
        if not isinstance(entry.value.get("stop"), str):
            entry.texts("stop")
        return {
            name: value
            for name, value in entry.value.items()
            if value is not None or name not in _LOOKED_INTO
        }

    def entry(self, name: str) -> _Entry:
        return _Entry(self.field(name, dict, {}), (*self.key_path, name))

    def entries(self, name: str) -> dict[str, _Entry]:
        entry = self.entry(name)
        return {key: entry.entry(key) for key in entry.value}


def _config(root: _Entry, path: Path) -> Config:
    return Config(
        path=path,
        providers={
            name: _provider(name, entry) for name, entry in root.entries("providers").items()
        },
        current_provider=root.text("currentProvider"),
        current_agent=root.text("currentAgent"),
        permissions=_permissions(root.entry("permissions")),
        plugins=PluginsConfig(root.entry("plugins").texts("disabled")),
        limits=_limits(root.entry("limits")),
        web_fetch=WebFetchConfig(root.entry("webFetch").texts("allow")),
        options=root.options(),
        log=root.text("log"),
        frontend=root.text("frontend"),
        trusted_projects=root.texts("trustedProjects"),
        document=_public(root),
    )


def _provider(name: str, entry: _Entry) -> ProviderConfig:
    return ProviderConfig(
        name=name,
        url=entry.text("url").strip(),
        key=entry.text("key"),
        model=entry.text("model"),
        skip_verify=entry.flag("skipVerify"),
        api=entry.text("api") or "openai-chat",
        options=entry.options(),
        headers=entry.text_by_name("headers"),
        tool_mode=entry.one_of("toolMode", _TOOL_MODES),
        ca_file=entry.text("caFile"),
        models={model: _model(said) for model, said in entry.entries("models").items()},
        extra={key: value for key, value in entry.value.items() if key not in _PROVIDER_FIELDS},
    )


def _model(entry: _Entry) -> ModelConfig:
    return ModelConfig(
        options=entry.options(),
        tool_mode=entry.one_of("toolMode", _TOOL_MODES),
        context_window=entry.count("contextWindow"),
    )


def _permissions(entry: _Entry) -> PermissionsConfig:
    return PermissionsConfig(
        mode=cast("Any", entry.one_of("mode", _MODES) or None),
        allow=entry.texts("allow"),
        ask=entry.texts("ask"),
        deny=entry.texts("deny"),
    )


def _limits(entry: _Entry) -> LimitsConfig:
    return LimitsConfig(
        entry.count("turns"),
        entry.seconds("seconds"),
        entry.count("tokens"),
        entry.count("retries", least=0),
    )


def _public(root: _Entry) -> dict[str, Any]:
    """The document without the providers' secrets."""
    providers = root.entry("providers").value
    public = {name: public_provider(entry or {}) for name, entry in providers.items()}
    return {**root.value, "providers": public} if providers else dict(root.value)
