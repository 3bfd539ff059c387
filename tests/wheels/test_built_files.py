"""What is in the built files: the package, its metadata, and nothing else."""

from __future__ import annotations

import re
import tarfile
import tomllib
from configparser import ConfigParser
from email.message import Message
from email.parser import Parser
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = {
    path.parent.name if path.parent != ROOT else "hrns": path.parent
    for path in [
        ROOT / "pyproject.toml",
        *sorted(ROOT.glob("plugins/*/pyproject.toml")),
        *sorted(ROOT.glob("examples/*/pyproject.toml")),
    ]
}
VERSION = re.findall(r'"(.+)"', (ROOT / "hrns/_version.py").read_text("utf-8"))[-1]
MAJOR, MINOR = map(int, VERSION.split(".")[:2])
NEEDS_HRNS = f"hrns<{MAJOR}.{MINOR + 1},>={MAJOR}.{MINOR}"

each_distribution = pytest.mark.parametrize("name", SOURCES)


def project(name: str) -> dict[str, Any]:
    """What the source says of a distribution."""
    text = (SOURCES[name] / "pyproject.toml").read_text("utf-8")
    return dict(tomllib.loads(text)["project"])


def stem(name: str) -> str:
    """What the names of its files begin with."""
    return f"{name.replace('-', '_')}-{project(name).get('version', VERSION)}"


def wheel(dist: Path, name: str) -> ZipFile:
    return ZipFile(dist / f"{stem(name)}-py3-none-any.whl")


def metadata(dist: Path, name: str) -> Message:
    with wheel(dist, name) as file:
        return Parser().parsestr(file.read(f"{stem(name)}.dist-info/METADATA").decode())


def test_every_distribution_is_built_twice(dist: Path) -> None:
    built = {path.name for path in dist.iterdir() if path.suffix in (".whl", ".gz")}
    wheels = {f"{stem(name)}-py3-none-any.whl" for name in SOURCES}
    assert built == wheels | {f"{stem(name)}.tar.gz" for name in SOURCES}


@each_distribution
def test_wheel_holds_the_typed_package_and_its_licence(dist: Path, name: str) -> None:
    package = name.replace("-", "_")
    with wheel(dist, name) as file:
        names = set(file.namelist())
        licence = file.read(f"{stem(name)}.dist-info/licenses/LICENSE").decode()
    assert f"{package}/py.typed" in names
    assert licence.startswith("MIT License")
    info = {"METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE"}
    assert {n for n in names if not n.startswith(f"{package}/")} == {
        f"{stem(name)}.dist-info/{each}" for each in info
    }


@each_distribution
def test_wheel_holds_every_module_and_no_stray_file(dist: Path, name: str) -> None:
    package = name.replace("-", "_")
    with wheel(dist, name) as file:
        names = {n for n in file.namelist() if n.startswith(f"{package}/")}
    kinds = ("*.py", "py.typed", "*.schema.json", "*.ignore")
    files = [path for kind in kinds for path in (SOURCES[name] / package).rglob(kind)]
    assert names == {path.relative_to(SOURCES[name]).as_posix() for path in files}
    assert not [n for n in names if re.search(r"(^|/)(tests?/|test_|conftest)", n)]


@each_distribution
def test_metadata_says_what_people_need_to_know(dist: Path, name: str) -> None:
    told = metadata(dist, name)
    assert told["Name"] == name
    assert told["Version"] == project(name).get("version", VERSION)
    assert told["Requires-Python"] == ">=3.11"
    assert told["License-Expression"] == "MIT"
    assert told["Summary"] == project(name)["description"]
    assert told["Description-Content-Type"] == "text/markdown"
    assert str(told.get_payload()).startswith(f"# {name}\n")


@each_distribution
def test_no_other_version_of_hrns_can_satisfy_a_requirement(dist: Path, name: str) -> None:
    needs = metadata(dist, name).get_all("Requires-Dist", [])
    of_ours = {need.split(";")[0].strip() for need in needs if need.startswith("hrns")}
    bounds = NEEDS_HRNS.removeprefix("hrns")
    if name == "hrns":
        assert of_ours == {f"hrns-{each}{bounds}" for each in ("skills", "tools-fs", "tui")}
    else:
        assert of_ours == {NEEDS_HRNS}


@each_distribution
def test_entry_points_are_those_of_the_source(dist: Path, name: str) -> None:
    with wheel(dist, name) as file:
        text = file.read(f"{stem(name)}.dist-info/entry_points.txt").decode()
    parser = ConfigParser()
    parser.read_string(text)
    told = {section: dict(parser[section]) for section in parser.sections()}
    scripts = project(name).get("scripts")
    expected = {"console_scripts": scripts} if scripts else {}
    assert told == {**expected, **project(name).get("entry-points", {})}


@each_distribution
def test_sdist_can_be_built_alone(dist: Path, name: str) -> None:
    with tarfile.open(dist / f"{stem(name)}.tar.gz") as file:
        names = {n.removeprefix(f"{stem(name)}/") for n in file.getnames()}
    package = name.replace("-", "_")
    needed = {"pyproject.toml", "PKG-INFO", "LICENSE", "README.md", f"{package}/__init__.py"}
    assert needed <= names
