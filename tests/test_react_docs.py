"""The pages on ReAct: their examples run, and print what the pages say."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from hrns.config import load_config

DOCS = Path(__file__).resolve().parent.parent / "docs"


def blocks(page: str, language: str) -> list[str]:
    text = (DOCS / page).read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def run(page: str) -> str:
    """What the examples of a page print, as one program."""
    program = "\n".join(blocks(page, "python"))
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_examples_of_the_loop_by_hand_run() -> None:
    assert run("react.md") == 'Action "Peru"\nLima\nParseError\nObservation\n'


def test_example_of_a_model_without_tools_prints_what_the_page_shows() -> None:
    (shown,) = blocks("models-without-tools.md", "text")
    assert run("models-without-tools.md") == shown.removesuffix("\n")


@pytest.mark.parametrize("block", blocks("models-without-tools.md", "json"))
def test_configuration_that_is_shown_is_one(block: str, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(block)
    config = load_config(tmp_path / "config.json")
    local = config.providers["local"]
    said = json.loads(block)["providers"]["local"].get("models", {})
    for model in ("small", "large"):
        assert local.tool_mode_for(model) == said.get(model, {"toolMode": "auto"})["toolMode"]
