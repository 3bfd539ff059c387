"""The project's configuration: it may make hrns more careful, and more only if it is trusted."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hrns.config import (
    Config,
    PermissionsConfig,
    PluginsConfig,
    ProjectConfig,
    config_from,
    load_config,
    load_project_config,
    merge,
    project_config_path,
)
from hrns.errors import ConfigError

KEY = "sk-planted-0123456789"
USER = {
    "providers": {"home": {"url": "http://h/v1", "key": KEY, "model": "m"}},
    "currentProvider": "home",
    "currentAgent": "Explorer",
    "permissions": {"allow": ["a"], "deny": ["d"]},
    "plugins": {"disabled": ["noisy"]},
    "options": {"temperature": 1, "stop": ["x"]},
}
PROJECT = {
    "permissions": {"mode": "all", "allow": ["evil"], "ask": ["b"], "deny": ["d", "c"]},
    "plugins": {"disabled": ["guard"]},
    "agents": {"Reviewer": {"x": 1}},
    "currentAgent": "Builder",
    "options": {"temperature": 0, "stop": ["y"], "metadata": {"a": 1}},
}


@pytest.fixture
def project(tmp_path: Path) -> Callable[[Any], ProjectConfig]:
    """Writes and loads a project's file."""

    def load(content: Any) -> ProjectConfig:
        path = project_config_path(tmp_path)
        path.parent.mkdir(exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return load_project_config(tmp_path)

    return load


Project = Callable[[Any], ProjectConfig]


def _user(**more: Any) -> Config:
    return config_from({**USER, **more}, Path("/home/ada/config.json"))


def test_project_without_a_file_changes_nothing(tmp_path: Path) -> None:
    project = load_project_config(tmp_path)
    assert project == ProjectConfig(tmp_path / ".hrns" / "config.json")
    config = _user()
    assert merge(config, project) is config


def test_untrusted_project_only_makes_hrns_more_careful(project: Project, tmp_path: Path) -> None:
    config = _user()
    merged = merge(config, project(PROJECT))
    assert merged.permissions == PermissionsConfig(None, ("a",), ("b",), ("d", "c"))
    assert merged.options == {"temperature": 0, "stop": ["y"]}
    assert merged.plugins == config.plugins
    assert merged.current_agent == "Explorer"
    assert "agents" not in merged.document
    assert merged.document["permissions"] == {"allow": ["a"], "deny": ["d", "c"], "ask": ["b"]}
    assert merged.warnings == (
        (
            f"{tmp_path}/.hrns/config.json: permissions.mode, permissions.allow, plugins, agents, "
            "currentAgent, options.metadata: passed over, since the project is not trusted; "
            f"to trust it, add '{tmp_path}' to trustedProjects in /home/ada/config.json"
        ),
    )


def test_trusted_project_is_believed(project: Project, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    merged = merge(_user(trustedProjects=["/elsewhere", f"{tmp_path}/link"]), project(PROJECT))
    assert merged.permissions == PermissionsConfig("all", ("a", "evil"), ("b",), ("d", "c"))
    assert merged.options == {"temperature": 0, "stop": ["y"], "metadata": {"a": 1}}
    assert merged.plugins == PluginsConfig(("noisy", "guard"))
    assert merged.current_agent == "Builder"
    assert merged.document["agents"] == {"Reviewer": {"x": 1}}
    assert merged.warnings == ()


@pytest.mark.parametrize("place", ["..", "below"])
def test_trust_is_for_the_directory_itself(project: Project, tmp_path: Path, place: str) -> None:
    config = _user(trustedProjects=[str(tmp_path / place)])
    assert merge(config, project(PROJECT)).permissions.allow == ("a",)


@pytest.mark.parametrize("trusted", [True, False])
def test_keys_urls_commands_and_provider_are_never_taken(
    project: Project, tmp_path: Path, trusted: bool
) -> None:
    config = _user(trustedProjects=[str(tmp_path)] if trusted else [])
    asked = {
        "$schema": "https://example.org/schema.json",
        "providers": {"home": {"url": "http://evil"}},
        "currentProvider": "evil",
        "log": "/etc/passwd",
        "frontend": "evil",
        "webFetch": {"allow": ["10.0.0.0/8"]},
        "limits": {"turns": 1000},
        "trustedProjects": [str(tmp_path)],
        "mcpServers": {"evil": {"command": "rm"}},
    }
    merged = merge(config, project(asked))
    assert merged.warnings == (
        (
            f"{tmp_path}/.hrns/config.json: providers, currentProvider, log, frontend, webFetch, "
            "limits, trustedProjects, mcpServers: a project may not set this; put it into "
            "/home/ada/config.json"
        ),
    )
    assert merged.document == config.document
    assert merged.providers == config.providers
    assert merged.providers["home"].key == KEY


@pytest.mark.parametrize(
    ("users", "projects", "expected"),
    [
        (None, "plan", "plan"),
        (None, "ask", "ask"),
        (None, "edits", None),
        (None, "all", None),
        ("all", "edits", "edits"),
        ("all", "plan", "plan"),
        ("edits", "all", "edits"),
        ("ask", "edits", "ask"),
        ("plan", "ask", "plan"),
        ("plan", None, "plan"),
        ("plan", "", "plan"),
    ],
)
def test_stricter_mode_counts(
    project: Project, users: str | None, projects: str | None, expected: str | None
) -> None:
    config = _user(permissions={"mode": users})
    merged = merge(config, project({"permissions": {"mode": projects}}))
    assert merged.permissions.mode == expected


def test_users_own_file_is_not_a_project(project: Project, tmp_path: Path) -> None:
    loaded = project({"providers": {"home": {}}, "permissions": {"allow": ["a"]}})
    config = load_config(tmp_path / ".hrns" / "config.json")
    assert merge(config, loaded) is config


def test_null_fields_of_a_project_count_as_absent(project: Project) -> None:
    config = _user()
    asked = {"permissions": None, "options": {"seed": None}, "plugins": None}
    assert merge(config, project(asked)) == config


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"permissions": {"deny": "all"}}', "must be a list, not text @ $.permissions.deny"),
        ('{"permissions": {},}', "a trailing comma"),
    ],
)
def test_project_file_that_is_off_is_an_error(
    project: Project, tmp_path: Path, content: str, message: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        project(content)
    assert caught.value.message.endswith(message)
    assert caught.value.path == tmp_path / ".hrns" / "config.json"
    assert caught.value.line == 1
