"""A project and a home of one's own, and what a session there warns of."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from textwrap import dedent

import pytest
from attrs import Factory, evolve, frozen

from hrns import SessionContext


@frozen
class Site:
    """A directory that holds `home`, and the git repository `project` that a session starts in."""

    ground: Path
    warnings: list[str] = Factory(list)
    context: SessionContext = Factory(
        lambda self: SessionContext(cwd=self.project, warn=self.warnings.append), takes_self=True
    )

    @property
    def home(self) -> Path:
        """The home directory."""
        return self.ground / "home"

    @property
    def project(self) -> Path:
        """The root of the repository."""
        return self.ground / "project"

    def write(self, path: str, text: str) -> Path:
        """Write a file; common indentation is taken away."""
        file = self.ground / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(dedent(text).lstrip("\n"))
        return file

    def skill(self, directory: str, name: str, description: str = "d") -> Path:
        """Write a plain skill to a directory and return its SKILL.md."""
        text = f"---\nname: {name}\ndescription: {description}\n---\nDo {name}.\n"
        return self.write(f"{directory}/SKILL.md", text)

    def session_in(self, directory: str) -> Site:
        """The same ground for a session that starts in another directory."""
        cwd = self.ground / directory
        cwd.mkdir(parents=True, exist_ok=True)
        return evolve(self, context=SessionContext(cwd=cwd, warn=self.warnings.append))


def _site(ground: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    monkeypatch.setenv("HOME", str(ground / "home"))
    (ground / "home").mkdir()
    (ground / "project/.git").mkdir(parents=True)
    return Site(ground)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """A project and a home."""
    return _site(tmp_path.resolve(), monkeypatch)


@pytest.fixture
def unprivileged_site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A site that is used by someone whom the rights of files keep out, as root they do not."""
    # What is otherwise imported late may lie where only root may read.
    for module in ("yaml", "hrns_skills.skills"):
        import_module(module)

    with tempfile.TemporaryDirectory() as ground:
        root = os.geteuid() == 0
        if root:
            os.chown(ground, 65534, 65534)
            os.seteuid(65534)
        try:
            yield _site(Path(ground).resolve(), monkeypatch)
        finally:
            if root:
                os.seteuid(0)
