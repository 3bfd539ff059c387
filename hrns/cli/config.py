"""`hrns config`: the configuration file, shown, changed and checked."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import Any

import click

from ..config import (
    SETTER,
    Config,
    KeyPath,
    edit_config,
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
from ..errors import ConfigError, UsageError
from ..permissions import Decision, Rule
from .common import tell, user_config_path, working_directory
from .completing import config_keys
from .doubts import misspelled, unknown_agent, unknown_provider, unusable

__all__ = ["command"]

_DECISIONS: tuple[Decision, ...] = ("allow", "ask", "deny")


@click.group("config")
def command() -> None:
    """Show, change and check the configuration.

    KEY is a path into the file, such as providers.home.model or permissions.allow[0]; it may begin
    with $. as in error messages.
    """


@command.command()
def path() -> None:
    """Print where the configuration file lies."""
    click.echo(user_config_path())


@command.command()
@click.argument("key", default="$", shell_complete=config_keys)
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
@click.argument("key", shell_complete=config_keys)
@click.argument("value")
@click.option("--text", "as_text", is_flag=True, help="Take VALUE as text, not as JSON.")
def set_(key: str, value: str, as_text: bool) -> None:
    """Set KEY to VALUE: JSON if it is JSON, else text; - reads it from standard input.

    Text that looks like JSON, such as a number, needs --text. A name that hrns does not know is
    set all the same, with a warning if it looks like one that it knows.
    """
    if value == "-":
        value = sys.stdin.read().strip()
    key_path = parse_key_path(key)
    config = edit_config(user_config_path(), set_value(key_path, _value(value, as_text)))
    _warn(_doubts_of(key_path, config))


@command.command()
@click.argument("key", shell_complete=config_keys)
def unset(key: str) -> None:
    """Take KEY out of the configuration."""
    edit_config(user_config_path(), unset_value(parse_key_path(key)))


@command.command()
@click.argument("file", required=False, type=click.Path(path_type=Path))
def validate(file: Path | None) -> None:
    """Check FILE, or the configuration and that of the project here."""
    if file is not None and not file.exists():
        raise ConfigError("there is no such file", path=file)
    if file is not None:
        _check(file, f"HRNS_CONFIG={quote(str(file))} {SETTER}")
        return
    _check(user_config_path())
    if project_config_path(working_directory()).exists():
        _check_project(working_directory())


@command.command()
def edit() -> None:
    """Open the configuration in $VISUAL or $EDITOR, and check it afterwards."""
    file = user_config_path()
    chosen = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not (chosen or sys.stdin.isatty()):  # an editor of the terminal would wait for ever
        raise UsageError("there is no terminal to edit in", hint=f"Set EDITOR, or edit {file}.")
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
            value = json.loads(text)
            json.dumps(value, allow_nan=False)  # Python's reader takes NaN, and 1e999 for infinity
        except ValueError:
            return text
        return value
    return text


def _value_at(document: Mapping[str, Any], key_path: KeyPath, file: Path) -> Any:
    try:
        return get_value(document, key_path)
    except ConfigError:
        get_value(read_document(file)[0], key_path)
        raise ConfigError(
            f"{spell_key_path(key_path)} is secret", hint="--show-secrets prints it."
        ) from None


def _check(file: Path, setter: str = SETTER) -> None:
    if not file.exists():
        click.echo(f"{file}: not there; nothing is configured")
        return
    config = load_config(file, setter=setter)
    _check_rules(config, file)
    doubts = [text for _, text in misspelled(read_document(file)[0])]
    _conclude(file, [*doubts, *map(str, unusable(config, os.environ))])


def _check_project(cwd: Path) -> None:
    project = load_project_config(cwd)
    merged = merge(load_config(user_config_path()), project)
    _check_rules(merged, project.path)
    _conclude(project.path, merged.warnings)


def _check_rules(config: Config, file: Path) -> None:
    """Raises a ConfigError if a permission rule is none."""
    for decision in _DECISIONS:
        for rule in getattr(config.permissions, decision):
            Rule.parse(decision, rule, file.name)


def _conclude(file: Path, warnings: Sequence[str]) -> None:
    _warn(warnings)
    count = f"{len(warnings)} warning{'s' if len(warnings) > 1 else ''}"
    click.echo(f"{file}: {f'usable, with {count}' if warnings else 'fine'}")


def _doubts_of(key_path: KeyPath, config: Config) -> Iterator[str]:
    """What is doubtful about a value that was set."""
    for place, text in misspelled(read_document(config.path)[0]):
        if all(one == other for one, other in zip(place, key_path, strict=False)):
            yield text
    if key_path == ("currentProvider",):
        yield from map(str, unknown_provider(config, os.environ))
    if key_path == ("currentAgent",):
        yield from map(str, unknown_agent(config, os.environ, working_directory()))


def _warn(warnings: Iterable[str]) -> None:
    for warning in warnings:
        tell(f"warning: {warning}")
