"""Plugins: discover, filter, load, collect, isolate, attribute.

A plugin is an entry point of the group ``hrns``. One that is disabled is never imported. One that
is broken (it does not import, its hook has a parameter that the hook does not know, it raises)
costs one warning that names it and its distribution, never the program; ``HRNS_STRICT=1`` in the
environment raises instead.

What hooks return is collected one implementation at a time, in a fixed order: the core, the
bundled distributions, then the others by name. So each record knows its plugin.
"""

from __future__ import annotations

import inspect
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import EntryPoint
from itertools import islice
from typing import Any, Generic, Literal, TypeAlias, TypeVar

import pluggy
from attrs import evolve, frozen

from . import hookspecs
from ._version import __version__
from .distributions import installed_entry_points
from .errors import PluginError, in_words
from .markers import hookimpl
from .misuse import shown, wrong_field
from .nearest import nearest

__all__ = [
    "BUNDLED",
    "Owned",
    "PluginInfo",
    "Plugins",
    "first_owners",
    "hookimpl",
    "load_plugins",
]

BUNDLED = ("hrns", "hrns-tools-fs", "hrns-skills", "hrns-tui")
"""The distributions of this repository, in the order in which their plugins are asked."""

MOST_RECORDS = 10_000
"""What one implementation of a hook may give; a generator that never ends is cut off here."""

State: TypeAlias = Literal["loaded", "disabled", "failed"]
T = TypeVar("T")


@frozen
class PluginInfo:
    """What is known of one plugin.

    Parameters:
        name: its entry-point name.
        distribution: what brings it, or "" for one that was registered by hand.
        version: the version of that.
        state: `loaded`, `disabled` or `failed`.
        hooks: the hooks that it implements.
        load_ms: milliseconds that its import took.
        error: why it failed, or "".
    """

    name: str
    distribution: str = ""
    version: str = ""
    state: State = "loaded"
    hooks: tuple[str, ...] = ()
    load_ms: float = 0.0
    error: str = ""

    @property
    def bundled(self) -> bool:
        """Whether it belongs to the bundled distributions."""
        return self.distribution in BUNDLED

    def __str__(self) -> str:
        return f"{self.name} ({self.distribution})" if self.distribution else self.name


@frozen
class Owned(Generic[T]):
    """A record and the plugin that it is from."""

    record: T
    plugin: PluginInfo


