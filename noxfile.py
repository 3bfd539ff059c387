"""What the project checks: `nox -s tests`, `lint`, `types`, `lowest`, `wheels`, `demo`, `bench`.

Every session installs what it needs. Only a Python with pip is expected on the machine.
"""

import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path

import nox

nox.needs_version = ">=2025.5.1"
nox.options.default_venv_backend = "uv|virtualenv"
nox.options.error_on_missing_interpreters = False
nox.options.download_python = "never"
nox.options.sessions = ["lint", "types", "tests"]

ROOT = Path(__file__).parent
PYTHONS = ["3.11", "3.12", "3.13", "3.14"]
PLUGINS = ["hrns-tools-fs", "hrns-skills", "hrns-tui"]
EXAMPLES = sorted(path.parent.name for path in ROOT.glob("examples/*/pyproject.toml"))
TEST_TOOLS = ["pytest>=8.2", "pytest-timeout>=2.3", "pytest-xdist>=3.6", "hypothesis>=6.118"]
TEST_TOOLS += ["jsonschema>=4.20", "trustme>=1.1", "pexpect>=4.9", "pyte>=0.8.2"]
CHECKOUT = [arg for path in [".", *(f"plugins/{name}" for name in PLUGINS)] for arg in ("-e", path)]


def _offer_pyenv() -> None:
    """Let the Pythons that pyenv keeps be found by name, the one that runs this first."""
    kept = Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser().glob("versions/3.*")
    running = "{}.{}.".format(*sys.version_info)
    names = sorted((path.name for path in kept), key=lambda name: not name.startswith(running))
    if names:
        os.environ.setdefault("PYENV_VERSION", ":".join(names))


_offer_pyenv()
# A script in the background, or `nohup`, has signals ignored that the tests send to programs.
for _name, _handler in (("SIGINT", signal.default_int_handler), ("SIGHUP", signal.SIG_DFL)):
    _number = getattr(signal, _name, None)
    if _number is not None and signal.getsignal(_number) == signal.SIG_IGN:
        signal.signal(_number, _handler)


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """Run all tests from the checkout."""
    session.install(*CHECKOUT, *TEST_TOOLS)
    _pytest(session)


def _pytest(session: nox.Session) -> None:
    # The tests start many programs, which would compile everything again if no byte code is kept.
    env = {"PYTHONDONTWRITEBYTECODE": ""}
    # They also wait much, for processes and terminals: so there is one more than cores.
    workers = str((os.cpu_count() or 1) + 1)
    session.run("pytest", "-n", workers, "--dist", "worksteal", "-q", *session.posargs, env=env)


@nox.session
def lint(session: nox.Session) -> None:
    """Check style and format."""
    session.install("ruff==0.17.*")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")


@nox.session
def types(session: nox.Session) -> None:
    """Check types, ours and as a user sees them."""
    stubs = ["types-PyYAML", "types-jsonschema"]
    session.install(*CHECKOUT, *TEST_TOOLS, "mypy==2.4.*", "nox", *stubs)
    session.run("mypy")


@nox.session(python=PYTHONS[0])
def lowest(session: nox.Session) -> None:
    """Run all tests with the lowest versions that we claim to work with."""
    session.install("uv")
    session.run(
        "uv", "pip", "install", "--resolution", "lowest-direct", *CHECKOUT, *TEST_TOOLS, silent=True
    )
    _pytest(session)


@nox.session
def wheels(session: nox.Session) -> None:
    """Build every distribution, install from the files alone, and use it there."""
    session.install("build", "hatchling>=1.27", "uv", *TEST_TOOLS)
    dist = ROOT / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    sources = [".", *(f"plugins/{name}" for name in PLUGINS), *(f"examples/{n}" for n in EXAMPLES)]
    for source in sources:
        build = ("python", "-m", "build", "--no-isolation", "--outdir", str(dist))
        session.run(*build, source, silent=True)
    # hrns is not installed here: what tests/conftest.py shares is for tests from the checkout.
    alone = ("tests/wheels", "--confcutdir", "tests/wheels")
    session.run("pytest", "-q", *alone, "--wheels", str(dist), *session.posargs)


@nox.session
def demo(session: nox.Session) -> None:
    """Do the main job without a network: a question about real files, through real tools."""
    session.install(*CHECKOUT)
    with tempfile.TemporaryDirectory() as home:
        session.run(
            "hrns", "exec", "--provider", "demo", "--verbose", "--no-stdin",
            "list the Python files under hrns, then read README.md and count its headings",
            env={"HOME": home, "XDG_CONFIG_HOME": f"{home}/.config"},
        )  # fmt: skip


@nox.session
def bench(session: nox.Session) -> None:
    """Measure: start-up, streaming, tool turns, memory. Figures are printed, nothing is judged."""
    session.install(*CHECKOUT)
    for script in sorted(ROOT.glob("benchmarks/bench_*.py")):
        session.run("python", str(script), *session.posargs)
