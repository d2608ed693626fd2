"""One session for a notebook, or for a test suite of any framework: `with faultwire.session(…) as s:`.

What is started inside goes through a proxy of its own, is broken as the profile says, and is recorded.
Afterwards `history` has the traffic with the ledger of every fault decision. A session that proves nothing
raises at its end: one in which faultwire itself failed, to which nothing came, or in which no fault fired.
"""

from __future__ import annotations

import os
import threading
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from faultwire.errors import CaptureError, FaultError, FaultwireError, UsageError
from faultwire.process_tree import unmarked

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from faultwire.events import History, Recorded
    from faultwire.mitm.engine.client import SessionSummary
    from faultwire.profile.model import Profile
    from faultwire.runner.started_run import Run

NAME = "session"
"""The session's name; the dice depend on it, so it never changes."""
_ENVIRON = threading.Lock()
"""Held by the session that has set the environment of this process."""
_BEFORE: list[Mapping[str, str]] = []
"""The environment of this process before that session set it."""


class Session:
    """Traffic behind a proxy of its own. Made by `session`, open until the end of its block.

    `env` is the environment of a program whose traffic belongs to it: proxy variables, and the certificate
    authority to trust. `folder` is the run's folder, with the engine's log; `tape` is the tape, which grows
    until the session is over.
    """

    def __init__(self, run: Run, env: Mapping[str, str]) -> None:
        self.env = dict(env)
        self.folder = run.folder.path.absolute()
        self.tape = run.tape.absolute()
        self._run = run
        self._history: History | None = None

    @property
    def proxy_url(self) -> str:
        """The proxy with this session's user, for clients that take a proxy as a setting."""
        return self.env["HTTPS_PROXY"]

    @property
    def ca_file(self) -> Path:
        """The certificate authorities to trust, as PEM, for clients that take it as a setting."""
        return Path(self.env["SSL_CERT_FILE"])

    @property
    def exchanges(self) -> tuple[Recorded, ...]:
        """What came through so far, in order; read from the tape."""
        from faultwire.tape.read.reader import TapeReader

        if self._history is not None:
            return self._history.exchanges
        self._run.engine.flush()
        with TapeReader.open(self.tape) as tape:
            return tuple(tape.exchanges(NAME))

    @property
    def history(self) -> History:
        """The traffic of a session that is over, with the ledger: `exchanges[n].faults` has each decision and
        its reason, `fired` those that reached the agent. Raises UsageError while the session is open."""
        if self._history is None:
            raise UsageError(
                "the session is still open, expected its history to be read after the `with` block",
                code="session.open",
                hint="`exchanges` has what the proxy has recorded so far",
            )
        return self._history

    def close(self) -> SessionSummary:
        """End the session and read its history. Called at the end of the block. Raises FaultwireError."""
        closed = self._run.close_session(NAME)
        self._history = self._run.history(NAME)
        return closed


