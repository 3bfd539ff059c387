"""Plugins: found, filtered, loaded, isolated and attributed."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from hrns.agents import Agent
from hrns.context import SessionContext
from hrns.errors import PluginError
from hrns.plugins import Plugins, first_owners, hookimpl, load_plugins
from hrns.records import PromptSection
from hrns.tools import Tool

Install = Callable[..., None]

GOOD = """
    import hrns
    from hrns import Tool

    @hrns.hookimpl
    def hrns_tools(context):
        return [Tool("{name}", "", {{"type": "object"}}, lambda *_: "{name}", effects=())]
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Installs a distribution with one plugin module, as pip would leave it."""
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)

    def install(
        name: str, source: str | None, *, distribution: str = "", group: str = "hrns"
    ) -> None:
        distribution = distribution or f"dist-{name}"
        info = tmp_path / f"{distribution.replace('-', '_')}-1.2.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.2\n"
        )
        (info / "entry_points.txt").write_text(f"[{group}]\n{name} = plugin_{name}\n")
        if source is not None:
            (tmp_path / f"plugin_{name}.py").write_text(dedent(source))

    yield install
    for module in set(sys.modules) - before:
        if module.startswith("plugin_"):
            del sys.modules[module]


def load(**environ: str) -> Plugins:
    """The plugins that a test installed, the bundled ones left out."""
    bundled = "tools-fs,skills,tui"
    return load_plugins({"HRNS_DISABLE_PLUGINS": bundled, **environ})


def tool_names(plugins: Plugins) -> list[tuple[str, str]]:
    owned = plugins.collect("hrns_tools", Tool, context=SessionContext())
    return [(each.record.name, str(each.plugin)) for each in owned]


def states(plugins: Plugins) -> dict[str, str]:
    return {info.name: info.state for info in plugins.infos}


def test_plugin_is_found_and_its_records_know_it(install: Install) -> None:
    install("good", GOOD.format(name="good"))
    plugins = load()
    assert tool_names(plugins) == [("good", "good (dist-good)")]
    (info,) = [info for info in plugins.infos if info.name == "good"]
    assert (info.distribution, info.version, info.state) == ("dist-good", "1.2", "loaded")
    assert info.hooks == ("hrns_tools",)
    assert info.load_ms > 0
    assert not info.bundled
    assert plugins.take_warnings() == ()


def test_core_comes_first_by_the_same_door() -> None:
    plugins = load()
    assert plugins.infos[0].name == "core"
    assert plugins.infos[0].bundled
    agents = plugins.collect("hrns_agents", Agent, context=SessionContext())
    assert [each.record.name for each in agents] == ["Builder", "Explorer", "Planner", "Pirate"]


def test_plugins_come_in_the_order_of_their_names(install: Install) -> None:
    for name in ("zeta", "alpha", "mid"):
        install(name, GOOD.format(name=name))
    assert [name for name, _ in tool_names(load())] == ["alpha", "mid", "zeta"]


BROKEN = {
    "import error": ("import no_such_module_anywhere", "No module named 'no_such_module_anywhere'"),
    "syntax error": ("def (:", "SyntaxError"),
    "exit": ("import sys; sys.exit(3)", "SystemExit"),
    "runtime error": ("raise RuntimeError('at import')", "RuntimeError: at import"),
    "gone module": (None, "No module named 'plugin_bad'"),
    "bad signature": (
        """
        import hrns
        @hrns.hookimpl
        def hrns_agents(context):
            return [hrns.Agent("Ghost")]
        @hrns.hookimpl
        def hrns_tools(old_argument):
            return []
        """,
        "old_argument",
    ),
}


@pytest.mark.parametrize(("source", "says"), BROKEN.values(), ids=BROKEN)
def test_broken_plugin_costs_one_warning_that_names_it(
    install: Install, source: str | None, says: str
) -> None:
    install("bad", source)
    install("good", GOOD.format(name="good"))
    plugins = load()
    assert states(plugins)["bad"] == "failed"
    assert tool_names(plugins) == [("good", "good (dist-good)")]
    agents = plugins.collect("hrns_agents", Agent, context=SessionContext())
    assert "Ghost" not in [each.record.name for each in agents]
    (warning,) = plugins.take_warnings()
    assert "bad (dist-bad)" in warning
    assert says in warning


@pytest.mark.parametrize(("source", "says"), BROKEN.values(), ids=BROKEN)
def test_broken_plugin_raises_in_strict_mode(
    install: Install, source: str | None, says: str
) -> None:
    install("bad", source)
    with pytest.raises(PluginError, match="bad") as caught:
        load(HRNS_STRICT="1")
    assert says in str(caught.value)


def test_misfit_is_told_with_both_signatures(install: Install) -> None:
    source = """
    import hrns
    @hrns.hookimpl
    def hrns_tools(old_argument):
        return []
    """
    install("bad", source)
    (warning,) = load().take_warnings()
    assert "hrns_tools(old_argument)" in warning
    assert warning.endswith("the hook is hrns_tools(context)")


def test_unknown_hook_is_named_with_the_nearest_and_the_rest_works(install: Install) -> None:
    source = (
        GOOD.format(name="good")
        + """
    @hrns.hookimpl
    def hrns_tool(context):
        return []
