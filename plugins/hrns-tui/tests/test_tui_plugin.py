"""How the plugin presents itself."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points

import hrns_tui
import pluggy

from hrns import hookspecs


def test_plugin_fits_the_hooks() -> None:
    manager = pluggy.PluginManager("hrns")
    manager.add_hookspecs(hookspecs)
    manager.register(hrns_tui)
    manager.check_pending()
    callers = manager.get_hookcallers(hrns_tui) or []
    assert sorted(caller.name for caller in callers) == ["hrns_frontends", "hrns_slash_commands"]


def test_plugin_is_found_by_its_entry_point() -> None:
    [entry_point] = entry_points(group="hrns", name="tui")
    assert entry_point.load() is hrns_tui


def test_nothing_heavy_is_imported_before_the_front_end_runs() -> None:
    program = (
        "import sys, hrns_tui; list(hrns_tui.hrns_frontends()); "
        "print(sorted({'asyncio', 'httpx', 'prompt_toolkit', 'rich', 'difflib'} & {*sys.modules}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
