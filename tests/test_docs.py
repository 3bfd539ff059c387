"""The examples of the documentation run, and no hook is without its line."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from hrns import hookspecs

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGES = [DOCS / name for name in ("embedding.md", "plugins.md")]


def blocks(page: Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


EXAMPLES = [
    pytest.param(block, id=f"{page.stem} {number}")
    for page in PAGES
    for number, block in enumerate(blocks(page))
]


@pytest.mark.parametrize("example", EXAMPLES)
def test_example_runs(example: str, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# One\n\n## Two\n")
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", example],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_every_hook_has_its_line() -> None:
    page = (DOCS / "plugins.md").read_text(encoding="utf-8")
    for name in vars(hookspecs):
        if name.startswith("hrns_"):
            assert f"`{name}(" in page, name


def test_links_lead_somewhere() -> None:
    for page in DOCS.glob("*.md"):
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