"""
    )
    install("good", source)
    plugins = load()
    (warning,) = plugins.take_warnings()
    assert (
        "good (dist-good) in hrns_tool: there is no such hook; did you mean hrns_tools" in warning
    )
    assert tool_names(plugins) == [("good", "good (dist-good)")]


def test_hook_that_raises_costs_only_its_own_records(install: Install) -> None:
    install(
        "bad",
        """
        import hrns
        @hrns.hookimpl
        def hrns_tools():
            yield hrns.Tool("half", "", {}, lambda *_: "", effects=())
            raise KeyError("x")
        @hrns.hookimpl
        def hrns_agents():
            return hrns.Agent("Lone")
    """,
    )
    install("good", GOOD.format(name="good"))
    plugins = load()
    assert tool_names(plugins) == [("good", "good (dist-good)")]
    (warning,) = plugins.take_warnings()
    assert "bad (dist-bad) in hrns_tools: KeyError: 'x'" in warning
    assert [str(info) for info in plugins.failed("hrns_tools")] == ["bad (dist-bad)"]
    agents = plugins.collect("hrns_agents", Agent, context=SessionContext())
    assert agents[-1].record == Agent("Lone")


def test_record_of_the_wrong_kind_is_left_out(install: Install) -> None:
    install(
        "odd",
        """
        import hrns
        @hrns.hookimpl
        def hrns_tools():
            return ["a string", None]
        @hrns.hookimpl
        def hrns_chunk_sinks():
            return [3, print]
    """,
    )
    plugins = load()
    assert tool_names(plugins) == []
    sinks = plugins.collect_callables("hrns_chunk_sinks", context=SessionContext())
    assert [each.record for each in sinks] == [print]
    warnings = plugins.take_warnings()
    assert len(warnings) == 3
    assert "odd (dist-odd) in hrns_tools: gave 'a string', which is no Tool" in warnings[0]


@pytest.mark.parametrize(
    "environ",
    [{"HRNS_PLUGINS": "skills"}, {"HRNS_PLUGINS": ""}, {"HRNS_DISABLE_PLUGINS": "x, boom"}],
)
def test_disabled_plugin_is_never_imported(install: Install, environ: dict[str, str]) -> None:
    install("boom", "raise AssertionError('imported')")
    plugins = load_plugins(environ, ["tools-fs", "skills", "tui"])
    assert states(plugins)["boom"] == "disabled"
    assert "plugin_boom" not in sys.modules
    assert plugins.take_warnings() == ()


def test_plugin_disabled_by_configuration_is_never_imported(install: Install) -> None:
    install("boom", "raise AssertionError('imported')")
    plugins = load_plugins({"HRNS_PLUGINS": "boom"}, ["boom"])
    assert states(plugins)["boom"] == "disabled"


def test_two_plugins_of_one_name_do_not_both_load(install: Install) -> None:
    install("same", GOOD.format(name="first"), distribution="a-dist")
    install("same", None, distribution="b-dist")
    plugins = load()
    assert tool_names(plugins) == [("first", "same (a-dist)")]
    (warning,) = plugins.take_warnings()
    assert "same (b-dist)" in warning
    assert "taken by same (a-dist)" in warning


def test_objects_can_be_registered_by_hand() -> None:
    from hrns import hookimpl

    class Sections:
        @hookimpl
        def hrns_prompt_sections(self) -> PromptSection:
            return PromptSection("a", "text")

    plugins = Plugins()
    plugins.register("mine", Sections())
    owned = plugins.collect("hrns_prompt_sections", PromptSection, context=SessionContext())
    assert ("a", "mine") in [(each.record.name, str(each.plugin)) for each in owned]


def test_first_of_two_records_of_one_name_is_used_and_both_are_named() -> None:
    from hrns import hookimpl

    class Sections:
        def __init__(self, text: str) -> None:
            self.text = text

        @hookimpl
        def hrns_prompt_sections(self) -> PromptSection:
            return PromptSection("a", self.text)

    plugins = Plugins()
    plugins.register("one", Sections("1"))
    plugins.register("two", Sections("2"))
    owned = plugins.collect("hrns_prompt_sections", PromptSection, context=SessionContext())
    used = first_owners(plugins, "section", owned, lambda section: section.name)
    assert [each.record.text for each in used if each.record.name == "a"] == ["1"]
    (warning,) = plugins.take_warnings()
    assert warning == (
        "two sections are called 'a': the one of plugin one is used, "
        "the one of plugin two is left out"
    )


def test_hook_wrappers_are_refused_by_name() -> None:
    from hrns import hookimpl

    class Wrapping:
        @hookimpl(wrapper=True)
        def hrns_tools(self) -> Iterator[None]:
            yield

    plugins = Plugins()
    plugins.register("mine", Wrapping())
    assert plugins.collect("hrns_tools", Tool, context=SessionContext()) == []
    (warning,) = plugins.take_warnings()
    assert "hook wrappers are not supported" in warning


def test_every_hook_is_documented_with_an_example() -> None:
    from hrns import hookspecs

    specs = {name: spec for name, spec in vars(hookspecs).items() if name.startswith("hrns_")}
    assert len(specs) == 13
    for name, spec in specs.items():
        assert spec.__doc__, name
        assert "Called" in spec.__doc__ or "called" in spec.__doc__, name
        if not name.startswith("hrns_session"):
            assert f"def {name}(" in spec.__doc__, name


class Unshowable:
    """Raises when it is looked at, as a plugin or as a record."""

    def __repr__(self) -> str:
        raise RuntimeError("no")

    def __dir__(self) -> list[str]:
        raise RuntimeError("no")


def warnings_of(gives: Callable[[], object]) -> tuple[str, ...]:
    """What is warned of a plugin whose hook gives this."""

    class Guest:
        @hookimpl
        def hrns_agents(self) -> object:
            return gives()

    plugins = Plugins()
    plugins.register("guest", Guest())
    names = [each.record.name for each in plugins.collect("hrns_agents", Agent)]
    assert names == ["Builder", "Explorer", "Planner", "Pirate"]
    return plugins.take_warnings()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (Unshowable(), "gave a Unshowable, which is no Agent"),
        (5, "gave 5, which is no Agent"),
        (Agent(None), "which is no Agent to use: its name is None"),  # type: ignore[arg-type]
        (Agent("A", effects=()), "which is no Agent to use: its effects is ()"),  # type: ignore[arg-type]
        ((Agent("A", prompt=n) for n in itertools.count()), "it gives more than 10000 records"),  # type: ignore[arg-type]
    ],
    ids=["unshowable", "number", "nameless", "wrong effects", "endless"],
)
def test_record_that_cannot_be_used_is_left_out(given: object, says: str) -> None:
    (warning,) = warnings_of(lambda: given)
    assert says in warning


def test_async_hook_is_refused_by_name() -> None:
    async def agents() -> list[Agent]:
        raise NotImplementedError

    (warning,) = warnings_of(agents)
    assert "TypeError: it is async; a hook is a plain function" in warning


def test_function_that_looks_like_a_hook_and_is_none_is_told_of(install: Install) -> None:
    unmarked = "import hrns\ndef hrns_tools(context):\n    return []\n"
    install("half", f"{unmarked}@hrns.hookimpl\ndef hrns_agents(context):\n    return []\n")
    install("none", unmarked)
    install("nothing", "def greet():\n    return 'hello'\n")
    assert load().take_warnings() == (
        (
            "plugin half (dist-half) in hrns_tools: "
            "it is not marked with @hrns.hookimpl, so it is not called"
        ),
        (
            "plugin none (dist-none) in hrns_tools: "
            "it is not marked with @hrns.hookimpl, so it is not called"
        ),
        (
            "plugin nothing (dist-nothing): "
            "it brings nothing: no function in it is marked with @hrns.hookimpl"
        ),
    )


@pytest.mark.parametrize("raises", ["", "\n    raise ValueError('late')"])
def test_stream_that_an_import_replaces_is_put_back(install: Install, raises: str) -> None:
    before = sys.stdout, sys.stderr
    source = GOOD.format(name="patch") + "\n    import io, sys\n    sys.stdout = io.StringIO()"
    install("patch", f"{source}{raises}")
    plugins = load()
    assert (sys.stdout, sys.stderr) == before
    put_back = (
        "plugin patch (dist-patch): its import replaced sys.stdout or sys.stderr; it was put back"
    )
    assert put_back in plugins.take_warnings()
    assert tool_names(plugins) == ([] if raises else [("patch", "patch (dist-patch)")])


@pytest.mark.parametrize(
    ("content", "says"),
    [(b"[hrns]\nthis is none\n", "TypeError"), (b"\xff\xfe[hrns]\n", "UnicodeDecodeError")],
)
def test_entry_points_that_cannot_be_read_cost_their_distribution_alone(
    install: Install, tmp_path: Path, content: bytes, says: str
) -> None:
    install("good", GOOD.format(name="good"))
    install("bad", GOOD.format(name="bad"))
    (tmp_path / "dist_bad-1.2.dist-info/entry_points.txt").write_bytes(content)
    plugins = load()
    assert tool_names(plugins) == [("good", "good (dist-good)")]
    (warning,) = plugins.take_warnings()
    assert warning.startswith(f"the entry points of dist-bad cannot be read: {says}")
    assert warning.endswith("; reinstall it")


def test_module_that_two_plugins_are_is_used_once(install: Install) -> None:
    install("one", GOOD.format(name="one"))
    install("two", None, distribution="dist-two")
    (info,) = Path(sys.path[0]).glob("dist_two-*.dist-info")
    (info / "entry_points.txt").write_text("[hrns]\ntwo = plugin_one\n")
    plugins = load()
    assert tool_names(plugins) == [("one", "one (dist-one)")]
    assert plugins.take_warnings() == (
        "plugin two (dist-two): it is the same object as the plugin one; this one is left out",
    )


@pytest.mark.parametrize(
    ("environ", "warnings"),
    [
        (
            {"HRNS_PLUGINS": "godo,frobnicate"},
            (
                "HRNS_PLUGINS names a plugin frobnicate that is not installed",
                "HRNS_PLUGINS names a plugin godo that is not installed; did you mean good?",
            ),
        ),
        (
            {"HRNS_DISABLE_PLUGINS": "godo,frobnicate"},
            ("the plugin godo that is to be disabled is not installed; is good meant?",),
        ),
    ],
)
def test_names_of_plugins_that_are_not_there_are_told(
    install: Install, environ: dict[str, str], warnings: tuple[str, ...]
) -> None:
    install("good", GOOD.format(name="good"))
    assert load(**environ).take_warnings() == warnings


def test_plugin_that_cannot_be_looked_into_is_left_out() -> None:
    plugins = Plugins()
    plugins.register("guest", Unshowable())
    assert plugins.take_warnings() == ("plugin guest: RuntimeError: no",)
    assert plugins.infos[-1].state == "failed"
