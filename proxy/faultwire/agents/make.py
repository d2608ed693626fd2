"""From what a configuration says of an agent to the agent itself, with its server if it has one."""

from __future__ import annotations

import os
import shlex
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urljoin, urlsplit

from faultwire.agents._answer import AnswerPath
from faultwire.agents._dial import Dialler
from faultwire.agents._reset import Resetting
from faultwire.agents._served import call_to_reset
from faultwire.agents._user import made as user_of
from faultwire.agents.command import CommandAgent
from faultwire.agents.http import HttpAgent
from faultwire.agents.openai import OpenAIAgent
from faultwire.agents.python import INTERPRETER, PythonAgent, call_function
from faultwire.agents.server import Server
from faultwire.agents.settings import CommandSettings, HttpSettings, LangchainSettings, OpenAISettings
from faultwire.errors import ConfigError
from faultwire.mutations._kept import Kept

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from faultwire.agents._api import Agent
    from faultwire.agents._served import Served
    from faultwire.agents.settings import AgentSettings, PythonSettings, Start
    from faultwire.events import Headers

SERVER_LOG = "agent.log"
"""What a server that we start says, in the run's folder."""
EXPORTS = "agent.env"
"""What a server needs in its environment that we do not start, for a shell, in the run's folder."""
USERS = "cache/users"
"""Where the turns that models wrote are kept, below faultwire's folder."""
USER_S = 120.0
"""Seconds for one of them."""
MS = 1000


class Share(Protocol):
    """Opens a way into the proxy that all sessions opened from then on share."""

    def __call__(self, *, unnamed: bool = False) -> Mapping[str, str]:
        """The environment of the process that all of them are about.

        With `unnamed`, traffic without a proxy user is of that process, too: we have not started it, and
        the environment names no user.
        """


@contextmanager
def prepared(settings: AgentSettings, share: Share, *, folder: Path, base: Path) -> Iterator[Agent]:
    """The agent, ready to be asked; what was started for it is ended at the end.

    `folder` is the run's, for what a server says; relative paths of the settings start at `base`, the
    configuration's folder. Raises ConfigError for settings that make no agent, and AgentError where a
    server does not start.
    """
    if isinstance(settings, HttpSettings | OpenAISettings):
        env = share(unnamed=settings.start is None)
        agent = _served(settings, base)
        if isinstance(settings, HttpSettings) and isinstance(agent, HttpAgent) and settings.user:
            agent.user = user_of(settings.user, Kept(folder.parent.parent / USERS), Dialler().ask, USER_S)
        if settings.start is None:
            (folder / EXPORTS).write_text(exports(os.environ, env))
            yield agent
            return
        with _server(settings.start, env, folder, base) as agent.server:
            yield agent
    elif isinstance(settings, CommandSettings):
        yield _command(settings, base)
    else:
        yield _python(settings, base)


def exports(ours: Mapping[str, str], wanted: Mapping[str, str]) -> str:
    """The lines of a shell that make an environment like `ours` one as `wanted`."""
    changed = {name: value for name, value in sorted(wanted.items()) if ours.get(name) != value}
    lines = [f"export {name}={shlex.quote(value)}" for name, value in changed.items() if _is_name(name)]
    removed = [name for name in sorted(ours) if name not in wanted and _is_name(name)]
    return "\n".join([*(f"unset {name}" for name in removed), *lines, ""])


def _is_name(name: str) -> bool:
    return name.isascii() and name.isidentifier()


def _command(settings: CommandSettings, base: Path) -> CommandAgent:
    cwd = _folder(settings.cwd, base)
    return CommandAgent(
        settings.command,
        stdin=settings.stdin is True,
        stdin_turns=settings.stdin == "turns",
        timeout_s=settings.timeout / MS,
        cwd=cwd,
        env=settings.env,
        answer_path=_path(settings.answer_path),
        answer_file=settings.answer_file,
        resetting=_resetting(settings, cwd, settings.env),
    )


