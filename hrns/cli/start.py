"""`hrns` without a command: the front end that a plugin offers."""

from __future__ import annotations

import os
import sys

from ..context import Mode
from ..errors import ConfigError
from ..plugins import first_owners, load_plugins
from ..records import Frontend
from ..session import Launch
from .common import read_config, working_directory
from .sessions import check_choice, chosen_record

__all__ = ["start"]

PICK = "?"
"""What `--resume` without an id stands for: the front end lets the person pick."""

_NO_FRONTEND = """\
There is no interactive front end installed yet. To get one:

    pip install "hrns[tui]"

What works already:

    hrns exec "a question"                    ask the configured model once
    hrns exec --provider demo "list the files in ."
    hrns --help                               all commands
"""


def start(
    *,
    provider: str,
    model: str,
    agent: str,
    permission_mode: Mode | None,
    resume_last: bool,
    resume: str,
    no_session: bool,
) -> int:
    """Run the front end to its end; returns its exit status.

    Raises:
        ConfigError: the configuration does not parse, or names a front end that is not there.
        SessionError: there is no session to go on with.
        UsageError: the options exclude each other.
    """
    check_choice(resume_last, resume, no_session)
    config = read_config()
    plugins = load_plugins(os.environ, config.plugins.disabled)
    owned = first_owners(
        plugins, "front end", plugins.collect("hrns_frontends", Frontend), lambda f: f.name
    )
    frontends = {each.record.name: each.record for each in owned}
    if not frontends:
        for warning in plugins.take_warnings():
            sys.stderr.write(f"hrns: warning: {warning}\n")
        sys.stderr.write(_NO_FRONTEND)
        return 1
    if config.frontend and config.frontend not in frontends:
        raise ConfigError(
            f"there is no front end {config.frontend!r}",
            hint=f"Installed are: {', '.join(frontends)}. Change `frontend` in {config.path}.",
        )
    launch = Launch(
        cwd=working_directory(),
        config=config,
        plugins=plugins,
        environ=os.environ,
        provider=provider,
        model=model,
        agent=agent,
        mode=permission_mode or config.permissions.mode or "ask",
        resume=chosen_record(resume_last, "" if resume == PICK else resume, no_session),
        pick=resume == PICK,
        save=not no_session,
    )
    return frontends[config.frontend or next(iter(frontends))].run(launch)
