"""What the README says is true: its examples run, its commands are those of the checks."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from itertools import chain
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """The code blocks of a language."""
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_embedding_example_answers(tmp_path: Path) -> None:
    (example,) = [block for block in blocks("python") if "Loop(" in block]
    (tmp_path / "README.md").write_text("# One\n\n## Two\n")
    done = subprocess.run(
        [sys.executable, "-c", example], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "2 headings" in done.stdout


def test_plugin_example_brings_its_tool(tmp_path: Path) -> None:
    (module,) = [block for block in blocks("python") if "hookimpl" in block]
    (project,) = blocks("toml")
    (name, target), *_ = tomllib.loads(project)["project"]["entry-points"]["hrns"].items()
    info = tmp_path / "hrns_dice-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: hrns-dice\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[hrns]\n{name} = {target}\n")
    (tmp_path / f"{target}.py").write_text(module)
    program = (
        "import os; from pathlib import Path; from hrns.context import SessionContext, ToolContext;"
        "from hrns.plugins import load_plugins; from hrns.tools import Tool;"
        "plugins = load_plugins({'HRNS_PLUGINS': 'dice'});"
        "(owned,) = plugins.collect('hrns_tools', Tool, context=SessionContext());"
        "print(owned.plugin, owned.record.run({'sides': 1, 'times': 3}, ToolContext()).text);"
        "print(plugins.take_warnings())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "dice (hrns-dice) [1, 1, 1]\n()\n", done.stderr


def test_sixty_seconds_output_is_what_is_printed(tmp_path: Path) -> None:
    (session,) = [block for block in blocks("console") if "hrns exec" in block]
    (tmp_path / "src").mkdir()
    for name in ("app.py", "words.py"):
        (tmp_path / "src" / name).touch()
    done = subprocess.run(
        [sys.executable, "-m", "hrns", "exec", "--provider", "demo", "--verbose", "--no-stdin",
         "list the Python files under src"],
        cwd=tmp_path,
        env={**os.environ, "HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0
    assert done.stdout == session.partition("\n")[2]


@pytest.mark.parametrize("mark", ["demo", "tests"])
def test_commands_that_the_checks_run_are_marked(mark: str) -> None:
    (command,) = re.findall(rf"<!-- {mark} -->\n```sh\n(python3 -m venv .*)\n```", README)
    assert "\n" not in command


def test_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / target).exists(), target


def test_distributions_share_one_version_and_need_each_other_within_it() -> None:
    for path in [ROOT / "pyproject.toml", *ROOT.glob("plugins/*/pyproject.toml")]:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
        assert "version" in document["project"]["dynamic"], path
        assert document["tool"]["hatch"]["version"]["path"].endswith("hrns/_version.py"), path
        needs = [
            *document["project"]["dependencies"],
            *chain(*document["project"].get("optional-dependencies", {}).values()),
        ]
        for need in needs:
            if need.startswith("hrns"):
                assert need.endswith(">=0.1,<0.2"), (path, need)
