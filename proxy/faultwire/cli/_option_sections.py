"""Options under headings in `--help`, and options that have been renamed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from faultwire.cli._group import warn_renamed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SECTIONS: dict[str, tuple[str, ...]] = {
    "Faults": ("profile", "fault", "seed", "mark", "dry_run"),
    "Recording": (
        "record",
        "output_anywhere",
        "redact",
        "encrypt_bodies",
        "config",
        "record_policy",
        "on_tape_failure",
        "tapes",
        "project",
    ),
    "Replay": (
        "replay",
        "on_miss",
        "mask",
        "timing",
        "freeze_time",
        "strict_order",
        "reuse",
        "rebind",
        "unverified",
        "live_agent",
        "live_model",
    ),
    "Capture": (
        "capture",
        "capture_port",
        "wireguard_listen",
        "tun_device",
        "redirected",
        "relay",
        "mock",
        "mock_except",
        "script",
        "reverse",
        "allow_no_traffic",
    ),
    "Control": ("control_sessions", "control_share", "control_calls"),
    "Network": ("listen", "engines", "health", "no_auth", "allow_host", "upstream_ca", "client_cert"),
    "Workbench": ("ui", "ui_listen", "ui_cert", "ui_key", "ui_token", "on_ui_gone", "otel"),
    "Repeat": ("repeat", "check_determinism", "any_order"),
    "Output": ("format_", "quiet", "help"),
}
"""Parameter names under their heading, each section with the rarely used ones last."""


class SectionedCommand(click.Command):
    """A command whose `--help` lists its own options under its name, and the others under the headings of
    `SECTIONS`."""

    sections: Mapping[str, Sequence[str]] = SECTIONS

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what no section names, as the command's own, and then the sections that have options."""
        records = {
            _key(option): record
            for option in self.get_params(ctx)
            if isinstance(option, click.Option) and (record := option.get_help_record(ctx)) is not None
        }
        common = {name for names in self.sections.values() for name in names}
        own = [records.pop(name) for name in list(records) if name not in common]
        if own:
            with formatter.section((self.name or "options").capitalize()):
                formatter.write_dl(own)
        for heading, names in self.sections.items():
            rows = [records.pop(name) for name in names if name in records]
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)


def _key(option: click.Option) -> str:
    """The option's name in `SECTIONS`: releases of click name the help option differently."""
    return "help" if "--help" in option.opts else option.name or ""


class RenamedOption(click.Option):
    """A hidden option that still works; given on the command line it prints what replaces it."""

    def __init__(self, *args: Any, use: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.hidden = True
        self.use = use

    def handle_parse_result(
        self, ctx: click.Context, opts: Mapping[str, Any], args: list[str]
    ) -> tuple[Any, list[str]]:
        """Parse the option as any other; warn where it was given."""
        if self.name in opts and not ctx.resilient_parsing:
            warn_renamed(f"{ctx.command_path} {self.opts[0]}", self.use)
        return super().handle_parse_result(ctx, opts, args)
