"""`hrns config`: the configuration file, shown, changed and checked."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from ..config import (
    Config,
    KeyPath,
    edit_config,
    find_provider,
    get_value,
    load_config,
    load_project_config,
    merge,
    parse_key_path,
    project_config_path,
    read_document,
    set_value,
    spell_key_path,
    unset_value,
)
from ..errors import ConfigError
from ..permissions import Decision, Rule
from .common import user_config_path, working_directory

__all__ = ["command"]

_DECISIONS: tuple[Decision, ...] = ("allow", "ask", "deny")


@click.group("config")
def command() -> None:
    """Show, change and check the configuration.

    KEY is a path into the file, such as providers.home.model or permissions.allow[0].
    """


@command.command()
def path() -> None:
    """Print where the configuration file lies."""
    click.echo(user_config_path())


@command.command()
@click.argument("key", default="$")
@click.option("--show-secrets", is_flag=True, help="Print keys and secret headers as well.")
def get(key: str, show_secrets: bool) -> None:
    """Print the value at KEY, or the whole configuration.

    Text is printed as it is, everything else as JSON.
    """
    key_path = parse_key_path(key)
    file = user_config_path()
    document = read_document(file)[0] if show_secrets else load_config(file).document
    value = _value_at(document, key_path, file)
    click.echo(value if isinstance(value, str) else _pretty(value))


@command.command("set")
@click.argument("key")
@click.argument("value")
@click.option("--text", "as_text", is_flag=True, help="Take VALUE as text, not as JSON.")
def set_(key: str, value: str, as_text: bool) -> None:
    """Set KEY to VALUE: JSON if it is JSON, else text; - reads it from standard input.

    Text that looks like JSON, such as a number, needs --text.
    """
    if value == "-":
        value = sys.stdin.read().strip()
    edit_config(user_config_path(), set_value(parse_key_path(key), _value(value, as_text)))


@command.command()
@click.argument("key")
def unset(key: str) -> None:
    """Take KEY out of the configuration."""
    edit_config(user_config_path(), unset_value(parse_key_path(key)))


@command.command()
@click.argument("file", required=False, type=click.Path(path_type=Path))
def validate(file: Path | None) -> None:
    """Check FILE, or the configuration and that of the project here."""
    if file is not None and not file.exists():
        raise ConfigError("there is no such file", path=file)
    _check(file or user_config_path())
    if file is None and project_config_path(working_directory()).exists():
        _check_project(working_directory())


@command.command()
def edit() -> None:
    """Open the configuration in $VISUAL or $EDITOR, and check it afterwards."""
    file = user_config_path()
    if not file.exists():
        edit_config(file)
    click.edit(filename=str(file))
    file.chmod(0o600)
    _check(file)


def _pretty(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def _value(text: str, as_text: bool) -> Any:
    if not as_text:
        try:
            return json.loads(text)
        except ValueError:
            pass
    return text


def _value_at(document: Mapping[str, Any], key_path: KeyPath, file: Path) -> Any:
    try:
        return get_value(document, key_path)
    except ConfigError:
        get_value(read_document(file)[0], key_path)
        raise ConfigError(
            f"{spell_key_path(key_path)} is secret", hint="--show-secrets prints it."
        ) from None


def _check(file: Path) -> None:
    if not file.exists():
        click.echo(f"{file}: not there; nothing is configured")
        return
    config = load_config(file)
    _check_rules(config, file)
    _warn([*_misspelled(config), *_unusable(config)])
    click.echo(f"{file}: fine")


def _check_project(cwd: Path) -> None:
    project = load_project_config(cwd)
    merged = merge(load_config(user_config_path()), project)
    _check_rules(merged, project.path)
    _warn(list(merged.warnings))
    click.echo(f"{project.path}: fine")


def _check_rules(config: Config, file: Path) -> None:
    """Raises a ConfigError if a permission rule is none."""
    for decision in _DECISIONS:
        for rule in getattr(config.permissions, decision):
            Rule.parse(decision, rule, file.name)


def _warn(warnings: list[str]) -> None:
    for warning in warnings:
        click.echo(f"hrns: warning: {warning}", err=True)


def _misspelled(config: Config) -> Iterator[str]:
    """Fields that hrns does not know and that look like one that it knows."""
    from importlib.resources import files

    schema = files("hrns").joinpath("schemas", "config.schema.json").read_text("utf-8")
    described = json.loads(schema)
    yield from _near_misses((), config.document, described["properties"])
    for name, provider in config.providers.items():
        fields = described["$defs"]["provider"]["properties"]
        yield from _near_misses(("providers", name), provider.extra, fields)


def _near_misses(at: KeyPath, fields: Mapping[str, Any], known: Mapping[str, Any]) -> Iterator[str]:
    from difflib import get_close_matches

    by_lower = {name.lower(): name for name in known}
    for name in fields:
        if name in known:
            continue
        for near in get_close_matches(name.replace("_", "").lower(), by_lower, n=1, cutoff=0.8):
            yield f"{spell_key_path((*at, name))} is unknown; did you mean {by_lower[near]}?"


def _unusable(config: Config) -> Iterator[str]:
    """What is configured but would not work now."""
    if config.current_provider:
        try:
            find_provider(config, "", os.environ)
        except ConfigError as error:
            yield str(error).replace("\n", " ")
    for provider in config.providers.values():
        try:
            provider.resolved_key(os.environ)
            provider.resolved_headers(os.environ)
        except ConfigError as error:
            yield str(error).replace("\n", " ")