class Plugins:
    """The plugins of a program, loaded and ready to be asked.

    Parameters:
        strict: raise a `PluginError` where otherwise a warning would do.
    """

    def __init__(self, *, strict: bool = False) -> None:
        self.infos: list[PluginInfo] = []
        self.warnings: list[str] = []
        self._strict = strict
        self._manager = pluggy.PluginManager("hrns")
        self._manager.add_hookspecs(hookspecs)
        self._raised: list[tuple[PluginInfo, str]] = []
        self.register("core", _core(), distribution="hrns", version=__version__)

    def register(
        self,
        name: str,
        plugin: object,
        *,
        distribution: str = "",
        version: str = "",
        load_ms: float = 0.0,
    ) -> None:
        """Take in a plugin: a module, or an object with hook implementations.

        One whose hooks do not fit is left out whole, with a warning.
        """
        info = PluginInfo(name, distribution, version, load_ms=load_ms)
        if taken := next((each for each in self.infos if each.name == name), None):
            self._fail(info, f"the name is taken by {taken}; this one is left out")
            return
        if other := self._manager.get_name(plugin):
            self._fail(info, f"it is the same object as the plugin {other}; this one is left out")
            return
        try:
            self._manager.register(plugin, name=name)
        except Exception as error:  # noqa: BLE001 - pluggy looks into a guest, which may do anything
            if self._manager.get_plugin(name) is not None:
                self._manager.unregister(name=name)
            self._fail(info, _describe_misfit(error))
            return
        info = evolve(info, hooks=tuple(sorted(self._hooks_of(plugin))))
        self.infos.append(info)
        for hook in info.hooks:
            if not hasattr(hookspecs, hook):
                near = nearest(hook, _hook_names())
                guess = f"; did you mean {near[0]}?" if near else ""
                self._warn(info, f"there is no such hook{guess}", hook=hook)
        self._tell_of_unmarked(info, plugin)

    def _tell_of_unmarked(self, info: PluginInfo, plugin: object) -> None:
        """Warn of functions that look like hooks and are none, and of a plugin that has none."""
        unmarked = [
            name for name in _hook_names() if name in dir(plugin) and name not in info.hooks
        ]
        for name in unmarked:
            self._warn(info, "it is not marked with @hrns.hookimpl, so it is not called", hook=name)
        if not info.hooks and not unmarked:
            self._warn(info, "it brings nothing: no function in it is marked with @hrns.hookimpl")

    def load(self, entry_point: EntryPoint) -> None:
        """Import a plugin and take it in; a failure is a warning."""
        dist = entry_point.dist
        source = (dist.name, dist.version) if dist else ("", "")
        started = time.perf_counter()
        try:
            with self._keeping_streams(PluginInfo(entry_point.name, *source)):
                plugin = entry_point.load()
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a guest's import may do anything
            info = PluginInfo(entry_point.name, *source)
            self._fail(info, f"cannot be imported: {in_words(error)}", error)
            return
        load_ms = (time.perf_counter() - started) * 1000
        self.register(
            entry_point.name, plugin, distribution=source[0], version=source[1], load_ms=load_ms
        )

    @contextmanager
    def _keeping_streams(self, info: PluginInfo) -> Iterator[None]:
        """Put standard output and error back, if a guest puts something of its own there."""
        kept = sys.stdout, sys.stderr
        try:
            yield
        finally:
            replaced = (sys.stdout, sys.stderr) != kept
            sys.stdout, sys.stderr = kept
            if replaced:
                self._warn(info, "its import replaced sys.stdout or sys.stderr; it was put back")

    def disable(self, entry_point: EntryPoint) -> None:
        """Note a plugin that is there and not to be used."""
        dist = entry_point.dist
        source = (dist.name, dist.version) if dist else ("", "")
        self.infos.append(PluginInfo(entry_point.name, *source, state="disabled"))

    def collect(self, hook: str, kind: type[T], /, **arguments: object) -> list[Owned[T]]:
        """Every record that the implementations of a hook give, in order, with its plugin.

        What is no record of that kind is left out with a warning.
        """
        return [
            Owned(record, info)
            for info, record in self._records(hook, arguments)
            if (isinstance(record, kind) and not wrong_field(record))
            or self._misfit(hook, info, record, _misfit_of(record, kind))
        ]

    def collect_callables(
        self, hook: str, /, **arguments: object
    ) -> list[Owned[Callable[..., Any]]]:
        """As `collect`, where the hook gives plain callables."""
        return [
            Owned(record, info)
            for info, record in self._records(hook, arguments)
            if callable(record) or self._misfit(hook, info, record, "no callable")
        ]

    def failed(self, hook: str) -> list[PluginInfo]:
        """The plugins whose implementation of a hook raised, so far."""
        return [info for info, name in self._raised if name == hook]

    def notify(self, hook: str, /, **arguments: object) -> None:
        """Call every implementation of a hook that gives nothing."""
        for _ in self._records(hook, arguments):
            pass

    def take_warnings(self) -> tuple[str, ...]:
        """The warnings since they were last taken."""
        taken = tuple(self.warnings)
        self.warnings.clear()
        return taken

    def warn(self, text: str) -> None:
        """Note a warning that is no single plugin's fault."""
        self.warnings.append(text)

    def _records(
        self, hook: str, arguments: Mapping[str, object]
    ) -> Iterator[tuple[PluginInfo, object]]:
        caller = getattr(self._manager.hook, hook)
        by_plugin: dict[str, list[Any]] = {}
        for implementation in reversed(caller.get_hookimpls()):
            by_plugin.setdefault(implementation.plugin_name, []).append(implementation)
        for info in [info for info in self.infos if info.state == "loaded"]:
            for implementation in by_plugin.get(info.name, ()):
                for record in self._call(hook, info, implementation, arguments):
                    yield info, record

    def _call(
        self, hook: str, info: PluginInfo, implementation: Any, arguments: Mapping[str, object]
    ) -> list[object]:
        """What one implementation gives, as a list; nothing if it raises."""
        try:
            if implementation.hookwrapper or implementation.wrapper:
                raise TypeError("hook wrappers are not supported")
            given = implementation.function(*[arguments[name] for name in implementation.argnames])
            if inspect.iscoroutine(given):
                given.close()
                raise TypeError("it is async; a hook is a plain function")
            return _as_list(given)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a guest's code; only its own is lost
            self._raised.append((info, hook))
            self._warn(info, in_words(error), hook=hook, cause=error)
            return []

    def _misfit(self, hook: str, info: PluginInfo, record: object, what: str) -> Literal[False]:
        self._warn(info, f"gave {shown(record)}, which is {what}", hook=hook)
        return False

    def _hooks_of(self, plugin: object) -> list[str]:
        return [caller.name for caller in self._manager.get_hookcallers(plugin) or ()]

    def _fail(self, info: PluginInfo, text: str, cause: BaseException | None = None) -> None:
        self.infos.append(evolve(info, state="failed", error=text))
        self._warn(info, text, cause=cause)

    def _warn(
        self, info: PluginInfo, text: str, *, hook: str = "", cause: BaseException | None = None
    ) -> None:
        error = PluginError(text, plugin=info.name, distribution=info.distribution, hook=hook)
        if self._strict:
            raise error from cause
        self.warnings.append(str(error))


