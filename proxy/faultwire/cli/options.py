"""The options that `exec` and `proxy` share, and what they mean."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

import click
from click.types import StringParamType

from faultwire.cli.replay_options import ReplayOptions, replay_options, replay_settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from faultwire.profile.model import Profile
    from faultwire.runner.launch import LaunchSettings
    from faultwire.tape.record.overload_policy import FailurePolicy, RecordPolicy

F = TypeVar("F", bound="Callable[..., Any]")
DEFAULT_SEED = 42
"""The same run twice is the same run: chance enters only with `--seed`."""


class FaultText(StringParamType):
    """A fault as YAML. In its environment variable each line is one, for YAML is full of blanks."""

    name = "yaml"
    envvar_list_splitter = "\n"


def as_routes(
    _context: click.Context, _option: click.Parameter, values: tuple[str, ...]
) -> tuple[tuple[str, str], ...]:
    """Each `NAME=URL` as a pair. Called by click. Raises BadParameter."""
    return tuple(_as_route(value) for value in values)


def _as_route(value: str) -> tuple[str, str]:
    name, mark, url = value.partition("=")
    letters = name.replace("-", "").replace("_", "").replace(".", "")
    if not mark or not (letters.isascii() and letters.isalnum() and name[0].isalnum()) or len(name) > 64:
        raise click.BadParameter(f"found `{value}`, expected `NAME=URL` with a name of letters and digits")
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if not good:
        raise click.BadParameter(f"found `{url}`, expected a base URL such as `https://api.example.com`")
    return name.lower(), url


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic(ReplayOptions):
    """What is done to the traffic: the options below, as they were given."""

    profile: tuple[str, ...]
    fault: tuple[str, ...]
    seed: int
    mock: bool
    script: Path | None
    listen: str
    capture: str
    reverse: tuple[tuple[str, str], ...]
    allow_host: tuple[str, ...]
    upstream_ca: Path | None
    mark: bool = False
    record_policy: RecordPolicy = "block"
    on_tape_failure: FailurePolicy = "fail"
    redact: tuple[str, ...] = ()
    config: Path | None = None

    def load(self) -> Profile:
        """The profiles and inline faults as one profile. Raises ProfileError."""
        from faultwire.profile.dump import marked
        from faultwire.profile.load import find, inline, load, merge

        profile = merge([*(load(find(name)) for name in self.profile), *map(inline, self.fault)])
        return marked(profile) if self.mark else profile

    def redacts(self) -> dict[str, Any]:
        """What the configuration wants redacted, with what the options add. Raises ConfigError."""
        from faultwire.tape.redact.rules import read_rules

        found = _redact_section(self.config) if self.config is not None else None
        read_rules(found)
        wanted: dict[str, Any] = dict(found) if isinstance(found, dict) else {}
        return {**wanted, "pii": True} if "pii" in self.redact else wanted

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
            reverse=dict(self.reverse),
            base_urls=self.capture == "base-url",
            upstream_ca=self.upstream_ca,
            record_policy=self.record_policy,
            on_tape_failure=self.on_tape_failure,
            redact=self.redacts(),
            replay=replay_settings(self),
            masks=self.mask,
            implicit=implicit,
            about={
                "profile": profile.name,
                "profile_path": profile.path,
                "profile_sha256": profile.digest,
                "seed": self.seed,
                **about,
            },
        )


def _redact_section(path: Path) -> Any:
    """`redact`, or `redact` of the section `proxy`; None where the file has neither. Raises ConfigError."""
    from faultwire.cli._config_file import section
    from faultwire.errors import ConfigError

    top, proxy = section(path, "redact"), section(path, "proxy")
    below = proxy.get("redact") if isinstance(proxy, dict) else None
    if top is not None and below is not None:
        raise ConfigError(f"`{path}` has `redact` beside `proxy.redact`, expected one of them")
    return below if top is None else top


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
        click.option(
            "--mark", is_flag=True, help="Name the fault in the answers that it gives: x-faultwire-fault."
        ),
        click.option("--seed", type=int, default=DEFAULT_SEED, show_default=True, help="Seed of all chance."),
        click.option(
            "--record",
            type=click.Path(path_type=Path),
            metavar="TAPE",
            help="Record to this tape instead of the run's folder.",
        ),
        click.option(
            "--redact",
            multiple=True,
            type=click.Choice(["pii"]),
            help="Keep personal data off the tape as well; secrets never reach it.",
        ),
        click.option(
            "--config",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="A faultwire.yaml; its `redact:` (or `proxy.redact`) says what else to keep off the tape.",
        ),
        click.option(
            "--record-policy",
            type=click.Choice(["block", "drop"]),
            default="block",
            show_default=True,
            help="When the tape is behind: slow the traffic down, or drop exchanges and say which.",
        ),
        click.option(
            "--on-tape-failure",
            type=click.Choice(["fail", "pass-unrecorded"]),
            default="fail",
            show_default=True,
            help="When the tape cannot be written: refuse traffic (503), or let it pass unrecorded.",
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
            type=click.Choice(["env", "base-url"]),
            default="env",
            show_default=True,
            help="How the agent is sent through the proxy: as its proxy, or as its providers' base URL.",
        ),
        click.option(
            "--reverse",
            multiple=True,
            callback=as_routes,
            metavar="NAME=URL",
            help="Offer this upstream under a URL of ours, told in FAULTWIRE_URL_NAME; repeatable.",
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
        *replay_options(),
    ]
    for option in reversed(options):
        command = option(command)
    return command
