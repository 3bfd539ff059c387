"""Draws the main states of the terminal UI: `python plugins/hrns-tui/pictures.py docs/pictures`.

The program runs in a pseudo-terminal with the demo provider and a scripted one; pyte is the
terminal, and what it shows is written as SVG. Needs pyte.
"""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import tempfile
import termios
import time
from html import escape
from pathlib import Path

import pyte

COLOURS = {
    "dark": {"back": "#16181d", "fore": "#d7dae0", "dim": "#808794"},
    "light": {"back": "#ffffff", "fore": "#24292f", "dim": "#6e7781"},
}
ANSI = {
    "black": "#3b4048",
    "red": "#e0616b",
    "green": "#5ba35b",
    "brown": "#c2963c",
    "blue": "#3f7fd0",
    "magenta": "#a25fc4",
    "cyan": "#2f9fae",
    "white": "#b5bac4",
    "brightblack": "#808794",
    "brightblue": "#5a9be6",
    "brightcyan": "#45b9c9",
    "brightred": "#ef7d86",
    "brightgreen": "#78bf78",
    "brightmagenta": "#bb7fd9",
    "brightbrown": "#d9b15b",
    "brightwhite": "#e6e9ef",
}
FONTS = "DejaVu Sans Mono, Menlo, Consolas, monospace"
SCRIPT = '''
import hrns
from hrns import Access, Prepared, ProviderKind, Tool
from hrns.errors import RequestRefused
from hrns.messages import Diff, Terminal, ToolResult
from hrns.testing import Call, Fail, Say, ScriptedProvider, Wait

ANSWER = """## The discount is taken off twice

`Cart.total` takes it off, and so does `Cart.rows`:

| where | takes off |
|---|---|
| `rows` | 10 % |
| `total` | 10 % again |

```python
def total(self) -> Money:
    return sum(row.price for row in self.rows)
```

I will take it out of `total`, and"""

def prepare(args, context):
    old = "def total(self):\\n    whole = sum(self.rows)\\n    return whole * 0.9\\n"
    new = "def total(self):\\n    return sum(self.rows)\\n"
    return Prepared([Access("write", "cart.py")], "edit_file cart.py", Diff("cart.py", old, new))

@hrns.hookimpl
def hrns_tools():
    schema = {"type": "object", "properties": {"command": {"type": "string"}}}
    yield Tool("edit_file", "Edits.", schema, function=lambda a, c: "ok", preparer=prepare,
               effects=["write"])
    yield Tool("run_command", "Runs.", schema, function=run, effects=[],
               preparer=lambda a, c: Prepared([], "run_command pytest tests/test_cart.py"))

def run(args, context):
    import time
    began = "collected 12 items\\n\\ntests/test_cart.py ......F.....\\n"
    context.output(began)
    time.sleep(1.5)
    ended = "\\n>   assert cart.total() == 90\\nE   assert 81 == 90\\n\\n1 failed, 11 passed\\n"
    shown = Terminal("pytest", began + ended, 1, 1.5)
    return ToolResult("ERROR: exit status 1 after 1.5 s", status="error", display=shown)

@hrns.hookimpl
def hrns_providers():
    def build(entry):
        if entry.name == "broken":
            error = RequestRefused("the server refused the request (400): no such model",
                                   hint="/models lists those that there are.")
            return ScriptedProvider([Fail(error)])
        return ScriptedProvider([
            [Say("Let me run the test first.", reasoning="Where is the discount?"),
             Call("run_command", {"command": "pytest"})],
            [Say(ANSWER, pieces=80), Wait(3), Say(" run it again.")],
            [Call("edit_file", {"command": ""})],
        ], models=["large", "small", "tiny"])
    return ProviderKind("scripted", build)
'''


