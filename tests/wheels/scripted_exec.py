"""Runs `hrns exec` against a scripted server and prints, as JSON, what both said.

Run by the Python of an environment that hrns is installed in, with the tool calls that the model
makes as JSON: `python scripted_exec.py '[["weather", {"city": "Oslo"}]]'`.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from hrns.testing import Call, LoopbackServer, chat_stream


def main(calls: list[tuple[str, dict[str, Any]]]) -> None:
    replies = [chat_stream(calls=[Call(name, arguments)]) for name, arguments in calls]
    with LoopbackServer([*replies, chat_stream("Done.")]) as server:
        configure(f"{server.url}/v1")
        done = subprocess.run(
            [sys.executable, "-m", "hrns", "exec", "--no-stdin", "Do it."],
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
    requests = [request.json for request in server.requests]
    told = {
        "status": done.returncode,
        "stdout": done.stdout,
        "stderr": done.stderr,
        "offered": [tool["function"]["name"] for tool in requests[0].get("tools", [])],
        "results": [m["content"] for m in requests[-1]["messages"] if m["role"] == "tool"],
    }
    sys.stdout.write(json.dumps(told))


def configure(url: str) -> None:
    path = Path.home() / ".config/hrns/config.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    entry = {"url": url, "model": "scripted"}
    path.write_text(json.dumps({"providers": {"here": entry}}), encoding="utf-8")


main(json.loads(sys.argv[1]))
