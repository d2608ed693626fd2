"""`faultwire doctor`'s table: runtimes that are found, by proxy and by namespace, their trust, what to do."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from faultwire.errors import FaultwireError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from faultwire.runner.started_run import Run

HOST = "api.openai.com"
SESSION = "netns"
TIMEOUT_S = 60
KEPT = ("PATH", "HOME", "LANG", "TMPDIR")
"""What a runtime gets that is told of no roots."""
HEAD = ("runtime", "by proxy", "in a namespace", "its roots there", "what to do")
TRUST_VARIABLE: Mapping[str, str] = {
    "node": "NODE_EXTRA_CA_CERTS",
    "bun": "NODE_EXTRA_CA_CERTS",
    "deno": "DENO_CERT",
}
TRIED: Mapping[str, str] = {
    "ruby": "`Net::HTTP` was tried; gems that read no variables (`http`) need `--capture netns`",
}
"""Of a runtime that was captured: which client that says nothing of."""
UNTRIED: Mapping[str, tuple[str, str]] = {
    "java": ("its cacerts", "a trust store that is set in code needs our authority: `faultwire ca show`"),
    "go": ("files", "`RootCAs` that are set in code need our authority: `faultwire ca show`"),
}
"""Runtimes for which there is no small call: where their roots are (`capture.netns.trust_stores`)."""


@dataclass(frozen=True, slots=True)
class Row:
    """One runtime: `by_proxy` and `in_namespace` are None where it was not tried."""

    runtime: str
    by_proxy: bool | None
    in_namespace: bool | None
    trust: str
    advice: str = ""

    @property
    def cells(self) -> tuple[str, ...]:
        """As they are printed, below `HEAD`."""
        words = {True: "captured", False: "not captured", None: "not tried"}
        return (
            self.runtime,
            words[self.by_proxy],
            words[self.in_namespace],
            self.trust,
            self.advice or "nothing",
        )


def table(rows: Sequence[Row]) -> list[str]:
    """Lines of a table with its head."""
    cells = [HEAD, *(row.cells for row in rows)]
    widths = [max(len(line[at]) for line in cells) for at in range(len(HEAD))]
    return [
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
        for line in cells
    ]


def rows(
    by_proxy: Mapping[str, bool], inside: Mapping[str, tuple[bool, bool]] | None, untried: Sequence[str]
) -> list[Row]:
    """By runtime: did its call arrive by the proxy variables, and in a namespace without, and with, the
    variables that name roots? `inside` is None where there is no namespace."""
    found = [
        _row(name, arrived, None if inside is None else inside.get(name))
        for name, arrived in by_proxy.items()
    ]
    return found + [Row(name, None, None, *UNTRIED[name]) for name in untried]


def _row(name: str, arrived: bool, inside: tuple[bool, bool] | None) -> Row:
    variable = TRUST_VARIABLE.get(name, "SSL_CERT_FILE")
    if inside is None:
        return Row(name, arrived, None, variable if arrived else "unknown", _advice(name, arrived))
    bare, named = inside
    if bare:
        return Row(name, arrived, True, "files", TRIED.get(name, "") if arrived else "use `--capture netns`")
    if named:
        advice = f"keep `{variable}` in the environment of what it starts: its roots are compiled in"
        return Row(name, arrived, True, variable, advice)
    return Row(name, arrived, False, variable if arrived else "unknown", _advice(name, arrived))


def _advice(name: str, arrived: bool) -> str:
    from faultwire.capture.runtime import needs, recognise

    return TRIED.get(name, "") if arrived else needs(recognise([name]))


def inside(
    probes: Mapping[str, Sequence[str]], listen: str
) -> tuple[dict[str, tuple[bool, bool]] | None, str]:
    """Make each call in a namespace, without and with variables that name roots; None, with the reason, where
    no namespace can be made. In a probe, `HOST` is replaced by a name of its own."""
    from faultwire.profile.model import Profile
    from faultwire.runner.launch import LaunchSettings, start_run
    from faultwire.runner.namespaced import NamespaceOptions

    options = NamespaceOptions(SESSION, ())
    try:
        with start_run(LaunchSettings("doctor", listen=listen, mock=True, namespace=options)) as run:
            whole = run.open_session(SESSION, Profile(name="calm"), 0)
            bare = {name: whole[name] for name in KEPT if name in whole}
            for name, probe in probes.items():
                _call(run, probe, f"bare-{name}.{HOST}", bare)
                _call(run, probe, f"named-{name}.{HOST}", whole)
            run.close_session(SESSION)
            hosts = {one.request.host for one in run.history(SESSION).exchanges}
            run.folder.end("finished")
    except FaultwireError as error:
        return None, f"{error.message}; {error.hint}" if error.hint else error.message
    return {n: (f"bare-{n}.{HOST}" in hosts, f"named-{n}.{HOST}" in hosts) for n in probes}, ""


def _call(run: Run, probe: Sequence[str], host: str, environment: Mapping[str, str]) -> None:
    if run.space is None:
        return
    try:
        subprocess.run(
            [word.replace(HOST, host) for word in probe],
            executable=shutil.which(probe[0], path=os.environ.get("PATH")),
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=TIMEOUT_S,
            preexec_fn=run.space.entry(),
        )
    except (subprocess.TimeoutExpired, subprocess.SubprocessError):
        return  # it has not arrived: that is what is told
