"""What plugins and examples take from hrns is public, as it must be for the plugins of others."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
GUESTS = sorted(
    path.parent.relative_to(ROOT).as_posix()
    for folder in ("plugins", "examples")
    for path in ROOT.glob(f"{folder}/*/pyproject.toml")
)


def taken_from_hrns(source: str) -> Iterator[tuple[str, str]]:
    """Module and name of everything that is imported from hrns; the name may be ""."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and not node.level:
            names = [(node.module or "", alias.name) for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [(alias.name, "") for alias in node.names]
        else:
            continue
        yield from (each for each in names if each[0].split(".")[0] == "hrns")


def is_public(module: str, name: str) -> bool:
    if any(part.startswith("_") for part in module.split(".")):
        return False
    if not name or name in import_module(module).__all__:
        return True
    return not name.startswith("_") and _is_module(f"{module}.{name}")


def _is_module(name: str) -> bool:
    try:
        import_module(name)
    except ModuleNotFoundError:
        return False
    return True


@pytest.mark.parametrize("guest", GUESTS)
def test_guest_takes_public_names_only(guest: str) -> None:
    package = Path(guest).name.replace("-", "_")
    taken = {
        each
        for path in (ROOT / guest / package).rglob("*.py")
        for each in taken_from_hrns(path.read_text("utf-8"))
    }
    assert taken
    assert sorted(each for each in taken if not is_public(*each)) == []


def test_private_names_are_told_from_public_ones() -> None:
    source = "import hrns.loop\nfrom hrns._version import __version__\nfrom hrns import Loop"
    assert [is_public(*each) for each in taken_from_hrns(source)] == [True, False, True]
    assert not is_public("hrns.session", "evolve")
