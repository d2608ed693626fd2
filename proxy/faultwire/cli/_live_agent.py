"""Whether the agent that is to run alone is one of the profile and of the tape, before anything starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from faultwire.profile.model import Profile
    from faultwire.replay.settings import ReplaySettings

MARKS = "agents: {NAME: {caller: {user-agent: …}}} in a profile, or `instructions` for its system prompt"


def check(replay: ReplaySettings, profile: Profile) -> None:
    """Raises UsageError where its mark or a recorded call of it is missing, TapeError for a bad tape."""
    from faultwire.errors import UsageError
    from faultwire.replay.reader import open_tape
    from faultwire.wire.senders import marks_of, sender

    marks, name = marks_of(profile.agents), replay.live_agent
    if name not in {mark.name for mark in marks}:
        known = ", ".join(f"`{mark.name}`" for mark in marks) or "none"
        raise UsageError(
            f"found `--live-agent {name}`, expected an agent with a mark of its requests (there is {known})",
            code="usage.live_agent",
            hint=f"declare it with --profile: {MARKS}",
        )
    with open_tape(replay.tape, unverified=replay.unverified) as tape:
        if any(sender(marks, one).name == name for one in tape.exchanges()):
            return
    raise UsageError(
        f"found no call on `{replay.tape.name}` that bears the mark of `{name}`, expected one",
        code="usage.live_agent",
        hint="`faultwire tape show TAPE --topology --profile FILE` prints who called whom by which marks",
    )
