"""One test behind the proxy: what its mark asks for, what is started, and what is made of its traffic."""

from __future__ import annotations

import re  # noqa: TID251 - a fixed pattern
import shutil
from contextlib import contextmanager
from dataclasses import dataclass, fields
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from faultwire import dice
from faultwire.errors import UsageError, did_you_mean
from faultwire.process_tree import unmarked

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from faultwire.events import Recorded
    from faultwire.mitm.engine.client import SessionSummary
    from faultwire.profile.model import Profile
    from faultwire.replay.settings import ReplaySettings
    from faultwire.runner.started_run import Run

RecordMode = Literal["none", "once", "new_episodes", "all"]
MODES = ("none", "once", "new_episodes", "all")
SESSION = "pytest"
"""The session's name; the dice depend on it, so it never changes."""
FOLDER = "tapes"
"""Where tapes without a folder live, beside the test's file."""
SEAL = ".seal"
LONGEST = 64
"""Characters in a tape's name."""
_ODD = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class Asked:
    """The arguments of the mark. Paths are relative to the test's file; `tape` without a folder is below
    `tapes/` there, and is named like the test where neither a tape nor a fault is given.

    `masks`, `strict_order`, `reuse`, `timing` and `rebind` are those of `faultwire exec --replay`; `mock`,
    `script`, `allow_hosts` and `seed` those of `exec`. A test in which no fault fired proves nothing and
    fails, unless `allow_unfired`; the same goes for one without traffic and `allow_no_traffic`.
    """

    tape: Path | None = None
    record: RecordMode = "once"
    profile: str | None = None
    fault: tuple[str, ...] = ()
    seed: int = 42
    mock: bool = False
    script: Path | None = None
    allow_hosts: tuple[str, ...] = ()
    masks: tuple[str, ...] = ()
    strict_order: bool = False
    reuse: bool = False
    timing: float = 0.0
    rebind: bool = True
    allow_unfired: bool = False
    allow_no_traffic: bool = False

    @property
    def replays(self) -> bool:
        """Does a tape answer?"""
        return (
            self.tape is not None and self.record != "all" and (self.tape.exists() or self.record == "none")
        )

    @property
    def writes(self) -> bool:
        """May the tape be another one afterwards?"""
        return self.tape is not None and (not self.replays or self.record == "new_episodes")

    def profiled(self) -> Profile:
        """Profile and faults as one. Raises ProfileError."""
        from faultwire.profile.load import find, inline, load, merge

        named = [load(find(self.profile))] if self.profile is not None else []
        return merge([*named, *map(inline, self.fault)])

    def replay(self) -> ReplaySettings | None:
        """How the tape is replayed. Raises TapeNotFound, UsageError."""
        from faultwire.errors import TapeNotFound
        from faultwire.replay.mask import Masks
        from faultwire.replay.settings import ReplaySettings

        Masks.parse(self.masks)
        if not self.replays or self.tape is None:
            return None
        if not self.tape.exists():
            raise TapeNotFound(
                f"no tape at `{self.tape}`",
                hint="`--faultwire-record once` records it; with `none` nothing ever is",
            )
        return ReplaySettings(
            tape=self.tape.absolute(),
            strict_order=self.strict_order,
            reuse=self.reuse,
            rebind=self.rebind,
            masks=self.masks,
            timing=self.timing,
            on_miss="record" if self.record == "new_episodes" else "fail",
        )


def asked(
    args: tuple[Any, ...], kwargs: Mapping[str, Any], *, overruled: str | None, name: str, path: Path
) -> Asked:
    """What a mark asks for. Raises UsageError."""
    known = [one.name for one in fields(Asked)]
    if len(args) > 1:
        raise _refused(f"found {len(args)} arguments without a name, expected the tape alone")
    given = {**({"tape": args[0]} if args else {}), **kwargs}
    unknown = next((key for key in given if key not in known), None)
    if unknown is not None:
        raise _refused(f"found `{unknown}`, expected an argument of the mark", did_you_mean(unknown, known))
    record = overruled or given.get("record") or "once"
    if record not in MODES:
        raise _refused(f"found record `{record}`, expected one of {', '.join(MODES)}")
    for key in ("fault", "allow_hosts", "masks"):
        value = given.get(key) or ()
        given[key] = (value,) if isinstance(value, str) else tuple(value)
    if given.get("script"):
        given["script"] = path.parent / given["script"]
    faulted = given.get("profile") is not None or bool(given["fault"])
    given["tape"] = None if faulted and not given.get("tape") else _place(given.get("tape"), name, path)
    return Asked(**{**given, "record": record})


def _place(tape: str | Path | None, name: str, path: Path) -> Path:
    if tape is None:
        raw = f"{path.stem}.{name}"
        made = _ODD.sub("-", raw).strip("-.")
        if made != raw or len(made) > LONGEST:  # what is left out must still tell two tests apart
            made = f"{made[: LONGEST - 13]}.{sha256(raw.encode()).hexdigest()[:12]}"
        return path.parent / FOLDER / f"{made}.tape"
    given = Path(tape)
    if given.parent == Path() and not given.suffix:
        return path.parent / FOLDER / f"{given.name}.tape"
    return path.parent / given


def _refused(message: str, hint: str | None = None) -> UsageError:
    return UsageError(f"pytest.mark.faultwire: {message}", code="pytest.mark", hint=hint)


