"""The files that are offered after an `@`."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hrns_tui.files import project_files

FILES = ("a.py", "a.log", "keep.log", "build/x.py", "src/b.py", "src/b.tmp", "src/deep/build/y.py")
SEEN = ["a.py", "keep.log", "src/b.py", "src/deep/build/y.py"]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Files, and rules that leave some of them out."""
    for name in FILES:
        path = tmp_path / "project" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    (tmp_path / "project/.gitignore").write_text("*.log\n!keep.log\n/build/\n")
    (tmp_path / "project/src/.gitignore").write_text("*.tmp\n")
    return tmp_path / "project"


def without_dots(names: list[str]) -> list[str]:
    return [name for name in names if ".gitignore" not in name]


def test_gitignore_is_heeded_outside_of_repositories(project: Path) -> None:
    assert without_dots(project_files(project)) == SEEN
    assert without_dots(project_files(project / "src")) == ["b.py", "deep/build/y.py"]


def test_gitignore_is_heeded_in_a_repository(project: Path) -> None:
    if not shutil.which("git"):
        pytest.skip("git is not there")
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    assert without_dots(project_files(project)) == SEEN


def test_gitignore_of_a_repository_is_heeded_without_git(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / ".git").mkdir()
    (project / ".git/HEAD").write_text("ref: refs/heads/main\n")
    monkeypatch.setenv("PATH", "")
    assert without_dots(project_files(project)) == SEEN
    assert without_dots(project_files(project / "src/deep")) == ["build/y.py"]


def test_all_files_are_offered_where_nobody_reads_gitignore(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "hrns_tools_fs.ignores", None)
    assert without_dots(project_files(project)) == sorted(FILES)
