"""The project's configuration, `./.hrns/config.json`, merged over the user's.

Whoever wrote a repository wrote this file as well, so it is not believed: it may make hrns more
careful (rules that ask or deny, a stricter mode) and set a few options of requests. What else a
project may say (rules that allow, a mode, an agent, plugins that are not loaded) counts only if
the user's own configuration lists its directory in `trustedProjects`. Keys, URLs, commands and
the provider are never taken from it: they decide where a conversation goes and what is started.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from attrs import Factory, evolve, field, frozen

from .read import config_from, read_document
from .values import Config

__all__ = ["ProjectConfig", "load_project_config", "merge", "project_config_path"]

_FIELDS = ("permissions", "agents", "currentAgent", "plugins", "options")
_HARMLESS_OPTIONS = ("max_tokens", "temperature", "reasoning_effort", "seed", "stop")
# The mode `ask` stands for the user's silence: that is what a session begins with.
_STRICTNESS = {"all": 0, "edits": 1, None: 2, "ask": 2, "plan": 3}


@frozen
class ProjectConfig:
    """What a project asks for.

    Parameters:
        path: its file, whether it is there or not.
        document: the fields that a project may have, unjudged.
        refused: the names of the others.
    """

    path: Path
    document: Mapping[str, Any] = field(default=Factory(dict), hash=False)
    refused: tuple[str, ...] = ()

    @property
    def directory(self) -> Path:
        """The directory of the project."""
        return self.path.parent.parent


def project_config_path(cwd: Path) -> Path:
    """Where the configuration of the project in a directory lies."""
    return cwd / ".hrns" / "config.json"


def load_project_config(cwd: Path) -> ProjectConfig:
    """The configuration of the project in a directory; an empty one if it has none.

    Raises:
        ConfigError: it cannot be read, does not parse, or has a value of the wrong type. It may
            hold rules that deny, so it is not passed over.
    """
    path = project_config_path(cwd)
    document, text = read_document(path)
    known = {
        name: value for name, value in document.items() if name in _FIELDS and value is not None
    }
    config_from(known, path, text)
    refused = tuple(name for name in document if name not in (*_FIELDS, "$schema"))
    return ProjectConfig(path, known, refused)


def merge(config: Config, project: ProjectConfig) -> Config:
    """The user's configuration with what the project may say; the rest is in its `warnings`.

    The providers and the path stay the user's. The file itself is never changed by it.
    """
    if not (project.document or project.refused) or _same_file(config.path, project.path):
        return config
    accepted: dict[str, Any] = dict(project.document)
    passed_over: list[str] = []
    if not _trusted(config, project):
        accepted, passed_over = _careful_part(config, accepted)
    merged = config_from(_overlay(config.document, accepted), config.path)
    return evolve(
        merged,
        providers=config.providers,
        warnings=(*config.warnings, *_warnings(config, project, passed_over)),
    )


def _same_file(one: Path, other: Path) -> bool:
    return one.resolve() == other.resolve()


def _trusted(config: Config, project: ProjectConfig) -> bool:
    directory = project.directory.resolve()
    return any(Path(one).expanduser().resolve() == directory for one in config.trusted_projects)


def _warnings(config: Config, project: ProjectConfig, passed_over: list[str]) -> Iterator[str]:
    if project.refused:
        names = ", ".join(project.refused)
        yield f"{project.path}: {names}: a project may not set this; put it into {config.path}"
    if passed_over:
        names = ", ".join(passed_over)
        yield (
            f"{project.path}: {names}: passed over, since the project is not trusted; "
            f"to trust it, add {str(project.directory)!r} to trustedProjects in {config.path}"
        )


def _careful_part(config: Config, document: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The part of an untrusted project's document that counts, and the names of the rest."""
    believed = {
        "permissions": ("ask", "deny", *(("mode",) if _stricter(config, document) else ())),
        "options": _HARMLESS_OPTIONS,
    }
    careful: dict[str, Any] = {}
    passed_over: list[str] = []
    for name, value in document.items():
        if name not in believed:
            passed_over.append(name)
            continue
        said = {key: inner for key, inner in value.items() if inner is not None}
        careful[name] = {key: said[key] for key in said if key in believed[name]}
        passed_over += [f"{name}.{key}" for key in said if key not in believed[name]]
    return careful, passed_over


def _stricter(config: Config, document: Mapping[str, Any]) -> bool:
    mode = document.get("permissions", {}).get("mode") or None
    return _STRICTNESS[mode] >= _STRICTNESS[config.permissions.mode]


def _overlay(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Both documents in one: objects are joined, lists of rules and names too."""
    joined = dict(below)
    for name, value in above.items():
        old = joined.get(name)
        if isinstance(value, dict) and isinstance(old, dict):
            joined[name] = {**old, **value} if name == "options" else _overlay(old, value)
        elif isinstance(value, list) and isinstance(old, list):
            joined[name] = [*old, *(item for item in value if item not in old)]
        elif value is not None:
            joined[name] = value
    return joined