class TapedTest:
    """A test's proxy. `env` is the environment of whatever is to go through it, `tape` the tape that it is
    about (None: the run's own), `replays` whether that answers."""

    def __init__(self, wanted: Asked, run: Run, env: dict[str, str], draft: Path | None) -> None:
        self.env = env
        self.tape = wanted.tape
        self.replays = wanted.replays
        self.failed = False
        self._wanted, self._run, self._draft = wanted, run, draft
        self._closed: SessionSummary | None = None

    @property
    def exchanges(self) -> tuple[Recorded, ...]:
        """What came through so far, in order; read from the disk."""
        from faultwire.tape.read.reader import TapeReader

        self._run.engine.flush()
        with TapeReader.open(self._run.tape) as tape:
            return tuple(tape.exchanges(SESSION))

    @property
    def settled(self) -> bool:
        """Is the test itself over?"""
        return self._closed is not None

    def settle(self) -> list[str]:
        """End the session; what makes this test fail, in lines, nothing where all is well."""
        from faultwire.report import replay

        if self._closed is not None:
            return []
        closed = self._closed = self._run.close_session(SESSION)
        wanted, report = self._wanted, closed.replay
        problems: list[str] = []
        if report is not None:
            for name, text in replay.files(report, self._about()).items():
                self._run.folder.write(name, text)
            if replay.diverged(report):
                problems = ["the test's traffic is not what the tape has", *replay.lines(report)]
        if closed.voids:
            problems += [f"the test proves nothing: {reason}" for reason in closed.voids]
        elif not closed.exchanges and not wanted.allow_no_traffic and not problems:
            problems.append("no traffic reached the proxy; `allow_no_traffic` accepts that")
        elif (
            (wanted.profile or wanted.fault)
            and not closed.fired
            and not wanted.allow_unfired
            and not problems
        ):
            problems.append("no fault fired, so the test proves nothing; `allow_unfired` accepts that")
        self._run.folder.end("finished", failed=bool(problems) or self.failed)
        return problems

    def _about(self) -> dict[str, Any]:
        import json

        found: dict[str, Any] = json.loads((self._run.folder.path / "run.json").read_text())
        return found

    def keep(self, *, passed: bool) -> None:
        """Once the engine is about to end: is the new tape to stay? Only a test that passed says so, and of
        `new_episodes` only one with new calls."""
        report = self._closed.replay if self._closed is not None else None
        if not passed or (report is not None and not report["missed"]):
            self._draft = None

    @property
    def kept(self) -> Path | None:
        """The new tape, where it stays."""
        return self._draft

    @property
    def replayed(self) -> dict[str, Any] | None:
        """What a tape that is added to holds besides (`tape.grow`); None where none is."""
        report = self._closed.replay if self._closed is not None else None
        return report if report is not None and "unasked" in report else None


@contextmanager
def started(wanted: Asked, root: Path) -> Iterator[TapedTest]:
    """Start what a test needs, and end it. Raises UsageError, ProfileError, TapeError, FaultwireError."""
    from faultwire.runner.launch import LaunchSettings, start_run
    from faultwire.tape.files.find import STATE

    profile, replay = wanted.profiled(), wanted.replay()
    draft: Path | None = None
    if wanted.writes and wanted.tape is not None:
        # The new tape is made beside the old one, under its name, and takes its place once it is whole.
        draft = wanted.tape.parent / f".{dice.token(8)}" / wanted.tape.name
        draft.parent.mkdir(parents=True)
    settings = LaunchSettings(
        "pytest",
        tape=draft,
        mock=wanted.mock or wanted.script is not None,
        script=wanted.script,
        allow_hosts=wanted.allow_hosts,
        replay=replay,
        masks=wanted.masks,
        base=root / STATE,
        about={"profile": profile.name, "seed": wanted.seed},
    )
    taped: TapedTest | None = None
    try:
        with start_run(settings) as run:
            env = unmarked(run.open_session(SESSION, profile, wanted.seed))
            taped = TapedTest(wanted, run, env, draft)
            yield taped
            taped.settle()
        if taped.kept is not None and wanted.tape is not None:
            new = taped.kept
            if taped.replayed is not None:
                new = _grown(new, wanted.tape, taped.replayed, root / STATE)
            _replace(new, wanted.tape)
    finally:
        if draft is not None:
            shutil.rmtree(draft.parent)


def _grown(new: Path, old: Path, replayed: Mapping[str, Any], state: Path) -> Path:
    """What this test asked, and after it what it left of the old tape; sealed if the new one is.

    Raises TapeError."""
    from faultwire.tape.evidence.keyring import KeyRing
    from faultwire.tape.files.append import Replayed, append

    target = new.parent / "grown" / new.name
    sealed = new.with_name(new.name + SEAL).exists()
    signer = KeyRing(state / "keys").signer() if sealed else None
    replayed_from = Replayed(
        unasked=[(session, number) for session, numbers in replayed["unasked"].items() for number in numbers],
        answered={int(number): (session, old) for number, (session, old) in replayed["answered"].items()},
    )
    append(target, new=new, old=old, session=SESSION, replayed=replayed_from, signer=signer)
    return target


def _replace(new: Path, old: Path) -> None:
    """Put a tape in another's place, with its seal."""
    seal = new.with_name(new.name + SEAL)
    old.with_name(old.name + SEAL).unlink(missing_ok=True)
    new.replace(old)
    if seal.exists():
        seal.replace(old.with_name(old.name + SEAL))
