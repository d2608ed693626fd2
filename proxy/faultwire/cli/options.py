"""The options that `exec` and `proxy` share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

import click
from click.types import StringParamType

from faultwire.cli._engine_options import encrypt_bodies_option
from faultwire.cli._placed import anywhere_option, placed
from faultwire.cli.replay_options import ReplayOptions, checked_replay, replay_options

if TYPE_CHECKING:
    from collections.abc import Callable

    from faultwire.profile.model import Profile
    from faultwire.runner.launch import LaunchSettings
    from faultwire.tape.record.overload_policy import FailurePolicy, RecordPolicy

F = TypeVar("F", bound="Callable[..., Any]")
DEFAULT_SEED = 42
"""The same run twice is the same run: chance enters only with `--seed`."""


CAPTURED_BY = {"netns": ("exec",), "tun": ("exec", "proxy"), "wireguard": ("exec", "proxy")}
"""The commands that can capture in these ways."""


class FaultText(StringParamType):
    """A fault as YAML. In its environment variable each line is one fault, because YAML contains spaces."""

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
    """The values of the shared options."""

    profile: tuple[str, ...]
    fault: tuple[str, ...]
    seed: int
    mock: bool
    script: Path | None
    listen: str
    no_auth: bool = False
    capture: str
    reverse: tuple[tuple[str, str], ...]
    allow_host: tuple[str, ...]
    upstream_ca: Path | None
    client_cert: tuple[tuple[str, Path], ...] = ()
    mock_except: tuple[str, ...] = ()
    mark: bool = False
    record_policy: RecordPolicy = "block"
    on_tape_failure: FailurePolicy = "fail"
    redact: tuple[str, ...] = ()
    encrypt_bodies: bool = False
    config: Path | None = None

    def load(self) -> Profile:
        """The profiles and inline faults as one profile. Raises ProfileError."""
        from faultwire.profile.across import joined
        from faultwire.profile.dump import marked
        from faultwire.profile.load import find, inline, load

        profile = joined([*(load(find(name)) for name in self.profile), *map(inline, self.fault)])
        return marked(profile) if self.mark else profile

    def redacts(self) -> dict[str, Any]:
        """The redaction rules of the configuration and the options. Raises ConfigError."""
        from faultwire.cli._config_file import redact_section
        from faultwire.tape.redact.rules import read_rules

        found = redact_section(self.config) if self.config is not None else None
        read_rules(found)
        rules: dict[str, Any] = dict(found) if isinstance(found, dict) else {}
        return {**rules, "pii": True} if "pii" in self.redact else rules

    def launch(
        self,
        kind: str,
        *,
        profile: Profile,
        implicit: tuple[str, Profile, int] | None = None,
        redirected: int | None = None,
        **about: Any,
    ) -> LaunchSettings:
        """The launch settings; `about` goes into the run's `run.json`. Raises UsageError."""
        from faultwire.errors import UsageError
        from faultwire.runner.launch import LaunchSettings

        if kind not in CAPTURED_BY.get(self.capture, (kind,)):
            raise UsageError(
                f"found `--capture {self.capture}` for `{kind}`, expected it for "
                f"{' or '.join(f'`{one}`' for one in CAPTURED_BY[self.capture])}",
                code="usage.capture",
                hint=f"`faultwire exec --capture {self.capture} -- CMD` runs a command so",
            )
        return LaunchSettings(
            kind,
            listen=self.listen,
            auth=not self.no_auth,
            tape=None if self.record is None else placed(self.record),
            mock=self.mock or self.script is not None,
            mock_except=self.mock_except,
            script=self.script,
            allow_hosts=self.allow_host,
            reverse=dict(self.reverse),
            base_urls=self.capture == "base-url",
            upstream_ca=self.upstream_ca,
            client_certs=self.client_cert,
            record_policy=self.record_policy,
            on_tape_failure=self.on_tape_failure,
            redact=self.redacts(),
            encrypt_bodies=self.encrypt_bodies,
            replay=checked_replay(self, profile),
            masks=self.mask,
            implicit=implicit,
            redirected=redirected,
            about={
                "profile": profile.name,
                "profile_path": profile.path,
                "profile_sha256": profile.digest,
                "seed": self.seed,
                **about,
            },
        )