def load_plugins(environ: Mapping[str, str], disabled: Iterable[str] = ()) -> Plugins:
    """The installed plugins that are not disabled, loaded.

    Parameters:
        environ: `HRNS_PLUGINS` (if set: the only entry-point names to load, separated by commas;
            empty for none), `HRNS_DISABLE_PLUGINS` (names to leave out), `HRNS_STRICT`.
        disabled: more names to leave out, from the configuration.
    """
    plugins = Plugins(strict=environ.get("HRNS_STRICT", "") not in ("", "0"))
    allowed = _names(environ["HRNS_PLUGINS"]) if "HRNS_PLUGINS" in environ else None
    refused = {*disabled, *_names(environ.get("HRNS_DISABLE_PLUGINS", ""))}
    found = sorted(installed_entry_points("hrns", plugins.warn), key=_order)
    for text in _misnamed({each.name for each in found}, allowed, refused):
        plugins.warn(text)
    for entry_point in found:
        name = entry_point.name
        if name in refused or (allowed is not None and name not in allowed):
            plugins.disable(entry_point)
        else:
            plugins.load(entry_point)
    return plugins


def _misnamed(installed: set[str], allowed: set[str] | None, refused: set[str]) -> Iterator[str]:
    """What is to be said of names of plugins that are not there.

    One that is refused and like none that is there may be of a plugin that is not installed here.
    """
    for name in sorted((allowed or set()) - installed):
        near = nearest(name, installed)
        guess = f"; did you mean {near[0]}?" if near else ""
        yield f"HRNS_PLUGINS names a plugin {name} that is not installed{guess}"
    for name in sorted(refused - installed):
        if near := nearest(name, installed):
            yield f"the plugin {name} that is to be disabled is not installed; is {near[0]} meant?"


def first_owners(
    plugins: Plugins, what: str, owned: Iterable[Owned[T]], name: Callable[[T], str]
) -> list[Owned[T]]:
    """The records of distinct names: of two of one name the first; a warning names both."""
    first: dict[str, Owned[T]] = {}
    for each in owned:
        earlier = first.setdefault(name(each.record), each)
        if earlier is not each:
            plugins.warn(
                f"two {what}s are called {name(each.record)!r}: the one of plugin "
                f"{earlier.plugin} is used, the one of plugin {each.plugin} is left out"
            )
    return list(first.values())


def _misfit_of(record: object, kind: type) -> str:
    if not isinstance(record, kind):
        return f"no {kind.__name__}"
    name = wrong_field(record)
    return f"no {kind.__name__} to use: its {name} is {shown(getattr(record, name))}"


def _as_list(given: object) -> list[object]:
    """What a hook gave, as a list.

    Raises:
        ValueError: it does not come to an end.
    """
    if given is None:
        return []
    if not (isinstance(given, list | tuple | set | frozenset) or inspect.isgenerator(given)):
        return [given]
    records = list(islice(given, MOST_RECORDS + 1))
    if len(records) > MOST_RECORDS:
        raise ValueError(f"it gives more than {MOST_RECORDS} records")
    return records


def _names(text: str) -> set[str]:
    return {name.strip() for name in text.split(",") if name.strip()}


def _order(entry_point: EntryPoint) -> tuple[int, str, str]:
    distribution = entry_point.dist.name if entry_point.dist else ""
    rank = BUNDLED.index(distribution) if distribution in BUNDLED else len(BUNDLED)
    return rank, entry_point.name, distribution


def _hook_names() -> list[str]:
    return [name for name in vars(hookspecs) if name.startswith("hrns_")]


def _describe_misfit(error: Exception) -> str:
    """What does not fit, on one line: pluggy's words run over several, and lack the hook's own."""
    if not isinstance(error, pluggy.PluginValidationError):
        return _one_line(in_words(error))
    hooks = [name for name in _hook_names() if f"'{name}'" in str(error)]
    own = [f"the hook is {name}{_parameters(getattr(hookspecs, name))}" for name in hooks]
    return "; ".join([_one_line(str(error)), *own])


def _one_line(text: str) -> str:
    return "; ".join(line.strip() for line in text.splitlines() if line.strip())


def _parameters(function: Callable[..., object]) -> str:
    return f"({', '.join(inspect.signature(function).parameters)})"


def _core() -> object:
    """The core's own plugin: it comes in by the same door as all others."""
    from .core_plugin import CorePlugin

    return CorePlugin()
