"""The addon for a stock mitmdump: its settings are mitmproxy options, set with `--set`.

The scripts in `addons/` are all that is needed. What our own engine adds is missing there: its speed,
the deadline for slow request heads, and look-ups that cannot change between check and connection.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mitmproxy import ctx

from faultwire.dice import Dice
from faultwire.exchange.pipeline import SessionContext
from faultwire.exchange.session_state import SessionState
from faultwire.mitm import compat
from faultwire.mitm.flow.addon import FaultwireAddon
from faultwire.mitm.flow.gateway import Gateway
from faultwire.mitm.flow.replay import Replays
from faultwire.mitm.network.egress_guard import Guard
from faultwire.profile.find import find
from faultwire.profile.inline import inline
from faultwire.profile.load import load as load_profile
from faultwire.profile.model import Profile
from faultwire.replay.reader import redaction
from faultwire.replay.settings import ReplaySettings
from faultwire.tape.record.writer import TapeWriter
from faultwire.tape.redact.redactor import Redactor, fresh_key
from faultwire.tape.redact.rules import Rules, read_rules
from faultwire.tape.redact.taped_rules import KEY, taped
from faultwire.text import safe

if TYPE_CHECKING:
    from mitmproxy.addonmanager import Loader

logger = logging.getLogger(__name__)

SESSION = "mitmdump"
"""All traffic is one session; the dice depend on its name."""


class MitmdumpAddon:
    """Faultwire in a stock mitmdump: options, one session, and the addon with the hooks.

    The arguments are what the options are when nobody sets them.
    """

    def __init__(self, *, profile: str = "", fault: str = "", tape: str = "", replay: str = "") -> None:
        self.gateway = Gateway(stock_hooks=True)
        self.addons = [FaultwireAddon(self.gateway)]
        """mitmproxy calls the hooks of these as well."""
        self._defaults: tuple[tuple[str, Any, Any, str], ...] = (
            ("profile", str, profile, "A faultwire profile: its name, or a path."),
            ("fault", str, fault, "One fault, as after `faultwire exec --fault`."),
            ("tape", str, tape, "The tape to record to."),
            ("replay", str, replay, "The tape to answer from."),
            ("seed", int, 0, "The seed of all chance."),
            ("allow_hosts", Sequence[str], [], "Hosts whose addresses may be private."),
        )

    def load(self, loader: Loader) -> None:
        """Called by mitmproxy: declare the options."""
        compat.check()
        compat.install()
        for name, kind, default, help_text in self._defaults:
            loader.add_option(f"faultwire_{name}", kind, default, help_text)

    def running(self) -> None:
        """Called by mitmproxy once it has read its options."""
        profile, seed = self._profile(), int(self._option("seed"))
        self.gateway.guard = Guard.of(self._option("allow_hosts"))
        replay = self._option("replay")
        section = redaction(ReplaySettings(tape=Path(replay)), {}) if replay else {}
        if name := self._option("tape"):
            key = fresh_key()
            tape = TapeWriter.create(
                Path(name),
                origin=f"mitmdump/{Path(name).stem}",
                settings={KEY: taped(section, Redactor(key))} if section else {},
                key=key,
                rules=read_rules(section),
            )
            tape.open_session(SESSION, profile=profile.name, profile_digest=profile.digest, seed=seed)
            self.gateway.tape = tape
        context = SessionContext(SESSION, profile, Dice(seed, SESSION), SessionState())
        self.gateway.sessions.implicit = self.gateway.sessions.open(context)
        if replay:
            self._answer_from(Path(replay), read_rules(section))

    def _answer_from(self, tape: Path, rules: Rules | None) -> None:
        """Let a tape answer in place of every server."""
        # mitmproxy would call the server as soon as a tunnel is opened, for its certificate.
        ctx.options.update(connection_strategy="lazy", upstream_cert=False)
        settings = ReplaySettings(tape=tape)
        self.gateway.replays = Replays(settings, Redactor(fresh_key(), rules))
        assert self.gateway.sessions.implicit is not None
        self.gateway.replays.open(self.gateway.sessions.implicit)

    def done(self) -> None:
        """Called by mitmproxy when it ends."""
        if self.gateway.replays is not None and self.gateway.sessions.implicit is not None:
            report = self.gateway.replays.close(self.gateway.sessions.implicit)
            counts = f"{report['served']} served, {report['missed']} missed, {report['left']} never asked"
            level = logging.ERROR if report["missed"] or report["left"] else logging.INFO
            logger.log(level, "replayed %s: %s", safe(report["tape"]), counts)
            for miss in report["misses"]:
                logger.error("not on the tape: %s", safe(f"{miss['request']}: {miss['reason']}"))
        if self.gateway.tape is not None:
            for session in self.gateway.sessions:
                self.gateway.tape.close_session(session.name)
            self.gateway.tape.close()
        for session in self.gateway.sessions:
            for reason in session.voids:
                logger.error("the run is void: %s", reason)

    def _profile(self) -> Profile:
        if fault := self._option("fault"):
            return inline(fault)
        name = self._option("profile")
        return load_profile(find(name)) if name else Profile(name="calm")

    def _option(self, name: str) -> Any:
        return getattr(ctx.options, f"faultwire_{name}")