def _served(settings: HttpSettings | OpenAISettings, base: Path) -> Served:
    headers: Headers = tuple(settings.headers.items())
    resetting = _resetting(settings, base.absolute(), {}, headers=headers)
    timeout_s = settings.timeout / MS
    if isinstance(settings, OpenAISettings):
        return OpenAIAgent(
            settings.endpoint,
            headers,
            timeout_s,
            settings.propagates,
            resetting,
            model=settings.model,
            api=settings.api,
            api_key=settings.api_key,
            system=settings.system,
            parameters=settings.parameters,
        )
    try:
        return HttpAgent(
            settings.endpoint,
            headers,
            timeout_s,
            settings.propagates,
            resetting,
            method=settings.method,
            query=tuple(settings.query_params.items()),
            template=settings.request_template,
            answer_path=_path(settings.response_path),
            structured=settings.parse_structured_input,
            restarts=settings.start is not None and settings.start.restart_between_turns,
            pause_s=settings.pause_between_turns / MS,
        )
    except ValueError as error:
        raise ConfigError(str(error), code="config.invalid_value") from error


def _python(settings: PythonSettings, base: Path) -> PythonAgent:
    cwd = _folder(settings.cwd, base)
    langchain = isinstance(settings, LangchainSettings)
    return PythonAgent(
        settings.endpoint,
        _interpreter(settings, base),
        cwd,
        settings.env,
        settings.timeout / MS,
        langchain=langchain,
        key=settings.input_key if isinstance(settings, LangchainSettings) else "input",
        resetting=_resetting(settings, cwd, settings.env, _interpreter(settings, base)),
    )


def _interpreter(settings: PythonSettings, base: Path) -> str:
    """A path counts from the configuration's folder; a bare name is looked up in PATH."""
    named = settings.python
    if named is None:
        return INTERPRETER
    path = os.path.expanduser(named)
    return str(base.absolute() / path) if os.sep in path else path


def _server(start: Start, env: Mapping[str, str], folder: Path, base: Path) -> Server:
    return Server(
        start.command,
        {**env, **start.env},
        start.ready_url,
        folder / SERVER_LOG,
        timeout_s=start.timeout / MS,
        cwd=_folder(start.cwd, base),
    )


def _resetting(
    settings: AgentSettings,
    cwd: Path,
    env: Mapping[str, str],
    python: str = INTERPRETER,
    *,
    headers: Headers = (),
) -> Resetting:
    timeout_s = settings.timeout / MS
    call = function = None
    if settings.reset_endpoint is not None:
        own = settings.endpoint if isinstance(settings, HttpSettings | OpenAISettings) else ""
        address = urljoin(own, settings.reset_endpoint)
        if not urlsplit(address).hostname:
            raise ConfigError(
                f"found `{address}` as `reset_endpoint`, expected a whole URL",
                code="config.invalid_value",
                hint="a path alone is enough for an agent that is a server",
            )
        call = partial(call_to_reset, address, headers, timeout_s)
    if settings.reset_function is not None:
        function = partial(
            call_function, settings.reset_function, python, {**os.environ, **env}, cwd, timeout_s
        )
    return Resetting(call, settings.reset_command or (), function, env, cwd, timeout_s)


def _path(text: str | None) -> AnswerPath | None:
    """A JSONPath. Raises ConfigError."""
    if text is None:
        return None
    try:
        return AnswerPath(text)
    except ValueError as error:
        raise ConfigError(str(error), code="config.invalid_value") from error


def _folder(given: str | None, base: Path) -> Path:
    """The working directory. Raises ConfigError where there is none."""
    path = base / os.path.expanduser(given) if given else base
    if not path.is_dir():
        raise ConfigError(f"found no folder `{path}`, expected the agent's `cwd`", code="config.no_folder")
    return path.absolute()
