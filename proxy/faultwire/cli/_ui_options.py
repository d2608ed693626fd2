"""`--ui` and what belongs to it, for commands that run an agent, and for `faultwire ui`."""

from __future__ import annotations

import functools
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from faultwire.runner.started_run import Run
    from faultwire.workbench.serve import Listen


@dataclass(frozen=True, slots=True)
class UiOptions:
    """The values of the options."""

    wanted: bool
    listen: str
    certificate: Path | None
    key: Path | None
    on_gone: str = "resume"
    """What becomes of what is held when no page is open any more."""
    token: Path | None = None
    otel: str | None = None

    def program(self) -> str | None:
        """The token for programs. Raises UsageError."""
        from faultwire.errors import UsageError

        if self.token is None:
            return None
        found = self.token.read_text(encoding="utf-8", errors="replace").strip()
        if not (len(found) >= SHORTEST and found.isascii() and found.isprintable() and " " not in found):
            raise UsageError(
                f"found no token of {SHORTEST} characters or more in `{self.token}`",
                code="usage.ui_token",
                hint=f"make one: `openssl rand -hex 32 > {self.token}`",
            )
        return found

    def place(self) -> Listen:
        """Where to listen. Raises UsageError."""
        from faultwire.errors import UsageError
        from faultwire.workbench.serve import Listen, check

        host, _, port = self.listen.rpartition(":")
        if not host or not (port.isascii() and port.isdigit()) or int(port) > 65535:
            raise UsageError(
                f"found `--ui-listen {self.listen}`, expected `HOST:PORT`", code="usage.ui_listen"
            )
        found = Listen(host.strip("[]"), int(port), self.certificate, self.key)
        check(found)
        return found

    @contextmanager
    def beside(self, run: Run) -> Iterator[None]:
        """The workbench over a run that has started, if it is wanted; its link is printed."""
        if not (self.wanted or self.otel or self.token):
            yield
            return
        from faultwire.cli.output import say
        from faultwire.runner.folder import STATE
        from faultwire.text import safe
        from faultwire.workbench.client import started

        with started(
            self.place(),
            run.tape,
            run.engine.control,
            run.folder.path,
            STATE,
            on_gone=self.on_gone,
            program=self.program(),
            otel=self.otel,
        ) as ready:
            if self.wanted:
                say(f"workbench  {ready['link']} (the link works once)")
            if self.token is not None:
                say(f"metrics    {ready['url']}metrics (Authorization: Bearer, the token of `{self.token}`)")
            if self.otel is not None:
                say(f"spans      to {safe(self.otel)}")
            yield


SHORTEST = 16
"""Characters of a token for programs."""
_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
_PLACE = (
    click.option(
        "--otel", metavar="URL", help="Send a span of each call to this OTLP/HTTP endpoint as it ends."
    ),
    click.option(
        "--ui-token",
        type=_FILE,
        metavar="FILE",
        help="A token for programs, which read /metrics and the JSON endpoints with it.",
    ),
    click.option(
        "--on-ui-gone",
        type=click.Choice(["resume", "cut"]),
        default="resume",
        show_default=True,
        help="What becomes of calls held at a breakpoint when no page is open any more.",
    ),
    click.option("--ui-key", type=_FILE, metavar="FILE", help="The certificate's private key (PEM)."),
    click.option("--ui-cert", type=_FILE, metavar="FILE", help="Serve the workbench by TLS (PEM)."),
    click.option(
        "--ui-listen",
        default="127.0.0.1:0",
        show_default=True,
        metavar="HOST:PORT",
        help="Where the workbench listens; off loopback only with TLS.",
    ),
)


def place_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Where it listens, as the argument `ui` (UiOptions)."""

    @functools.wraps(command)
    def given(
        *,
        ui_listen: str,
        ui_cert: Path | None,
        ui_key: Path | None,
        on_ui_gone: str,
        ui_token: Path | None,
        otel: str | None,
        ui: bool = True,
        **rest: Any,
    ) -> Any:
        return command(ui=UiOptions(ui, ui_listen, ui_cert, ui_key, on_ui_gone, ui_token, otel), **rest)

    for option in _PLACE:
        option(given)
    return given


def ui_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The same with `--ui`."""
    flag = click.option("--ui", is_flag=True, help="Open a local web page of the traffic as it comes.")
    return flag(place_options(command))
