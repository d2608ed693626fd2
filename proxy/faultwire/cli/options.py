"""The options that `exec` and `proxy` share, and what they mean."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.types import StringParamType

if TYPE_CHECKING:
    from collections.abc import Callable

    from faultwire.profile.model import Profile
    from faultwire.runner.launch import LaunchSettings

F = TypeVar("F", bound="Callable[..., Any]")
DEFAULT_SEED = 42
"""The same run twice is the same run: chance enters only with `--seed`."""


class FaultText(StringParamType):
    """A fault as YAML. In its environment variable each line is one, for YAML is full of blanks."""

    name = "yaml"
    envvar_list_splitter = "\n"


@dataclass(frozen=True, slots=True)
class Traffic:
    """What is done to the traffic: the options below, as they were given."""

    profile: tuple[str, ...]
    fault: tuple[str, ...]
    seed: int
    record: Path | None
    mock: bool
    script: Path | None
    listen: str
    allow_host: tuple[str, ...]
    upstream_ca: Path | None

    def load(self) -> Profile:
        """The profiles and inline faults as one profile. Raises ProfileError."""
        from faultwire.profile.load import find, inline, load, merge

        return merge([*(load(find(name)) for name in self.profile), *map(inline, self.fault)])

    def launch(
        self,
        kind: str,
        *,
        profile: Profile,
        implicit: tuple[str, Profile, int] | None = None,
        **about: Any,
    ) -> LaunchSettings:
        """What to start for it; `about` goes into the run's `run.json`."""
        from faultwire.runner.launch import LaunchSettings

        return LaunchSettings(
            kind,
            listen=self.listen,
            tape=self.record,
            mock=self.mock or self.script is not None,
            script=self.script,
            allow_hosts=self.allow_host,
            upstream_ca=self.upstream_ca,
            implicit=implicit,
            about={
                "profile": profile.name,
                "profile_path": profile.path,
                "profile_sha256": profile.digest,
                "seed": self.seed,
                **about,
            },
        )


def traffic_options(command: F) -> F:
    """Add the shared options; the command gets them as `Traffic(**options)`."""
    options = [
        click.option(
            "--profile",
            multiple=True,
            metavar="NAME|PATH",
            help="Break traffic as this profile says; repeatable.",
        ),
        click.option(
            "--fault",
            multiple=True,
            type=FaultText(),
            metavar="YAML",
            help="Add one fault, e.g. 'rate_limit: {after_calls: 2}'; repeatable.",
        ),
        click.option("--seed", type=int, default=DEFAULT_SEED, show_default=True, help="Seed of all chance."),
        click.option(
            "--record",
            type=click.Path(path_type=Path),
            metavar="TAPE",
            help="Record to this tape instead of the run's folder.",
        ),
        click.option("--mock", is_flag=True, help="Answer for the providers: no key, no network."),
        click.option(
            "--script",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="What the mock says, as YAML; implies --mock.",
        ),
        click.option(
            "--capture",
            type=click.Choice(["env"]),
            default="env",
            expose_value=False,
            help="How the agent is sent through the proxy.",
        ),
        click.option(
            "--listen",
            default="127.0.0.1:0",
            show_default=True,
            metavar="HOST:PORT",
            help="Where the proxy listens; port 0 takes a free one.",
        ),
        click.option(
            "--allow-host",
            multiple=True,
            metavar="HOST",
            help="Let traffic pass to this host although its address is private; repeatable.",
        ),
        click.option(
            "--upstream-ca",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="Trust these authorities for servers as well.",
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command