def as_hosts(_context: click.Context, _option: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Host names, with `*` where they are patterns. Called by click. Raises BadParameter."""
    for value in values:
        if not value or set(value) & set("/@ ") or (value.count(":") == 1):
            raise click.BadParameter(f"found `{value}`, expected a host name such as `api.example.com`")
    return values


def as_certificates(
    _context: click.Context, _option: click.Parameter, values: tuple[str, ...]
) -> tuple[tuple[str, Path], ...]:
    """Each `HOST=FILE` as a pair; the host may be a glob. Called by click. Raises BadParameter."""
    for value in values:
        host, _, file = value.partition("=")
        if not host or not file or set(host) & set("/@: "):
            raise click.BadParameter(
                f"found `{value}`, expected `HOST=FILE` such as `api.example.com=me.pem`"
            )
    return tuple((host, Path(file)) for host, _, file in (value.partition("=") for value in values))


def mock_except_option() -> Callable[[F], F]:
    """`--mock-except HOST`."""
    return click.option(
        "--mock-except",
        multiple=True,
        callback=as_hosts,
        metavar="HOST",
        help="With --mock: let calls to this host reach the real server; repeatable.",
    )


def traffic_options_but(taken: frozenset[str]) -> Callable[[F], F]:
    """The shared options without those of these names, for a command that settles them itself."""

    def add(command: F) -> F:
        decorated: Any = traffic_options(command)
        decorated.__click_params__ = [one for one in decorated.__click_params__ if one.name not in taken]
        return command

    return add


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
            "--mark", is_flag=True, help="Name the fault in the responses it produces: x-faultwire-fault."
        ),
        click.option("--seed", type=int, default=DEFAULT_SEED, show_default=True, help="Random seed."),
        click.option(
            "--record",
            type=click.Path(path_type=Path),
            metavar="TAPE",
            help="Record to this tape instead of the run's folder.",
        ),
        anywhere_option(),
        click.option(
            "--redact",
            multiple=True,
            type=click.Choice(["pii"]),
            help="Also keep personal data off the tape; secrets are never recorded.",
        ),
        click.option(
            "--config",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="A faultwire.yaml with more redaction rules in `redact:` (or `proxy.redact`).",
        ),
        encrypt_bodies_option(),
        click.option(
            "--record-policy",
            type=click.Choice(["block", "drop"]),
            default="block",
            show_default=True,
            help="If recording falls behind: slow traffic down, or drop exchanges and report them.",
        ),
        click.option(
            "--on-tape-failure",
            type=click.Choice(["fail", "pass-unrecorded"]),
            default="fail",
            show_default=True,
            help="If the tape cannot be written: refuse traffic (503), or let it pass unrecorded.",
        ),
        click.option("--mock", is_flag=True, help="Answer with the mock provider: no key, no network."),
        mock_except_option(),
        click.option(
            "--script",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="A YAML script of the mock's answers; implies --mock.",
        ),
        click.option(
            "--capture",
            type=click.Choice(["env", "base-url", "netns", "tun", "wireguard"]),
            default="env",
            show_default=True,
            help="How traffic reaches us: proxy variables, base URLs, or a network namespace (exec, Linux); "
            "tun and wireguard (exec, proxy): variables, and what is routed into an interface, or comes "
            "through a tunnel.",
        ),
        click.option(
            "--reverse",
            multiple=True,
            callback=as_routes,
            metavar="NAME=URL",
            help="Expose this upstream as a local URL, given in FAULTWIRE_URL_NAME; repeatable.",
        ),
        click.option(
            "--listen",
            default="127.0.0.1:0",
            show_default=True,
            metavar="HOST:PORT",
            help="Address of the proxy; port 0 picks a free port. If others reach it, clients need a token.",
        ),
        click.option(
            "--no-auth", is_flag=True, help="Accept traffic without a token from everybody: an open proxy."
        ),
        click.option(
            "--allow-host",
            multiple=True,
            metavar="HOST",
            help="Allow traffic to this host although its address is private; repeatable.",
        ),
        click.option(
            "--upstream-ca",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="Also trust these certificate authorities for upstream servers.",
        ),
        click.option(
            "--client-cert",
            multiple=True,
            callback=as_certificates,
            metavar="HOST=FILE",
            help="Show this certificate (PEM, with its key) to servers of this host; repeatable.",
        ),
        *replay_options(),
    ]
    for option in reversed(options):
        command = option(command)
    return command