class Terminal:
    """The program in a terminal of some size."""

    def __init__(
        self, home: Path, *arguments: str, columns: int, rows: int, configured: bool
    ) -> None:
        self.screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self.screen)
        self._master, slave = pty.openpty()
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "PYTHONPATH": str(home / "site"),
            "HRNS_CONFIG": str(home / ("config.json" if configured else "none.json")),
        }
        command = ["sh", "-c", 'exec "$@" <"$0" >"$0" 2>&1', os.ttyname(slave)]
        self.process = subprocess.Popen(
            [*command, sys.executable, "-m", "hrns", *arguments],
            env=environ,
            cwd=home / "shop",
            stdin=slave,
            start_new_session=True,
        )
        os.close(slave)

    def see(self, text: str) -> None:
        """Wait until it shows the text."""
        deadline = time.monotonic() + 20
        while text not in "\n".join(self.screen.display):
            if time.monotonic() > deadline:
                raise TimeoutError("\n".join(self.screen.display))
            self.rest(0.05)

    def rest(self, seconds: float) -> None:
        """Take in what it writes for so long."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            if select.select([self._master], [], [], left)[0]:
                try:
                    self._stream.feed(os.read(self._master, 65536))
                except OSError:
                    raise RuntimeError("\n".join(self.screen.display)) from None

    def type(self, keys: str) -> None:
        """Press keys."""
        os.write(self._master, keys.encode())

    def close(self) -> None:
        """End it."""
        self.process.kill()
        self.process.wait()
        os.close(self._master)


def svg(screen: pyte.Screen, theme: str) -> str:
    """The screen as a picture."""
    palette = COLOURS[theme]
    used = max(y for y, line in enumerate(screen.display) if line.strip()) + 1
    width, height = screen.columns * 8.43 + 24, used * 18 + 24
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}">',
        f'<rect width="100%" height="100%" rx="6" fill="{palette["back"]}"/>',
        f'<g font-family="{FONTS}" font-size="14" xml:space="preserve">',
    ]
    for y in range(used):
        lines += _row(screen, y, palette)
    if not screen.cursor.hidden:
        x, y = 12 + screen.cursor.x * 8.43, 14 + screen.cursor.y * 18
        lines.append(f'<rect x="{x:.1f}" y="{y}" width="8" height="16" fill="{palette["fore"]}"/>')
    return "\n".join([*lines, "</g></svg>", ""])


def _row(screen: pyte.Screen, y: int, palette: dict[str, str]) -> list[str]:
    """The runs of one style in a row."""
    runs: list[tuple[int, str, tuple[str, bool, bool]]] = []
    for x in range(screen.columns):
        cell = screen.buffer[y][x]
        fore = palette["fore"] if cell.fg == "default" else ANSI.get(cell.fg, palette["fore"])
        style = (fore, cell.bold, cell.underscore)
        if runs and runs[-1][2] == style:
            runs[-1] = (runs[-1][0], runs[-1][1] + cell.data, style)
        else:
            runs.append((x, cell.data, style))
    return [_run(x, y, text, style) for x, text, style in runs if text.strip()]


def _run(x: int, y: int, text: str, style: tuple[str, bool, bool]) -> str:
    fore, bold, underlined = style
    more = ' font-weight="bold"' if bold else ""
    more += ' text-decoration="underline"' if underlined else ""
    kept = text.rstrip()
    at = f'x="{12 + x * 8.43:.1f}" y="{26 + y * 18}" textLength="{len(kept) * 8.43:.1f}"'
    return f'<text {at} fill="{fore}"{more}>{escape(kept)}</text>'


def main(folder: Path) -> None:
    """Draw all of them."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        home = Path(temporary)
        _prepare(home)
        for name, columns, theme, configured, steps in STATES:
            provider = ["--provider", "broken"] if name == "error" else []
            terminal = Terminal(home, *provider, columns=columns, rows=34, configured=configured)
            if theme == "light":
                terminal.see("ready")
                terminal.type("/theme light\r")
                terminal.see("The theme is light, also the next time.")
                terminal.type("/clear\r")
                terminal.see("A new conversation")
            for seen, keys in steps:
                terminal.see(seen)
                terminal.rest(0.5)
                terminal.type(keys)
            terminal.rest(0.5)
            (folder / f"{name}.svg").write_text(svg(terminal.screen, theme), encoding="utf-8")
            terminal.close()


def _prepare(home: Path) -> None:
    """A project, and a plugin with a scripted provider."""
    (home / "shop").mkdir()
    info = home / "site/script-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: script\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[hrns]\nscript = scripted_pictures\n")
    (home / "site/scripted_pictures.py").write_text(SCRIPT)
    (home / "config.json").write_text(
        '{"providers": {"home": {"api": "scripted", "model": "large"}, '
        '"broken": {"api": "scripted", "model": "missing"}}, '
        '"currentProvider": "home", "currentAgent": "Builder", '
        '"plugins": {"disabled": ["tools-fs", "skills"]}}'
    )


ASK = "Why does the test of the cart fail?\r"
STATES: list[tuple[str, int, str, bool, list[tuple[str, str]]]] = [
    ("onboarding", 80, "dark", False, [("a server of your own", "o")]),
    ("tool", 80, "dark", True, [("ready", ASK), ("collected 12 items", "")]),
    ("streaming", 80, "dark", True, [("ready", ASK), ("and", "and then?"), ("take it out", "")]),
    (
        "question",
        80,
        "dark",
        True,
        [("ready", ASK), ("run it again", "Go on.\r"), ("Allow?", "")],
    ),
    ("picker", 80, "dark", True, [("ready", "/models\r"), ("tiny", "/model\r"), ("of 3", "")]),
    ("error", 80, "dark", True, [("ready", "Hello.\r"), ("error:", "")]),
    ("narrow", 40, "dark", True, [("ready", ASK), ("take it out", "")]),
    ("light", 80, "light", True, [("ready", ASK), ("take it out", "")]),
]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
