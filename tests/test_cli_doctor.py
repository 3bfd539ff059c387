"""`hrns doctor`: what it finds, and when that is a fault."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from hrns import __version__
from hrns.testing import LoopbackServer, Raw, Wait, json_answer

if TYPE_CHECKING:
    from tests.conftest import Hrns


def findings(hrns: Hrns, *arguments: str, **environ: str) -> tuple[int, list[dict[str, Any]]]:
    done = hrns.call("doctor", "--json", *arguments, environ=environ)
    return done.returncode, json.loads(done.stdout)


def faults(found: list[dict[str, Any]]) -> list[tuple[str, str, str]]:
    return [(each["area"], each["text"], each["hint"]) for each in found if each["state"] != "ok"]


def test_healthy_installation_has_no_faults(hrns: Hrns) -> None:
    with LoopbackServer(json_answer({"data": [{"id": "m"}]})) as server:
        hrns.use(server.url)
        done = hrns.call("doctor")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert not [line for line in lines if not line.startswith("  ")]
    assert f"  hrns          {__version__} in {sys.prefix}" in lines
    assert f"  distribution  hrns-tools-fs {__version__}" in lines
    assert f"  config        {hrns.config}, mode 0600" in lines
    assert f"  plugin        tools-fs (hrns-tools-fs) {__version__}: loaded" in lines
    assert "  provider      home with model m is used" in lines
    assert f"  provider      home: {server.url}/v1 (openai-chat) answers; models: 1" in lines


def test_nothing_configured_is_a_fault(hrns: Hrns) -> None:
    status, found = findings(hrns)
    assert status == 1
    hint = "Connect a model with `hrns connect`, or try `--provider demo`."
    assert faults(found) == [("provider", "no provider is configured", hint)]
    texts = [each["text"] for each in found if each["area"] == "config"]
    assert texts == [f"{hrns.config} is not there: nothing is configured"]


def test_configuration_that_does_not_parse_is_a_fault_and_the_rest_is_examined(hrns: Hrns) -> None:
    hrns.configure('{"providers": {},}')
    status, found = findings(hrns)
    assert status == 1
    assert ("config", f"{hrns.config}:1:17: a trailing comma", "Take the comma out.") in faults(
        found
    )
    assert {"plugin", "config"} <= {each["area"] for each in found}
    assert "provider" not in {each["area"] for each in found}  # none is known, which says nothing


@pytest.mark.skipif(sys.platform == "win32", reason="modes of POSIX")
def test_configuration_that_others_can_read_is_a_fault(hrns: Hrns) -> None:
    hrns.configure({"providers": {"demo": {"api": "demo", "model": "demo"}}})
    hrns.config.chmod(0o644)
    assert findings(hrns) == (1, findings(hrns)[1])
    text = f"{hrns.config} can be read by others (mode 0644)"
    assert faults(findings(hrns)[1]) == [("config", text, f"chmod 600 {hrns.config}")]


def test_provider_that_is_not_used_is_only_warned_of(hrns: Hrns) -> None:
    with LoopbackServer(json_answer({"data": [{"id": "mistral-small"}]})) as server:
        providers = {
            "home": {"url": f"{server.url}/v1", "model": "mistral-smal"},
            "down": {"url": "http://127.0.0.1:1/v1", "model": "m"},
            "unset": {"url": f"{server.url}/v1", "model": "m", "key": "$NOT_SET"},
        }
        hrns.configure({"providers": providers, "currentProvider": "home"})
        status, found = findings(hrns)
    assert status == 0
    first, second, third = faults(found)
    assert first[1].endswith("does not list mistral-smal")
    assert first[2] == "Did you mean mistral-small?"
    assert "down: http://127.0.0.1:1/v1 (openai-chat): 127.0.0.1:1 cannot be reached" in second[1]
    assert "NOT_SET" in third[1]


def test_provider_that_is_used_and_does_not_answer_is_a_fault(hrns: Hrns) -> None:
    with LoopbackServer(Raw([Wait()])) as server:
        hrns.use(server.url)
        status, found = findings(hrns, "--timeout", "0.2")
    assert status == 1
    (fault,) = faults(found)
    assert fault[1].endswith("there was no answer within 0.2 s")


def test_provider_that_lists_no_models_is_warned_of(hrns: Hrns) -> None:
    with LoopbackServer(json_answer({"error": "no"}, 404)) as server:
        hrns.use(server.url)
        status, found = findings(hrns)
        home = f"home: {server.url}/v1 (openai-chat)"
        said = f"127.0.0.1:{server.port}: the request was refused (404): no"
    assert status == 0
    text = f"{home} answers, but does not list models: {said}"
    hint = "Is the base path /v1 right, and does this server list its models?"
    assert faults(found) == [("provider", text, hint)]


def test_warnings_of_the_project_and_of_plugins_are_found(hrns: Hrns) -> None:
    (hrns.cwd / ".hrns").mkdir()
    (hrns.cwd / ".hrns/config.json").write_text('{"providers": {}}')
    document = {"providers": {"d": {"api": "demo", "model": "demo"}}, "currentAgent": "Ghost"}
    hrns.configure(document)
    status, found = findings(hrns)
    assert status == 0
    project, agent = faults(found)
    assert "providers: a project may not set this" in project[1]
    assert "Ghost" in agent[1]


def test_hook_that_does_not_exist_is_found(hrns: Hrns) -> None:
    hrns.configure({"providers": {"d": {"api": "demo", "model": "demo"}}})
    hrns.install("from hrns import hookimpl\n@hookimpl\ndef hrns_toolz():\n    return []\n")
    done = hrns.run("doctor", "--json")
    text = "there is no such hook; did you mean hrns_tools?"
    found = [("plugin", f"plugin guest (hrns-guest) in hrns_toolz: {text}", "")]
    assert (done.returncode, faults(json.loads(done.stdout))) == (0, found)
    rows = {line.split()[0]: line.split()[-1] for line in hrns.run("plugins").stdout.splitlines()}
    assert (rows["guest"], rows["tools-fs"]) == ("toolz?", "tools")


def test_broken_plugin_is_found_with_its_distribution(hrns: Hrns) -> None:
    hrns.configure({"providers": {"d": {"api": "demo", "model": "demo"}}})
    hrns.install(
        "from hrns import hookimpl\n@hookimpl\ndef hrns_tools():\n    raise RuntimeError('oh no')\n"
    )
    hrns.install("import no_such_module", name="absent")
    done = hrns.run("doctor", "--json")
    assert done.returncode == 0
    absent, raising = faults(json.loads(done.stdout))
    assert absent[1].startswith("absent (hrns-absent): cannot be imported")
    assert raising[1] == "plugin guest (hrns-guest) in hrns_tools: RuntimeError: oh no"
    assert {"area": "distribution", "text": "hrns-guest 1.0", "state": "ok", "hint": ""} in (
        json.loads(done.stdout)
    )
