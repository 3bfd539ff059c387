"""The checks of `hrns doctor`, one function a subject; each yields findings."""

from __future__ import annotations

import os
import platform
import stat
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib.metadata import Distribution, distributions
from typing import Literal

from attrs import evolve, frozen

from .._version import __version__
from ..config import (
    DEMO,
    Config,
    ProviderConfig,
    choose_provider,
    load_config,
    load_project_config,
    merge,
)
from ..config.values import public_url
from ..connecting import list_models, within
from ..errors import HrnsError, PluginError, RequestRefused
from ..nearest import nearest
from ..permissions import Decision, Rule
from ..plugins import BUNDLED, PluginInfo, Plugins, load_plugins
from ..session import build_provider, open_session
from .common import user_config_path, working_directory
from .providers import known_providers
from .streams import plain

__all__ = ["Finding", "examine"]

_DECISIONS: tuple[Decision, ...] = ("allow", "ask", "deny")
_NEEDED = ("attrs", "cattrs", "click", "httpx", "pluggy")
_MARKS = {"ok": " ", "warning": "?", "fault": "!"}


@frozen
class Finding:
    """One thing that was looked at.

    Parameters:
        area: what it belongs to: `python`, `distribution`, `config`, `plugin`, `provider` ...
        text: what was found.
        state: `ok`, `warning`, or `fault`: something that keeps hrns from working.
        hint: what to try, or "".
    """

    area: str
    text: str
    state: Literal["ok", "warning", "fault"] = "ok"
    hint: str = ""

    def __str__(self) -> str:
        line = f"{_MARKS[self.state]} {self.area:12}  {plain(self.text)}"
        hints = [f"\n{'':16}{plain(each)}" for each in self.hint.splitlines()]
        return "".join([line, *hints])


def examine(timeout_s: float) -> Iterator[Finding]:
    """Everything that is found, in order.

    Parameters:
        timeout_s: how long a provider may take to answer.
    """
    yield Finding("hrns", f"{__version__} in {sys.prefix}")
    yield Finding("python", f"{platform.python_version()} on {platform.platform()}")
    yield from _distributions()
    config, is_read, findings = _read_config()
    yield from findings
    plugins = load_plugins(os.environ, config.plugins.disabled)
    yield from _plugins(config, plugins)
    # what is said of a configuration that cannot be read would be said of an empty one
    chosen, findings = _chosen(config) if is_read else ("", [])
    yield from findings
    yield from _providers(config, plugins, chosen, timeout_s)


def _distributions() -> Iterator[Finding]:
    """Ours, what they need, and everyone else's that bring plugins or commands."""
    named = {each.name: each for each in reversed(list(distributions()))}  # the first counts
    for name in sorted(named, key=lambda name: (name not in BUNDLED, name)):
        one = named[name]
        if name in BUNDLED:
            yield _bundled(one)
        elif name in _NEEDED or {"hrns", "hrns.cli"} & {each.group for each in one.entry_points}:
            yield Finding("distribution", f"{name} {one.version}")


def _bundled(one: Distribution) -> Finding:
    if one.version == __version__:
        return Finding("distribution", f"{one.name} {one.version}")
    text = f"{one.name} {one.version} does not belong to hrns {__version__}"
    return Finding("distribution", text, "warning", f"pip install '{one.name}=={__version__}'")


def _read_config() -> tuple[Config, bool, list[Finding]]:
    """The configuration, whether the user's could be read, and what is to be said of it."""
    path = user_config_path()
    config = Config(path)
    is_read = False
    findings = []
    try:
        config = load_config(path)
        is_read = True
        findings.append(_config_file(config))
        config = merge(config, load_project_config(working_directory()))
        for decision in _DECISIONS:
            for text in getattr(config.permissions, decision):
                Rule.parse(decision, text, path.name)
    except HrnsError as error:
        findings.append(Finding("config", error.message, "fault", error.hint))
    findings += [Finding("config", warning, "warning") for warning in config.warnings]
    return config, is_read, findings


def _config_file(config: Config) -> Finding:
    path = config.path
    if not path.exists():
        return Finding("config", f"{path} is not there: nothing is configured")
    mode = stat.S_IMODE(path.stat().st_mode)
    if os.name == "posix" and mode & 0o077:
        text = f"{path} can be read by others (mode {mode:04o})"
        return Finding("config", text, "fault", f"chmod 600 {path}")
    return Finding("config", f"{path}, mode {mode:04o}")


def _plugins(config: Config, plugins: Plugins) -> Iterator[Finding]:
    for info in plugins.infos:
        if info.state == "failed":
            yield Finding("plugin", f"{info}: {info.error}", "warning", "Update or disable it.")
        else:
            yield Finding("plugin", f"{info} {info.version}: {info.state}")
    told = [_failure(info) for info in plugins.infos if info.state == "failed"]
    warnings = [warning for warning in plugins.take_warnings() if warning not in told]
    with open_session(config, plugins, DEMO, cwd=working_directory()) as session:
        notices = session.take_notices()
    yield from (Finding("plugin", text, "warning") for text in (*warnings, *notices))


def _failure(info: PluginInfo) -> str:
    """The warning of a plugin that failed."""
    return str(PluginError(info.error, plugin=info.name, distribution=info.distribution))


def _chosen(config: Config) -> tuple[str, list[Finding]]:
    """The name of the provider that would be used, or "", and what is to be said of it."""
    try:
        entry = choose_provider(config, "", "", os.environ)
    except HrnsError as error:
        return "", [Finding("provider", error.message, "fault", error.hint)]
    return entry.name, [Finding("provider", f"{entry.name} with model {entry.model} is used")]


def _providers(
    config: Config, plugins: Plugins, chosen: str, timeout_s: float
) -> Iterator[Finding]:
    """Each provider: all are asked at once."""
    entries = [entry for entry, _ in known_providers(config, os.environ) if entry.api != "demo"]
    with ThreadPoolExecutor(max_workers=8) as pool:
        for entry, finding in zip(
            entries, pool.map(partial(_provider, plugins, timeout_s), entries), strict=True
        ):
            # One that is not used keeps nothing from working.
            is_mild = finding.state == "fault" and entry.name != chosen
            yield evolve(finding, state="warning") if is_mild else finding


def _provider(plugins: Plugins, timeout_s: float, entry: ProviderConfig) -> Finding:
    """Whether a provider answers."""
    where = f"{entry.name}: {public_url(entry.url)} ({entry.api})"
    try:
        provider = build_provider(plugins, entry, os.environ)
        models = [model.id for model in within(timeout_s, lambda: list_models(provider))]
    except RequestRefused as error:
        text = f"{where} answers, but does not list models: {error.message}"
        return Finding("provider", text, "warning", error.hint)
    except HrnsError as error:
        return Finding("provider", f"{where}: {error.message}", "fault", error.hint)
    if entry.model and entry.model not in models:
        near = nearest(entry.model, models, 3)
        guess = f"Did you mean {' or '.join(near)}?" if near else ""
        return Finding("provider", f"{where} does not list {entry.model}", "warning", guess)
    return Finding("provider", f"{where} answers; models: {len(models)}")