@contextmanager
def session(
    profile: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = (),
    *,
    fault: str | Sequence[str] = (),
    seed: int = 42,
    mock: bool = False,
    mock_except: Sequence[str] = (),
    script: str | os.PathLike[str] | None = None,
    record: str | os.PathLike[str] | None = None,
    allow_hosts: Sequence[str] = (),
    environ: bool = True,
    allow_no_traffic: bool = False,
    allow_unfired: bool = False,
    base: str | os.PathLike[str] = ".faultwire",
) -> Iterator[Session]:
    """Start a proxy of its own, and end it with the block.

    Args:
        profile: the name or path of a profile, or several.
        fault: faults as after `faultwire exec --fault`, one or several.
        seed: the seed of all chance; equal seeds give equal faults.
        mock: let the mock provider answer; no key and no network is needed, and no other server is called.
        mock_except: hosts that are called all the same.
        script: what the mock says, a YAML file; implies `mock`.
        record: the tape's name or path, by default one in the run's folder.
        allow_hosts: hosts whose addresses may be private, such as a test's own server on `localhost`.
        environ: set the environment of this process, too, for clients that are made in the block and for
            programs that are started without `env=`. One session at a time can.
        allow_no_traffic: accept a session to which nothing came.
        allow_unfired: accept a session in which no fault fired.
        base: the folder of runs, tapes and certificates.

    Raises:
        ProfileError, UsageError: what was asked for cannot be had.
        CaptureError: nothing came through the proxy.
        FaultError: faultwire failed, or no fault of the profile fired: the session proves nothing.

    An error of the block itself goes on as it is, with a note that says why the session proves nothing.
    """
    from faultwire.runner.launch import LaunchSettings, start_run

    wanted = _profile(profile, fault)
    settings = LaunchSettings(
        "session",
        tape=None if record is None else Path(record),
        mock=mock or script is not None,
        mock_except=tuple(mock_except),
        script=None if script is None else Path(script),
        allow_hosts=tuple(allow_hosts),
        environ=_BEFORE[0] if _BEFORE else None,
        base=Path(base),
        about={"profile": wanted.name, "profile_sha256": wanted.digest, "seed": seed},
    )
    with ExitStack() as stack:
        run = stack.enter_context(start_run(settings))
        one = Session(run, unmarked(run.open_session(NAME, wanted, seed)))
        if environ:
            stack.enter_context(_in_environ(one.env))
        try:
            yield one
        except BaseException as error:
            void = _ended(one, run, wanted, allow_no_traffic=allow_no_traffic, allow_unfired=allow_unfired)
            if void is not None:
                error.add_note(f"faultwire: {void.render()}")
            run.folder.end("finished", failed=True)
            raise
        void = _ended(one, run, wanted, allow_no_traffic=allow_no_traffic, allow_unfired=allow_unfired)
        if void is not None:
            raise void
        run.folder.end("finished")


def _profile(
    named: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], faults: str | Sequence[str]
) -> Profile:
    from faultwire.profile.load import find, inline, load, merge

    names = [named] if isinstance(named, str | os.PathLike) else named
    texts = [faults] if isinstance(faults, str) else faults
    return merge([*(load(find(os.fspath(name))) for name in names), *map(inline, texts)])


def _ended(
    one: Session, run: Run, profile: Profile, *, allow_no_traffic: bool, allow_unfired: bool
) -> FaultwireError | None:
    """Close the session; why it proves nothing, None where it does not."""
    try:
        closed = one.close()
        notes = (*closed.notes, *run.engine.notes())
    except FaultwireError as error:
        return error
    if closed.voids:
        hint = f"the engine's log is `{one.folder / 'engine.log'}`"
        return FaultError(
            f"the session is inconclusive: {'; '.join(closed.voids)}", code="run.void", hint=hint
        )
    if not closed.exchanges and not allow_no_traffic:
        details = "".join(f"; {note}" for note in notes)
        return CaptureError(
            f"nothing came through the proxy, so the session is inconclusive{details}",
            hint="make clients inside the block, and start programs with `env=s.env`; "
            "`allow_no_traffic=True` accepts it",
        )
    if profile.entries and not closed.fired and not allow_unfired:
        return FaultError(
            "no fault fired, so the session proves nothing",
            code="run.unfired",
            hint="`history.exchanges[n].faults` says why not; `allow_unfired=True` accepts it",
        )
    return None


@contextmanager
def _in_environ(env: Mapping[str, str]) -> Iterator[None]:
    if not _ENVIRON.acquire(blocking=False):
        raise UsageError(
            "another session has set the environment of this process, expected one at a time",
            code="session.environ",
            hint="open this one with `environ=False`, and start programs with `env=s.env`",
        )
    before = dict(os.environ)
    try:
        _BEFORE.append(before)
        _put(env)
        yield
    finally:
        _BEFORE.clear()
        _put(before)
        _ENVIRON.release()


def _put(env: Mapping[str, str]) -> None:
    for name in set(os.environ) - set(env):
        del os.environ[name]
    os.environ.update({name: value for name, value in env.items() if os.environ.get(name) != value})
