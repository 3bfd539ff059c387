"""The commands that list: providers, models, agents, tools, plugins."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from hrns.testing import LoopbackServer, json_answer

if TYPE_CHECKING:
    from tests.conftest import Hrns


def test_providers_are_listed_without_their_keys(hrns: Hrns) -> None:
    home = {"url": "https://me:secret@h/v1", "key": hrns.key, "model": "m"}
    hrns.configure({"providers": {"home": home, "a": {"key": "$A"}}, "currentProvider": "home"})
    done = hrns.call("providers", environ={"GROQ_API_KEY": hrns.key})
    assert done.stdout.splitlines() == [
        "   NAME  MODEL  API          URL                             KEY            SOURCE",
        "*  home  m      openai-chat  https://h/v1                    set            configuration",
        "   a     -      openai-chat  https://api.openai.com/v1       $A             configuration",
        "   groq  -      openai-chat  https://api.groq.com/openai/v1  $GROQ_API_KEY  GROQ_API_KEY",
        "   demo  demo   demo         -                               -              built in",
    ]


def test_providers_are_listed_for_scripts(hrns: Hrns) -> None:
    done = hrns.call("providers", "--json")
    assert json.loads(done.stdout) == [
        {
            "name": "demo",
            "url": "",
            "api": "demo",
            "model": "demo",
            "key": "",
            "source": "built in",
            "current": False,
        }
    ]


def test_models_are_listed_and_the_default_marked(hrns: Hrns) -> None:
    models = {"data": [{"id": "m"}, {"id": "long", "context_window": 4096}, {"id": "\x1b[2J"}]}
    with LoopbackServer(json_answer(models)) as server:
        hrns.use(server.url)
        table = hrns.call("models").stdout
        found = json.loads(hrns.call("models", "--provider", "home", "--json").stdout)
    assert table.splitlines()[:2] == ["   MODEL  CONTEXT", "*  m      -"]
    assert "\x1b" not in table
    assert [model["id"] for model in found] == ["m", "long", "\x1b[2J"]
    assert found[0] == {"id": "m", "context_window": 0}


def test_models_at_a_wrong_path_are_a_fault_of_the_path(hrns: Hrns) -> None:
    with LoopbackServer(json_answer({"error": "no"}, 404)) as server:
        home = {"url": f"{server.url}/foo", "model": "m"}
        hrns.configure({"providers": {"home": home}})
        done = hrns.call("models")
    assert (done.returncode, done.stdout) == (1, "")
    assert f"The base path /foo is probably wrong: most end in /v1, such as {server.url}/v1." in (
        done.stderr
    )


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        (["models"], 78, "hrns connect"),
        (["models", "--provider", "dmeo"], 78, "Did you mean demo?"),
    ],
)
def test_models_of_no_provider_are_a_fault(
    hrns: Hrns, arguments: list[str], status: int, says: str
) -> None:
    done = hrns.call(*arguments)
    assert (done.returncode, done.stdout) == (status, "")
    assert says in done.stderr


def test_agents_are_listed_with_those_of_files(hrns: Hrns) -> None:
    file = hrns.cwd / ".hrns/agents/reviewer/AGENT.md"
    file.parent.mkdir(parents=True)
    file.write_text("---\nname: Reviewer\ndescription: Reads changes.\n---\nYou review.\n")
    hrns.configure({"currentAgent": "planner"})
    lines = hrns.call("agents").stdout.splitlines()
    assert lines[0].split() == ["NAME", "SOURCE", "DESCRIPTION"]
    assert [line.split()[0] for line in lines[1:]] == [
        "Builder",
        "Explorer",
        "*",
        "Pirate",
        "Reviewer",
    ]
    facts = {fact["name"]: fact for fact in json.loads(hrns.call("agents", "--json").stdout)}
    assert facts["Explorer"]["effects"] == ["network", "read"]
    assert facts["Planner"]["current"] is True
    assert facts["Reviewer"]["source"].endswith("reviewer/AGENT.md")


def test_tools_are_listed_with_effects_and_plugin(hrns: Hrns) -> None:
    done = hrns.call("tools")
    rows = {line.split("  ")[0]: line for line in done.stdout.splitlines()}
    assert "tools-fs (hrns-tools-fs)" in rows["read_file"]
    facts = {fact["name"]: fact for fact in json.loads(hrns.call("tools", "--json").stdout)}
    assert set(rows) == {"NAME", *facts}
    assert facts["web_fetch"]["effects"] == ["network"]
    assert facts["web_fetch"]["plugin"] == "tools-fs"
    assert facts["web_fetch"]["distribution"] == "hrns-tools-fs"
    assert facts["web_fetch"]["schema"]["required"] == ["url"]


def test_plugins_are_listed_with_state_and_hooks(hrns: Hrns) -> None:
    environ = {"HRNS_DISABLE_PLUGINS": "tui"}
    rows = [line.split() for line in hrns.call("plugins", environ=environ).stdout.splitlines()]
    states = {row[0]: row[3] for row in rows[1:]}
    assert states == {"core": "loaded", "tools-fs": "loaded", "skills": "loaded", "tui": "disabled"}
    facts = json.loads(hrns.call("plugins", "--json", environ=environ).stdout)
    assert facts[1]["hooks"] == ["hrns_tools"]


def test_plugin_that_is_broken_is_listed_and_told(hrns: Hrns) -> None:
    hrns.install("import no_such_module")
    done = hrns.run("plugins")
    (row,) = [line for line in done.stdout.splitlines() if line.startswith("guest")]
    assert "failed" in row
    assert "No module named 'no_such_module'" in row
    assert "hrns: warning: plugin guest (hrns-guest)" in done.stderr
